/* The GPU's clock while a problem is measured: heating, and which samples ran at the steady clock. */
#include "config.h"

#include "runner/gpu/cuda_clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/str.h"
#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_nvml.h"
#include "runner/kernels/cuda_kernels.h"
#include "runner/measure/clock.h"

#define SPAN_LEAST_NS 40e3      /* of a count: the global timer of some GPUs steps once per microsecond, */
#define SPAN_TICKS 40           /* and this many steps are enough to see a clock that is a quarter lower */
#define SPAN_MOST_NS 2e6        /* a timer that needs more says nothing about single samples */
#define WINDOW_NS 5e6           /* one count of the load, */
#define WINDOW_TICKS 200        /* at least this many steps of the global timer, */
#define WINDOW_MOST_NS 300e6    /* at most this long */
#define WINDOWS 4               /* the clock is steady if this many consecutive counts are within */
#define STEADY 0.01             /* this share of each other */
#define FIRST_LEAST_NS 250e6    /* an idle clock is steady too: it rises only after some load */
#define FIRST_MOST_NS 3e9
#define AGAIN_MOST_NS 1e9
#define AGAIN_SHARE 0.97        /* of the steady clock, which heating must reach again */
#define AGAIN_ENOUGH_NS 100e6   /* after that the mean decides: some clocks swing by more than STEADY */
#define AGAIN_REST_NS 10e9      /* without heating after the clock was not reached */
#define PAUSE_NS 50e6           /* clocks may fall in a longer pause, as in the compilation of an engine */
#define OWN_LOWS 2              /* equally low samples right after heating: the algorithm's own clock */
#define OWN_EQUAL 0.1           /* short samples are counted no better than that */
#define OWN_ENDS 5              /* samples in a row that are not low end that; short ones may be fast */
#define ASK_NS 10e6             /* minimum time between two questions to NVML, */
#define ASK_PAUSE 20            /* and from the end of one, relative to how long it took */

static struct {
	struct cuda_span *span;   /* device memory */
	struct cuda_span *seen;   /* pinned copy */
	struct cuda_clock_load load;
	double window_ns, span_ns;
	double missed_at;         /* clock_ns() when heating again missed the steady clock; 0: it did not */
	double worked_at;         /* clock_ns() when the GPU last ended some work */
	bool was_low;             /* the last sample */
	bool low_logged, own_logged, unsteady_logged;
} shared = { .load = { .steady_mhz = NAN, .nvml_mhz = NAN } };

static double share = CUDA_CLOCK_SHARE;

int cuda_clock_share_read(struct error *err)
{
	const char *text = getenv(CUDA_CLOCK_VARIABLE);
	char *end = NULL;
	share = CUDA_CLOCK_SHARE;
	if (!text || !*text)
		return 0;
	double value = strtod(text, &end);
	if (*end || !(value >= 0 && value <= 1))
		return error_set(err, CUDA_CLOCK_VARIABLE "=%.40s is not a number from 0 (keep all samples) "
			"to 1; unset it, or set the share of the steady clock below which samples are "
			"discarded", text);
	share = value;
	return 0;
}

int cuda_clock_open(struct error *err)
{
	void *pinned = NULL;
	if (shared.span)
		return 0;
	if (cuda_error(cudaMalloc((void **)&shared.span, sizeof(*shared.span)), "cudaMalloc", err)) {
		shared.span = NULL;
		return -1;
	}
	if (cuda_error(cudaHostAlloc(&pinned, sizeof(*shared.seen), cudaHostAllocPortable), "cudaHostAlloc",
		    err)) {
		cuda_clock_close();
		return -1;
	}
	shared.seen = pinned;
	shared.span_ns = SPAN_LEAST_NS;
	shared.window_ns = WINDOW_NS;
	memset(shared.seen, 0, sizeof(*shared.seen));
	shared.worked_at = clock_ns();
	return 0;
}

void cuda_clock_close(void)
{
	if (shared.span)
		cudaFree(shared.span);
	if (shared.seen)
		cudaFreeHost(shared.seen);
	memset(&shared, 0, sizeof(shared));
	shared.load.steady_mhz = shared.load.nvml_mhz = NAN;
}

struct cuda_clock_load cuda_clock_load(void)
{
	return shared.load;
}

/* --- counts --- */

static int seen_copy(struct error *err)
{
	return cuda_error(cudaMemcpyAsync(shared.seen, shared.span, sizeof(*shared.seen),
				  cudaMemcpyDeviceToHost, cuda_context()->stream),
		"cudaMemcpyAsync", err);
}

static double seen_mhz(void)
{
	const struct cuda_count *c = &shared.seen->count;
	return c->ns > 0 && c->cycles > 0 ? (double)c->cycles / (double)c->ns * 1e3 : NAN;
}

int cuda_clock_begin(struct error *err)
{
	return cuda_error(cuda_span_begin(shared.span, cuda_context()->stream), "counting the clock", err);
}

int cuda_clock_end(struct error *err)
{
	const struct cuda_context *c = cuda_context();
	double least_ns = shared.span_ns <= SPAN_MOST_NS ? shared.span_ns : 0;
	return cuda_error(cuda_span_end(shared.span, least_ns, c->multiprocessors, c->stream),
		       "counting the clock", err) ||
			seen_copy(err)
		? -1
		: 0;
}

/* --- heating --- */

/* Loads the GPU for one window. *mhz: its clock meanwhile; NaN if it cannot be counted. nvml_mhz: if not
 * NULL, NVML's clock meanwhile. */
static int window_run(double *mhz, double *nvml_mhz, struct error *err)
{
	const struct cuda_context *c = cuda_context();
	struct cuda_nvml now;
	if (cuda_error(cuda_heat(&shared.span->count, shared.window_ns, c->multiprocessors, c->stream),
		    "heating", err) ||
		seen_copy(err))
		return -1;
	if (nvml_mhz) {
		cuda_nvml_read(&now);
		*nvml_mhz = now.sm_mhz;
	}
	if (cuda_error(cudaStreamSynchronize(c->stream), "heating", err))
		return -1;
	*mhz = seen_mhz();
	shared.worked_at = clock_ns();
	return 0;
}

struct heating {
	double least_ns, most_ns; /* in: how long to heat */
	double least_mhz;         /* in: not steady below; 0: no limit */
	double enough_ns;         /* in: after that reaching least_mhz is enough */
	double mhz, ns;           /* out: mean clock of the last windows; how long it was heated */
	bool is_steady;           /* out: the last windows are within STEADY of each other */
};

static int heat(struct heating *h, struct error *err)
{
	double recent[WINDOWS], began = clock_ns();
	for (int i = 0;; i++) {
		double low = INFINITY, high = 0, sum = 0;
		if (window_run(&recent[i % WINDOWS], NULL, err))
			return -1;
		int count = i + 1 < WINDOWS ? i + 1 : WINDOWS;
		for (int k = 0; k < count; k++) {
			low = fmin(low, recent[k]);
			high = fmax(high, recent[k]);
			sum += recent[k];
		}
		h->mhz = sum / count; /* NaN if one of them is */
		h->is_steady = count == WINDOWS && high <= (1 + STEADY) * low && !isnan(sum);
		h->ns = clock_ns() - began;
		bool still = h->is_steady || (count == WINDOWS && h->ns >= h->enough_ns);
		bool enough = still && h->mhz >= h->least_mhz && h->ns >= h->least_ns;
		if (enough || h->ns >= h->most_ns)
			return 0;
	}
}

int cuda_clock_heat(double tick_ns, struct error *err)
{
	struct heating h = { .least_ns = FIRST_LEAST_NS, .most_ns = FIRST_MOST_NS, .enough_ns = INFINITY };
	double span_ns = fmax(SPAN_LEAST_NS, SPAN_TICKS * tick_ns);
	if (cuda_clock_open(err))
		return -1;
	shared.window_ns = fmin(fmax(WINDOW_NS, WINDOW_TICKS * tick_ns), WINDOW_MOST_NS);
	double now_mhz, nvml_mhz;
	if (heat(&h, err) || window_run(&now_mhz, &nvml_mhz, err))
		return -1;
	shared.span_ns = span_ns;
	shared.load = (struct cuda_clock_load){ .steady_mhz = span_ns <= SPAN_MOST_NS ? h.mhz : NAN,
		.nvml_mhz = nvml_mhz, .heated_ns = h.ns, .is_steady = h.is_steady };
	return 0;
}

void cuda_clock_distrust(void)
{
	shared.load.steady_mhz = NAN;
	shared.span_ns = INFINITY;
}

/* Keeps what heating again showed: clocks that were locked, or a limit that began or ended. */
static void load_learn(const struct heating *h)
{
	struct cuda_clock_load *l = &shared.load;
	double before = l->steady_mhz;
	bool lower = h->mhz < AGAIN_SHARE * before, higher = h->mhz > before;
	if (!h->is_steady && !shared.unsteady_logged) {
		shared.unsteady_logged = true;
		log_line("the GPU clock does not become steady under load: %.0f MHz now, %.0f before", h->mhz,
			before);
	}
	if (h->is_steady && (lower || higher))
		l->steady_mhz = h->mhz;
	if (h->is_steady && lower)
		log_line("the GPU clock under load is %.0f MHz now; it was %.0f", h->mhz, before);
}

int cuda_clock_settle(struct cuda_clock_track *k, struct error *err)
{
	if (isnan(shared.load.steady_mhz) || !shared.span)
		return 0;
	if (clock_ns() - shared.worked_at <= PAUSE_NS && !shared.was_low)
		return 0;
	if (shared.missed_at > 0 && clock_ns() - shared.missed_at < AGAIN_REST_NS)
		return 0;
	struct heating h = { .most_ns = AGAIN_MOST_NS, .enough_ns = AGAIN_ENOUGH_NS,
		.least_mhz = AGAIN_SHARE * shared.load.steady_mhz };
	if (heat(&h, err))
		return -1;
	load_learn(&h);
	shared.was_low = false;
	k->is_heated = h.mhz >= AGAIN_SHARE * shared.load.steady_mhz;
	shared.missed_at = k->is_heated ? 0 : clock_ns();
	return 0;
}

/* --- samples --- */

void cuda_clock_ask(struct cuda_clock_track *k)
{
	double now = clock_ns();
	if (k->is_silent || now < k->ask_at)
		return;
	double reasons = cuda_nvml_reasons_now(), took = clock_ns() - now;
	k->reasons |= reasons >= 0 ? (uint64_t)reasons : 0;
	k->ask_at = now + took + fmax(ASK_NS, ASK_PAUSE * took);
}

/* Logs a low clock with the driver's reason, once per process. */
static void low_log(const struct cuda_clock_track *k, bool *logged, const char *then)
{
	char reasons[128];
	if (*logged)
		return;
	*logged = true;
	cuda_nvml_reasons((double)k->reasons, reasons, sizeof(reasons));
	log_line("the GPU clock is down to %.0f of %.0f MHz%s%s%s; %s", k->mhz, shared.load.steady_mhz,
		*reasons ? " (" : "", reasons, *reasons ? ")" : "", then);
}

/* True if the low sample is as low as the one before, each right after heating: the algorithm's own clock. */
static bool is_own(struct cuda_clock_track *k)
{
	bool equal = fabs(k->mhz - k->low_mhz) <= OWN_EQUAL * k->mhz;
	k->lows = !k->is_heated ? 0 : equal ? k->lows + 1 : 1;
	k->low_mhz = k->mhz;
	k->is_heated = false;
	return k->lows >= OWN_LOWS;
}

bool cuda_clock_judge(struct cuda_clock_track *k)
{
	double mhz = seen_mhz(), steady = shared.load.steady_mhz;
	shared.worked_at = clock_ns();
	k->mhz = isnan(mhz) || shared.span_ns > SPAN_MOST_NS ? 0 : mhz;
	if (k->mhz <= 0 || isnan(steady))
		return false;
	k->highs = mhz >= share * steady ? k->highs + 1 : 0;
	if (k->highs >= OWN_ENDS) {
		k->own_mhz = 0;
		k->lows = 0;
	}
	if (mhz >= share * (k->own_mhz > 0 ? k->own_mhz : steady))
		return false;
	if (is_own(k)) {
		k->own_mhz = mhz;
		k->lows = 0;
		low_log(k, &shared.own_logged, "it is steady there under this algorithm");
		return false;
	}
	low_log(k, &shared.low_logged, "such samples count only if there are no better ones");
	shared.was_low = true;
	return true;
}

const char *cuda_clock_words(const struct cuda_clock_track *k, char *line, int size)
{
	char reasons[128];
	cuda_nvml_reasons((double)k->reasons, reasons, sizeof(reasons));
	*line = '\0';
	if (k->own_mhz > 0)
		snprintf(line, (size_t)size, "its load lowers the clock to %.0f of %.0f MHz%s%s%s",
			k->own_mhz, shared.load.steady_mhz, *reasons ? " (" : "", reasons,
			*reasons ? ")" : "");
	else if (*reasons)
		snprintf(line, (size_t)size, "the GPU limited its clock meanwhile (%s)", reasons);
	return line;
}
