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
	/* convolution: 8 algorithms less those that the fake lacks, with 3 math types */
	{ "conv:f32,f32.c,f32/f32:n2c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", 1e-6,
		"cudnnConvolutionForward", 0 },
	{ "conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n2c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", 1e-6,
		"cudnnConvolutionForward", 0 },
	{ "conv:f32@nxc,f32.c,f32@nxc/f32:n2c3h6w5k4r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1", 1e-6,
		"cudnnConvolutionForward", 0 },
	{ "conv:f32,f32.c,f32/f32:n2c4h7w6k6r3s2:ph1pw0qh1qw0:sh2sw1:dh2dw3:g2", 1e-6,
		"cudnnConvolutionForward", 0 },
	{ "conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n1c4h7w6k4r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g4", 1e-6,
		"cudnnConvolutionForward", 0 },
	{ "conv:f32,f32.c,f32/f32:n2c3w9k4s3:pw1qw1:sw2:dw1:g1", 1e-6, "cudnnConvolutionForward", 0 },
	{ "conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n2c3w9k4s3:pw1qw1:sw2:dw1:g1", 1e-6, "cudnnConvolutionForward",
		0 },
	{ "conv:f32,f32.c,f32/f32:n1c2d4h5w3k3t3r2s1:pd1ph0pw0qd1qh0qw0:sd1sh2sw1:dd1dh1dw1:g1", 1e-6,
		"cudnnConvolutionForward", 0 },
	/* a different end pad that changes no window */
	{ "conv:f32,f32.c,f32/f32:n1c2h6w6k2r3s3:ph1pw1qh0qw0:sh2sw2:dh1dw1:g1", 1e-6,
		"cudnnConvolutionForward", 0 },
	{ "conv:f16,f16.c,f16/f32:n1c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", 1e-6,
		"cudnnConvolutionForward", 0 },
	{ "conv:bf16,bf16.c,bf16/f32:n1c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", 1e-6,
		"cudnnConvolutionForward", 0 },
	{ "conv:f64,f64.c,f64/f64:n1c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", 1e-12,
		"cudnnConvolutionForward", 0 },
	/* fused */
	{ "conv:f32,f32.c,f32/f32:n2c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+relu", 1e-6,
		"cudnnConvolutionBiasActivationForward", 0 },
	{ "conv:f32,f32.c,f32/f32:n2c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c", 1e-6,
		"cudnnConvolutionBiasActivationForward", 5 },
	{ "conv:f32,f32.c,f32/f32:n2c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu", 1e-6,
		"cudnnConvolutionBiasActivationForward", 0 },
	{ "conv:f32@nxc,f32.c@nxc,f32@nxc/"
	  "f32:n2c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+add:f32@nxc+bias:f32.c+relu",
		1e-6, "cudnnConvolutionBiasActivationForward", 0 },
	{ "conv:f16,f16.c,f16/f32:n2c3w9k4s3:pw1qw1:sw1:dw1:g1+bias:f16.c+add:f16", 1e-6,
		"cudnnConvolutionBiasActivationForward", 4 },
	/* transposed */
	{ "deconv:f32,f32.c,f32/f32:n1c3h4w5k2r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw0:g1", 1e-6,
		"cudnnConvolutionBackwardData", 0 },
	{ "deconv:f32,f32.c,f32/f32:n2c4h3w3k6r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1:uh0uw0:g2", 1e-6,
		"cudnnConvolutionBackwardData", 0 },
	{ "deconv:f32@nxc,f32.c@nxc,f32@nxc/f32:n1c3h4w5k2r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw1:g1", 1e-6,
		"cudnnConvolutionBackwardData", 0 },
	{ "deconv:f32,f32.c,f32/f32:n1c3w5k2s3:pw0qw0:sw2:dw2:uw0:g1", 1e-6, "cudnnConvolutionBackwardData",
		0 },
	/* activation, scaling */
	{ "eltwise:f32,f32:relu:2x3x4x5", 1e-6, "cudnnActivationForward", 1 },
	{ "eltwise:f32,f32:clip,0,0.5:7", 1e-6, "cudnnActivationForward", 1 },
	{ "eltwise:f16,f16:sigmoid:2x3x4", 1e-6, "cudnnActivationForward", 1 },
	{ "eltwise:f32@nxc,f32@nxc:tanh:2x3x4x5", 1e-6, "cudnnActivationForward", 1 },
	{ "eltwise:f64,f64:elu,0.5:2x3", 1e-12, "cudnnActivationForward", 1 },
	{ "eltwise:f32,f32:swish,1.5:2x1x3x1x2x3", 1e-6, "cudnnActivationForward", 1 },
	{ "eltwise:f32,f32:sqrt:2x3", 1e-6, "cudnnOpTensor", 1 },
	{ "eltwise:f32,f32:square:2x3", 1e-6, "cudnnOpTensor", 1 },
	{ "eltwise:f32,f32:affine,2.5,0:2x3x2", 1e-6, NULL, 2 },
	/* two operands */
	{ "binary:f32,f32,f32:add:2x3x4x5:2x3x4x5", 1e-6, NULL, 2 },
	{ "binary:f32,f32,f32:add:2x3x4x5:3x1x1", 1e-6, NULL, 2 },
	{ "binary:f32,f32,f32:add:5:2x3x4x5", 1e-6, NULL, 2 },
	{ "binary:f32@nxc,f32,f32@nxc:mul:2x3x4x5:1x3x1x1", 1e-6, "cudnnOpTensor", 1 },
	{ "binary:f32,f32,f32:sub:2x3x4:2x3x4", 1e-6, "cudnnOpTensor", 1 },
	{ "binary:f32,f32,f32:sub:4:2x3x4", 1e-6, "cudnnOpTensor", 1 },
	{ "binary:f32,f32,f32:sub:2x3x4:3x1", 1e-6, "cudnnOpTensor", 1 },
	{ "binary:f32,f32,f32:maximum:1:3x2", 1e-6, "cudnnOpTensor", 1 },
	{ "binary:f16,f16,f16:minimum:3x2:3x2", 1e-6, "cudnnOpTensor", 1 },
	{ "binary:f32,f32,f32:add:2x1x2x3x2x2:3x2x2", 1e-6, NULL, 2 },
	/* layers */
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
	{ "transpose:f32,f32:2x3x4x5:perm0x2x3x1", 1e-6, "cudnnTransformTensor", 1 },
	{ "transpose:f16,f16:4x6:perm1x0", 1e-6, "cudnnTransformTensor", 1 },
	{ "transpose:f32,f32:2x2x3x1x2x3:perm0x1x4x5x2x3", 1e-6, "cudnnTransformTensor", 1 },
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
		{ "conv:f32,f32.c,f32/f32:n1c2h6w6k2r3s3:ph0pw0qh1qw1:sh1sw1:dh1dw1:g1",
			"cuDNN's legacy API needs equal pads at both ends" },
		{ "conv:f32,f32.c,f32/f32:n1c2h6w6k2r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+relu",
			"cudnnConvolutionBiasActivationForward needs a bias" },
		{ "conv:f32,f32.c,f32/f32:n1c2h6w6k2r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+sigmoid",
			"cudnnConvolutionBiasActivationForward fuses one bias, one add and relu, not "
			"sigmoid" },
		{ "conv:f32,f32.c,f32/"
		  "f32:n1c2h6w6k2r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+relu+add:f32",
			"cudnnConvolutionBiasActivationForward has no epilogue after the activation" },
		{ "conv:u8,u8.c,s32/s32:n1c2h6w6k2r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
			"cuDNN's legacy API has no convolution of u8" },
		{ "deconv:f32,f32.c,f32/f32:n1c3h4w5k2r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh0uw0:g1+bias:f32.c",
			"cuDNN's legacy API does not fuse epilogues with deconv" },
		{ "eltwise:f32,f32:clip,-1,1:2x3", "the clip of cuDNN's legacy API has the lower bound 0" },
		{ "eltwise:f32,f32:exp:2x3", "cuDNN's legacy API has no exp" },
		{ "eltwise:f32,f32:affine,2,1:2x3", "the scaling of cuDNN's legacy API has no offset" },
		{ "binary:f32,f32,f32:div:2x3:2x3", "cuDNN's legacy API has no div" },
		{ "binary:f32,f32,f32:add:2x1:1x3",
			"cuDNN's legacy API broadcasts only one operand and does not convert types" },
		{ "pool:f32,f32:max:n1c2h7w6r3s2:ph0pw0qh0qw0:sh2sw1:dh2dw1",
			"the pooling of cuDNN's legacy API has no dilation" },
		{ "lrn:f32,f32:across,0.0001,0.75:1x20x2x3:n17", NULL },
		{ "eltwise:f8e4m3,f8e4m3:relu:2x3", "cuDNN's legacy API has no type f8e4m3" },
		{ "eltwise:f32,f32:relu:2147483648x2", "2147483648 is out of range for cuDNN's legacy API" },
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
	ok(standin_ask(&backend_cudnn_legacy, "eltwise:f32,f32:relu:2x3", &list, &err) < 0,
		"nothing without a device");
	is_str(err.text, "cuDNN legacy cannot be asked without a GPU", "and says so");
	standin_context.planning = false;
	is_int(fake_cudnn.created, fake_cudnn.destroyed, "every descriptor was given back");
}

/* Writes name|math|matrix|workspace|notes of every algorithm. */
static void listing(const char *text, char *buf, size_t size)
{
	struct backend_list list;
	struct error err;
	size_t n = 0;
	buf[0] = '\0';
	if (standin_ask(&backend_cudnn_legacy, text, &list, &err) < 0)
		return;
	for (int i = 0; i < list.count && n < size; i++) {
		const struct algorithm *a = &list.algorithm[i];
		n += (size_t)snprintf(buf + n, size - n, "%s|%s|%s|%.0f|%s\n", a->name, a->math,
			matrix_name(a->matrix), a->workspace_bytes, a->notes);
		if (a->rank != i || strcmp(a->api, "cuDNN legacy") != 0)
			n += (size_t)snprintf(buf + n, size - n, "wrong rank or api\n");
	}
	backend_cudnn_legacy.forget(&list);
}

static void test_listing(void)
{
	char got[4096];
	const char *text = "conv:f32,f32.c,f32/f32:n2c3h6w5k4r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g1";
	listing(text, got, sizeof(got));
	is_str(got,
		"implicit_precomp_gemm|strict|no|512|\n"
		"implicit_precomp_gemm|tf32|unknown|512|\n"
		"implicit_precomp_gemm|fast_f16|yes|512|tensor_core\n"
		"implicit_gemm|strict|no|0|\n"
		"implicit_gemm|tf32|unknown|0|\n"
		"gemm|strict|no|1024|\n"
		"gemm|tf32|unknown|1024|\n"
		"gemm|fast_f16|yes|1024|tensor_core\n"
		"fft_tiling|strict|no|2560|fft\n"
		"fft_tiling|tf32|unknown|2560|fft\n"
		"fft_tiling|fast_f16|yes|2560|fft tensor_core\n"
		"winograd|strict|no|3072|winograd\n"
		"winograd|tf32|unknown|3072|winograd\n"
		"winograd|fast_f16|yes|3072|winograd tensor_core\n"
		"winograd_nonfused|strict|no|3584|winograd\n"
		"winograd_nonfused|tf32|unknown|3584|winograd\n"
		"winograd_nonfused|fast_f16|yes|3584|winograd tensor_core\n",
		"f32: by the library's ranking, each math once, what it lacks left out");
	standin_context.sm = 75;
	listing(text, got, sizeof(got));
	ok(strstr(got, "implicit_gemm|strict|no") && !strstr(got, "tf32") && strstr(got, "fast_f16|yes"),
		"no TF32 before compute capability 8.0");
	standin_context.sm = 90;
	listing("conv:f16@nxc,f16.c@nxc,f16@nxc/f32:n1c3h6w5k4r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g1+bias:f16.c",
		got, sizeof(got));
	is_str(got,
		"implicit_precomp_gemm|strict|yes|512|tensor_core\n"
		"implicit_precomp_gemm:fma|strict|no|512|\n"
		"implicit_gemm:default|strict|no|0|\n"
		"implicit_gemm:fma|strict|no|0|\n",
		"f16, fused without activation: two algorithms, with matrix units and without");
}

/* Failures of the library. */
static void test_faults(void)
{
	struct backend_list list;
	struct error err;
	char got[4096];
	fake_cudnn.no_ranking = true;
	listing("conv:f64,f64.c,f64/f64:n1c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", got, sizeof(got));
	is_str(got,
		"implicit_gemm|strict|no|0|\n"
		"implicit_precomp_gemm|strict|no|512|\n"
		"gemm|strict|no|1024|\n"
		"fft|strict|no|2048|fft\n"
		"fft_tiling|strict|no|2560|fft\n"
		"winograd|strict|no|3072|winograd\n"
		"winograd_nonfused|strict|no|3584|winograd\n",
		"what the library does not rank is tried in its own order");
	fake_cudnn.no_ranking = false;
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

static void test_gain(void)
{
	struct backend_list list;
	struct error err;
	const struct cuda_backend *own = backend_cudnn_legacy.detail;
	bool good = standin_ask(&backend_cudnn_legacy,
		"conv:f32,f32.c,f32/f32:n2c3h6w5k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1", &list, &err) > 0;
	for (int i = 0; i < list.count; i++) {
		struct cuda_plan plan;
		enum status status;
		bool winograd = strstr(list.algorithm[i].name, "winograd"),
		     fft = strstr(list.algorithm[i].name, "fft");
		bool strict = strcmp(list.algorithm[i].math, "strict") == 0;
		if (own->plan(&list, i, &plan, &status, &err)) {
			good = false;
			continue;
		}
		good = good && plan.gain == (winograd && strict ? 32 : winograd || fft ? 16 : 1);
		plan.free(plan.state);
	}
	ok(good, "transforms are allowed more error than sums");
	backend_cudnn_legacy.forget(&list);
}

/* The strict run must forbid TF32. */
static void test_math(void)
{
	struct backend_list list;
	struct error err;
	int count = standin_ask(&backend_cudnn_legacy,
		"conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n1c3h6w5k4r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:g1", &list,
		&err);
	bool good = count > 0;
	for (int i = 0; i < count; i++) {
		bool strict = strcmp(list.algorithm[i].math, "strict") == 0;
		good = good && standin_worst(&list, i, &err) < 1e-6 &&
			strict == (fake_cudnn.math == CUDNN_FMA_MATH) &&
			fake_cudnn.filter == CUDNN_TENSOR_NHWC &&
			strcmp(list.algorithm[i].layouts, "src=nxc wei=nxc dst=nxc") == 0;
	}
	ok(good, "strict f32 runs under FMA math, whatever the ranking said, and nothing else does");
	backend_cudnn_legacy.forget(&list);
	ok(standin_ask(&backend_cudnn_legacy, "binary:f32,f32,f32:add:2x3x4x5:3x1x1", &list, &err) == 2,
		"two ways to add");
	ok(standin_worst(&list, 1, &err) < 1e-6 && strcmp(fake_cudnn.function, "cudnnAddTensor") == 0 &&
		strcmp(list.algorithm[1].notes, "copies_first") == 0, "in place behind a copy, and says so");
	backend_cudnn_legacy.forget(&list);
	ok(standin_ask(&backend_cudnn_legacy, "binary:f32,f32,f32:add:2x1x2x3x2x2:3x2x2", &list, &err) == 2 &&
			standin_worst(&list, 0, &err) < 1e-6 && fake_cudnn.rank <= 5,
		"six dimensions become five or fewer");
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
	ok(standin_ask(&backend_cudnn_legacy, "eltwise:f32,f32:relu:2x3", &list, &err) == 1 &&
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
	test_listing();
	test_math();
	test_stream();
	test_faults();
	test_refused_run();
	test_gain();
	test_handles();
	test_symbols();
	return done_testing();
}
