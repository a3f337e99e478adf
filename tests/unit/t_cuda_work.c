#include "config.h"

#include "runner/gpu/cuda_work.h"

#include <stdlib.h>

#include "base/log.h"
#include "fake_backend.h"
#include "fake_cudart.h"
#include "runner/gpu/cuda_buffers.h"
#include "runner/gpu/cuda_clock.h"
#include "runner/gpu/cuda_time.h"
#include "runner/measure/platform.h"
#include "tap.h"

static const struct backend *const backends[] = { &backend_fake, NULL };
const struct platform platform = { .program = "benanza-runner-cuda", .backends = backends };

static struct arena arena;
static struct backend_list list;
static struct backend_limits limits;
static double opened_bytes; /* what the open context has allocated */
static enum status status;
static struct error err;

/* A fresh GPU, backend and limits. */
static void begin(const char *text)
{
	struct device device;
	struct platform_options options = { 0 };
	fake_reset();
	fake_backend = (struct fake_backend){ .kernel_ns = 10e3, .kernels = 1, .epsilon = 1e-5 };
	err = (struct error)ERROR_NONE;
	limits = (struct backend_limits){ .memory_bytes = 32e6, .sets = 1, .cold_sets = 1 };
	if (cuda_context_open(&options, &arena, &device, &err))
		printf("# %s\n", err.text);
	fake.captures = fake.graph_launches = fake.flushes = 0; /* calibrating used some */
	opened_bytes = fake.bytes_alive;
	fake_ask(text, &list);
}

/* Closes everything and checks for leaks. */
static void end(const char *what)
{
	cuda_context_close();
	ok(fake.allocations_alive == 0 && fake.execs_alive == 0 && fake.streams_alive == 0 &&
			fake.events_alive == 0 && fake.pinned_alive == 0,
		"%s: nothing is left on the device", what);
	ok(fake.graphs_alive == 0 && fake_backend.plans_alive == 0, "%s: nor of plans", what);
}

static void *prepare(void)
{
	void *w = cuda_work_prepare(&list, 0, &limits, &status, &err);
	if (!w)
		printf("# %s\n", err.text);
	return w;
}

#define MATMUL "matmul:f32,f32.c,f32/f32:ba1bb1m4n8k16:ta0tb0"
#define RELU "eltwise:f32,f32:relu:3x5x7"

static void test_times(void)
{
	double ns = 0;
	begin(MATMUL);
	void *w = prepare();
	ok(w != NULL, "prepared");
	ok(isnan(cuda_work_enqueue_ns(w)), "no launch was timed yet");
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), 0, "one execution");
	near(ns, 10e3, 0.001, "takes its time, without its launch");
	is_int(fake.blocks_given_up, 0, "behind a hold");
	near(cuda_work_enqueue_ns(w), FAKE_CALL_NS, 1e-4, "the host's share is seen");
	is_int(fake_backend.traced, 2, "the very first was not the timed one");
	is_int(cuda_work_run(w, CACHE_WARM, 20, &ns, &err), 0, "twenty");
	near(ns, 20 * 10e3, 0.001, "take twenty times the kernel: no launch among them");
	is_int(fake.captures, 1, "by a captured graph");
	is_int(fake.graph_launches, 2, "which ran once untimed");
	is_int(cuda_work_run(w, CACHE_WARM, 20, &ns, &err), 0, "twenty more");
	is_int(fake.captures, 1, "with the same graph");
	is_int(cuda_work_run(w, CACHE_WARM, 21, &ns, &err), 0, "twenty-one");
	is_int(fake.captures, 2, "with another");
	is_int(fake_backend.traced, 2 + 20 * 3 + 21 * 2, "every execution ran");
	is_int(fake.blocks_given_up, 0, "no hold was given up");
	near(cuda_work_clock_mhz(w), 1900, 1e-3, "the clock beside it");
	is_int(cuda_context_disturbances(), 0, "which was as it should be");
	fake_backend.kernels = 3;
	is_int(cuda_work_run(w, CACHE_WARM, 5, &ns, &err), 0, "executions of several kernels");
	near(ns, 3 * 5 * 10e3, 0.001, "take the time of all");
	cuda_work_release(w);
	end("times");
}

static void test_net(void)
{
	double ns;
	begin(MATMUL);
	limits.sets = 7;
	void *w = prepare();
	double bytes = 16 * 8 * 4;
	near(cuda_work_rotated_bytes(w, CACHE_NET), 7 * bytes, 0,
		"so much passes before the first comes back");
	for (int i = 0; i < 9; i++)
		cuda_work_run(w, CACHE_NET, 1, &ns, &err);
	const struct cuda_pointers *t = fake_backend.trace + 1; /* the first execution is not timed */
	int different = 0, same_source = 0;
	for (int i = 0; i < 7; i++)
		for (int j = 0; j < i; j++)
			different += t[i].weights != t[j].weights;
	for (int i = 0; i < 9; i++)
		same_source += t[i].source[0] == t[0].source[0] && t[i].destination == t[0].destination;
	is_int(different, 21, "seven sets of weights in turn");
	ok(t[7].weights == t[0].weights && t[8].weights == t[1].weights, "then again from the first");
	is_int(same_source, 9, "activations stay where they are");
	int equal = 0;
	for (int i = 1; i < 7; i++)
		equal += memcmp(t[i].weights, t[0].weights, (size_t)bytes) == 0;
	is_int(equal, 6, "all sets hold the same values");
	fake_backend.traced = 0;
	is_int(cuda_work_run(w, CACHE_NET, 3, &ns, &err), 0, "three back to back of seven sets");
	is_int(cuda_work_run(w, CACHE_NET, 3, &ns, &err), 0, "and again");
	t = fake_backend.trace;
	ok(t[0].weights != t[1].weights && t[1].weights != t[2].weights && t[0].weights != t[2].weights,
		"each execution of a graph has another set");
	ok(t[3].weights == t[0].weights && t[9].weights == t[6].weights, "a graph runs once untimed");
	ok(t[0].weights != t[6].weights && t[2].weights != t[6].weights,
		"the next graph goes on where that one ended");
	for (int i = 0; i < 3; i++)
		cuda_work_run(w, CACHE_NET, 3, &ns, &err);
	is_int(fake.captures, CUDA_TIME_GRAPHS, "the number of graphs is limited");
	near(cuda_work_rotated_bytes(w, CACHE_NET), 7 * bytes, 0, "four times three pass all seven");
	is_int(cuda_work_run(w, CACHE_NET, 14, &ns, &err), 0, "a multiple of the sets");
	is_int(cuda_work_run(w, CACHE_NET, 14, &ns, &err), 0, "twice");
	is_int(fake.captures, CUDA_TIME_GRAPHS + 1, "needs one graph");
	is_int(fake.flushes, 0, "no flush if sets rotate");
	cuda_work_release(w);
	end("net");
}

/* The work that a library needs once per buffer set is not part of a launch. */
static void test_ready(void)
{
	double ns;
	begin(MATMUL);
	limits.sets = 7;
	fake_backend.ready_ns = 50e3;
	void *w = prepare();
	for (int i = 0; i < 3; i++) {
		is_int(cuda_work_run(w, CACHE_NET, 1, &ns, &err), 0, "a set that was made ready");
		near(ns, 10e3, 0.001, "takes no longer");
	}
	near(cuda_work_enqueue_ns(w), FAKE_CALL_NS, 1e-4, "nor does its launch");
	cuda_work_release(w);
	end("ready");
	begin(MATMUL);
	limits.sets = 100;
	fake_backend.ready_ns = 50e3;
	w = prepare();
	is_int(cuda_work_run(w, CACHE_NET, 20, &ns, &err), 0, "twenty sets in a graph");
	is_int(fake.graph_launches, 2, "which was captured: nothing was allocated meanwhile");
	is_int(cuda_work_run(w, CACHE_NET, 3, &ns, &err), 0, "three sets behind a flush");
	is_int(fake.graph_launches, 4, "in a graph too");
	int before = fake.allocations;
	fake.capture_fails = true;
	is_int(cuda_work_run(w, CACHE_NET, 50, &ns, &err), 0, "fifty without a graph");
	near(ns, 50 * 10e3, 0.001, "with nothing else between the events");
	is_int(fake.allocations - before, 30, "each allocated once");
	cuda_work_release(w);
	end("ready for graphs");
}

/* Many small buffer sets do not fit in the graphs, so the cache is flushed before each launch. */
static void test_swept(void)
{
	double ns, bytes = 16 * 8 * 4;
	begin(MATMUL);
	limits.sets = limits.cold_sets = 100;
	void *w = prepare();
	is_int(cuda_work_run(w, CACHE_NET, 3, &ns, &err), 0, "three of a hundred sets");
	near(ns, 3 * 10e3, 0.001, "take three times the kernel, the flush is not timed");
	is_int(fake.flushes, 1, "after a flush");
	const struct cuda_pointers *t = fake_backend.trace + fake_backend.traced - 4;
	ok(t[0].source[0] == t[1].source[0] && t[0].weights != t[1].weights && t[0].weights != t[2].weights &&
			t[0].weights != t[3].weights,
		"and an execution that brings activations back, on other weights");
	near(cuda_work_rotated_bytes(w, CACHE_NET), 100 * bytes, 0, "as good as passing all");
	cuda_work_run(w, CACHE_NET, 3, &ns, &err);
	is_int(fake.captures, 1, "with one graph");
	is_int(fake.flushes, 2, "flushed again");
	int traced = fake_backend.traced;
	cuda_work_run(w, CACHE_COLD, 3, &ns, &err);
	is_int(fake.flushes, 3, "cold likewise");
	is_int(fake_backend.traced - traced, 6, "but with nothing brought back");
	cuda_work_run(w, CACHE_WARM, 3, &ns, &err);
	cuda_work_run(w, CACHE_NET, 1, &ns, &err);
	cuda_work_run(w, CACHE_NET, 200, &ns, &err);
	is_int(fake.flushes, 3, "not warm ones, single ones, or where all sets pass");
	cuda_work_release(w);
	end("flushed");
	begin(MATMUL);
	limits.sets = 100;
	w = prepare();
	cuda_work_run(w, CACHE_NET, 1, &ns, &err);
	fake.malloc_fails_at = 1;
	is_int(cuda_work_run(w, CACHE_NET, 2, &ns, &err), 0, "no memory to flush with");
	near(cuda_work_rotated_bytes(w, CACHE_NET), 2 * bytes, 0, "then it says how little passes");
	cuda_work_release(w);
	end("not flushed");
}

static void test_cold(void)
{
	double ns;
	begin(MATMUL);
	limits.sets = 2;
	limits.cold_sets = 4;
	fake_backend.workspace_bytes = 1000;
	void *w = prepare();
	for (int i = 0; i < 5; i++)
		cuda_work_run(w, CACHE_COLD, 1, &ns, &err);
	const struct cuda_pointers *t = fake_backend.trace + 1;
	int different = 0;
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < i; j++)
			different += t[i].weights != t[j].weights && t[i].source[0] != t[j].source[0] &&
				t[i].destination != t[j].destination && t[i].workspace != t[j].workspace;
	is_int(different, 6, "cold: everything is another in four executions");
	ok(memcmp(&t[4], &t[0], sizeof(t[0])) == 0, "then again from the first");
	int aligned = 0;
	for (int i = 0; i < 4; i++)
		aligned += (uintptr_t)t[i].workspace % 256 == 0 && (uintptr_t)t[i].destination % 256 == 0 &&
			(uintptr_t)t[i].weights % 256 == 0;
	is_int(aligned, 4, "all aligned");
	is_int(cuda_work_run(w, CACHE_COLD, 8, &ns, &err), 0, "cold back to back");
	double worst = NAN;
	is_int(cuda_work_check(w, &worst, &err), 0, "copies hold the same values");
	near(worst, 0, 0, "exactly");
	cuda_work_release(w);
	end("cold");
}

static void check_one(const char *text, double most)
{
	double worst = NAN;
	begin(text);
	void *w = prepare();
	int bad = w ? cuda_work_check(w, &worst, &err) : -1;
	ok(bad == 0 && worst <= most, "%s: worst error %g", text, worst);
	if (bad)
		printf("# %s\n", err.text);
	if (w)
		cuda_work_release(w);
	end(text);
}

/* Outputs are read back into pinned memory, or into pageable memory if that fails. */
static void test_staging(void)
{
	double ns, worst = NAN;
	begin(MATMUL);
	void *w = prepare();
	cuda_work_run(w, CACHE_WARM, 1, &ns, &err);
	int before = fake.pinned_alive;
	fake.pinned_fails = true;
	ok(cuda_work_check(w, &worst, &err) == 0 && worst == 0, "checked without pinned memory");
	is_int(fake.pinned_alive, before, "there was none");
	fake.pinned_fails = false;
	ok(cuda_work_check(w, &worst, &err) == 0 && worst == 0, "and with it");
	cuda_work_check(w, &worst, &err);
	is_int(fake.pinned_alive, before + 1, "once for all checks");
	cuda_work_release(w);
	end("staging");
}

/* For all layouts and types the check computes the values that were filled in. */
static void test_checks(void)
{
	static const char *const exact[] = { RELU, MATMUL "+bias:f32.c+add:f32+relu",
		"matmul:f32,f32,f32/f32:ba2x1bb1x3m5n4k3:ta1tb1",
		"matmul:f16,f16.c,f16/f32:ba1bb1m9n7k8:ta0tb1+bias:f16.c",
		"conv:f32@nxc,f32.c@nxc,f32@nxc/"
		"f32:n2c4h5w5k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g2+bias:f32.c+add:f32@nxc",
		"conv:bf16,bf16.c,bf16/f32:n1c3h6w6k4r3s3:ph0pw0qh0qw0:sh2sw2:dh1dw1:g1",
		"conv:s8,s8.c,s32/s32:n1c3h6w6k4r3s3:ph0pw0qh0qw0:sh2sw2:dh1dw1:g1",
		"matmul:f16,u4.c,f16/f32:ba1bb1m3n7k32:ta0tb1",
		"matmul:f32,s4.c@s224x1x32,f32/f32:ba1bb1m3n7k32:ta0tb0",
		"conv:s8,s8.c,s8/s32:n1c3h6w6k4r3s3:ph0pw0qh0qw0:sh2sw2:dh1dw1:g1",
		"concat:f16,f16:2x3x4,2x5x4,2x1x4:ax1", "transpose:f16@s1x3x12,f16:3x4x2:perm2x0x1",
		"batchnorm:f32,f32:2x3x4x4", "layernorm:f32,f32:4x6:ax1", "binary:f32,f32,bool:lt:2x3:3",
		"binary:f32,f32,f32:div:2x3:2x3", "cast:f32,u8:4x4", "eltwise:f32,f32:logarithm:30",
		"eltwise:f32,f32:logarithm:300+sqrt", "binary:f32,f32,f32:sub:300:300+sqrt",
		"reduce:f32,f32:prod:3x40:3x1", "softmax:f16,f16:soft:3x900:ax1", "cast:f32,f8e4m3:100",
		"topk:f32,f32:largest:4x9:ax1:k3", "argreduce:f16,s64:argmax:4x300:ax1",
		"dropout:f32,f32:drop,0.5:40", "gather:f32.c,s64,f32:50x4:ax0:1x12",
		"select:bool,f32,f32,f32:1x4:3x4:1", "scan:f32,f32:cumsum:3x8:ax1",
		"rnn:f32,f32.c,f32:lstm:t20n3i4h12d2", "rnn:f16,f16.c,f16:gru:t3n2i4h6d1",
		"deconv:f32,f32.c,f32/f32:n1c4h5w5k6r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw1:g2",
		"instancenorm:f32@nxc,f32@nxc:2x3x4x4", "groupnorm:f32,f32:2x6x4x4:g2",
		"rmsnorm:bf16,bf16:4x6:ax1", "lrn:f32,f32:across,0.0001,0.75:1x8x3x3:n5",
		"pool:f32@nxc,f32@nxc:max:n1c4h8w8r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1",
		"resample:f16,f16:linear:n1c2h4w4:oh8ow8", "copy:u8,u8:b1000",
		"attention:f16,f16,f16,f16/f32:causal:n1hq4hk2lq6lk6d8e8" };
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		struct problem p;
		struct error why = ERROR_NONE;
		if (problem_parse(text_of(exact[i]), &p, &why))
			ok(false, "%s: %s", exact[i], why.text);
		else
			check_one(exact[i], 0);
	}
}

static void mischief(const char *text, enum mischief m, const char *says)
{
	double worst = NAN;
	begin(text);
	fake_backend.workspace_bytes = 300;
	void *w = prepare();
	fake_backend.mischief = m;
	is_int(cuda_work_check(w, &worst, &err), 0, "%s: checked", says);
	if (m == MISCHIEF_WRONG)
		ok(worst > 0.01 && isfinite(worst), "wrong by %g", worst);
	else
		ok(isinf(worst) && strstr(err.text, says), "'%s': %s", says, err.text);
	fake_backend.mischief = MISCHIEF_NONE;
	is_int(cuda_work_check(w, &worst, &err), 0, "and once more without");
	near(worst, 0, 0, "the next one is not blamed");
	cuda_work_release(w);
	end(says);
}

static void test_mischief(void)
{
	mischief(MATMUL, MISCHIEF_WRONG, "wrong");
	mischief(MATMUL, MISCHIEF_UNWRITTEN, "the destination: element 31 is not written");
	mischief("cast:f32,s8:40", MISCHIEF_UNWRITTEN, "the destination: element 39 is not written");
	mischief("layernorm:f16,f16:4x6:ax1", MISCHIEF_NAN, "element 0 is nan");
	mischief(MATMUL, MISCHIEF_BEHIND, "it writes past the end of the destination");
	mischief("softmax:f16,f16:soft:3x3:ax1", MISCHIEF_BEHIND,
		"it writes past the end of the destination");
	mischief(MATMUL, MISCHIEF_BEFORE, "it writes before the start of the destination");
	mischief(MATMUL, MISCHIEF_SPACE_BEHIND, "it writes past the end of its workspace");
	mischief(MATMUL, MISCHIEF_SPACE_BEFORE, "it writes before the start of its workspace");
	mischief(RELU, MISCHIEF_SOURCE, "it writes past the end of the destination");
	mischief(MATMUL, MISCHIEF_WEIGHTS, "it overwrites the weights");
}

static void test_gain(void)
{
	double worst, plain;
	begin(MATMUL);
	void *w = prepare();
	fake_backend.mischief = MISCHIEF_WRONG;
	cuda_work_check(w, &plain, &err);
	cuda_work_release(w);
	fake_backend.gain = 4;
	w = prepare();
	cuda_work_check(w, &worst, &err);
	near(worst, plain / 4, 1e-9, "a larger tolerance for Winograd");
	cuda_work_release(w);
	end("gain");
}

/* Outputs are compared with the problem's times the plan's factor: an 8-bit result's scale. */
static void test_factor(void)
{
	static const double by[][2] = { { 0.5, 0.5 }, { 0.5, 0 }, { 0, 0.5 } };
	for (int i = 0; i < 3; i++) {
		double worst = NAN;
		begin("matmul:f8e4m3,f8e4m3.c,f8e4m3/f32:ba1bb1m4n8k16:ta0tb0+bias:f16.c+relu");
		fake_backend.factor = by[i][0];
		fake_backend.by_factor = by[i][1];
		void *w = prepare();
		cuda_work_check(w, &worst, &err);
		ok(i == 0 ? worst < 1e-6 : worst > 0.1, "planned %g, computed %g: error %g", by[i][0],
			by[i][1], worst);
		cuda_work_release(w);
		end("factor");
	}
}

/* Of large destinations only sampled elements are read. */
static void test_large(void)
{
	double worst = NAN;
	begin("eltwise:f32,f32:relu:1100000");
	void *w = prepare();
	is_int(cuda_work_check(w, &worst, &err), 0, "a large destination: %s", err.text);
	near(worst, 0, 0, "is right");
	fake_backend.mischief = MISCHIEF_UNWRITTEN;
	is_int(cuda_work_check(w, &worst, &err), 0, "its last element");
	ok(isinf(worst), "is looked at: %s", err.text);
	cuda_work_release(w);
	end("large");
}

static void test_memory(void)
{
	double ns;
	begin(MATMUL);
	limits.memory_bytes = 1000;
	ok(!prepare() && status == STATUS_NO_MEMORY && strstr(err.text, "are free"), "the limit: %s",
		err.text);
	limits.memory_bytes = 1e6;
	fake_backend.workspace_bytes = 2e6;
	ok(!prepare() && status == STATUS_NO_MEMORY, "the limit counts the workspace: %s", err.text);
	fake_backend.workspace_bytes = 0;
	for (int i = 1; i <= 3; i++) {
		cuda_buffers_drop();
		fake_backend.workspace_bytes = 512;
		fake.malloc_fails_at = i;
		ok(!prepare() && status == STATUS_NO_MEMORY && strstr(err.text, "out of memory"),
			"allocation %d: %s", i, err.text);
		is_int(cudaGetLastError(), cudaSuccess, "leaves no error behind");
		ok(cuda_context_is_alive(), "nor a dead context");
	}
	fake.malloc_fails_at = 0;
	void *w = prepare();
	ok(w && cuda_work_run(w, CACHE_NET, 1, &ns, &err) == 0, "the next one works");
	cuda_work_release(w);
	fake_backend.plan_fails = true;
	ok(!prepare() && status == STATUS_UNSUPPORTED, "what a plan says: %s", err.text);
	is_str(err.text, "the library says no", "is handed on");
	end("memory");
}

static void test_sharing(void)
{
	begin(MATMUL);
	limits.sets = 5;
	fake_backend.workspace_bytes = 4096;
	void *first = prepare();
	int allocations = fake.allocations;
	void *second = prepare();
	is_int(fake.allocations, allocations,
		"a second algorithm of a problem shares operands and workspace");
	fake_backend.workspace_bytes = 8192;
	void *third = prepare();
	is_int(fake.allocations, allocations + 1, "a larger workspace is another");
	cuda_work_release(first);
	cuda_work_release(second);
	cuda_work_release(third);
	fake_backend.workspace_bytes = 16384;
	int alive = fake.allocations_alive;
	void *fourth = prepare();
	is_int(fake.allocations_alive, alive - 1,
		"a yet larger one takes the place of those that nobody uses");
	cuda_work_release(fourth);
	allocations++;
	void *again = prepare();
	is_int(fake.allocations, allocations + 1, "operands and workspace stay for the next algorithm");
	cuda_work_release(again);
	double before = fake.bytes_alive, all = cuda_context_memory_bytes();
	ok(before > opened_bytes && fake.bytes_alive == opened_bytes,
		"asked for free memory, they are given back");
	near(all, fake.memory_bytes - opened_bytes, 0, "and counted as free");
	struct problem problem = *(const struct problem *)list.state;
	list.state = &problem;
	void *one = prepare();
	fake_ask(RELU, &list);
	void *other = prepare();
	ok(one && other, "two problems at once");
	double worst = NAN;
	ok(cuda_work_check(other, &worst, &err) == 0 && worst == 0, "each with its operands");
	cuda_work_release(one);
	cuda_work_release(other);
	end("sharing");
}

static void test_without_graphs(const char *how)
{
	double ns;
	begin(MATMUL);
	limits.sets = strcmp(how, "capture") == 0 ? 10000 : 3; /* more than a graph would have used */
	fake_backend.enqueue_allocates = strcmp(how, "allocates") == 0;
	fake.capture_fails = strcmp(how, "capture") == 0;
	fake.instantiate_fails = strcmp(how, "instantiate") == 0;
	void *w = prepare();
	is_int(cuda_work_run(w, CACHE_NET, 300, &ns, &err), 0, "%s: no graph, it runs: %s", how, err.text);
	near(ns, 300 * 10e3, 0.001, "and no launch is among what is timed");
	is_int(fake.graph_launches, 0, "without a graph");
	is_int(cuda_work_run(w, CACHE_NET, 4, &ns, &err), 0, "again");
	is_int(fake.captures, 1, "it is not tried twice");
	is_int(fake.blocks_given_up, 0, "no hold was given up");
	near(cuda_work_rotated_bytes(w, CACHE_NET), (double)limits.sets * 16 * 8 * 4, 0, "all sets pass");
	cuda_work_release(w);
	end(how);
}

/* Under some tools every launch waits for its kernel, so that the stream cannot be held. */
static void test_waiting_launches(void)
{
	double ns;
	begin(MATMUL);
	fake.launches_wait = true;
	void *w = prepare();
	is_int(cuda_work_run(w, CACHE_WARM, 10, &ns, &err), 0, "launches that wait");
	is_int(fake.blocks_given_up, 2, "one hold is lost, and one to find out that it is not the algorithm");
	is_int(cuda_work_run(w, CACHE_WARM, 10, &ns, &err), 0, "then nothing is held");
	void *other = prepare();
	cuda_work_run(other, CACHE_WARM, 1, &ns, &err);
	cuda_work_release(other);
	is_int(fake.blocks_given_up, 2, "any more, not even for another algorithm");
	cuda_work_run(w, CACHE_WARM, 10, &ns, &err);
	ok(ns >= 10 * 10e3 && ns < 20 * 10e3, "%g ns", ns);
	cuda_work_release(w);
	end("waiting launches");
}

/* A fault after a library's own failure is attributed to this algorithm, not to the next one. */
static void test_late_fault(void)
{
	double ns;
	begin(MATMUL);
	void *w = prepare();
	fake_backend.enqueue_fails = true;
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), -1, "a launch that fails");
	cuda_work_release(w);
	ok(cuda_context_is_alive(), "need not be a fault");
	w = prepare();
	fake.fault_at = 1;
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), -1, "one behind a kernel that faults");
	is_str(err.text, "the library fails", "says what it knows");
	cuda_work_release(w);
	ok(!cuda_context_is_alive(), "and the device is lost when it is released");
	end("late fault");
}

/* A library may synchronize by itself; the stream is still held for other algorithms. */
static void test_waiting_algorithm(void)
{
	double ns;
	begin(MATMUL);
	void *w = prepare(), *other = prepare();
	fake_backend.enqueue_waits = true;
	is_int(cuda_work_run(w, CACHE_WARM, 10, &ns, &err), 0, "an algorithm that waits");
	is_int(fake.blocks_given_up, 2, "loses a hold for ten, and one for a single execution");
	is_int(cuda_work_run(w, CACHE_WARM, 10, &ns, &err), 0, "and again");
	is_int(fake.blocks_given_up, 2, "none");
	fake_backend.enqueue_waits = false;
	is_int(cuda_work_run(other, CACHE_WARM, 10, &ns, &err), 0, "another one");
	near(ns, 10 * 10e3, 0.001, "is held as ever");
	is_int(fake.blocks_given_up, 2, "nor is a hold lost");
	cuda_work_release(other);
	fake_backend.kernel_ns = 1e3;
	other = prepare();
	cuda_work_run(other, CACHE_WARM, 10, &ns, &err);
	near(ns, 10 * 1e3, 0.001, "however short its kernel");
	cuda_work_release(other);
	cuda_work_release(w);
	end("waiting algorithm");
}

/* Single enqueues of many kernels fill the launch queue: then fewer are enqueued behind a hold. */
static void test_full_queue(void)
{
	double ns;
	begin(MATMUL);
	fake.queue_most = 1024;
	fake.capture_fails = true;
	fake_backend.kernels = 20;
	fake_backend.kernel_ns = 100;
	void *w = prepare();
	is_int(cuda_work_run(w, CACHE_WARM, 100, &ns, &err), 0, "2000 launches that do not fit");
	near(ns, 100 * 20 * 100, 0.01, "take their own time");
	is_int(fake.blocks_given_up, 1, "after one hold");
	is_int(cuda_work_run(w, CACHE_WARM, 100, &ns, &err), 0, "and again");
	is_int(fake.blocks_given_up, 1, "without another");
	cuda_work_release(w);
	end("full queue");
}

/* A graph of one execution: its many launches take no time between the events. */
static void test_graph_of_one(void)
{
	double ns;
	begin(MATMUL);
	fake_backend.kernels = 100;
	fake_backend.kernel_ns = 100;
	void *w = prepare();
	is_int(cuda_work_amortized(w, CACHE_WARM, 1, &ns, &err), 0, "one execution, amortized");
	near(ns, 100 * 100, 0.001, "takes the time of its kernels");
	is_int(fake.captures, 1, "as a graph");
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), 0, "the same, isolated");
	near(ns, 100 * 100, 0.001, "takes no longer, though its launches take five times as long");
	near(cuda_work_enqueue_ns(w), 100 * FAKE_CALL_NS, 1e-4, "which is known");
	is_int(fake.captures, 1, "without another graph");
	cuda_work_release(w);
	end("graph of one");
}

static char *logged;
static size_t logged_size;

static FILE *log_begin(void)
{
	FILE *f = open_memstream(&logged, &logged_size);
	log_to(f);
	return f;
}

static void log_end(FILE *f)
{
	log_to(NULL);
	fclose(f);
}

/* A clock that falls and stays low is not the GPU's fault twice: clocks were locked. */
static void test_clock(void)
{
	double ns;
	begin(MATMUL);
	void *w = prepare();
	ok(isnan(cuda_work_clock_mhz(w)), "no clock seen yet");
	near(cuda_clock_load().steady_mhz, 1900, 1e-3, "the steady clock is what was measured, not the peak");
	fake.clock_mhz = 0.76 * 1900;
	cuda_work_run(w, CACHE_WARM, 10, &ns, &err);
	is_int(cuda_context_disturbances(), 0, "a clock above three quarters of it does not disturb");
	near(cuda_work_clock_mhz(w), 0.76 * 1900, 1e-3, "and is told");
	fake.clock_mhz = 0.74 * 1900;
	FILE *f = log_begin();
	cuda_work_run(w, CACHE_WARM, 10, &ns, &err);
	is_int(cuda_context_disturbances(), 1, "below it does");
	double heated = fake.heated_ns;
	cuda_work_run(w, CACHE_WARM, 1, &ns, &err);
	log_end(f);
	ok(strstr(logged, "down to 1406 of 1900 MHz (power_cap hardware_thermal)"), "said once, and why: %s",
		logged);
	ok(fake.heated_ns - heated > 0.9e9 && fake.heated_ns - heated < 1.1e9,
		"then it is heated, for a second at most: %.0f ms", (fake.heated_ns - heated) / 1e6);
	near(cuda_clock_load().steady_mhz, 0.74 * 1900, 1e-3, "a clock that is steady there is the new one");
	ok(strstr(logged, "under load is 1406 MHz now; it was 1900") != NULL, "and that is said: %s", logged);
	is_int(cuda_context_disturbances(), 1, "so it does not disturb any more");
	fake.clock_mhz = 1900;
	fake.host_ns += 1e9;
	cuda_work_run(w, CACHE_WARM, 1, &ns, &err);
	near(cuda_clock_load().steady_mhz, 1900, 1e-3, "until it rises again");
	cuda_work_release(w);
	free(logged);
	end("clock");
}

/* An algorithm that draws so much power that the GPU lowers its clock, as matrix products do. */
static void test_power(void)
{
	double ns;
	begin(MATMUL);
	void *w = prepare(), *other = prepare();
	fake.own_mhz = 1000;
	FILE *f = log_begin();
	for (int i = 0; i < 6; i++)
		cuda_work_run(w, CACHE_WARM, 100, &ns, &err);
	log_end(f);
	is_int(cuda_context_disturbances(), 2, "a clock that is low again when heated is its own");
	ok(strstr(logged, "it is steady there under this algorithm"), "said once: %s", logged);
	free(logged);
	near(cuda_work_clock_mhz(w), 1000, 0.05, "its clock is told");
	fake.own_mhz = 700;
	cuda_work_run(w, CACHE_WARM, 100, &ns, &err);
	is_int(cuda_context_disturbances(), 3, "below three quarters of that it is disturbed");
	fake.own_mhz = 0;
	cuda_work_run(other, CACHE_WARM, 100, &ns, &err);
	fake.own_mhz = 1000;
	cuda_work_run(other, CACHE_WARM, 100, &ns, &err);
	is_int(cuda_context_disturbances(), 4, "another algorithm does not inherit it");
	cuda_work_release(w);
	cuda_work_release(other);
	end("power");
}

/* After a pause the clock is down, and rises only under load. */
static void test_pause(void)
{
	double ns;
	begin(MATMUL);
	fake.idle_mhz = 345;
	void *w = prepare();
	cuda_work_run(w, CACHE_WARM, 10, &ns, &err);
	double heated = fake.heated_ns;
	for (int i = 0; i < 10; i++)
		cuda_work_run(w, CACHE_WARM, 10, &ns, &err);
	near(fake.heated_ns, heated, 0, "no pause, no heating");
	fake.host_ns += 1.5e9;
	is_int(cuda_work_run(w, CACHE_WARM, 10, &ns, &err), 0, "after a pause");
	near(ns, 10 * 10e3, 0.001, "it takes as long as before");
	ok(fake.heated_ns - heated >= fake.ramp_ns, "after %.0f ms of load",
		(fake.heated_ns - heated) / 1e6);
	is_int(cuda_context_disturbances(), 0, "nothing was disturbed");
	near(cuda_work_clock_mhz(w), 1900, 1e-3, "the clock is up");
	cuda_work_release(w);
	end("pause");
}

static void test_fault(void)
{
	double ns, worst;
	begin(MATMUL);
	void *w = prepare();
	cuda_work_run(w, CACHE_WARM, 1, &ns, &err);
	fake.fault_at = 3;
	is_int(cuda_work_run(w, CACHE_WARM, 10, &ns, &err), -1, "a kernel faults");
	ok(strstr(err.text, "illegal memory access") != NULL, "said so: %s", err.text);
	ok(!cuda_context_is_alive() && cuda_context()->poisoned, "the context is lost");
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), -1, "nothing runs any more: %s", err.text);
	is_int(cuda_work_check(w, &worst, &err), -1, "nor is checked");
	is_str(cuda_work_kernels(w), "", "nor traced");
	cuda_work_release(w);
	ok(!prepare() && status == STATUS_FAILED && strstr(err.text, "faulted"), "nor prepared: %s",
		err.text);
	near(cuda_context_memory_bytes(), 0, 0, "there is no memory");
	end("fault");
	fake_reset();
}

/* A library that accepts a problem and refuses to execute it, at once or later. */
static void test_refusal(void)
{
	double ns;
	for (int from = 1; from <= 3; from += 2) {
		begin(MATMUL);
		void *w = prepare();
		fake_backend.enqueue_returns = STATUS_UNSUPPORTED;
		fake_backend.enqueue_refused_from = from;
		for (int i = 0; i < from - 2; i++)
			is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), 0, "execution %d is accepted", i);
		is_int(cuda_work_run(w, CACHE_WARM, 10, &ns, &err), STATUS_UNSUPPORTED,
			"refused from enqueue %d: %s", from, err.text);
		fake_backend.enqueue_returns = STATUS_NO_MEMORY;
		is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), STATUS_NO_MEMORY, "so is lack of memory");
		fake_backend.enqueue_returns = 0;
		fake_backend.enqueue_fails = true;
		is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), -1, "a failure is none");
		ok(cuda_context_is_alive() && !cuda_context_loss(), "the device lives");
		cuda_work_release(w);
		end("refusal");
	}
}

/* cudaErrorUnknown is raised for one call, or for all that follow: only then is the device lost. */
static void test_unknown(void)
{
	double ns;
	begin(MATMUL);
	void *w = prepare();
	fake.fault_at = 1;
	fake.fault = cudaErrorUnknown;
	fake.fault_passes = true;
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), -1, "an unknown error: %s", err.text);
	ok(cuda_context_is_alive(), "that passes does not end the device");
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), 0, "which works on");
	fake.fault_at = 1;
	fake.fault_passes = false;
	is_int(cuda_work_run(w, CACHE_WARM, 10, &ns, &err), -1, "one that lasts: %s", err.text);
	const struct platform_loss *loss = cuda_context_loss();
	ok(loss && !loss->by_problem && strstr(loss->why, "cudaErrorUnknown"), "does, with the reason: %s",
		loss ? loss->why : "none");
	ok(strstr(err.text, "can no longer use the GPU") != NULL, "which the error says too: %s", err.text);
	cuda_work_release(w);
	end("unknown");
	begin(MATMUL);
	w = prepare();
	fake_backend.enqueue_returns = STATUS_UNSUPPORTED;
	fake_backend.enqueue_refused_from = 2;
	cuda_work_run(w, CACHE_WARM, 1, &ns, &err);
	fake.fault_at = 1;
	fake.fault = cudaErrorIllegalAddress;
	fake_backend.enqueue_returns = 0;
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), -1, "an illegal address");
	loss = cuda_context_loss();
	ok(loss && loss->by_problem, "is the kernel's own: %s", loss ? loss->why : "none");
	cuda_work_release(w);
	end("illegal address");
	fake_reset();
}

static bool are_names(const char *names)
{
	return strcmp(names, "compute<3>\nsecond_kernel") == 0 ||
		strcmp(names, "_Z7computeILi3EEvPKfi\nsecond_kernel") == 0;
}

/* Kernel names come from the graph, or from tracing if the driver is too old or capture fails. */
static void test_kernels(const char *how)
{
	double ns;
	bool traces = strcmp(how, "graph") != 0;
	begin(MATMUL);
	fake.names_kernels = strcmp(how, "old driver") != 0;
	fake.capture_fails = strcmp(how, "no graph") == 0;
	fake_backend.kernels = 2;
	void *w = prepare();
	cuda_work_run(w, CACHE_WARM, 1, &ns, &err);
	int before = fake_backend.traced;
	const char *names = cuda_work_kernels(w);
	ok(are_names(names), "%s: names in the order of their starts", how);
	is_int(fake_backend.traced, before + traces, "%s: traced only where it must be", how);
	ok(cuda_work_kernels(w) == names, "%s: asked again it is the same", how);
	is_int(fake_backend.traced, before + traces, "%s: and nothing runs", how);
	ok(!fake.cupti_attached, "%s: CUPTI is detached", how);
	void *other = prepare();
	cuda_work_run(other, CACHE_WARM, 1, &ns, &err);
	ok(are_names(cuda_work_kernels(other)) && !fake.cupti_attached, "%s: and attached again", how);
	cuda_work_release(other);
	is_int(cuda_work_run(w, CACHE_WARM, 1, &ns, &err), 0, "%s: and it runs on", how);
	cuda_work_release(w);
	end(how);
}

int main(void)
{
	if (!fake_folder_open())
		return 1;
	test_times();
	test_net();
	test_ready();
	test_swept();
	test_cold();
	test_staging();
	test_checks();
	test_refusal();
	test_unknown();
	test_mischief();
	test_gain();
	test_factor();
	test_large();
	test_memory();
	test_sharing();
	test_without_graphs("capture");
	test_without_graphs("instantiate");
	test_without_graphs("allocates");
	test_waiting_launches();
	test_waiting_algorithm();
	test_full_queue();
	test_graph_of_one();
	test_late_fault();
	test_clock();
	test_power();
	test_pause();
	test_kernels("old driver");
	test_kernels("no graph");
	test_kernels("graph");
	test_fault();
	arena_free(&arena);
	fake_folder_close();
	return done_testing();
}
