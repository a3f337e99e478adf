/* The real cuDNN without a device: it must accept the legacy backend's descriptors. Functions
 * that need a handle are faked. Skipped if cuDNN is not installed. */
#include "config.h"

#include "tap.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_standin.h"
#include "runner/cudnn/cudnn_library.h"

static struct cudnn_api functions;
static void *handle;

/* ---- functions that need a device ---- */

static cudnnStatus_t reduction_workspace(cudnnHandle_t h, const cudnnReduceTensorDescriptor_t d,
	const cudnnTensorDescriptor_t a, const cudnnTensorDescriptor_t c, size_t *bytes)
{
	(void)h;
	(void)d;
	(void)a;
	(void)c;
	*bytes = 0;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t rnn_workspace(cudnnHandle_t h, cudnnRNNDescriptor_t d, cudnnForwardMode_t mode,
	cudnnRNNDataDescriptor_t x, size_t *bytes, size_t *reserve)
{
	(void)h;
	(void)d;
	(void)mode;
	(void)x;
	*bytes = *reserve = 0;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t no_dropout(cudnnDropoutDescriptor_t d, cudnnHandle_t h, float ratio, void *states,
	size_t bytes, unsigned long long from)
{
	(void)d;
	(void)h;
	(void)ratio;
	(void)states;
	(void)bytes;
	(void)from;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- the library ---- */

const struct cudnn_api *cudnn_library(struct error *err)
{
	(void)err;
	return &functions;
}

/* A handle cannot be created without a device; the few functions called here that take one do not appear to
 * use it. */
cudnnHandle_t cudnn_handle_on(cudaStream_t stream, struct error *err)
{
	(void)stream;
	return cudnn_handle(err);
}

cudnnHandle_t cudnn_handle(struct error *err)
{
	static uint64_t nothing[8192];
	(void)err;
	return (cudnnHandle_t)(void *)nothing;
}

int cudnn_error(cudnnStatus_t status, const char *call, struct error *err)
{
	return status == CUDNN_STATUS_SUCCESS
		? 0
		: error_set(err, "%s: %s", call, functions.cudnnGetErrorString(status));
}

cudaError_t cudaMalloc(void **p, size_t bytes)
{
	(void)p;
	(void)bytes;
	return cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *p)
{
	(void)p;
	return cudaSuccess;
}

static bool library_open(void)
{
	handle = dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		handle = dlopen(BENANZA_CUDA_LIBDIR "/libcudnn.so.9", RTLD_LAZY | RTLD_LOCAL);
	if (!handle)
		return false;
#define LOAD(name) functions.name = (__typeof__(functions.name))dlsym(handle, #name);
	CUDNN_GRAPH_FUNCTIONS(LOAD)
	CUDNN_LEGACY_FUNCTIONS(LOAD)
#undef LOAD
	functions.cudnnGetReductionWorkspaceSize = reduction_workspace;
	functions.cudnnGetRNNTempSpaceSizes = rnn_workspace;
	functions.cudnnSetDropoutDescriptor = no_dropout;
	return true;
}

/* ---- accepted descriptors ---- */

static const struct {
	const char *text;
	int count; /* number of candidates; none can be dropped without a device */
} taken[] = {
	{ "pool:f32,f32:max:n1c2h7w6r3s2:ph1pw1qh1qw1:sh2sw1:dh1dw1", 2 },
	{ "pool:f16@nxc,f16@nxc:avg_include:n2c2h7w6r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1", 1 },
	{ "pool:f32,f32:avg_exclude:n1c2w7s2:pw0qw0:sw2:dw1", 1 },
	{ "pool:f32,f32:max:n1c2d4h5w3t2r2s3:pd0ph1pw1qd0qh1qw1:sd2sh1sw1:dd1dh1dw1", 2 },
	{ "softmax:f32,f32:soft:2x12x128x128:ax3", 4 },
	{ "softmax:f16@nxc,f16@nxc:soft:2x3x4x5:ax1", 2 },
	{ "softmax:f32,f32:log:2x3x4:ax0", 1 },
	{ "batchnorm:f32,f32:2x3x4x5", 2 },
	{ "batchnorm:f16@nxc,f16@nxc:2x3x4x5x6", 2 },
	{ "batchnorm:f32,f32:4x3", 2 },
	{ "lrn:f32,f32:across,0.0001,0.75:2x6x2x3:n5", 1 },
	{ "reduce:f32,f32:mean:2x3x4x5:2x3x1x1", 1 },
	{ "reduce:f16,f16:l2:2x3:1x3", 1 },
};

/* Addresses of an rnn's weights from the real library. Called with an invalid handle, hence in a child
 * process. */
static void test_rnn(const char *text, int count)
{
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		int found = standin_ask(&backend_cudnn_legacy, text, &list, &err);
		printf("# %d %s\n", found, err.text);
		fflush(stdout);
		_exit(found == count ? 0 : 1);
	}
	waitpid(child, &status, 0);
	if (WIFSIGNALED(status))
		printf("ok %d - %s # SKIP this cuDNN wants a device\n", ++tap_count, text);
	else
		is_int(WEXITSTATUS(status), 0, "cuDNN keeps the weights where the problem has them: %s",
			text);
}

int main(void)
{
	if (!library_open())
		skip_all("no cuDNN");
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		int count = standin_ask(&backend_cudnn_legacy, taken[i].text, &list, &err);
		if (!is_int(count, taken[i].count, "cuDNN takes %s", taken[i].text))
			printf("# %s\n", err.text);
		if (count > 0)
			backend_cudnn_legacy.forget(&list);
	}
	test_rnn("rnn:f32,f32.c,f32:lstm:t3n2i4h5d1", 9);
	test_rnn("rnn:f32,f32.c,f32:gru:t3n2i7h5d1", 9);
	test_rnn("rnn:f32,f32.c,f32:lstm:t3n2i64h128d2", 9);
	test_rnn("rnn:f16,f16.c,f16:gru:t3n2i6h10d2", 6);
	test_rnn("rnn:f64,f64.c,f64:lstm:t3n2i3h5d2", 1);
	return done_testing();
}
