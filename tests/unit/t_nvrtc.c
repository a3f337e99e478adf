/* Generated pointwise kernels from the problem to the checked result, with NVRTC and the driver faked: what
 * is compiled where and when, what is launched, and what happens if one of them refuses. */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cudart.h"
#include "fake_nvrtc.h"
#include "runner/gpu/cuda_lock.h"
#include "runner/gpu/cuda_work.h"
#include "runner/measure/ahead.h"
#include "runner/measure/platform.h"
#include "tap.h"

static const struct backend *const backends[] = { &backend_nvrtc, NULL };
const struct platform platform = { .program = "benanza-runner-cuda", .backends = backends };

#define RELU "eltwise:f32,f32:relu:3x5x7"
#define WIDE "eltwise:f16,f16:tanh:8x4096"
#define CHAIN "binary:f32,f32,f32:add:16x8:8+relu+mul:f32+affine,2,0.25"

static struct arena arena;
static struct device device;
static struct backend_list list;
static struct error err;

static void begin(void)
{
	struct platform_options options = { 0 };
	fake_reset();
	fake_nvrtc_reset();
	err = (struct error)ERROR_NONE;
	if (cuda_context_open(&options, &arena, &device, &err))
		printf("# %s\n", err.text);
}

static void end(const char *what)
{
	cuda_context_close();
	ok(fake.allocations_alive == 0 && fake.execs_alive == 0 && fake.streams_alive == 0 &&
			fake.graphs_alive == 0 && fake_nvrtc.programs_alive == 0 &&
			fake_nvrtc.loaded == fake_nvrtc.unloaded,
		"%s: nothing is left", what);
}

static bool ask(const char *text)
{
	struct problem p;
	bool good = problem_parse(text_of(text), &p, &err) == 0 &&
		backend_nvrtc.algorithms(&p, &list, &err) == 0;
	list.backend = &backend_nvrtc;
	if (!good)
		printf("# %s: %s\n", text, err.text);
	return good;
}

static void *prepare(enum status *status)
{
	static const struct backend_limits limits = { .memory_bytes = 32e6, .sets = 1, .cold_sets = 1 };
	return backend_nvrtc.prepare(&list, 0, &limits, status, &err);
}

/* --- what works --- */

static void test_run(void)
{
	static const struct {
		const char *text, *name, *layouts;
		int blocks; /* of 256 threads that handle so many elements each */
		double most;
	} rows[] = {
		{ RELU, "generated:1_at_once", "src=ncx dst=ncx", 1, 0 },
		{ WIDE, "generated:8_at_once", "src=ncx dst=ncx", 16, 1e-3 },
		{ CHAIN, "generated:4_at_once", "a=ncx b=ncx dst=ncx", 1, 1e-6 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double ns = 0, worst = INFINITY;
		enum status status;
		begin();
		ok(ask(rows[i].text) && list.count == 1 && fake_nvrtc.compiled == 0,
			"%s is listed, uncompiled", rows[i].text);
		is_str(list.algorithm[0].name, rows[i].name, "its name");
		is_str(list.algorithm[0].layouts, rows[i].layouts, "its layouts");
		void *w = prepare(&status);
		if (!ok(w != NULL, "prepared"))
			printf("# %s\n", err.text);
		is_int(fake_nvrtc.compiled, 1, "compiled");
		ok(fake_nvrtc.option_count == 2 &&
				strcmp(fake_nvrtc.options[0], "--gpu-architecture=sm_90") == 0,
			"for this GPU");
		is_int(backend_nvrtc.amortized(w, CACHE_WARM, 20, &ns, &err), 0, "run");
		near(ns, 20 * FAKE_NVRTC_LAUNCH_NS, 0.001, "one kernel an execution");
		ok(fake.captures > 0, "in a graph");
		ok(fake_nvrtc.blocks == (unsigned)rows[i].blocks && fake_nvrtc.threads == 256,
			"of %u blocks", fake_nvrtc.blocks);
		is_int(backend_nvrtc.check(w, &worst, &err), 0, "compared");
		ok(worst <= rows[i].most, "it computes the problem: error %g", worst);
		backend_nvrtc.release(w);
		is_int(fake_nvrtc.unloaded, 1, "its code is unloaded");
		w = prepare(&status);
		ok(w && fake_nvrtc.compiled == 1 && fake_nvrtc.loaded == 2, "prepared again, not compiled");
		backend_nvrtc.release(w);
		backend_nvrtc.forget(&list);
		end(rows[i].text);
	}
}

/* A capability that NVRTC does not know gets code for the newest one before it, for the driver to compile. */
static void test_targets(void)
{
	static const struct {
		int archs[4];
		const char *option;
	} rows[] = { { { 75, 80, 89 }, "--gpu-architecture=compute_89" },
		{ { 100, 90, 80 }, "--gpu-architecture=sm_90" } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum status status;
		begin();
		memcpy(fake_nvrtc.archs, rows[i].archs, sizeof(rows[i].archs));
		ask(RELU);
		void *w = prepare(&status);
		is_str(fake_nvrtc.options[0], rows[i].option, "compiled for sm_90");
		if (w)
			backend_nvrtc.release(w);
		backend_nvrtc.forget(&list);
		end("targets");
	}
}

/* --- compiled ahead --- */

/* True if a process holds the lock of the GPU: another file of it cannot be locked. */
static bool is_locked(void)
{
	struct cuda_lock other = CUDA_LOCK_CLOSED;
	struct error why;
	if (cuda_lock_open(&other, getenv("BENANZA_LOCK_DIR"), cuda_context()->uuid, &why))
		return false;
	bool locked = !cuda_lock_try(&other);
	cuda_lock_close(&other);
	return locked;
}

static bool never(void *user)
{
	(void)user;
	return false;
}

static void test_ahead(void)
{
	const struct ahead_job jobs[] = { { RELU, false }, { WIDE, false }, { CHAIN, false } };
	struct problem p;
	struct offers offers;
	enum status status;
	begin();
	fake_nvrtc.locked = is_locked;
	struct ahead *a = ahead_open(&(struct ahead_options){ .backends = backends, .threads = 3,
		.enter = cuda_context_enter, .ahead_ns = 60e9 }, &err);
	ahead_prepare(a, jobs, 3, never, NULL);
	is_int(fake_nvrtc.compiled, 3, "the kernels of three problems are compiled");
	is_int(fake_nvrtc.compiled_here, 0, "on threads of their own");
	is_int(fake_nvrtc.compiled_locked, 0, "while the GPU is not locked");
	is_int(fake_nvrtc.loaded, 0, "and nothing is loaded onto it");
	for (int i = 0; i < 3; i++) {
		double worst = INFINITY;
		ok(ahead_take(a, jobs[i], &p, &offers, &status, &err) && status == STATUS_OK,
			"%s is handed out", jobs[i].text);
		list = *offers.offer[0].list;
		void *w = prepare(&status);
		ok(w && is_locked(), "prepared under the lock");
		is_int(fake_nvrtc.compiled, 3, "with what was compiled");
		ok(w && backend_nvrtc.check(w, &worst, &err) == 0 && worst < 1e-2, "which is its kernel: %g",
			worst);
		if (w)
			backend_nvrtc.release(w);
		ok(!is_locked(), "the lock is given back");
		offers_close(&offers);
	}
	ahead_close(a);
	end("ahead");
}

/* --- refusals --- */

static void refused_prepare(const char *want)
{
	enum status status = STATUS_OK;
	void *w = prepare(&status);
	ok(!w && status == STATUS_FAILED, "prepare fails");
	is_str(err.text, want, "and says why");
}

static void test_refused(void)
{
	begin();
	fake_nvrtc.compiler_error = "pointwise.cu(3): error: no such thing\nmore of it";
	ask(RELU);
	refused_prepare("NVRTC: NVRTC_ERROR_COMPILATION: pointwise.cu(3): error: no such thing");
	fake_nvrtc.compiler_error = NULL;
	refused_prepare("NVRTC: NVRTC_ERROR_COMPILATION: pointwise.cu(3): error: no such thing");
	is_int(fake_nvrtc.compiled, 1, "what failed is not tried again");
	backend_nvrtc.forget(&list);
	fake_nvrtc.archs[0] = fake_nvrtc.archs[1] = fake_nvrtc.archs[2] = 120;
	ask(RELU);
	refused_prepare("this NVRTC makes no code for compute capability 9.0 or before");
	backend_nvrtc.forget(&list);
	fake_nvrtc.archs[0] = 90;
	ask(RELU);
	fake_nvrtc.load_error = cudaErrorInvalidKernelImage;
	refused_prepare("cudaLibraryLoadData: some error");
	fake_nvrtc.load_error = cudaSuccess;
	fake_nvrtc.kernel_error = cudaErrorSymbolNotFound;
	refused_prepare("cudaLibraryGetKernel: some error");
	fake_nvrtc.kernel_error = cudaSuccess;
	fake.driver_launch = NULL;
	refused_prepare("the driver has no cuLaunchKernel");
	is_int(fake_nvrtc.loaded, fake_nvrtc.unloaded, "what was loaded is unloaded");
	is_int(fake_nvrtc.compiled, 2, "each text was compiled once");
	backend_nvrtc.forget(&list);
	end("refused");
}

static void test_refused_launch(void)
{
	enum status status;
	double ns;
	begin();
	ask(RELU);
	void *w = prepare(&status);
	fake_nvrtc.launch_error = 701; /* too many resources requested */
	is_int(backend_nvrtc.run(w, CACHE_WARM, 1, &ns, &err), -1, "a launch that the driver refuses");
	ok(strstr(err.text, "cuLaunchKernel: driver error 701") != NULL, "is a failure: %s", err.text);
	fake_nvrtc.launch_error = 0;
	is_int(backend_nvrtc.run(w, CACHE_WARM, 1, &ns, &err), 0, "the next one works");
	backend_nvrtc.release(w);
	backend_nvrtc.forget(&list);
	end("refused launch");
}

/* --- without the library --- */

/* A library is opened once: in a process of its own. Returns what went wrong there. */
static int missing_errors(void)
{
	struct problem p;
	struct str stack = { 0 };
	json_t *attributes = json_object();
	bool has_matrix = false, good = true;
	fake_reset();
	fake_nvrtc_reset();
	fake.has_nvrtc = false;
	good = problem_parse(text_of(RELU), &p, &err) == 0;
	good = good && backend_nvrtc.algorithms(&p, &list, &err) == -1 && strstr(err.text, "install NVRTC");
	good = good && list.count == 0 && !list.state;
	int errors = !good;
	good = backend_nvrtc.probe(&stack, attributes, &has_matrix, &err) == 0 && stack.n == 0 &&
		strstr(json_string_at(attributes, "nvrtc_missing", ""), "install NVRTC");
	json_decref(attributes);
	return errors + 2 * !good;
}

static void test_missing(void)
{
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0)
		_exit(missing_errors());
	waitpid(child, &status, 0);
	is_int(status, 0, "without NVRTC nothing is listed, and the reason has the fix");
	struct str stack = { 0 };
	json_t *attributes = json_object();
	bool has_matrix = false;
	fake.has_nvrtc = true;
	is_int(backend_nvrtc.probe(&stack, attributes, &has_matrix, &err), 0, "with it");
	is_str(stack.p, "NVRTC 13.7", "the stack names it");
	str_free(&stack);
	json_decref(attributes);
}

static void refuse(const char *text, const char *why)
{
	struct problem p;
	ok(problem_parse(text_of(text), &p, &err) == 0 && backend_nvrtc.algorithms(&p, &list, &err) == -1 &&
			strstr(err.text, why) && list.count == 0,
		"%s: %s", text, err.text);
}

int main(void)
{
	if (!fake_folder_open())
		return 1;
	test_missing();
	test_run();
	test_targets();
	test_ahead();
	test_refused();
	test_refused_launch();
	refuse("softmax:f32,f32:soft:1x8:ax1", "only pointwise");
	refuse("eltwise:f32,f32@s32x1:relu:4x8", "dense destination");
	fake_folder_close();
	arena_free(&arena);
	return done_testing();
}
