#include "config.h"

#include "runner/gpu/cuda_calibrate.h"

#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/log.h"
#include "fake_backend.h"
#include "fake_cudart.h"
#include "runner/gpu/cuda_clock.h"
#include "runner/gpu/cuda_lock.h"
#include "runner/measure/platform.h"
#include "tap.h"

/* GPUs whose timers are not as we believe. */

static const struct backend *const backends[] = { &backend_fake, NULL };
const struct platform platform = { .program = "benanza-runner-cuda", .backends = backends };

static struct arena arena;
static struct device device;
static struct error err;

static json_t *opened(void)
{
	struct platform_options o = { 0 };
	err = (struct error)ERROR_NONE;
	if (!ok(cuda_context_open(&o, &arena, &device, &err) == 0, "opened: %s", err.text))
		return json_object();
	json_t *all = json_loads(device.attributes, 0, NULL);
	return all ? all : json_object();
}

static double of(const json_t *all, const char *key)
{
	return json_number_or_nan(json_object_get(json_object_get(all, "timer"), key));
}

static const char *text_at(const json_t *all, const char *key)
{
	return json_string_at(json_object_get(all, "timer"), key, "");
}

static const char *warning(const json_t *all)
{
	return json_array_size(json_object_get(all, "warnings")) ?
		json_string_value(json_array_get(json_object_get(all, "warnings"), 0)) : "";
}

static void close_all(json_t *all)
{
	json_decref(all);
	cuda_context_close();
	ok(fake.allocations_alive == 0 && fake.execs_alive == 0 && fake.events_alive == 0 &&
			fake.pinned_alive == 0 && fake.graphs_alive == 0,
		"nothing is left");
}

static double timed(int64_t times)
{
	static struct backend_limits limits = { .memory_bytes = 32e6, .sets = 1, .cold_sets = 1 };
	struct backend_list list;
	enum status status;
	double ns = NAN;
	fake_backend = (struct fake_backend){ .kernel_ns = 10e3, .kernels = 1, .epsilon = 1e-5 };
	fake_ask("matmul:f32,f32.c,f32/f32:ba1bb1m4n8k16:ta0tb0", &list);
	void *w = cuda_work_prepare(&list, 0, &limits, &status, &err);
	if (w && cuda_work_run(w, CACHE_WARM, times, &ns, &err))
		ns = NAN;
	if (w)
		cuda_work_release(w);
	return ns;
}

static void test_true(void)
{
	fake_reset();
	json_t *all = opened();
	near(of(all, "event_scale"), 1, 1e-3, "events run as fast as the global timer");
	near(of(all, "host_scale"), 1, 1e-3, "and as the host's clock");
	near(of(all, "tick_ns"), 32, 0, "the global timer's step");
	near(of(all, "steady_mhz"), 1900, 1e-3, "the steady clock");
	near(of(all, "cycle_mhz"), 1900, 1e-3, "by cycles and events");
	near(of(all, "nvml_mhz"), 1900, 0, "by NVML");
	near(of(all, "node_ns"), 1000, 1e-3, "an empty kernel");
	ok(json_is_true(json_object_get(json_object_get(all, "timer"), "steady")), "it is steady");
	is_str(text_at(all, "doubt"), "", "no doubt");
	is_str(text_at(all, "caveat"), "", "no caveat");
	ok(!cuda_context_doubt(), "so it is trusted");
	ok(fake.device_ns - 1e9 < 5e9, "calibrated in %.0f ms", fake.heated_ns / 1e6);
	close_all(all);
}

/* What events and graphs take is no part of a time. */
static void test_floor(void)
{
	fake_reset();
	fake.graph_ns = 4000;
	fake.event_ns = 700;
	json_t *all = opened();
	near(of(all, "pair_ns"), 700, 0.01, "two events");
	near(of(all, "graph_ns"), 4700, 0.01, "the start of a graph, with them");
	near(of(all, "node_ns"), 1000, 0.01, "an empty kernel");
	near(timed(1), 10e3, 0.002, "one execution is its kernel alone");
	near(timed(20), 20 * 10e3, 0.001, "so are twenty in a graph");
	fake.capture_fails = true;
	near(timed(20), 20 * 10e3, 0.001, "and twenty without");
	close_all(all);
}

/* Two clocks that agree convict the third. */
static void test_scales(void)
{
	fake_reset();
	fake.event_scale = 0.5;
	json_t *all = opened();
	near(of(all, "event_scale"), 0.5, 1e-3, "events run at half the speed");
	ok(strstr(text_at(all, "doubt"), "counts 0.5 of the host's time and 0.5 of the GPU's global timer"),
		"'%s'", text_at(all, "doubt"));
	is_str(warning(all), text_at(all, "doubt"), "which is a warning");
	const char *doubt = cuda_context_doubt();
	ok(doubt && strcmp(doubt, text_at(all, "doubt")) == 0, "and what results are told");
	close_all(all);
	fake_reset();
	fake.event_scale = fake.timer_scale = 2;
	all = opened();
	ok(strstr(text_at(all, "doubt"), "counts 2 of the host's time and 1 of the GPU's global timer"),
		"both of the GPU's: '%s'", text_at(all, "doubt"));
	close_all(all);
	fake_reset();
	fake.timer_scale = 1.2;
	all = opened();
	is_str(text_at(all, "doubt"), "", "a wrong global timer leaves times as they are");
	ok(strstr(warning(all), "global timer is wrong"), "'%s'", warning(all));
	ok(isnan(of(all, "steady_mhz")), "but clocks are unknown");
	fake.clock_mhz = 100;
	near(timed(20), 20 * 10e3, 0.001, "measured");
	is_int(cuda_context_disturbances(), 0, "and not judged by them");
	close_all(all);
	fake_reset();
	fake.event_scale = 1.04;
	all = opened();
	is_str(warning(all), "", "within 5%% is no reason");
	close_all(all);
}

static void test_cycles(void)
{
	fake_reset();
	fake.cycle_scale = 0.5;
	json_t *all = opened();
	ok(strstr(warning(all), "load is 950 MHz by its cycles, 1900 MHz by NVML"), "'%s'", warning(all));
	is_str(text_at(all, "doubt"), "", "times are not touched by that");
	close_all(all);
}

static void test_without_nvml(void)
{
	fake_reset();
	fake.has_nvml = false;
	fake.cycle_scale = 0.5;
	json_t *all = opened();
	is_str(text_at(all, "caveat"), "", "without NVML there is nothing to compare with");
	ok(isnan(of(all, "nvml_mhz")), "its clock is unknown");
	close_all(all);
}

/* An answer of NVML may take milliseconds: no clock is wrong for that. */
static void test_slow_nvml(void)
{
	fake_reset();
	fake.nvml_ns = 7e6;
	json_t *all = opened();
	near(of(all, "host_scale"), 1, 1e-3, "a slow NVML is not in the host's time of a spin");
	is_str(text_at(all, "doubt"), "", "so times can be trusted");
	int before = fake.nvml_asked;
	double began = fake.host_ns;
	timed(2000);
	ok(fake.nvml_asked > before, "samples ask it");
	ok((fake.nvml_asked - before) * fake.nvml_ns < 0.2 * (fake.host_ns - began) + fake.nvml_ns,
		"rarely: %d times in %.0f ms", fake.nvml_asked - before, (fake.host_ns - began) / 1e6);
	close_all(all);
}

/* Locked clocks, and a clock that rises only after some load. */
static void test_steady(void)
{
	fake_reset();
	fake.clock_mhz = fake.nvml_mhz = 0.6 * fake.default_mhz;
	json_t *all = opened();
	near(of(all, "steady_mhz"), 0.6 * 1980, 1e-3, "locked at 60%% of the peak: that is the steady clock");
	near(timed(20), 20 * 10e3, 0.001, "measured");
	is_int(cuda_context_disturbances(), 0, "quietly");
	close_all(all);
	fake_reset();
	fake.idle_mhz = 345;
	fake.ramp_ns = 200e6;
	fake.host_ns += 1e9;
	all = opened();
	near(of(all, "steady_mhz"), 1900, 1e-3, "an idle clock is not taken for the steady one");
	close_all(all);
}

/* A global timer with long steps. */
static void test_tick(void)
{
	fake_reset();
	fake.timer_tick_ns = 1000;
	json_t *all = opened();
	near(of(all, "event_scale"), 1, 2e-3, "steps of 1 us");
	near(of(all, "steady_mhz"), 1900, 0.01, "the clock");
	timed(1);
	is_int(cuda_context_disturbances(), 0, "a short sample is counted for long enough");
	close_all(all);
	fake_reset();
	fake.timer_tick_ns = 1048576;
	double began = fake.host_ns;
	all = opened();
	near(of(all, "event_scale"), 1, 0.02, "steps of 1 ms take longer spins");
	ok(fake.host_ns - began < 15e9, "in %.1f s", (fake.host_ns - began) / 1e9);
	is_str(text_at(all, "doubt"), "", "no doubt");
	ok(isnan(of(all, "steady_mhz")), "single samples cannot be counted with it");
	near(timed(20), 20 * 10e3, 0.001, "but measured");
	close_all(all);
}

/* The code of a kernel is loaded at its first launch, which waits for the stream: never behind a hold. */
static void test_loading(void)
{
	fake_reset();
	fake.loads_lazily = true;
	json_t *all = opened();
	is_int(fake.blocks_given_up, 0, "calibrated without losing a hold");
	near(timed(20), 20 * 10e3, 0.001, "measured");
	struct backend_limits limits = { .memory_bytes = 32e6, .sets = 100, .cold_sets = 1 };
	struct backend_list list;
	enum status status;
	double ns = NAN;
	fake_ask("matmul:f32,f32.c,f32/f32:ba1bb1m4n8k16:ta0tb0", &list);
	void *w = cuda_work_prepare(&list, 0, &limits, &status, &err);
	is_int(cuda_work_run(w, CACHE_NET, 3, &ns, &err), 0, "with a flush");
	is_int(fake.flushes, 1, "of the cache");
	near(ns, 3 * 10e3, 0.001, "as well");
	cuda_work_release(w);
	is_int(fake.blocks_given_up, 0, "nor here");
	close_all(all);
}

/* A clock that swings by more than 1%, as under a power limit: heating again does not take a second. */
static void test_swing(void)
{
	fake_reset();
	fake.swing = 0.02;
	json_t *all = opened();
	ok(json_is_false(json_object_get(json_object_get(all, "timer"), "steady")), "not steady");
	near(of(all, "steady_mhz"), 1900, 0.01, "its mean");
	fake.host_ns += 1e9;
	double before = fake.heated_ns;
	timed(20);
	ok(fake.heated_ns - before < 150e6, "after a pause it is heated for %.0f ms",
		(fake.heated_ns - before) / 1e6);
	is_int(cuda_context_disturbances(), 0, "and quiet");
	/* another user of the GPU: heating never reaches the clock again, and stops trying */
	fake.clock_mhz = 1000;
	fake.swing = 0.2;
	before = fake.heated_ns;
	for (int i = 0; i < 20; i++)
		timed(20);
	ok(fake.heated_ns - before < 1.5e9, "in vain: %.1f s", (fake.heated_ns - before) / 1e9);
	ok(cuda_context_disturbances() >= 10, "low samples are discarded: %d",
		(int)cuda_context_disturbances());
	close_all(all);
}

/* The hello does not wait for another process that measures; the first job calibrates then. */
static void test_busy(void)
{
	struct cuda_lock other;
	fake_reset();
	fake.event_scale = 0.5;
	ok(cuda_lock_open(&other, getenv("BENANZA_LOCK_DIR"), "GPU-abababab-abab-abab-abab-abababababab",
		   &err) == 0 && cuda_lock_take(&other, &err) == 0,
		"another process measures");
	json_t *all = opened();
	ok(strstr(text_at(all, "why"), "another process"), "not calibrated: %s", text_at(all, "why"));
	near(fake.heated_ns, 0, 0, "nothing ran");
	cuda_lock_give(&other);
	cuda_lock_close(&other);
	const char *doubt = cuda_context_doubt();
	ok(doubt && strstr(doubt, "event timer is wrong"), "asked later, it does: %s", doubt ? doubt : "");
	close_all(all);
}

static void share_refused(const char *text)
{
	struct platform_options o = { 0 };
	err = (struct error)ERROR_NONE;
	setenv(CUDA_CLOCK_VARIABLE, text, 1);
	is_int(cuda_context_open(&o, &arena, &device, &err), -1, "%s=%s", CUDA_CLOCK_VARIABLE, text);
	ok(strstr(err.text, CUDA_CLOCK_VARIABLE "=") && strstr(err.text, "0 (keep all samples) to 1") &&
			!strchr(err.text, '\n'),
		"refused: %s", err.text);
	unsetenv(CUDA_CLOCK_VARIABLE);
}

static int64_t disturbed_at(const char *share, double mhz)
{
	fake_reset();
	setenv(CUDA_CLOCK_VARIABLE, share, 1);
	json_t *all = opened();
	fake.clock_mhz = mhz;
	timed(20);
	int64_t count = cuda_context_disturbances();
	unsetenv(CUDA_CLOCK_VARIABLE);
	close_all(all);
	return count;
}

static void test_share(void)
{
	fake_reset();
	share_refused("75%");
	share_refused("-1");
	share_refused("1.1");
	share_refused("nan");
	is_int(disturbed_at("0.95", 0.9 * 1900), 1, "a stricter share");
	is_int(disturbed_at("0.5", 0.6 * 1900), 0, "a weaker one");
	is_int(disturbed_at("0", 10), 0, "none");
	is_int(disturbed_at("", 0.7 * 1900), 1, "empty: the default");
}

/* A GPU that faults while it calibrates is an error of the results, not a silent lack of calibration. */
static void test_fault(void)
{
	fake_reset();
	fake.fault_at = 5;
	json_t *all = opened();
	ok(strstr(text_at(all, "doubt"), "calibrating the timer") != NULL, "'%s'", text_at(all, "doubt"));
	const char *doubt = cuda_context_doubt();
	ok(doubt && *doubt, "results are told: %s", doubt ? doubt : "");
	json_decref(all);
	cuda_context_close();
	fake_reset();
	fake.malloc_fails_at = 1;
	all = opened();
	ok(strstr(text_at(all, "doubt"), "out of memory") != NULL, "'%s'", text_at(all, "doubt"));
	ok(!cuda_context_doubt(), "with memory it is calibrated after all");
	close_all(all);
}

int main(void)
{
	if (!fake_folder_open())
		return 1;
	unsetenv(CUDA_CLOCK_VARIABLE);
	test_without_nvml();
	test_true();
	test_floor();
	test_scales();
	test_cycles();
	test_slow_nvml();
	test_steady();
	test_tick();
	test_loading();
	test_swing();
	test_busy();
	test_share();
	test_fault();
	arena_free(&arena);
	fake_folder_close();
	return done_testing();
}
