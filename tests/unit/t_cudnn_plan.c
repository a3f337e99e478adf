/* Planning with the real cuDNN without a device: on described GPUs of several generations every builder gets
 * engines or cuDNN's reason, and the properties of an engine are consistent. Skipped if cuDNN is missing. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "runner/cudnn/cudnn_offers.h"
#include "tap.h"

/* Ignores leaks inside cuDNN; t_cudnn_graph finds our own. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static struct cuda_context context = { .planning = true, .caveat = "" };

const struct cuda_context *cuda_context(void)
{
	return &context;
}

/* Opens a description from the data folder, changed to another generation if there is no file for that. */
static void device_choose(const char *file, int sm)
{
	char path[1024];
	const char *folder = getenv("abs_srcdir");
	snprintf(path, sizeof(path), "%s/data/devices/%s.json", folder ? folder : ".", file);
	json_t *all = json_load_file(path, 0, NULL), *device = json_object_get(all, "cudnn");
	json_object_set_new(device, "deviceVer", json_integer(sm * 10));
	free((char *)(uintptr_t)context.deviceprop);
	context.deviceprop = json_dumps(device, JSON_COMPACT);
	context.sm = sm;
	json_decref(all);
}

static const struct {
	const char *file;
	int sm;
} devices[] = { { "t4", 75 }, { "a100", 80 }, { "l40s", 89 }, { "h100", 90 }, { "b200", 100 },
	{ "rtx4090", 120 } };
#define DEVICES ((int)(sizeof(devices) / sizeof(devices[0])))

static int ask(const char *text, struct backend_list *list, struct error *err)
{
	struct problem p;
	err->text[0] = '\0';
	if (!problem_parse(text_of(text), &p, err))
		return cudnn_algorithms(&p, list, err);
	printf("# %s: %s\n", text, err->text);
	return -2;
}

/* Checks that the properties of all algorithms are valid. */
static bool is_consistent(const struct backend_list *list, const char *text)
{
	static const char *const products[] = { "conv:", "deconv:", "matmul:", "attention:" };
	bool has_product = false;
	for (size_t i = 0; i < sizeof(products) / sizeof(products[0]); i++)
		has_product = has_product || strncmp(text, products[i], strlen(products[i])) == 0;
	bool relaxed_possible = strncmp(strchr(text, ':'), ":f32", 4) == 0;
	for (int i = 0; i < list->count; i++) {
		const struct algorithm *a = &list->algorithm[i];
		bool compiled = strstr(a->notes, "runtime_compilation"),
		     strict = strcmp(a->math, "strict") == 0;
		bool tensor = strstr(a->notes, "tensor_core");
		if (a->rank != i || !*a->name || isnan(a->workspace_bytes) != compiled ||
			a->workspace_bytes < 0)
			return false;
		if ((tensor && !has_product) || (a->matrix == MATRIX_YES) != tensor ||
			(relaxed_possible && tensor && strict))
			return false;
		for (int j = 0; j < i; j++)
			if (strcmp(a->name, list->algorithm[j].name) == 0)
				return false;
	}
	return list->count > 0;
}

/* %s stands for the type. Includes epilogues with operands per channel and with residuals. */
static const char *const families[] = {
	"conv:%s,%s.c,%s/f32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
	"conv:%s@nxc,%s.c@nxc,%s@nxc/"
	"f32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:%s.c+add:%s@nxc+relu",
	"conv:%s@nxc,%s.c@nxc,%s@nxc/f32:n1c64h28w28k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+bias:%s.c+swish,1",
	"deconv:%s,%s.c,%s/f32:n1c64h28w28k32r2s2:ph0pw0qh0qw0:sh2sw2:dh1dw1:uh0uw0:g1",
	"matmul:%s,%s.c,%s/f32:ba1bb1m128n256k64:ta0tb0+bias:%s.c+gelu_erf",
	"matmul:%s,%s,%s/f32:ba12bb12m128n128k64:ta0tb1",
	"pool:%s,%s:max:n1c64h56w56r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1",
	"pool:%s@nxc,%s@nxc:avg_exclude:n1c64h56w56r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1",
	"resample:%s@nxc,%s@nxc:linear:n1c64h20w20:oh40ow40",
	"batchnorm:%s@nxc,%s@nxc:2x64x28x28+relu",
	"layernorm:%s,%s:1x128x768:ax2",
	"rmsnorm:%s,%s:1x128x768:ax2",
	"instancenorm:%s,%s:1x64x28x28",
	"eltwise:%s,%s:hard_swish:1x64x28x28",
	"binary:%s,%s,%s:add:1x64x28x28:1x64x28x28+relu",
	"binary:%s,%s,%s:mul:1x64x28x28:1x64x1x1",
	"select:bool,%s,%s,%s:1x1x128x128:1x12x128x128:1",
	"reduce:%s,f32:sum:1x128x768:1x128x1",
	"softmax:%s,%s:soft:1x12x128x128:ax3",
	"concat:%s,%s:1x64x28x28,1x32x28x28:ax1",
	"cast:%s,f32:1x128x768",
	"transpose:%s,%s:1x128x12x64:perm0x2x1x3",
	"attention:%s,%s,%s,%s/f32:full:n1hq12hk12lq128lk128d64e64",
	"attention:%s,%s,%s,%s/f32:causal:n1hq12hk4lq128lk256d64e64",
	"attention:%s,%s,%s,%s/f32:masked:n1hq12hk12lq128lk128d64e64:1x1x1x128",
};
#define FAMILIES ((int)(sizeof(families) / sizeof(families[0])))

static void family_write(char *text, size_t size, const char *family, const char *type)
{
	size_t n = 0;
	for (const char *s = family; *s && n + 1 < size; s++) {
		if (s[0] != '%') {
			text[n++] = *s;
			continue;
		}
		n += (size_t)snprintf(text + n, size - n, "%s", type);
		s++;
	}
	text[n] = '\0';
}

/* True if there are engines, or a reason from cuDNN (or from us, if it has no such operation). */
static bool answers(const char *text, int *planned)
{
	struct backend_list list = { 0 };
	struct error err = ERROR_NONE;
	int bad = ask(text, &list, &err);
	*planned += bad == 0;
	if (bad == 0) {
		bool good = is_consistent(&list, text);
		cudnn_forget(&list);
		return good;
	}
	bool reason = strstr(err.text, "cuDNN") || strstr(err.text, "NOT_SUPPORTED");
	if (!reason || strchr(err.text, '\n'))
		printf("# %s: %s\n", text, err.text);
	return bad == -1 && reason && !strchr(err.text, '\n');
}

/* Each type on two GPUs; make check-long: all on all. */
static void families_test(void)
{
	static const char *const types[] = { "f32", "f16", "bf16" };
	for (int d = 0; d < DEVICES; d++)
		for (int t = 0; t < 3; t++) {
			int good = 0, planned = 0;
			char text[512];
			if (t != d % 3 && !getenv("CHECK_LONG"))
				continue;
			device_choose(devices[d].file, devices[d].sm);
			for (int f = 0; f < FAMILIES; f++) {
				family_write(text, sizeof(text), families[f], types[t]);
				if (answers(text, &planned))
					good++;
				else
					printf("# sm%d: %s\n", devices[d].sm, text);
			}
			is_int(good, FAMILIES, "sm%d %s: all builders give engines or a reason (%d engines)",
				devices[d].sm, types[t], planned);
		}
}

/* Problems that must have engines, so that the test above cannot pass with reasons only. */
static void musts_test(void)
{
	static const struct {
		int least_sm;
		const char *text;
	} must[] = {
		{ 75, "conv:f32,f32.c,f32/f32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1" },
		{ 75,
			"conv:f32,f32.c,f32/"
			"f32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+add:f32+relu" },
		{ 75,
			"conv:f16,f16.c,f16/"
			"f32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f16.c+relu" },
		{ 80, "conv:bf16,bf16.c,bf16/f32:n1c32h28w28k32r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g32" },
		{ 75, "conv:f32,f32.c,f32/f32:n1c64w560k64s3:pw1qw1:sw1:dw1:g1" },
		{ 75,
			"conv:f32,f32.c,f32/"
			"f32:n1c16d8h14w14k16t3r3s3:pd1ph1pw1qd1qh1qw1:sd1sh1sw1:dd1dh1dw1:g1" },
		{ 75, "conv:f32,f32.c,f32/f32:n1c64h28w28k64r3s3:ph0pw0qh1qw1:sh2sw2:dh1dw1:g1" },
		{ 75, "deconv:f32,f32.c,f32/f32:n1c64h28w28k32r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1:uh1uw1:g1" },
		{ 75, "conv:s8@nxc,s8.c@nxc,s8@nxc/s32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1" },
		{ 75, "conv:f16,f16.c,f16/f16:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1" },
		{ 75, "conv:f64,f64.c,f64/f64:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1" },
	};
	for (int d = 0; d < DEVICES; d++) {
		device_choose(devices[d].file, devices[d].sm);
		for (size_t i = 0; i < sizeof(must) / sizeof(must[0]); i++) {
			struct backend_list list = { 0 };
			struct error err = ERROR_NONE;
			int bad = devices[d].sm < must[i].least_sm ? -1 : ask(must[i].text, &list, &err);
			if (devices[d].sm >= must[i].least_sm &&
				!ok(bad == 0, "sm%d: %s", devices[d].sm, must[i].text))
				printf("# %s\n", err.text);
			if (bad == 0)
				cudnn_forget(&list);
		}
	}
}

/* Run-time compiled engines, which are only listed with a driver or the toolkit's stub of it. */
static void compiled_test(void)
{
	static const struct {
		int least_sm;
		const char *text;
	} row[] = {
		{ 75,
			"conv:s8@nxc,s8.c@nxc,f32@nxc/"
			"s32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+relu" },
		{ 75,
			"conv:s8@nxc,s8.c@nxc,s8@nxc/"
			"s32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c+relu" },
		{ 80,
			"conv:s8@nxc,s8.c@nxc,s8@nxc/"
			"s32:n1c64h28w28k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1+scale:f32.c+bias:f32.c+add:s8@"
			"nxc+relu" },
		{ 80, "matmul:s8,s8.c,f32/s32:ba1bb1m128n256k64:ta0tb1+scale:f32.c+bias:f32.c" },
		{ 89,
			"conv:f8e4m3@nxc,f8e4m3.c@nxc,f16@nxc/"
			"f32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1" },
		{ 75, "matmul:s8,s8.c,s32/s32:ba1bb1m128n256k64:ta0tb1" },
		{ 89, "matmul:f8e4m3,f8e4m3.c,f16/f32:ba1bb1m128n256k64:ta0tb1" },
		{ 75, "matmul:f16,f16.c,f16/f32:ba1bb1m128n3072k768:ta0tb0+bias:f16.c+gelu_erf" },
		{ 75, "binary:f32,f32,f32:mul:8x64x28x28:8x64x1x1" },
		{ 75, "binary:f32,f32,f32:add:4x12x128x128:1x1x128x128" },
		{ 75, "batchnorm:f32,f32:8x64x28x28+relu" },
		{ 75, "reduce:f32,f32:mean:4x512x7x7:4x512x1x1" },
		{ 80, "layernorm:f16,f16:1x128x768:ax2" },
		{ 80, "attention:f16,f16,f16,f16/f32:full:n1hq12hk12lq128lk128d64e64" },
		{ 80, "attention:f16,f16,f16,f16/f32:causal:n1hq12hk12lq128lk128d64e64" },
	};
	for (int d = 0; d < DEVICES; d++) {
		int good = 0, due = 0;
		if ((devices[d].sm == 80 || devices[d].sm == 89) && !getenv("CHECK_LONG"))
			continue; /* cuDNN takes longest, and has the same engines for them */
		device_choose(devices[d].file, devices[d].sm);
		for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
			struct backend_list list = { 0 };
			struct error err = ERROR_NONE;
			if (devices[d].sm < row[i].least_sm)
				continue;
			due++;
			if (ask(row[i].text, &list, &err))
				printf("# %s: %s\n", row[i].text, err.text);
			else if (strstr(list.algorithm[0].notes, "runtime_compilation"))
				good++;
			if (list.count)
				cudnn_forget(&list);
		}
		is_int(good, due, "sm%d: engines that compile are listed", devices[d].sm);
	}
}

/* A relu with an upper bound has more engines than the slowest ready-made one, which is not the first. */
static void ceiling_test(void)
{
	for (int d = 0; d < DEVICES; d++) {
		struct backend_list list = { 0 };
		struct error err = ERROR_NONE;
		device_choose(devices[d].file, devices[d].sm);
		int bad = ask("conv:f16@nxc,f16.c@nxc,f16@nxc/"
			      "f32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f16.c"
			      "+clip,0,6",
			&list, &err);
		ok(!bad && list.count > 2 && list.algorithm[0].matrix == MATRIX_YES,
			"sm%d: relu6 on matrix units %s", devices[d].sm, err.text);
		if (list.count)
			cudnn_forget(&list);
	}
}

/* A relu without a bias has the ready-made engines in ONNX's order that one with a bias has. */
static void zeros_test(void)
{
	for (int d = 0; d < DEVICES; d++) {
		struct backend_list list = { 0 }, biased = { 0 };
		struct error err = ERROR_NONE;
		device_choose(devices[d].file, devices[d].sm);
#define RELU "conv:f16,f16.c,f16/f32:n1c64h28w28k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
		int bad = ask(RELU "+relu", &list, &err) || ask(RELU "+bias:f16.c+relu", &biased, &err);
		ok(!bad && list.count == biased.count && list.count > 10 &&
				strcmp(list.algorithm[0].layouts, "src=ncx wei=ncx dst=ncx") == 0 &&
				!strstr(list.algorithm[0].notes, "runtime_compilation"),
			"sm%d: %d engines for a relu, %d behind a bias %s", devices[d].sm, list.count,
			biased.count, err.text);
		if (list.count)
			cudnn_forget(&list);
		if (biased.count)
			cudnn_forget(&biased);
	}
}

/* Older versions fuse fewer patterns. */
#define SEEN_VERSION 91900

static bool has_driver(void)
{
	struct backend_list list = { 0 };
	struct error err = ERROR_NONE;
	bool has = ask("eltwise:f32,f32:relu:1x64x28x28", &list, &err) == 0;
	if (has)
		cudnn_forget(&list);
	else
		printf("# no driver and no stub of it: run-time compiled engines are not listed: %s\n",
			err.text);
	return has;
}

static void refusals_test(void)
{
	static const struct {
		const char *text, *reason;
	} row[] = {
		{ "eltwise:f32,f32:round:1x64x28x28", "no pointwise operation for round" },
		{ "resample:f32,f32:cubic:n1c64h20w20:oh40ow40", "no cubic resampling" },
		{ "pool:f32,f32:max:n1c64h56w56r3s3:ph1pw1qh1qw1:sh2sw2:dh2dw2", "no dilation" },
		{ "lrn:f32,f32:across,0.0001,0.75:1x64x28x28:n5", "no lrn" },
		{ "transpose:s64,s64:1x128x12x64:perm0x2x1x3", "do not support s64" },
		{ "binary:f64,f64,f64:add:1x128x768:1x128x768", "do not support f64" },
		{ "cast:f32,bool:1x128x768", "numbers to bool" },
	};
	struct backend_list list = { 0 };
	struct error err = ERROR_NONE;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		is_int(ask(row[i].text, &list, &err), -1, "refused: %s", row[i].text);
		ok(strstr(err.text, row[i].reason), "why: %s", err.text);
	}
}

static void texts_test(void)
{
	static const char raw[] = "{\"engineId\":1}\n"
		"Warning: CUDNN_STATUS_NOT_SUPPORTED_LAYOUT; Reason: !is_NHWC\n"
		"Warning: CUDNN_STATUS_NOT_SUPPORTED; Reason: finalize_internal()\n\n"
		"{\"engineId\":2}\n"
		"Warning: CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH; Reason: only Blackwell\n\n"
		"{\"engineId\":3}\n"
		"Warning: CUDNN_STATUS_NOT_SUPPORTED_LAYOUT; Reason: !is_NHWC\n\n"
		"{\"engineId\":4}\n"
		"Warning: CUDNN_STATUS_NOT_SUPPORTED_SHAPE; Reason: is_strided_conv\n";
	struct arena a = { 0 };
	char text[512], tiny[8];
	cudnn_reason(raw, text, sizeof(text));
	is_str(text, "NOT_SUPPORTED_LAYOUT: !is_NHWC; or NOT_SUPPORTED_SHAPE: is_strided_conv",
		"causes, each once");
	cudnn_reason("Warning: CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH; Reason: only Blackwell\n", text,
		sizeof(text));
	is_str(text, "NOT_SUPPORTED_ARCH_MISMATCH: only Blackwell",
		"another GPU's engine where nothing else is told");
	cudnn_reason(raw, tiny, sizeof(tiny));
	is_str(tiny, "NOT_SUP", "cut to the room there is");
	cudnn_reason("", text, sizeof(text));
	is_str(text, "", "no reason");
	is_str(cudnn_notes_text(&a,
		       1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE | 1u << CUDNN_NUMERICAL_NOTE_WINOGRAD |
			       1u << 20,
		       1u << CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION),
		"tensor_core winograd note20 runtime_compilation", "notes, a newer one too");
	is_str(cudnn_notes_text(&a, 0, 0), "", "no notes");
	is_str(cudnn_math_name(DTYPE_F32, 0), "strict", "f32 without a note");
	is_str(cudnn_math_name(DTYPE_F32, 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE), "tf32",
		"f32 on tensor cores");
	is_str(cudnn_math_name(DTYPE_F16, 1u << CUDNN_NUMERICAL_NOTE_TENSOR_CORE), "strict",
		"f16 on tensor cores");
	is_str(cudnn_math_name(DTYPE_F16, 1u << CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION),
		"f16_accumulate", "f16 sums in f16");
	arena_free(&a);
}

int main(void)
{
	struct error err = ERROR_NONE;
	if (!cudnn_library(&err)) {
		printf("1..0 # SKIP %s\n", err.text);
		return 0;
	}
	printf("# cuDNN %d\n", cudnn_version());
	texts_test();
	device_choose("h100", 90);
	refusals_test();
	musts_test();
	families_test();
	if (cudnn_version() < SEEN_VERSION) {
		printf("# engines that compile are only held against cuDNN 9.19 and newer\n");
	} else if (has_driver()) {
		compiled_test();
		ceiling_test();
		zeros_test();
	}
	free((char *)(uintptr_t)context.deviceprop);
	return done_testing();
}
