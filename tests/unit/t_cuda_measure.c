#include "config.h"

#include "fake_platform.h"
#include "runner/gpu/cuda_lock.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* From a problem's text to its results, on the fake runtime with its simulated clock. */

static struct problem asked;
static struct algorithm offered[3];
static int offered_count;

static int algorithms(const struct problem *p, struct backend_list *list, struct error *why)
{
	(void)why;
	asked = *p;
	for (int i = 0; i < offered_count; i++)
		offered[i] = (struct algorithm){ .api = "fake",
			.name = i == 0	 ? "first"
				: i == 1 ? "second"
					 : "third",
			.layouts = "",
			.math = "strict",
			.notes = "",
			.rank = i,
			.matrix = MATRIX_NO };
	*list = (struct backend_list){ .backend = list->backend, .count = offered_count, .algorithm = offered,
		.state = &asked };
	return 0;
}

static void forget(struct backend_list *list)
{
	list->count = 0;
}

/* Filled in main: the fake backend's functions and its list of algorithms. */
static struct backend backend;
static const struct backend *const backends[] = { &backend, NULL };
const struct platform platform = FAKE_PLATFORM(backends);

static int calibrating; /* kernels that the open context has run */

/* As begin() does, on a fake GPU that the caller has changed. */
static void begin_as_is(int count)
{
	fake_backend = (struct fake_backend){ .kernel_ns = 10e3, .kernels = 1, .epsilon = 1e-5 };
	offered_count = count;
	platform_open();
	calibrating = fake.kernels_run;
}

static void begin(int count)
{
	fake_reset();
	begin_as_is(count);
}

static enum status run(const char *problem)
{
	int left_out;
	struct job j = platform_job(problem, &left_out);
	bool stopped;
	for (int i = 0; i < CACHE_NEAREST; i++)
		j.caches[i] = true;
	for (int i = 0; i < LAUNCH_COUNT; i++)
		j.launches[i] = true;
	return job_run(&j, &stopped, &err);
}

static void end(void)
{
	cuda_context_close();
	ok(fake.allocations_alive == 0 && fake.execs_alive == 0 && fake_backend.plans_alive == 0,
		"nothing is left");
}

static const struct result *find(enum cache c, enum launch l)
{
	for (int i = 0; i < seen.count; i++)
		if (seen.results[i].status == STATUS_OK && seen.results[i].cache == c &&
			seen.results[i].launch == l && seen.results[i].stats.stop != STOP_SHORTLIST)
			return &seen.results[i];
	return NULL;
}

#define MATMUL "matmul:f32,f32.c,f32/f32:ba1bb1m1n64k64:ta0tb0"

static void test_states(void)
{
	begin(1);
	double began = fake.host_ns;
	is_int(run(MATMUL), STATUS_OK, "measured: %s", err.text);
	ok(fake.host_ns - began < 100e6, "within twice its budget: %.0f ms", (fake.host_ns - began) / 1e6);
	is_int(seen.count, 6, "three cache states, two kinds of launch");
	for (int c = 0; c < CACHE_NEAREST; c++) {
		const struct result *amortized = find((enum cache)c, LAUNCH_AMORTIZED);
		const struct result *isolated = find((enum cache)c, LAUNCH_ISOLATED);
		if (!ok(amortized && isolated, "%s has both", cache_name((enum cache)c)))
			continue;
		near(amortized->stats.median, 10e3, 0.001, "back to back: the kernel alone");
		near(isolated->stats.median, 10e3, 0.001, "by itself: without its launch");
		ok(amortized->stats.executions == 20 || amortized->stats.executions == 21,
			"about twenty for two hundred microseconds: events count in floating point");
		near(amortized->enqueue_ns, FAKE_CALL_NS, 1e-3, "the host's share");
		near(amortized->clock_mhz, 1900, 1e-3, "the clock, a mean of its samples");
		is_int(amortized->stats.discarded, 0, "nothing was thrown away");
	}
	ok(strstr(seen.kernels[0], "compute") != NULL, "kernels: %s", seen.kernels[0]);
	ok(find(CACHE_NET, LAUNCH_AMORTIZED)->rotated_bytes >= 2 * FAKE_L2,
		"constants pass the cache twice: %.0f", find(CACHE_NET, LAUNCH_AMORTIZED)->rotated_bytes);
	end();
}

static void test_mistrusted(void)
{
	begin(2);
	fake_backend.mischief = MISCHIEF_BEHIND;
	is_int(run(MATMUL), STATUS_MISTRUSTED, "who writes behind its destination is not trusted: %s",
		err.text);
	is_int(seen.count, 2, "neither of two");
	ok(strstr(seen.why[0], "past the end of the destination") != NULL, "and why: %s", seen.why[0]);
	end();
	begin(1);
	fake_backend.mischief = MISCHIEF_WRONG;
	is_int(run(MATMUL), STATUS_MISTRUSTED, "nor is what is wrong: %s", err.text);
	end();
}

static void test_memory(void)
{
	begin(2);
	fake_backend.workspace_bytes = 60e6;
	is_int(run(MATMUL), STATUS_NO_MEMORY, "no memory: %s", err.text);
	fake_backend.workspace_bytes = 0;
	seen.count = 0;
	is_int(run(MATMUL), STATUS_OK, "the next problem goes on");
	is_int(find(CACHE_WARM, LAUNCH_AMORTIZED) != NULL, 1, "measured");
	end();
}

static void test_throttled(void)
{
	begin(1);
	fake.clock_mhz = 1000;
	is_int(run(MATMUL), STATUS_OK, "a GPU whose clock falls for good is measured all the same");
	near(find(CACHE_NET, LAUNCH_AMORTIZED)->clock_mhz, 1000, 0.01, "at what it does reach");
	end();
}

/* Clocks locked at 60% of the peak: quiet results. */
static void test_locked(void)
{
	fake_reset();
	fake.clock_mhz = fake.nvml_mhz = 0.6 * fake.default_mhz;
	fake.nvml_reasons = 0;
	begin_as_is(1);
	is_int(run(MATMUL), STATUS_OK, "locked clocks: %s", err.text);
	for (int i = 0; i < seen.count; i++) {
		is_int(seen.results[i].stats.stop, STOP_CONVERGED, "converged");
		is_int(seen.results[i].stats.discarded, 0, "nothing is discarded");
		is_str(seen.why[i], "", "nothing to say");
		near(seen.results[i].clock_mhz, 0.6 * 1980, 1e-3, "its clock");
	}
	end();
}

/* Compilations of 1.5 s, in which the clock falls to 345 MHz; it rises after 20 ms of load. */
static void test_pauses(void)
{
	fake_reset();
	fake.idle_mhz = 345;
	fake.nvml_reasons = 0;
	begin_as_is(3);
	fake_backend.plan_ns = 1.5e9;
	is_int(run(MATMUL), STATUS_OK, "pauses: %s", err.text);
	is_int(seen.count, 18, "three algorithms in six states: none is dropped for a low clock");
	for (int i = 0; i < seen.count; i++) {
		near(seen.results[i].stats.median, 10e3, 0.005, "each at its own time");
		near(seen.results[i].clock_mhz, 1900, 1e-3, "at the steady clock");
		is_int(seen.results[i].stats.discarded, 0, "nothing is discarded");
		is_int(seen.results[i].stats.stop, STOP_CONVERGED, "converged: heating is not budgeted");
	}
	end();
}

/* A graph starts in 4 us, which is 2% of a sample. */
static void test_floor(void)
{
	fake_reset();
	fake.graph_ns = 4000;
	fake.event_ns = 600;
	fake.nvml_reasons = 0;
	begin_as_is(1);
	is_int(run(MATMUL), STATUS_OK, "a slow start of graphs: %s", err.text);
	near(find(CACHE_NET, LAUNCH_AMORTIZED)->stats.median, 10e3, 0.001, "is no part of an execution");
	near(find(CACHE_NET, LAUNCH_ISOLATED)->stats.median, 10e3, 0.005, "nor are events");
	is_str(seen.why[0], "", "the slope agrees");
	fake.graph_ns = 24000;
	seen.count = 0;
	is_int(run(MATMUL), STATUS_OK, "a start that is longer than that of empty graphs");
	const struct result *r = find(CACHE_NET, LAUNCH_AMORTIZED);
	ok(r->stats.p10 > 10.9e3 && r->stats.p10_lo <= 10.01e3, "the interval contains the slope");
	ok(strstr(r->why, "each execution more takes"), "which is said: %s", r->why);
	end();
}

/* Events that run at half the speed: no time can be trusted, and each result says so. */
static void test_timer(void)
{
	fake_reset();
	fake.event_scale = 0.5;
	begin_as_is(2);
	ok(strstr(device.attributes, "the GPU's event timer is wrong") != NULL, "the hello says it");
	is_int(run(MATMUL), STATUS_MISTRUSTED, "suspect: %s", err.text);
	is_int(seen.count, 1, "one result for the problem");
	is_int(seen.results[0].status, STATUS_MISTRUSTED, "suspect");
	ok(strstr(seen.why[0], "counts 0.5 of the host's time") != NULL, "and why: %s", seen.why[0]);
	end();
}

/* A load that draws so much power that the clock falls by half is steady there. */
static void test_power(void)
{
	begin(1);
	fake.own_mhz = 950;
	fake.nvml_reasons = 0x4;
	is_int(run(MATMUL), STATUS_OK, "a power limit: %s", err.text);
	const struct result *r = find(CACHE_NET, LAUNCH_AMORTIZED);
	is_int(r->stats.stop, STOP_CONVERGED, "quiet");
	ok(r->stats.discarded <= 2, "few samples are discarded: %d", (int)r->stats.discarded);
	ok(r->clock_mhz < 1200, "its clock: %.0f MHz", r->clock_mhz);
	ok(strstr(seen.why[0], "its load lowers the clock to") && strstr(seen.why[0], "(power_cap)"),
		"and why: %s", seen.why[0]);
	end();
}

static void test_fault(void)
{
	begin(3);
	fake.fault_at = 40;
	is_int(run(MATMUL), STATUS_FAILED, "a kernel faults: %s", err.text);
	ok(!cuda_context_is_alive(), "the process is done");
	is_int(seen.count, 1, "the problem failed once, not once an algorithm");
	ok(strstr(seen.why[0], "illegal memory access") != NULL, "and says so: %s", seen.why[0]);
	cuda_context_close();
	fake_reset();
}

/* An algorithm whose launches take 3 ms, more than the launch queue holds, and whose kernels take 1.2 ms. */
static void test_launch_bound(void)
{
	begin(2);
	fake.queue_most = 1024;
	fake_backend.kernels = 6000;
	fake_backend.kernel_ns = 200;
	is_int(run(MATMUL), STATUS_OK, "measured: %s", err.text);
	const struct result *amortized = find(CACHE_NET, LAUNCH_AMORTIZED),
			    *isolated = find(CACHE_NET, LAUNCH_ISOLATED);
	if (ok(amortized && isolated, "in both ways")) {
		is_int(amortized->stats.executions, 1, "one execution a sample");
		near(amortized->stats.median, 6000 * 200, 0.001, "amortized: its kernels alone");
		ok(isolated->stats.median >= 6000 * FAKE_CALL_NS, "isolated: its launches, not held");
		near(isolated->enqueue_ns, 6000 * FAKE_CALL_NS, 0.01, "the host's share");
	}
	end();
}

/* What a library refuses when it runs is unsupported, not failed, in the results and as a whole. */
static void test_refused(void)
{
	begin(2);
	fake_backend.enqueue_returns = STATUS_UNSUPPORTED;
	is_int(run(MATMUL), STATUS_UNSUPPORTED, "refused when run: %s", err.text);
	is_int(seen.count, 2, "by both algorithms");
	for (int i = 0; i < seen.count; i++) {
		is_int(seen.results[i].status, STATUS_UNSUPPORTED, "unsupported");
		is_str(seen.why[i], "the library does not support this", "with the library's reason");
	}
	end();
	begin(1);
	fake_backend.enqueue_returns = STATUS_UNSUPPORTED;
	fake_backend.enqueue_refused_from = 100; /* in the midst of the samples */
	is_int(run(MATMUL), STATUS_UNSUPPORTED, "refused later");
	end();
}

/* A device lost through no fault of the problem: its algorithm has no result, not a failed one. */
static void test_lost(void)
{
	begin(3);
	fake.fault_at = 40;
	fake.fault = cudaErrorUnknown;
	is_int(run(MATMUL), STATUS_FAILED, "an unknown error that lasts: %s", err.text);
	ok(!cuda_context_is_alive(), "the device is lost");
	is_int(seen.count, 0, "no algorithm has failed");
	cuda_context_close();
	fake_reset();
}

/* A failure of a library behind which a kernel faults, as the release shows. */
static void test_late(void)
{
	begin(3);
	fake_backend.enqueue_fails = true;
	run(MATMUL);
	/* each algorithm ran one kernel, inputs are filled by others */
	int filling = fake.kernels_run - calibrating - 3;
	end();
	begin(3);
	fake_backend.enqueue_fails = true;
	fake.fault_at = filling + 1;
	is_int(run(MATMUL), STATUS_FAILED, "a kernel faults behind a failure: %s", err.text);
	ok(!cuda_context_is_alive(), "the device is lost");
	is_int(seen.count, 1, "the first algorithm is blamed, no other one");
	cuda_context_close();
	fake_reset();
}

static void test_no_graphs(void)
{
	begin(1);
	fake.capture_fails = true;
	is_int(run(MATMUL), STATUS_OK, "what cannot be captured is measured");
	near(find(CACHE_NET, LAUNCH_AMORTIZED)->stats.median, 10e3, 0.001, "as truly");
	end();
}

/* Another process, whose memory is free when it has measured. */
static struct cuda_lock other;
static double other_bytes;

static void *other_ends(void *unused)
{
	(void)unused;
	while (!cuda_context_is_waiting())
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	fake.memory_bytes += other_bytes;
	cuda_lock_give(&other);
	return NULL;
}

static void test_shared(void)
{
	pthread_t thread;
	begin(2);
	double before = fake.bytes_alive;
	const char *uuid = "GPU-abababab-abab-abab-abab-abababababab";
	ok(cuda_lock_open(&other, getenv("BENANZA_LOCK_DIR"), uuid, &err) == 0 && cuda_lock_try(&other),
		"another process measures");
	other_bytes = fake.memory_bytes - before - 1000;
	fake.memory_bytes -= other_bytes;
	if (pthread_create(&thread, NULL, other_ends, NULL))
		abort();
	is_int(run(MATMUL), STATUS_OK, "measured when it has ended: %s", err.text);
	pthread_join(thread, NULL);
	near(fake.bytes_alive, before, 0, "no buffer is kept from another process");
	ok(cuda_lock_try(&other), "nor is the lock");
	cuda_lock_close(&other);
	end();
}

int main(void)
{
	if (!fake_folder_open())
		return 1;
	backend = backend_fake;
	backend.algorithms = algorithms;
	backend.forget = forget;
	test_states();
	test_shared();
	test_mistrusted();
	test_memory();
	test_throttled();
	test_locked();
	test_pauses();
	test_floor();
	test_timer();
	test_power();
	test_no_graphs();
	test_launch_bound();
	test_refused();
	test_lost();
	test_late();
	test_fault();
	arena_free(&arena);
	fake_folder_close();
	return done_testing();
}
