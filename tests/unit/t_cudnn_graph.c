/* Problems as operation graphs: a fake of cuDNN's descriptors executes the builders' graphs on host memory,
 * and every output is compared with plain C. t_cudnn_plan tests which of them the real library can run. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda_standin.h"
#include "fake_cudnn_graph.h"
#include "fake_shift.h"
#include "runner/cudnn/cudnn_offers.h"
#include "tap.h"

static const char *const problems[] = {
	"conv:f32,f32.c,f32/f32:n2c4h7w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
	"conv:f32,f32.c,f32/f32:n1c4h8w9k6r3s2:ph0pw1qh2qw0:sh2sw1:dh1dw2:g2",
	"conv:f16,f16.c,f16/f32:n1c4h7w6k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g4+bias:f16.c+clip,0,6",
	"conv:f32@nxc,f32.c@nxc,f32@nxc/"
	"f32:n2c4h7w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32@nxc+relu",
	"conv:f32,f32.c,f32/f32:n2c4h7w6k6r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu",
	"conv:f32,f32.c,f32/f32:n1c4h7w6k6r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+bias:f32.c+swish,1+mul:f32",
	"conv:f32,f32.c,f32/f32:n2c4w9k6s3:pw1qw0:sw2:dw1:g1+bias:f32.c+add:f32+leaky_relu,0.1",
	"conv:f32,f32.c,f32/f32:n1c2d4h5w6k3t2r3s3:pd1ph1pw1qd0qh1qw1:sd1sh1sw2:dd1dh1dw1:g1",
	"deconv:f32,f32.c,f32/f32:n1c4h5w6k3r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw0:g1",
	"deconv:f32,f32.c,f32/f32:n2c4h5w6k6r2s3:ph0pw1qh0qw0:sh2sw1:dh1dw2:uh0uw0:g2+bias:f32.c+tanh",
	"matmul:f8e4m3,f8e4m3.c,f8e4m3/f32:ba1bb1m5n7k6:ta0tb0+bias:f16.c+relu",
	"conv:f8e4m3,f8e4m3.c,f16/f32:n1c4h7w6k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f16.c",
	"matmul:f32,f32.c,f32/f32:ba1bb1m5n7k6:ta0tb0+bias:f32.c+gelu_erf",
	"matmul:f32,f32,f32/f32:ba3bb3m5n7k6:ta1tb1",
	"matmul:f32,f32,f32/f32:ba3bb1m5n7k6:ta0tb1+add:f32+gelu_tanh",
	"matmul:f32,f32,f32/f32:ba2x3bb2x1m4n5k6:ta0tb0+bias:f32+add:f32",
	"matmul:f32,f32,f32/f32:ba2x3bb2x1m4n5k6:ta1tb0",
	"matmul:f32,f32,f32/f32:ba2x1bb2x3m4n5k6:ta0tb1",
	"pool:f32,f32:max:n2c3h7w8r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1",
	"pool:f32,f32:avg_include:n2c3h7w8r3s2:ph1pw0qh1qw1:sh2sw2:dh1dw1+relu",
	"pool:f32@nxc,f32@nxc:avg_exclude:n2c3h7w8r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1",
	"pool:f32,f32:max:n2c3w8s3:pw1qw1:sw2:dw1",
	"batchnorm:f32,f32:2x4x3x5+relu",
	"batchnorm:f32@nxc,f32@nxc:2x4x3x5+add:f32@nxc+relu",
	"batchnorm:f32,f32:2x4",
	"layernorm:f32,f32:2x3x8:ax2",
	"layernorm:f32,f32:2x3x8:ax1+relu",
	"rmsnorm:f32,f32:2x3x8:ax2",
	"instancenorm:f32,f32:2x3x4x5",
	"instancenorm:f32@nxc,f32@nxc:2x3x4x5",
	"instancenorm:f32,f32:2x3x7",
	"eltwise:f32,f32:relu:3x4x5",
	"eltwise:f32,f32:leaky_relu,0.2:3x4x5",
	"eltwise:f32,f32:clip,-0.5,0.5:3x4x5",
	"eltwise:f32,f32:clip,0,0.5:3x4x5",
	"eltwise:f32,f32:sigmoid:3x4x5",
	"eltwise:f32,f32:tanh:3x4x5",
	"eltwise:f32,f32:gelu_erf:3x4x5",
	"eltwise:f32,f32:gelu_tanh:3x4x5",
	"eltwise:f32,f32:swish,1.702:3x4x5",
	"eltwise:f32,f32:hard_sigmoid,0.2,0.5:3x4x5",
	"eltwise:f32,f32:hard_swish:3x4x5",
	"eltwise:f32,f32:elu,0.7:3x4x5",
	"eltwise:f32,f32:softplus:3x4x5",
	"eltwise:f32,f32:mish:3x4x5",
	"eltwise:f32,f32:exp:3x4x5",
	"eltwise:f32,f32:sqrt:3x4x5",
	"eltwise:f32,f32:abs:3x4x5",
	"eltwise:f32,f32:square:3x4x5",
	"eltwise:f32,f32:pow,2,3:3x4x5",
	"eltwise:f32,f32:affine,2,-1:3x4x5",
	"eltwise:f32,f32:affine,1,0:3x4x5",
	"eltwise:f32@nxc,f32:relu:2x3x4x5+add:f32",
	"eltwise:f16,f16:mish:2x3x4x5+mul:f16+add:f16",
	"binary:f32,f32,f32:add:2x3x4x5:2x3x4x5+relu",
	"binary:f32,f32,f32:sub:2x3x4x5:3x1x1",
	"binary:f32,f32,f32:mul:2x3x4x5:2x3x1x1+add:f32",
	"binary:f32,f32,f32:div:2x1x4x1:1x3x1x5",
	"binary:f32@nxc,f32,f32@nxc:maximum:2x3x4x5:2x3x4x5",
	"binary:f32,f32,f32:minimum:1:2x3x4x5",
	"binary:f32,f32,f32:ge:2x3x4x5:5",
	"binary:f32,f32,bool:gt:2x3x4x5:5",
	"transpose:bool,bool:2x3x4:perm0x2x1",
	"select:bool,f32,f32,f32:1x1x4x5:2x3x4x5:1",
	"reduce:f32,f32:mean:2x3x4x5:2x3x1x1",
	"reduce:f32,f32:sum:2x3x4x5:1x3x1x5",
	"reduce:f32,f32:rmax:2x3x4:1x1x1",
	"reduce:f32,f32:rmin:2x3x4:2x1x4",
	"reduce:f32,f32:prod:2x3x4:2x3x1",
	"reduce:f32,f32:l2:2x3x4:2x3x1",
	"concat:f32,f32:2x3x4,2x5x4,2x1x4:ax1",
	"concat:f16,f16:2x3,2x5:ax1",
	"cast:f32,f16:2x3x4",
	"transpose:f32,f32:2x3x4x5:perm0x2x1x3",
	"transpose:f32,f32:2x3x4x5:perm3x1x0x2",
	"attention:f32,f32,f32,f32/f32:full:n2hq4hk2lq3lk5d4e6",
	"attention:f32,f32,f32,f32/f32:causal:n2hq4hk2lq3lk5d4e6",
	"attention:f32,f32,f32,f32/f32:causal:n1hq2hk2lq4lk4d4e4",
	"attention:f32,f32,f32,f32/f32:masked:n2hq4hk2lq3lk5d4e6:2x1x1x5",
	"attention:f32,f32,f32,f32/f32:masked:n2hq4hk2lq3lk5d4e6:1x4x3x5",
};

/* Tolerance for f32 constants; standin_worst accounts for rounding of the output type. */
#define TOLERANCE 2e-6

static void problems_test(void)
{
	for (size_t i = 0; i < sizeof(problems) / sizeof(problems[0]); i++) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		double worst = 0;
		int count = standin_ask(&backend_cudnn, problems[i], &list, &err);
		for (int a = 0; a < count && worst <= TOLERANCE; a++) {
			double one = standin_worst(&list, a, &err);
			worst = one <= worst ? worst : one;
		}
		if (!ok(count > 0 && worst <= TOLERANCE, "%s", problems[i]))
			printf("# %d algorithms, worst %g, %s\n", count, worst, err.text);
		if (count > 0)
			backend_cudnn.forget(&list);
	}
}

/* 8-bit floats have scales, none of which is 1, and the outputs are right only if each is read. */
static void scales_test(void)
{
	static const struct {
		const char *text;
		double scale[CUDA_SCALES]; /* 0: none */
	} row[] = {
		{ "conv:f8e4m3,f8e4m3.c,f16/f32:n1c4h7w6k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f16.c+relu",
			{ 0.25, 4 } },
		{ "conv:f8e4m3,f8e4m3.c,f8e4m3/"
		  "f32:n1c4h7w6k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f16.c+add:f8e4m3+relu",
			{ 0.25, 4, 0.5 } },
		{ "matmul:f8e4m3,f8e5m2.c,f8e4m3/f32:ba1bb1m5n7k6:ta0tb0", { 0.25, 4, 0.5 } },
		{ "conv:f8e4m3,f8e4m3.c,f8e4m3/"
		  "f32:n1c4h7w6k4r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c+relu",
			{ 0.25, 4, 0.5 } },
		{ "matmul:f8e4m3,f8e4m3.c,f16/f32:ba1bb1m5n7k6:ta0tb0+scale:f32.c", { 0.25, 4 } },
		{ "matmul:f16,f16.c,f16/f32:ba1bb1m5n7k6:ta0tb0", { 0 } },
	};
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		double seen[CUDA_SCALES] = { 0 };
		int count = 0;
		is_int(standin_ask(&backend_cudnn, row[i].text, &list, &err), 2, "%s", row[i].text);
		struct cudnn_plan *plan = cudnn_plan_take(&list, 0);
		for (int b = 0; b < plan->graph.binding_count; b++)
			if (plan->graph.binding[b].role == CUDNN_VALUE && count < CUDA_SCALES)
				seen[count++] = plan->graph.binding[b].value.f32;
		cudnn_plan_free(plan);
		for (int s = 0; s < CUDA_SCALES; s++)
			near(seen[s], row[i].scale[s], 0, "scale %d", s);
		near(standin_worst(&list, 0, &err), 0, TOLERANCE, "right");
		backend_cudnn.forget(&list);
	}
}

#define PLAIN "eltwise:f32,f32:relu:3x4x5"

static void list_test(void)
{
	struct backend_list list;
	struct error err = ERROR_NONE;
	is_int(standin_ask(&backend_cudnn, PLAIN, &list, &err), 2, "the same configuration counts once");
	is_str(list.algorithm[0].name, "eng12{k2=4,k14=1}", "engine and knobs are the name");
	is_str(list.algorithm[1].name, "eng0{k2=4,k14=1}", "then what the fallback names");
	is_str(list.algorithm[0].api, "cuDNN", "api");
	is_str(list.algorithm[0].layouts, "src=ncx dst=ncx", "layouts of what was left open");
	is_str(list.algorithm[0].math, "strict", "math");
	is_int(list.algorithm[0].matrix, MATRIX_NO, "no tensor cores");
	is_int(list.algorithm[1].rank, 1, "rank is the place");
	near(list.algorithm[0].workspace_bytes, 512, 0, "a ready-made kernel's workspace is known");
	backend_cudnn.forget(&list);
	fake_cudnn_graph.numerical = 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
	fake_cudnn_graph.behaviour = 1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
	fake_cudnn_graph.plan_status = CUDNN_STATUS_NOT_SUPPORTED;
	is_int(standin_ask(&backend_cudnn, "eltwise:f32,f32@nxc:relu:2x3x4x5", &list, &err), 2,
		"what is compiled at run time is not tried");
	is_str(list.algorithm[0].notes, "runtime_compilation",
		"notes, but not of matmuls if the graph has none");
	is_str(list.algorithm[0].math, "strict", "nor does it round f32");
	is_int(list.algorithm[0].matrix, MATRIX_NO, "or use matrix units");
	is_str(list.algorithm[0].layouts, "src=ncx", "what was given is not told again");
	ok(isnan(list.algorithm[0].workspace_bytes), "its workspace is unknown");
	backend_cudnn.forget(&list);
	is_int(standin_ask(&backend_cudnn, "matmul:f32,f32.c,f32/f32:ba1bb1m4n5k6:ta0tb0", &list, &err), 2,
		"a product");
	is_str(list.algorithm[0].notes, "tensor_core runtime_compilation", "all notes of a product");
	is_str(list.algorithm[0].math, "tf32", "f32 on tensor cores");
	is_int(list.algorithm[0].matrix, MATRIX_YES, "matrix units");
	backend_cudnn.forget(&list);
	setenv("BENANZA_CUDNN_COMPILED", "1", 1);
	is_int(standin_ask(&backend_cudnn, PLAIN, &list, &err), 1, "as many as the environment says");
	backend_cudnn.forget(&list);
	setenv("BENANZA_CUDNN_COMPILED", "many", 1);
	is_int(standin_ask(&backend_cudnn, PLAIN, &list, &err), 2, "what is no number says nothing");
	backend_cudnn.forget(&list);
	unsetenv("BENANZA_CUDNN_COMPILED");
	fake_cudnn_graph.behaviour = fake_cudnn_graph.numerical = 0;
	is_int(standin_ask(&backend_cudnn, PLAIN, &list, &err), -1, "what does not plan is not offered");
	is_str(err.text, "execution plan: CUDNN_STATUS_NOT_SUPPORTED: NOT_SUPPORTED: as the test wanted",
		"and says why");
	fake_cudnn_graph.plan_status = CUDNN_STATUS_SUCCESS;
	fake_cudnn_graph.silent = CUDNN_HEUR_MODE_A;
	is_int(standin_ask(&backend_cudnn, PLAIN, &list, &err), 1, "a fallback where mode A names nothing");
	backend_cudnn.forget(&list);
	fake_cudnn_graph.silent = CUDNN_HEUR_MODES_COUNT;
}

#define OPEN_CONV \
	"conv:f32,f32.c,f32/f32:n2c4h7w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu"

/* An open layout is channels last where only that has engines; a given one is not changed. */
static void forms_test(void)
{
	static const char *const given =
		"conv:f32@ncx,f32.c,f32/f32:n2c4h7w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1";
	struct backend_list list;
	struct error err = ERROR_NONE;
	is_int(standin_ask(&backend_cudnn, OPEN_CONV, &list, &err), 2, "engines for ONNX's order");
	is_str(list.algorithm[0].layouts, "src=ncx wei=ncx dst=ncx", "are taken");
	backend_cudnn.forget(&list);
	fake_cudnn_graph.channels_last = true;
	is_int(standin_ask(&backend_cudnn, OPEN_CONV, &list, &err), 2, "engines for channels last only");
	is_str(list.algorithm[1].layouts, "src=nxc wei=nxc dst=nxc", "the list says so");
	near(standin_worst(&list, 0, &err), 0, TOLERANCE, "operands and residual lie so");
	backend_cudnn.forget(&list);
	is_int(standin_ask(&backend_cudnn, given, &list, &err), -1, "a given layout stays");
	fake_cudnn_graph.channels_last = false;
}

/* A relu or a residual without a bias takes the engines that have one, with zeros. */
static void zeros_test(void)
{
#define CONV "conv:f32,f32.c,f32/f32:n2c4h7w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
	static const struct {
		const char *text;
		int needs, needs_not; /* algorithms if engines need a bias, and if not */
		int zeros;            /* of them with one of zeros */
	} row[] = {
		{ CONV "+relu", 2, 4, 2 },
		{ CONV "+add:f32+relu", 2, 4, 2 },
		{ "conv:f32@nxc,f32.c@nxc,f32@nxc/f32:n1c4w9k6s3:pw1qw1:sw1:dw1:g1+add:f32@nxc", 2, 4, 2 },
		{ "conv:f16,f16.c,f16/f32:n2c4h7w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g2+relu", 2, 4, 2 },
		{ CONV "+swish,1", -1, 2, 0 },
		{ CONV "+relu+add:f32", -1, 2, 0 },
		{ CONV "+bias:f32.c+relu", 2, 2, 0 },
		{ CONV, 2, 2, 0 },
		{ "matmul:f32,f32.c,f32/f32:ba1bb1m4n5k6:ta0tb0+relu", -1, 2, 0 },
	};
	for (int needs = 1; needs >= 0; needs--)
		for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
			struct backend_list list = { 0 };
			struct error err = ERROR_NONE;
			int zeros = 0;
			fake_cudnn_graph.needs_bias = needs;
			int count = standin_ask(&backend_cudnn, row[i].text, &list, &err);
			is_int(count, needs ? row[i].needs : row[i].needs_not, "%s", row[i].text);
			for (int a = 0; a < count; a++) {
				const struct algorithm *is = &list.algorithm[a];
				bool told = strncmp(is->name, "zero_bias:", 10) == 0;
				zeros += told;
				near(standin_worst(&list, a, &err), 0, TOLERANCE, "%s", is->name);
				is_int(strncmp(is->notes, "zero_bias", 9) == 0, told, "so do its notes");
			}
			is_int(zeros, row[i].zeros, "so many with a bias of zeros");
			if (count > 0)
				backend_cudnn.forget(&list);
		}
	struct backend_list list;
	struct error err = ERROR_NONE;
	fake_cudnn_graph.needs_bias = fake_cudnn_graph.channels_last = true;
	is_int(standin_ask(&backend_cudnn, row[0].text, &list, &err), -1,
		"channels last is asked without zeros: %s", err.text);
	fake_cudnn_graph.needs_bias = false;
	is_int(standin_ask(&backend_cudnn, row[0].text, &list, &err), 2, "and taken");
	is_str(list.algorithm[0].layouts, "src=nxc wei=nxc dst=nxc", "as before");
	backend_cudnn.forget(&list);
	fake_cudnn_graph.channels_last = false;
}

/* A u8 source is converted to s8 in each execution, padding becomes a border, and what the conversion takes
 * from the sums is added back: all results stay exact. */
static void signed_test(void)
{
	static const char *const row[] = {
		"conv:u8,s8.c,u8/s32:n2c4h7w6k6r3s3:ph1pw2qh0qw1:sh1sw2:dh1dw1:g1+scale:f32.c+bias:f32.c",
		"conv:u8,s8.c,u8/s32:n1c4h5w6k6r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1"
		"+scale:f32.c+bias:f32.c+relu",
		"conv:u8,s8.c,s8/s32:n1c4h5w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g2+scale:f32.c+add:s8",
		"conv:u8,s8.c,f32/s32:n1c4h5w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+relu",
		"conv:u8,s8.c,s32/s32:n1c4h5w6k6r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
		"conv:u8@nxc,u8.c@nxc,u8@nxc/s32:n1c4w9k6s3:pw1qw1:sw1:dw1:g1+scale:f32.c+bias:f32.c",
		"conv:u8,s8.c,u8/"
		"s32:n1c2d3h4w5k3t3r2s3:pd1ph0pw1qd1qh1qw0:sd1sh1sw1:dd1dh1dw1:g1+scale:f32.c",
		"matmul:u8,s8.c,u8/s32:ba1bb1m5n7k6:ta0tb0+scale:f32.c+bias:f32.c",
		"matmul:u8,s8.c,f32/s32:ba1bb1m5n7k6:ta0tb1+scale:f32.c",
		"matmul:u8,u8.c,s32/s32:ba3bb1m5n7k6:ta1tb0",
	};
	fake_cudnn_graph.channels_last = fake_cudnn_graph.signed_only = true;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct backend_list list;
		struct error err = ERROR_NONE;
		int count = standin_ask(&backend_cudnn, row[i], &list, &err);
		double worst = count > 0 ? standin_worst(&list, 0, &err) : NAN;
		if (!ok(count == 2 && worst <= TOLERANCE, "%s", row[i]))
			printf("# %d algorithms, worst %g, %s\n", count, worst, err.text);
		if (count > 0) {
			ok(strncmp(list.algorithm[0].name, "s8:eng12", 8) == 0, "its name says so");
			ok(strncmp(list.algorithm[0].notes, "src_as_s8", 9) == 0, "and its notes");
			ok(standin_workspace_bytes > 512, "the source is converted in the workspace");
			backend_cudnn.forget(&list);
		}
	}
	struct backend_list list;
	struct error err = ERROR_NONE;
	is_int(standin_ask(&backend_cudnn, "matmul:u8,s8,s32/s32:ba1bb1m5n7k6:ta0tb0", &list, &err), -1,
		"not with weights that are not constant");
	fake_cudnn_graph.channels_last = fake_cudnn_graph.signed_only = false;
}

/* The corrected bias is computed once per buffer set, before the executions. */
static void sums_test(void)
{
	struct backend_list list;
	struct error err = ERROR_NONE;
	struct cuda_plan plan = { 0 };
	enum status status;
	unsigned char a[4] = { 1, 2, 3, 4 };
	signed char w[2][4] = { { 1, 1, 1, 1 }, { 2, -2, 0, 1 } };
	int32_t out[2][1];
	char room[1024] __attribute__((aligned(256)));
	fake_cudnn_graph.signed_only = true;
	is_int(standin_ask(&backend_cudnn, "matmul:u8,s8.c,s32/s32:ba1bb1m1n1k4:ta0tb0", &list, &err), 2,
		"a matmul of u8 by s8");
	const struct cuda_backend *own = backend_cudnn.detail;
	is_int(own->plan(&list, 0, &plan, &status, &err), 0, "a plan %s", err.text);
	int before = fake_shift_sums;
	for (int turn = 0; turn < 3; turn++)
		for (int i = 0; i < 2; i++) {
			struct cuda_pointers at = { .source = { a }, .weights = w[i], .destination = out[i],
				.workspace = room };
			is_int(plan.ready(plan.state, &at, &err), 0, "made ready");
			is_int(plan.enqueue(plan.state, &at, STANDIN_STREAM, &err), 0, "an execution");
		}
	is_int(fake_shift_sums - before, 2, "one sum per set of weights");
	is_int(out[0][0], 10, "the first set's result");
	is_int(out[1][0], 2, "the second set's result");
	plan.free(plan.state);
	backend_cudnn.forget(&list);
	fake_cudnn_graph.signed_only = false;
}

static int plan_first(struct cuda_plan *plan, enum status *status, struct error *err)
{
	struct backend_list list;
	const struct cuda_backend *own = backend_cudnn.detail;
	fake_cudnn_graph.plan_status = CUDNN_STATUS_SUCCESS;
	if (standin_ask(&backend_cudnn, PLAIN, &list, err) < 0)
		return -2;
	fake_cudnn_graph.plan_status = *status == STATUS_OK ? CUDNN_STATUS_SUCCESS
		: *status == STATUS_NO_MEMORY	? CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED
		: *status == STATUS_UNSUPPORTED ? CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH
						: CUDNN_STATUS_INTERNAL_ERROR_COMPILATION_FAILED;
	int bad = own->plan(&list, 0, plan, status, err);
	fake_cudnn_graph.plan_status = CUDNN_STATUS_SUCCESS;
	backend_cudnn.forget(&list);
	return bad;
}

static void faults_test(void)
{
	static const enum status want[] = { STATUS_NO_MEMORY, STATUS_UNSUPPORTED, STATUS_FAILED };
	struct cuda_plan plan = { 0 };
	struct error err = ERROR_NONE;
	for (int i = 0; i < 3; i++) {
		enum status status = want[i];
		is_int(plan_first(&plan, &status, &err), -1, "a plan fails: %s", status_name(want[i]));
		is_int(status, want[i], "and is told as that");
	}
	enum status status = STATUS_OK;
	float in[60] = { 0 }, out[60];
	struct cuda_pointers at = { .source = { in }, .destination = out };
	is_int(plan_first(&plan, &status, &err), 0, "a plan");
	near(plan.workspace_bytes, 512, 0, "its workspace");
	fake_cudnn_graph.execute_status = CUDNN_STATUS_EXECUTION_FAILED;
	is_int(plan.enqueue(plan.state, &at, STANDIN_STREAM, &err), -1, "an execution fails");
	ok(strstr(err.text, "cudnnBackendExecute: CUDNN_STATUS_EXECUTION_FAILED"), "why: %s", err.text);
	fake_cudnn_graph.execute_status = CUDNN_STATUS_NOT_SUPPORTED;
	is_int(plan.enqueue(plan.state, &at, STANDIN_STREAM, &err), STATUS_UNSUPPORTED, "or is refused");
	fake_cudnn_graph.execute_status = CUDNN_STATUS_SUCCESS;
	plan.free(plan.state);
}

/* One variant pack per buffer set, made only once. */
static void packs_test(void)
{
	enum { SETS = 100, ELEMENTS = 60 };
	struct cuda_plan plan = { 0 };
	struct error err = ERROR_NONE;
	enum status status = STATUS_OK;
	float *in = base_calloc(SETS * ELEMENTS, sizeof(*in)),
	      *out = base_calloc(SETS * ELEMENTS, sizeof(*out));
	for (int i = 0; i < SETS * ELEMENTS; i++)
		in[i] = (float)i + 1;
	is_int(plan_first(&plan, &status, &err), 0, "a plan");
	int packs = fake_cudnn_graph.packs, executed = fake_cudnn_graph.executed, wrong = 0;
	for (int turn = 0; turn < 3; turn++)
		for (int i = 0; i < SETS; i++) {
			struct cuda_pointers at = { .source = { in + i * ELEMENTS },
				.destination = out + i * ELEMENTS };
			wrong += plan.enqueue(plan.state, &at, STANDIN_STREAM, &err) != 0;
		}
	is_int(wrong, 0, "all execute");
	is_int(fake_cudnn_graph.executed - executed, 3 * SETS, "each time");
	is_int(fake_cudnn_graph.packs - packs, SETS, "one pack for each set of addresses");
	ok(memcmp(in, out, SETS * ELEMENTS * sizeof(*in)) == 0, "every set is computed where it is");
	plan.free(plan.state);
	free(in);
	free(out);
}

/* Plans one problem and returns how many plans cuDNN compiled for it; -1: it failed. */
static int compiled_now(void)
{
	struct cuda_plan plan = { 0 };
	struct error err = ERROR_NONE;
	enum status status = STATUS_OK;
	int before = fake_cudnn_graph.compiled;
	if (plan_first(&plan, &status, &err))
		return -1;
	if (plan.workspace_bytes == 512)
		plan.free(plan.state);
	return fake_cudnn_graph.compiled - before;
}

static void kept_test(void)
{
	char root[] = "/tmp/t_cudnn_graph.XXXXXX", folder[64], command[128];
	struct cuda_plan plan = { 0 };
	struct error err = ERROR_NONE;
	enum status status = STATUS_FAILED;
	ok(mkdtemp(root) != NULL, "a folder");
	snprintf(folder, sizeof(folder), "%s/deep/plans", root);
	setenv("BENANZA_PLAN_CACHE", folder, 1);
	is_int(compiled_now() == 0, 0, "ready-made engines: each plan is made");
	is_int(access(folder, F_OK), -1, "and not kept");
	fake_cudnn_graph.behaviour = 1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
	is_int(plan_first(&plan, &status, &err), -1, "an engine that does not compile");
	is_int(access(folder, F_OK), -1, "is not kept");
	is_int(compiled_now(), 1, "an engine that compiles");
	int loaded = fake_cudnn_graph.loaded;
	is_int(compiled_now(), 0, "is not compiled again");
	is_int(fake_cudnn_graph.loaded - loaded, 1, "but loaded");
	fake_cudnn_graph.load_status = CUDNN_STATUS_SERIALIZATION_VERSION_MISMATCH;
	is_int(compiled_now(), 1, "what cuDNN does not load is compiled");
	fake_cudnn_graph.load_status = CUDNN_STATUS_SUCCESS;
	standin_context.sm = 80;
	is_int(compiled_now(), 1, "another GPU has other plans");
	standin_context.sm = 90;
	standin_context.software = "another driver";
	is_int(compiled_now(), 1, "as has other software");
	is_int(compiled_now(), 0, "which are kept, too");
	standin_context.software = NULL;
	is_int(compiled_now(), 0, "the first one is still there");
	setenv("BENANZA_PLAN_CACHE", "none", 1);
	is_int(compiled_now(), 1, "nothing is kept");
	snprintf(folder, sizeof(folder), "%s/file/plans", root);
	setenv("BENANZA_PLAN_CACHE", folder, 1);
	snprintf(command, sizeof(command), "touch %s/file", root);
	ok(system(command) == 0 && compiled_now() == 1 && compiled_now() == 1,
		"a folder that cannot be made: all is compiled");
	fake_cudnn_graph.behaviour = 0;
	setenv("BENANZA_PLAN_CACHE", "none", 1);
	snprintf(command, sizeof(command), "rm -r %s", root);
	is_int(system(command), 0, "removed");
}

/* A list compiles its algorithms before they are planned, once; a failure is kept as well. */
static void compile_test(void)
{
	struct backend_list list;
	struct cuda_plan plan = { 0 };
	struct error err = ERROR_NONE;
	enum status status = STATUS_OK;
	const struct cuda_backend *own = backend_cudnn.detail;
	fake_cudnn_graph.behaviour = 1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
	is_int(standin_ask(&backend_cudnn, PLAIN, &list, &err), 2, "two engines");
	int before = fake_cudnn_graph.compiled;
	backend_cudnn.compile(&list, 0);
	backend_cudnn.compile(&list, 0);
	is_int(fake_cudnn_graph.compiled - before, 1, "one is compiled");
	is_int(own->plan(&list, 0, &plan, &status, &err), 0, "and planned");
	is_int(fake_cudnn_graph.compiled - before, 1, "without compiling it again");
	plan.free(plan.state);
	fake_cudnn_graph.plan_status = CUDNN_STATUS_NOT_SUPPORTED;
	backend_cudnn.compile(&list, 1);
	fake_cudnn_graph.plan_status = CUDNN_STATUS_SUCCESS;
	is_int(own->plan(&list, 1, &plan, &status, &err), -1, "the other one failed");
	ok(status == STATUS_UNSUPPORTED && strstr(err.text, "as the test wanted"), "for this reason: %s",
		err.text);
	is_int(own->plan(&list, 0, &plan, &status, &err), 0, "a second plan");
	is_int(fake_cudnn_graph.compiled - before, 3, "is compiled");
	plan.free(plan.state);
	backend_cudnn.compile(&list, 0); /* never taken: forget frees it */
	backend_cudnn.forget(&list);
	fake_cudnn_graph.behaviour = 0;
}

static void version_test(void)
{
	static const struct {
		int version;
		bool planning;
		const char *why;
	} row[] = {
		{ 91900, true, NULL }, { 90800, true, NULL }, { 90000, false, NULL },
		{ 90700, true, "cuDNN 9.7 cannot plan without a GPU; install 9.8 or newer" },
		{ 8907, false, "cuDNN 8.9 is installed, this runner needs cuDNN 9; install it" },
		{ 100100, false, "cuDNN 10.1 is installed, this runner needs cuDNN 9; install it" },
	};
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct error err = ERROR_NONE;
		is_int(cudnn_version_check(row[i].version, row[i].planning, &err), row[i].why ? -1 : 0,
			"version %d", row[i].version);
		is_str(err.text, row[i].why ? row[i].why : "", "what is said of it");
	}
}

/* Beyond the heuristics: every engine that takes the graph, with the knobs that go together. */
static void all_test(void)
{
	struct backend_list list;
	struct error err = ERROR_NONE;
	struct str names = { 0 };
	fake_cudnn_graph.engines = 14;
	fake_cudnn_graph.configs = 0;
	is_int(standin_ask(&backend_cudnn, PLAIN, &list, &err), 2, "what the heuristics return");
	is_int(fake_cudnn_graph.configs, 0, "without a sweep");
	backend_cudnn.forget(&list);
	is_int(standin_ask_all(&backend_cudnn, PLAIN, &list, &err), 6, "all: %s", err.text);
	for (int i = 0; i < list.count; i++)
		str_addf(&names, "%s ", list.algorithm[i].name);
	is_str(names.p, "eng12{k2=4,k14=1} eng0{k2=4,k14=1} eng0 eng12{k2=0,k14=1} eng12{k2=2,k14=1} "
		"eng12{k2=5,k14=2} ", "each once, those of the heuristics first");
	is_int(list.left_out, 0, "none is left out");
	double worst = 0;
	for (int i = 0; i < list.count; i++)
		worst = fmax(worst, standin_worst(&list, i, &err));
	near(worst, 0, 1e-6, "each runs");
	backend_cudnn.forget(&list);
	fake_cudnn_graph.engines = 0;
	is_int(standin_ask_all(&backend_cudnn, PLAIN, &list, &err), 2, "a library that does not tell");
	backend_cudnn.forget(&list);
	setenv("BENANZA_CUDNN_COMPILED", "0", 1);
	fake_cudnn_graph.behaviour = 1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
	ok(standin_ask(&backend_cudnn, PLAIN, &list, &err) < 0, "none of the engines that are compiled");
	fake_cudnn_graph.behaviour = 0;
	unsetenv("BENANZA_CUDNN_COMPILED");
	str_free(&names);
}

static void probe_test(void)
{
	struct str stack = { 0 };
	struct error err = ERROR_NONE;
	bool has_matrix = true;
	json_t *attributes = json_object();
	str_addf(&stack, "CUDA 13.0");
	is_int(backend_cudnn.probe(&stack, attributes, &has_matrix, &err), 0, "probe");
	is_str(stack.p, "CUDA 13.0, cuDNN 9.19.0, no NVRTC, no cudnn_adv",
		"the stack line has the compiler and the part that are missing");
	const json_t *list = json_object_get(attributes, "libraries");
	is_int((int64_t)json_array_size(list), 3, "libraries");
	for (size_t i = 0; i < json_array_size(list); i++)
		ok(json_is_true(json_object_get(json_array_get(list, i), "present")) == (i == 0), "%s: %s",
			json_string_at(json_array_get(list, i), "name", ""),
			json_string_at(json_array_get(list, i), "fix", "present"));
	is_int(json_int_at(attributes, "cudnn", 0), 91900, "the version");
	is_str(json_string_at(attributes, "cudnn_cnn", ""), "loads", "a part that loads");
	is_str(json_string_at(attributes, "cudnn_adv", ""), "CUDNN_STATUS_NOT_SUPPORTED",
		"a part that does not");
	json_decref(attributes);
	str_free(&stack);
}

int main(void)
{
	setenv("BENANZA_PLAN_CACHE", "none", 1);
	problems_test();
	scales_test();
	list_test();
	forms_test();
	zeros_test();
	signed_test();
	sums_test();
	faults_test();
	packs_test();
	kept_test();
	compile_test();
	all_test();
	probe_test();
	version_test();
	is_int(fake_cudnn_graph.destroyed, fake_cudnn_graph.created, "every descriptor is destroyed");
	ok(fake_cudnn_graph.stream == STANDIN_STREAM, "on the stream that enqueue was given");
	return done_testing();
}
