/* Calibrates the GPU's timer: its scale with a kernel that spins, and the time of an empty execution. */
#include "config.h"

#include "runner/gpu/cuda_calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "runner/gpu/cuda_clock.h"
#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_time.h"
#include "runner/kernels/cuda_kernels.h"

#define SPIN_NS 5e6         /* length of the shorter spin: the host's clock is read some microseconds late */
#define SPIN_TICKS 100      /* and at least this many steps of the global timer, */
#define SPIN_MOST_NS 200e6  /* at most this long */
#define SPINS 5             /* pairs of spins */
#define TRIES 3             /* repetitions if clocks disagree: another process may have interfered */
#define EMPTY_NODES 64      /* kernels of the shorter empty graph */
#define EMPTY_SAMPLES 21
#define MEDIANS 32          /* most values of a median */

static struct cuda_calibration calibration;

const struct cuda_calibration *cuda_calibration(void)
{
	return &calibration;
}

void cuda_calibrate_forget(void)
{
	calibration = (struct cuda_calibration){ .is_done = false };
}

/* --- statistics --- */

struct values {
	double v[MEDIANS];
	int n;
};

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Returns the quantile q (0 to 1) by the nearest rank; sorts. */
static double quantile(struct values *s, double q)
{
	qsort(s->v, (size_t)s->n, sizeof(s->v[0]), order);
	return s->v[(int)(q * (s->n - 1) + 0.5)];
}

static void add(struct values *s, double v)
{
	s->v[s->n++] = v;
}

/* --- kernels of known length --- */

struct spin {
	struct cuda_count *count; /* device memory */
	double ns, cycles;        /* its length */
	struct cuda_count seen;
	double event_ns, host_ns;
};

static int spin_enqueue(void *user, enum cache cache, int64_t set, cudaStream_t s, struct error *err)
{
	const struct spin *p = user;
	(void)cache;
	(void)set;
	return cuda_error(cuda_spin(p->count, p->ns, p->cycles, s), "a spin kernel", err);
}

static int empty_enqueue(void *user, enum cache cache, int64_t set, cudaStream_t s, struct error *err)
{
	(void)user;
	(void)cache;
	(void)set;
	return cuda_error(cuda_nothing(s), "an empty kernel", err);
}

static int no_enqueue(void *user, enum cache cache, int64_t set, cudaStream_t s, struct error *err)
{
	(void)user;
	(void)cache;
	(void)set;
	(void)s;
	(void)err;
	return 0;
}

static int no_ready(void *user, enum cache cache, int64_t set, struct error *err)
{
	(void)user;
	(void)cache;
	(void)set;
	(void)err;
	return 0;
}

/* NVML is not asked: its answer may take longer than a spin, whose host time it would then be. */
static struct cuda_timer timer_of(
	int (*enqueue)(void *, enum cache, int64_t, cudaStream_t, struct error *), void *user)
{
	return (struct cuda_timer){
		.enqueue = enqueue, .ready = no_ready, .user = user, .sets = { 1, 1, 1 }, .launched = true,
		.clock.is_silent = true
	};
}

/* Runs a spin of ns and cycles once; fills the rest. */
static int spin_run(struct spin *p, double ns, double cycles, struct error *err)
{
	struct cuda_timer t = timer_of(spin_enqueue, p);
	p->ns = ns;
	p->cycles = cycles;
	if (cuda_time_run(&t, LAUNCH_ISOLATED, CACHE_WARM, 1, &p->event_ns, err) ||
		cuda_error(cudaMemcpyAsync(&p->seen, p->count, sizeof(p->seen), cudaMemcpyDeviceToHost,
				   cuda_context()->stream),
			"cudaMemcpyAsync", err) ||
		cuda_error(cudaStreamSynchronize(cuda_context()->stream), "a spin kernel", err))
		return -1;
	p->host_ns = t.host_ns;
	return 0;
}

static double length_ns(void)
{
	return fmin(fmax(SPIN_NS, SPIN_TICKS * calibration.tick_ns), SPIN_MOST_NS);
}

/* Compares the events with the global timer and with the host's clock. */
static int scales_measure(struct cuda_count *count, struct error *err)
{
	struct values event = { 0 }, host = { 0 };
	struct spin one = { .count = count }, two = { .count = count };
	for (int i = 0; i < SPINS; i++) {
		if (spin_run(&one, length_ns(), 0, err) || spin_run(&two, 2 * length_ns(), 0, err))
			return -1;
		double grown = two.event_ns - one.event_ns;
		add(&event, grown / ((double)two.seen.ns - (double)one.seen.ns));
		add(&host, grown / (two.host_ns - one.host_ns));
	}
	calibration.event_scale = quantile(&event, 0.5);
	calibration.host_scale = quantile(&host, 0.5);
	return 0;
}

/* Spins for a number of cycles: how long do they take by the events? */
static int cycles_measure(struct cuda_count *count, struct error *err)
{
	struct values mhz = { 0 };
	struct spin one = { .count = count }, two = { .count = count };
	double clock = cuda_clock_load().steady_mhz;
	double cycles = length_ns() * (isnan(clock) ? 1e3 : clock) / 1e3;
	for (int i = 0; i < SPINS; i++) {
		if (spin_run(&one, 0, cycles, err) || spin_run(&two, 0, 2 * cycles, err))
			return -1;
		double grown = (double)two.seen.cycles - (double)one.seen.cycles;
		add(&mhz, grown / (two.event_ns - one.event_ns) * 1e3);
	}
	calibration.cycle_mhz = quantile(&mhz, 0.5);
	return 0;
}

/* --- floors --- */

static int pair_measure(struct error *err)
{
	struct values all = { 0 };
	struct cuda_timer t = timer_of(no_enqueue, NULL);
	for (int i = 0; i < EMPTY_SAMPLES; i++) {
		double ns;
		if (cuda_time_run(&t, LAUNCH_ISOLATED, CACHE_WARM, 1, &ns, err))
			return -1;
		add(&all, ns);
	}
	calibration.pair_ns = quantile(&all, 0.5);
	return 0;
}

static int graph_measure(struct error *err)
{
	struct values floor_of = { 0 }, node = { 0 };
	struct cuda_timer t = timer_of(empty_enqueue, NULL);
	int bad = 0;
	for (int i = 0; i < EMPTY_SAMPLES && !bad; i++) {
		double one, two;
		bad = cuda_time_run(&t, LAUNCH_AMORTIZED, CACHE_WARM, EMPTY_NODES, &one, err) ||
			cuda_time_run(&t, LAUNCH_AMORTIZED, CACHE_WARM, 2 * EMPTY_NODES, &two, err);
		add(&floor_of, 2 * one - two);
		add(&node, (two - one) / EMPTY_NODES);
	}
	bool is_graph = !t.uncapturable && !t.unholdable;
	cuda_time_forget(&t);
	if (bad)
		return -1;
	calibration.node_ns = quantile(&node, 0.5);
	calibration.graph_spread_ns = (quantile(&floor_of, 0.75) - quantile(&floor_of, 0.25)) / 2;
	/* a graph contains the pair of events; without graphs, that is all */
	calibration.graph_ns = is_graph ? fmax(quantile(&floor_of, 0.5), calibration.pair_ns)
					: calibration.pair_ns;
	return 0;
}

/* --- the verdict --- */

static bool is_off(double scale)
{
	return !(fabs(scale - 1) <= CUDA_CALIBRATE_TOLERANCE);
}

/* Three clocks: two that agree convict the third. If all differ, or the host's differs from those of the GPU,
 * nothing shows which of them is right. Cycles under load are compared with NVML's clock. */
static void judge(void)
{
	struct cuda_calibration *c = &calibration;
	struct cuda_clock_load load = cuda_clock_load();
	bool timer_off = is_off(c->event_scale), host_off = is_off(c->host_scale);
	*c->doubt = *c->caveat = '\0';
	if (host_off)
		snprintf(c->doubt, sizeof(c->doubt), "the GPU's event timer is wrong: it counts %.3g of the "
			"host's time and %.3g of the GPU's global timer", c->host_scale, c->event_scale);
	else if (timer_off)
		snprintf(c->caveat, sizeof(c->caveat), "the GPU's global timer is wrong: events, which agree "
			"with the host, count %.3g of it; clocks are unknown", c->event_scale);
	else if (!isnan(load.nvml_mhz) && is_off(load.steady_mhz / load.nvml_mhz))
		snprintf(c->caveat, sizeof(c->caveat), "the SM clock under load is %.0f MHz by its cycles, "
			"%.0f MHz by NVML", load.steady_mhz, load.nvml_mhz);
}

static int measure_all(struct cuda_count *count, struct error *err)
{
	struct spin first = { .count = count };
	/* the first one loads the code of the kernel, which must not happen behind a hold */
	if (cuda_error(cuda_spin(count, 0, 0, cuda_context()->stream), "a spin kernel", err) ||
		cuda_error(cudaStreamSynchronize(cuda_context()->stream), "a spin kernel", err) ||
		spin_run(&first, SPIN_NS, 0, err))
		return -1;
	calibration.tick_ns = (double)first.seen.tick_ns;
	if (cuda_clock_heat(calibration.tick_ns, err))
		return -1;
	for (int i = 0; i < TRIES && (i == 0 || *calibration.doubt || *calibration.caveat); i++) {
		if (scales_measure(count, err) || cycles_measure(count, err))
			return -1;
		judge();
	}
	return pair_measure(err) || graph_measure(err) ? -1 : 0;
}

int cuda_calibrate(struct error *err)
{
	struct cuda_count *count = NULL;
	if (calibration.is_done)
		return 0;
	if (cuda_error(cudaMalloc((void **)&count, sizeof(*count)), "cudaMalloc", err))
		return -1;
	int bad = cuda_clock_open(err) || measure_all(count, err);
	cudaFree(count);
	if (bad) {
		cuda_calibrate_forget();
		return error_context(err, "calibrating the timer");
	}
	if (is_off(calibration.event_scale))
		cuda_clock_distrust();
	calibration.is_done = true;
	return 0;
}

json_t *cuda_calibration_json(void)
{
	const struct cuda_calibration *c = &calibration;
	struct cuda_clock_load load = cuda_clock_load();
	const struct {
		const char *key;
		double value;
	} numbers[] = {
		{ "event_scale", c->event_scale },
		{ "host_scale", c->host_scale },
		{ "tick_ns", c->tick_ns },
		{ "pair_ns", c->pair_ns },
		{ "graph_ns", c->graph_ns },
		{ "graph_spread_ns", c->graph_spread_ns },
		{ "node_ns", c->node_ns },
		{ "cycle_mhz", c->cycle_mhz },
		{ "steady_mhz", load.steady_mhz },
		{ "nvml_mhz", load.nvml_mhz },
		{ "heated_ns", load.heated_ns },
	};
	json_t *o = json_object();
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		json_object_set_new(o, numbers[i].key, json_number_or_null(numbers[i].value));
	json_object_set_new(o, "steady", json_boolean(load.is_steady));
	json_object_set_new(o, "doubt", json_text(text_of(c->doubt)));
	json_object_set_new(o, "caveat", json_text(text_of(c->caveat)));
	return o;
}
