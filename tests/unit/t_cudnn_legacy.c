/* Problems in cuDNN's legacy API: a fake computes from the descriptors, and the results must equal those of
 * plain C. */
#include "config.h"

#include "tap.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "cuda_standin.h"
#include "fake_cudnn.h"
#include "runner/cudnn/cudnn_library.h"

static const struct {
	const char *text;
	double most;          /* maximum error */
	const char *function; /* cuDNN function called last */
	int count;            /* number of algorithms; 0: any */
} layers[] = {
	{ "pool:f32,f32:max:n1c2h7w6r3s2:ph1pw1qh1qw1:sh2sw1:dh1dw1", 1e-6, "cudnnPoolingForward", 2 },
	{ "pool:f32@nxc,f32@nxc:avg_include:n2c2h7w6r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1", 1e-6,
		"cudnnPoolingForward", 1 },
	{ "pool:f32,f32:avg_exclude:n1c2h6w6r3s3:ph1pw1qh0qw0:sh2sw2:dh1dw1", 1e-6, "cudnnPoolingForward",
		1 },
	{ "pool:f16,f16:max:n1c2w7s2:pw0qw0:sw2:dw1", 1e-6, "cudnnPoolingForward", 2 },
	{ "pool:f32,f32:avg_include:n1c2d4h5w3t2r2s3:pd0ph1pw1qd0qh1qw1:sd2sh1sw1:dd1dh1dw1", 1e-6,
		"cudnnPoolingForward", 1 },
	{ "softmax:f32,f32:soft:2x3x5:ax2", 1e-6, "cudnnSoftmaxForward", 4 },
	{ "softmax:f32,f32:log:4x6:ax1", 1e-6, "cudnnSoftmaxForward", 2 },
	{ "softmax:f32,f32:soft:2x3x4x5:ax1", 1e-6, "cudnnSoftmaxForward", 2 },
	{ "softmax:f32@nxc,f32@nxc:soft:2x3x4x5:ax1", 1e-6, "cudnnSoftmaxForward", 2 },
	{ "softmax:f32,f32:log:2x3x4:ax0", 1e-6, "cudnnSoftmaxForward", 1 },
	{ "batchnorm:f32,f32:2x3x4x5", 1e-6, "cudnnBatchNormalizationForwardInference", 2 },
	{ "batchnorm:f16@nxc,f16@nxc:2x3x4x5", 1e-6, "cudnnBatchNormalizationForwardInference", 2 },
	{ "batchnorm:f32,f32:2x3x4x2x3", 1e-6, "cudnnBatchNormalizationForwardInference", 2 },
	{ "batchnorm:f32,f32:4x3", 1e-6, "cudnnBatchNormalizationForwardInference", 2 },
	{ "lrn:f32,f32:across,0.0001,0.75:2x6x2x3:n5", 1e-6, "cudnnLRNCrossChannelForward", 1 },
	{ "lrn:f32,f32:across,0.9,0.5:1x6x2x3:n4", 1e-6, "cudnnLRNCrossChannelForward", 1 },
	{ "reduce:f32,f32:sum:2x3x4x5:2x3x1x1", 1e-6, "cudnnReduceTensor", 1 },
	{ "reduce:f32,f32:mean:2x3x4:2x1x4", 1e-6, "cudnnReduceTensor", 1 },
	{ "reduce:f16,f16:rmax:2x3:1x3", 1e-6, "cudnnReduceTensor", 1 },
	{ "reduce:f32,f32:rmin:7:1", 1e-6, "cudnnReduceTensor", 1 },
	{ "reduce:f32,f32:prod:2x3:2x1", 1e-6, "cudnnReduceTensor", 1 },
	{ "reduce:f32,f32:l2:2x3x2x2x2x3:2x3x1x1x1x1", 1e-6, "cudnnReduceTensor", 1 },
	{ "dropout:f32,f32:drop,0.5:2x3x4x5", 1e-6, "cudnnDropoutForward", 1 },
	/* recurrent */
	{ "rnn:f32,f32.c,f32:lstm:t3n2i4h5d1", 1e-6, "cudnnRNNForward", 6 },
	{ "rnn:f32,f32.c,f32:gru:t3n2i4h3d1", 1e-6, "cudnnRNNForward", 9 },
	{ "rnn:f32,f32.c,f32:lstm:t3n1i4h5d2", 1e-6, "cudnnRNNForward", 6 },
	{ "rnn:f32,f32.c,f32:lstm:t3n2i4h5d2", 1e-6, "cudnnTransformTensor", 6 },
	{ "rnn:f16,f16.c,f16:gru:t2n3i2h3d2", 2e-3, "cudnnTransformTensor", 6 },
};

static void test_layers(void)
{
	for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		const char *text = layers[i].text;
		double most = 0;
		bool good = true;
		if (!ok(standin_ask(&backend_cudnn_legacy, text, &list, &err) > 0, "%s is offered", text)) {
			printf("# %s\n", err.text);
			continue;
		}
		for (int j = 0; j < list.count; j++) {
			double worst = standin_worst(&list, j, &err);
			most = worst > most || worst != worst ? worst : most;
			good = good && worst <= layers[i].most &&
				standin_workspace_bytes == list.algorithm[j].workspace_bytes;
			good = good &&
				(!layers[i].function || strcmp(fake_cudnn.function, layers[i].function) == 0);
		}
		if (!ok(good, "%s is computed rightly by all %d", text, list.count))
			printf("# error %g, %s\n", most, err.text);
		if (layers[i].count)
			is_int(list.count, layers[i].count, "%s: how many", text);
		backend_cudnn_legacy.forget(&list);
	}
	is_int(fake_cudnn.created, fake_cudnn.destroyed, "every descriptor was given back");
	is_int(fake_cudnn.allocated, 0, "so was device memory");
	is_int(fake_cudnn.handles, 1, "one handle");
}

static void test_refusals(void)
{
	static const char *const refused[][2] = {
		{ "pool:f32,f32:max:n1c2h7w6r3s2:ph0pw0qh0qw0:sh2sw1:dh2dw1",
			"the pooling of cuDNN's legacy API has no dilation" },
		{ "lrn:f32,f32:across,0.0001,0.75:1x20x2x3:n17", NULL },
		{ "softmax:f8e4m3,f8e4m3:soft:2x3:ax1", "cuDNN's legacy API has no type f8e4m3" },
		{ "softmax:f32,f32:soft:2147483648x2:ax1",
			"2147483648 is out of range for cuDNN's legacy API" },
		{ "conv:f32,f32.c,f32/f32:n1c2h6w6k2r3s3:ph0pw0qh1qw1:sh1sw1:dh1dw1:g1",
			"only layers of cuDNN's legacy API, which has no conv" },
		{ "layernorm:f32,f32:2x3:ax1", "only layers of cuDNN's legacy API, which has no layernorm" },
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m5n7k3:ta0tb0",
			"only layers of cuDNN's legacy API, which has no matmul" },
	};
	struct backend_list list;
	struct error err;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		err = (struct error)ERROR_NONE;
		ok(standin_ask(&backend_cudnn_legacy, refused[i][0], &list, &err) < 0, "%s is refused",
			refused[i][0]);
		if (refused[i][1])
			is_str(err.text, refused[i][1], "and says why");
		ok(list.count == 0 && !list.state, "and leaves nothing");
	}
	fake_cudnn.other_weights = true;
	ok(standin_ask(&backend_cudnn_legacy, "rnn:f32,f32.c,f32:lstm:t3n2i4h5d1", &list, &err) < 0,
		"weights in another order are refused");
	is_str(err.text, "cuDNN's order of these weights is not the problem's", "and says why");
	fake_cudnn.other_weights = false;
	standin_context.planning = true;
	ok(standin_ask(&backend_cudnn_legacy, "softmax:f32,f32:soft:2x3:ax1", &list, &err) < 0,
		"nothing without a device");
	is_str(err.text, "cuDNN legacy cannot be asked without a GPU", "and says so");
	standin_context.planning = false;
	is_int(fake_cudnn.created, fake_cudnn.destroyed, "every descriptor was given back");
}

/* Failures of the library. */
static void test_faults(void)
{
	struct backend_list list;
	struct error err;
	ok(standin_ask(&backend_cudnn_legacy, "dropout:f32,f32:drop,0.5:2x3x4x5", &list, &err) == 1,
		"a dropout");
	const struct cuda_backend *own = backend_cudnn_legacy.detail;
	struct cuda_plan plan;
	enum status status = STATUS_OK;
	fake_cudnn.no_memory = true;
	ok(own->plan(&list, 0, &plan, &status, &err) < 0 && status == STATUS_NO_MEMORY,
		"no memory for its states: %s", err.text);
	fake_cudnn.no_memory = false;
	backend_cudnn_legacy.forget(&list);
	is_int(fake_cudnn.created, fake_cudnn.destroyed, "every descriptor was given back");
}

/* Many functions refuse types and sizes only when they run. */
static void test_refused_run(void)
{
	static const struct {
		cudnnStatus_t says;
		int returned;
	} cases[] = { { CUDNN_STATUS_NOT_SUPPORTED, STATUS_UNSUPPORTED },
		{ CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH, STATUS_UNSUPPORTED },
		{ CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED, STATUS_NO_MEMORY },
		{ CUDNN_STATUS_BAD_PARAM, -1 }, { CUDNN_STATUS_EXECUTION_FAILED, -1 },
		{ CUDNN_STATUS_SUCCESS, 0 } };
	struct backend_list list;
	struct error err = ERROR_NONE;
	ok(standin_ask(&backend_cudnn_legacy, "lrn:f32,f32:across,0.0001,0.75:2x6x2x3:n5", &list, &err) > 0,
		"a normalization: %s", err.text);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) && list.count; i++) {
		fake_cudnn.forward_status = cases[i].says;
		standin_worst(&list, 0, &err);
		is_int(standin_enqueued, cases[i].returned, "cuDNN says %d when run: %s", cases[i].says,
			err.text);
	}
	backend_cudnn_legacy.forget(&list);
}

/* Branches side by side run in streams of their own, and the handle is shared with other backends. */
static void test_stream(void)
{
	cudaStream_t branch = (cudaStream_t)0xb4a2c4, streams[] = { branch, STANDIN_STREAM, branch };
	struct backend_list list;
	struct error err = ERROR_NONE;
	const struct cuda_backend *own = backend_cudnn_legacy.detail;
	float from[6] = { -1, 2, -3, 4, -5, 6 }, to[6];
	struct cuda_pointers at = { .source = { from }, .destination = to };
	struct cuda_plan plan;
	enum status status;
	ok(standin_ask(&backend_cudnn_legacy, "lrn:f32,f32:across,0.0001,0.75:1x6x1x1:n5", &list,
		   &err) == 1 &&
			own->plan(&list, 0, &plan, &status, &err) == 0, "a plan: %s", err.text);
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		ok(plan.enqueue(plan.state, &at, streams[i], &err) == 0 && fake_cudnn.stream == streams[i],
			"is run in the stream that is given: %s", err.text);
	ok(cudnn_handle_on(STANDIN_STREAM, &err) && plan.enqueue(plan.state, &at, branch, &err) == 0 &&
			fake_cudnn.stream == branch, "also if another backend used the handle");
	plan.free(plan.state);
	backend_cudnn_legacy.forget(&list);
	cudnn_handle(&err);
}

static void *handle_take(void *to)
{
	*(cudnnHandle_t *)to = cudnn_handle(NULL);
	return NULL;
}

/* Threads that begin at once each get a handle, one after the other. */
static void test_handles(void)
{
	pthread_t thread[4];
	cudnnHandle_t handle[4] = { NULL };
	int before = fake_cudnn.handles, got = 0;
	for (int i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, handle_take, &handle[i]);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], NULL);
		got += handle[i] != NULL;
	}
	is_int(got, 4, "each thread has a handle");
	is_int(fake_cudnn.handles - before, 4, "of its own");
	ok(!fake_cudnn.created_at_once, "no two were created at once");
}

/* The real library, if installed, must have all functions of the list. Calls none of them. */
static void test_symbols(void)
{
	static const char *const names[] = {
#define NAME(name) #name,
		CUDNN_GRAPH_FUNCTIONS(NAME) CUDNN_LEGACY_FUNCTIONS(NAME)
#undef NAME
	};
	void *handle = dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		handle = dlopen(BENANZA_CUDA_LIBDIR "/libcudnn.so.9", RTLD_LAZY | RTLD_LOCAL);
	if (!handle) {
		printf("ok %d - the library's symbols # SKIP no libcudnn\n", ++tap_count);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		ok(dlsym(handle, names[i]) != NULL, "libcudnn has %s", names[i]);
}

int main(void)
{
	test_layers();
	test_refusals();
	test_stream();
	test_faults();
	test_refused_run();
	test_handles();
	test_symbols();
	return done_testing();
}
