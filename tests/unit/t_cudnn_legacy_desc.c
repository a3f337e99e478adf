/* The real cuDNN without a device: it must accept the legacy backend's descriptors and compute the output
 * sizes of the problems. Functions that need a handle are faked. Skipped if cuDNN is not installed. */
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
static int compared, differing;

/* ---- functions that need a device ---- */

static cudnnStatus_t no_ranking(cudnnHandle_t h, const cudnnTensorDescriptor_t x,
	const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t conv,
	const cudnnTensorDescriptor_t y, const int asked, int *count, cudnnConvolutionFwdAlgoPerf_t *found)
{
	(void)h;
	(void)x;
	(void)w;
	(void)conv;
	(void)y;
	(void)asked;
	(void)found;
	*count = 0;
	return CUDNN_STATUS_NOT_SUPPORTED;
}

static cudnnStatus_t no_backward_ranking(cudnnHandle_t h, const cudnnFilterDescriptor_t w,
	const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t conv,
	const cudnnTensorDescriptor_t dx, const int asked, int *count,
	cudnnConvolutionBwdDataAlgoPerf_t *found)
{
	(void)h;
	(void)w;
	(void)dy;
	(void)conv;
	(void)dx;
	(void)asked;
	(void)found;
	*count = 0;
	return CUDNN_STATUS_NOT_SUPPORTED;
}

/* Output sizes computed by cuDNN, and those of the descriptor of y. */
static void compare(cudnnConvolutionDescriptor_t conv, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
	cudnnTensorDescriptor_t y)
{
	__typeof__(cudnnGetTensorNdDescriptor) *get = dlsym(handle, "cudnnGetTensorNdDescriptor");
	__typeof__(cudnnGetConvolutionNdForwardOutputDim) *size =
		dlsym(handle, "cudnnGetConvolutionNdForwardOutputDim");
	cudnnDataType_t type;
	int rank = 0, dim[CUDNN_DIM_MAX], stride[CUDNN_DIM_MAX], found[CUDNN_DIM_MAX];
	bool good = get && size && get(y, CUDNN_DIM_MAX, &type, &rank, dim, stride) == CUDNN_STATUS_SUCCESS &&
		size(conv, x, w, rank, found) == CUDNN_STATUS_SUCCESS;
	compared++;
	if (!good || memcmp(dim, found, (size_t)rank * sizeof(int)) != 0)
		differing++;
}

static cudnnStatus_t forward_workspace(cudnnHandle_t h, const cudnnTensorDescriptor_t x,
	const cudnnFilterDescriptor_t w, const cudnnConvolutionDescriptor_t conv,
	const cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t algorithm, size_t *bytes)
{
	(void)h;
	(void)algorithm;
	compare(conv, x, w, y);
	*bytes = 0;
	return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t backward_workspace(cudnnHandle_t h, const cudnnFilterDescriptor_t w,
	const cudnnTensorDescriptor_t dy, const cudnnConvolutionDescriptor_t conv,
	const cudnnTensorDescriptor_t dx, cudnnConvolutionBwdDataAlgo_t algorithm, size_t *bytes)
{
	(void)h;
	(void)algorithm;
	compare(conv, dx, w, dy);
	*bytes = 0;
	return CUDNN_STATUS_SUCCESS;
}

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

cudaError_t cudaMemcpyAsync(
	void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)to;
	(void)from;
	(void)bytes;
	(void)kind;
	(void)stream;
	return cudaErrorNoDevice;
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
	functions.cudnnGetConvolutionForwardAlgorithm_v7 = no_ranking;
	functions.cudnnGetConvolutionBackwardDataAlgorithm_v7 = no_backward_ranking;
	functions.cudnnGetConvolutionForwardWorkspaceSize = forward_workspace;
	functions.cudnnGetConvolutionBackwardDataWorkspaceSize = backward_workspace;
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
	{ "conv:f32,f32.c,f32/f32:n2c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", 24 },
	{ "conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n2c64h56w56k128r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g1", 24 },
	{ "conv:f16@nxc,f16.c@nxc,f16@nxc/f32:n2c64h57w56k128r5s3:ph2pw1qh2qw1:sh2sw1:dh1dw2:g2", 16 },
	{ "conv:bf16,bf16.c,bf16/f32:n2c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g64", 16 },
	{ "conv:f64,f64.c,f64/f64:n2c6h5w6k4r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1", 8 },
	{ "conv:f32,f32.c,f32/f32:n2c3w99k4s3:pw1qw1:sw2:dw1:g1", 24 },
	{ "conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n2c3w99k4s3:pw1qw1:sw2:dw1:g1", 24 },
	{ "conv:f32,f32.c,f32/f32:n1c2d14h15w13k3t3r2s1:pd1ph0pw0qd1qh0qw0:sd1sh2sw1:dd1dh1dw1:g1", 24 },
	{ "conv:f32,f32.c,f32/f32:n1c2h6w6k2r3s3:ph1pw1qh0qw0:sh2sw2:dh1dw1:g1", 24 },
	{ "conv:f32,f32.c,f32/f32:n2c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu",
		24 },
	{ "conv:f16,f16.c,f16/f32:n2c64w56k64s3:pw1qw1:sw1:dw1:g1+bias:f16.c", 4 },
	{ "deconv:f32,f32.c,f32/f32:n1c3h4w5k2r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw0:g1", 18 },
	{ "deconv:f16@nxc,f16.c@nxc,f16@nxc/f32:n2c4h3w3k6r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1:uh0uw0:g2", 12 },
	{ "eltwise:f32,f32:relu:2x3x4x5", 1 },
	{ "eltwise:f32,f32:clip,0,6:7", 1 },
	{ "eltwise:f16@nxc,f16@nxc:swish,1.5:2x3x4x5", 1 },
	{ "eltwise:bf16,bf16:elu,0.5:2x1x3x1x2x3", 1 },
	{ "eltwise:f32,f32:sqrt:2x3", 1 },
	{ "eltwise:f32,f32:affine,2.5,0:2x3x2", 2 },
	{ "binary:f32,f32,f32:add:2x3x4x5:3x1x1", 2 },
	{ "binary:f16,f16,f16:sub:4:2x3x4", 1 },
	{ "binary:f64,f64,f64:mul:2x3x4:3x1", 1 },
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
	{ "transpose:f32,f32:2x3x4x5:perm0x2x3x1", 1 },
	{ "transpose:f16,f16:4x6:perm1x0", 1 },
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
	ok(compared > 100 && differing == 0, "cuDNN finds the sizes of %d outputs as problems say, %d differ",
		compared, differing);
	test_rnn("rnn:f32,f32.c,f32:lstm:t3n2i4h5d1", 9);
	test_rnn("rnn:f32,f32.c,f32:gru:t3n2i7h5d1", 9);
	test_rnn("rnn:f32,f32.c,f32:lstm:t3n2i64h128d2", 9);
	test_rnn("rnn:f16,f16.c,f16:gru:t3n2i6h10d2", 6);
	test_rnn("rnn:f64,f64.c,f64:lstm:t3n2i3h5d2", 1);
	return done_testing();
}
