#include "config.h"

#include "analyze/analyze.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

/* Groups of the bundled models: how often each pattern is found, and what one group is measured as. */

struct expected {
	const char *model, *dtype;
	const char *pattern;
	int count;
	const char *text; /* of the first such group, its end */
};

/* The lowest level of the what-if fusion that allows a pattern. */
static const struct {
	const char *pattern;
	enum fusion_level level;
} levels[] = { { "MatMul+Bias", FUSION_EPILOGUE }, { "Gemm+Tanh", FUSION_EPILOGUE },
	{ "MatMul+Div", FUSION_EPILOGUE }, { "Conv+Relu", FUSION_EPILOGUE },
	{ "Conv+BatchNorm+Relu", FUSION_FOLD }, { "MatMul+Bias+Add", FUSION_FOLD },
	{ "MatMul+Bias+Gelu", FUSION_PATTERN }, { "Conv+SiLU+Add", FUSION_PATTERN },
	{ "MatMul+Bias x3", FUSION_PATTERN }, { "Transpose+MatMul", FUSION_PATTERN },
	{ "Attention(mask)", FUSION_PATTERN },
	{ "Add+Add", FUSION_ALL }, { "Add+Div", FUSION_ALL } };


static const struct expected expected[] = {
	{ "resnet50", "f32", "Conv+BatchNorm", 53, "g1+bias:f32.c" },
	{ "resnet50", "f32", "Conv+BatchNorm+Relu", 33, "+bias:f32.c+relu" },
	/* 16 blocks; in 4 of them either of two convolutions may take the sum along */
	{ "resnet50", "f32", "Conv+BatchNorm+Add", 20, "+bias:f32.c+add:f32" },
	{ "resnet50", "f32", "Conv+BatchNorm+Add+Relu", 20, "+bias:f32.c+add:f32+relu" },
	{ "resnet50", "bf16", "Conv+BatchNorm+Add+Relu", 20, "+bias:bf16.c+add:bf16+relu" },
	{ "mobilenet_v2", "f32", "Conv+BatchNorm+Clip", 35, "+bias:f32.c+clip,0,6" },
	{ "mobilenet_v2", "f32", "Conv+BatchNorm+Add", 10, "+bias:f32.c+add:f32" },
	{ "googlenet", "f32", "Conv+Relu", 57, "+bias:f32.c+relu" },
	{ "yolov8n", "f32", "Conv+SiLU", 57, "+bias:f32.c+swish,1" },
	{ "yolov8n", "f32", "Conv+SiLU+Add", 6, "+bias:f32.c+swish,1+add:f32" },
	{ "yolov8n", "f32", "Add+Div", 1, "binary:f32,f32,f32:add:1x2x8400:1x2x8400+affine,0.5,0" },
	{ "bert_base", "f32", "Add+Add", 1, "+add:f32.c" },
	{ "bert_base", "f32", "MatMul+Bias", 72, "+bias:f32.c" },
	{ "bert_base", "f32", "MatMul+Bias+Gelu", 12, "+bias:f32.c+gelu_erf" },
	{ "bert_base", "bf16", "MatMul+Bias+Add", 24, "+bias:bf16.c+add:bf16" },
	{ "bert_base", "f32", "Gemm+Tanh", 1, "+bias:f32.c+tanh" },
	{ "bert_base", "f32", "MatMul+Bias x3", 12, "m128n2304k768:ta0tb0+bias:f32.c" },
	{ "bert_base", "f32", "MatMul+Bias x2", 36, "m128n1536k768:ta0tb0+bias:f32.c" },
	{ "gpt2_small", "f32", "Gemm+Gelu(tanh)", 12, "+bias:f32.c+gelu_tanh" },
	{ "bert_base", "f32", "Attention(mask)", 12,
		"attention:f32,f32,f32,f32/f32:masked:n1hq12hk12lq128lk128d64e64:1x1x1x128" },
	{ "bert_base", "bf16", "Attention(mask)", 12, "masked:n1hq12hk12lq128lk128d64e64:1x1x1x128" },
	{ "gpt2_small", "f32", "Attention(mask)", 12, "masked:n1hq12hk12lq128lk136d64e64:1x1x128x136" },
	{ "bert_base", "f32", "MatMul+Div", 12, "ta0tb0+affine,0.125,0" },
	{ "gpt2_small", "f32", "Transpose+MatMul", 12, "m128n136k64:ta0tb1" },
	{ "gpt2_small", "f32", "Transpose+MatMul+Div", 12, "m128n136k64:ta0tb1+affine,0.125,0" },
	{ "gpt2_small", "bf16", "Gemm+Add", 24, "+bias:bf16.c+add:bf16" },
};
#define EXPECTED_COUNT ((int)(sizeof(expected) / sizeof(expected[0])))

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);
	return n >= k && strcmp(text + n - k, end) == 0;
}

static void check(const struct expected *e, const struct fusion *f)
{
	const struct fusion_group *first = NULL;
	int count = 0;
	for (int i = f->group_count - 1; i >= 0; i--) {
		if (strcmp(f->groups[i].pattern, e->pattern) != 0)
			continue;
		first = &f->groups[i];
		count++;
	}
	is_int(count, e->count, "%s %s: %s", e->model, e->dtype, e->pattern);
	for (size_t i = 0; first && i < sizeof(levels) / sizeof(levels[0]); i++)
		if (strcmp(levels[i].pattern, e->pattern) == 0)
			is_int(first->level, levels[i].level, "... at its level");
	ok(first && ends_with(first->text, e->text), "... as %s", first ? first->text : "nothing");
}

/* What must hold for the groups of any model. */
static bool sound(const struct plan *p, const struct fusion *f)
{
	bool good = true;
	for (int i = 0; i < f->group_count; i++) {
		const struct fusion_group *g = &f->groups[i];
		struct problem back;
		char again[PROBLEM_TEXT_SIZE];
		good &= problem_parse(text_of(g->text), &back, NULL) == 0 &&
			problem_format(&back, again, NULL) == 0 && strcmp(again, g->text) == 0;
		good &= g->layer_count > 1 && g->residual < g->layers[g->layer_count - 1];
		for (int k = 0; k < g->layer_count; k++) {
			const struct plan_layer *l = &p->layers[g->layers[k]];
			bool last = k == g->layer_count - 1;
			good &= k == 0 || g->layers[k] > g->layers[k - 1];
			if (g->join)
				continue;
			/* nothing but the last layer is read from outside */
			for (int s = 0; s < l->succ_count && !last; s++)
				good &= l->succs[s] <= g->layers[g->layer_count - 1];
			good &= last || !p->values[l->outputs[0]].is_output;
		}
	}
	return good;
}

static void check_model(const char *model, const char *dtype)
{
	char path[1024];
	snprintf(path, sizeof(path), "%s/data/models/%s.onnx", getenv("abs_srcdir"), model);
	struct error err = ERROR_NONE;
	struct dim_binding dims[] = { { TEXT("batch"), 1 }, { TEXT("sequence"), 128 },
		{ TEXT("past_sequence"), 8 }, { TEXT("total_sequence"), 136 } };
	bool dynamic = strcmp(model, "bert_base") == 0 || strcmp(model, "gpt2_small") == 0;
	struct plan_options options = { .dtype = dtype_parse(text_of(dtype)), .bindings = dims };
	options.binding_count = !dynamic ? 0 : strcmp(model, "bert_base") == 0 ? 2 : 4;
	struct model *m = model_load(path, &err);
	struct plan *p = m ? plan_build(m, &options, &err) : NULL;
	if (!ok(p != NULL, "%s in %s loads %s", model, dtype, err.text)) {
		model_free(m);
		return;
	}
	struct fusion *f = fusion_find(p);
	ok(sound(p, f), "%s in %s: %d groups are sound", model, dtype, f->group_count);
	for (int i = 0; i < EXPECTED_COUNT; i++)
		if (strcmp(expected[i].model, model) == 0 && strcmp(expected[i].dtype, dtype) == 0)
			check(&expected[i], f);
	fusion_free(f);
	plan_free(p);
	model_free(m);
}

int main(void)
{
	static const char *const models[] = { "resnet50", "mobilenet_v2", "googlenet", "yolov8n", "bert_base",
		"gpt2_small" };
	if (!getenv("abs_srcdir"))
		skip_all("abs_srcdir is not set: run by make check");
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		check_model(models[i], "f32");
		check_model(models[i], "bf16");
	}
	return done_testing();
}
