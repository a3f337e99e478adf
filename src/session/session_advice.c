/* Advice for the model: how each kind is done, and the search over the types of the model. */
#include "config.h"

#include "session/session_advice.h"
#include "session/session_private.h"
#include "session/session_reality.h"
#include "session/session_try.h"
#include "session/type_lack.h"

#include "base/clock.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SESSION_ADVICE_LAYERS 5000 /* of larger models no plans of other types are made */
#define TARGET_LEAST_NS 1e-3
#define TARGET_MOST_NS 1e15

static const struct advice_how hows[ADVICE_KINDS] = {
	[ADVICE_FUSION] = { "fusion", {
		"graph optimization level ORT_ENABLE_ALL (the default); for attention and "
		"norms optimize the file first: onnxruntime.transformers.optimizer",
		"the builder fuses by itself; give it the whole graph, not parts between plugins",
		"torch.compile(model)" } },
	[ADVICE_ALGORITHM] = { "algorithm", {
		"CUDA: cudnn_conv_algo_search=EXHAUSTIVE; CPU: another provider (dnnl, openvino)",
		"builder optimization level 5, with a timing cache",
		"torch.backends.cudnn.benchmark = True; matmuls: torch.compile(mode=\"max-autotune\")" } },
	[ADVICE_UNITS] = { "type and units", {
		"onnxruntime.transformers.float16 converts a file to f16; CUDA: use_tf32=1",
		"builder flags FP16, BF16, TF32, or a strongly typed network",
		"model.half() or torch.autocast; torch.set_float32_matmul_precision(\"high\") for TF32" } },
	[ADVICE_LAUNCH] = { "launch", { "CUDA: enable_cuda_graph=1, with inputs and outputs bound",
		"capture enqueueV3 in a CUDA graph; trtexec --useCudaGraph",
		"torch.compile(mode=\"reduce-overhead\")" } },
	[ADVICE_PARALLEL] = { "parallel", { "execution_mode ORT_PARALLEL with inter_op_num_threads",
		"builder: max_aux_streams", "one torch.cuda.Stream for each branch" } },
	[ADVICE_LAYOUT] = { "layout", { "CUDA: prefer_nhwc=1",
		"the builder chooses; inputs in kHWC8 avoid a reorder",
		"model.to(memory_format=torch.channels_last)" } },
	[ADVICE_PAD] = { "pad", {
		"change the file: pad the weights, Pad activations at the borders, Slice the result",
		"the builder pads channels by itself for FP16 and INT8 kernels",
		"torch.compile pads matmuls by itself (torch._inductor.config.shape_padding); else choose "
		"sizes that are multiples of 8" } },
	[ADVICE_FOLD] = { "fold", {
		"graph optimization level ORT_ENABLE_BASIC or higher (the default is ORT_ENABLE_ALL); "
		"SessionOptions.optimized_model_filepath keeps the result; delete layers that nothing reads",
		"the builder folds by itself; polygraphy surgeon sanitize --fold-constants does it before",
		"torch.compile(model), or export with torch.onnx.export(..., dynamo=True, optimize=True)" } },
	[ADVICE_JOIN] = { "joined matmuls", {
		"optimize the file first: onnxruntime.transformers.optimizer joins Q, K and V in its "
		"Attention; other matmuls: concatenate their weights in the file, and Split the result",
		"the builder joins matmuls of one input (horizontal fusion)",
		"one torch.nn.Linear with concatenated weights, then chunk()" } },
	[ADVICE_TYPE] = { "type", {
		"give it the f32 model; for other types the CPU's provider computes in f32 between casts",
		"give it the f32 model; trtexec --fp16 or --bf16 where the GPU has the type",
		"model.float()" } },
};

const struct advice_how *advice_how(enum advice_kind kind)
{
	return &hows[kind];
}

const char *advice_framework_name(int framework)
{
	static const char *const names[ADVICE_FRAMEWORKS] = { "ONNX Runtime", "TensorRT", "PyTorch" };
	return names[framework];
}

const struct advice_how *advice_how_once(const struct advice_list *l, int i)
{
	for (int k = 0; k < i; k++)
		if (l->items[k].kind == l->items[i].kind)
			return NULL;
	return advice_how(l->items[i].kind);
}

/* Puts the advice for a device that lacks the plan's type before the others. to: the bound in f32. */
static void lack_advise(struct session *s, struct arena *a, const struct scenario *start,
	struct session_bound to, struct advice_list *list)
{
	char words[SCENARIO_TEXT_SIZE];
	struct type_lack lack = type_lack_of(session_plan(s), session_analysis(s), a);
	struct advice *all = ARENA_ARRAY(a, struct advice, list->count + 1);
	if (!lack.count || !isnan(list->target_ns))
		return;
	all[0] = (struct advice){ .kind = ADVICE_TYPE, .dtype = dtype_name(DTYPE_F32),
		.title = arena_printf(a, "use the f32 model (-t f32): %s", type_lack_text(&lack, a)),
		.what_ifs = arena_printf(a, "%s", scenario_text(start, words, sizeof(words))),
		.layer_count = lack.count, .layers = lack.layers,
		.saves_ns = NAN, .saves_after_ns = NAN, .saves_lo_ns = NAN, .saves_hi_ns = NAN,
		.after_lo_ns = NAN, .after_hi_ns = NAN, .total_ns = to.ns,
		.estimated = to.estimated || isnan(to.ns) };
	for (int i = 0; i < list->count; i++)
		all[i + 1] = list->items[i];
	list->items = all;
	list->count++;
}

double advice_now_ns(const struct advice_list *l)
{
	return l->real_ns < l->start_ns ? l->real_ns : l->start_ns; /* NaN compares false */
}

char *advice_factor(const struct advice_list *l, char *buf, size_t size)
{
	double factor = advice_now_ns(l) / (l->start_ns - l->saves_lo_ns);
	if (l->saves_lo_ns > 0 && factor >= 1.005)
		snprintf(buf, size, "at least %.2fx", factor);
	else
		snprintf(buf, size, "unclear: it may save nothing");
	return buf;
}

const char *advice_none(const struct advice_list *l)
{
	return isnan(l->start_ns) ? "nothing of the model is measured"
				  : "no measured change saves 0.2% of the bound";
}

const char *advice_overhead(const struct advice_list *l, struct arena *a)
{
	char text[STR_QUANTITY];
	return !(l->overhead_ns > 0) ? NULL
		: arena_printf(a, "%s%s is fixed in %d layer%s: smaller types do not help %s",
			l->estimated ? "~" : "", str_duration(text, l->overhead_ns), l->overhead_layers,
			l->overhead_layers == 1 ? "" : "s", l->overhead_layers == 1 ? "it" : "them");
}

const char *advice_lack_text(enum advice_lack lack)
{
	static const char *const texts[ADVICE_LACKS] = { [LACKS_RESULTS] = "not measured",
		[LACKS_ESTIMATES] = "no estimate", [LACKS_PEAKS] = "peaks not known" };
	return texts[lack];
}

const char *advice_left_out(const struct advice_list *l, enum advice_lack lack, struct arena *a)
{
	const char *text = NULL;
	for (int i = 0; i < l->gap_count; i++) {
		const struct advice_gap *g = &l->gaps[i];
		if (g->lack != lack)
			continue;
		const char *before = text ? arena_printf(a, "%s, %s", text, g->what) : g->what;
		text = g->problems ? arena_printf(a, "%s (%d%s)", before, g->problems,
			text ? "" : g->problems == 1 ? " problem" : " problems") : before;
	}
	return text ? arena_printf(a, "%s: %s", advice_lack_text(lack), text) : NULL;
}

const char *advice_bench(const struct advice_list *l, enum advice_lack lack, struct arena *a)
{
	const char *types = "";
	bool any = false;
	for (int i = 0; i < l->gap_count; i++) {
		const struct advice_gap *g = &l->gaps[i];
		any |= g->lack == lack && !g->is_type;
		if (g->lack == lack && g->is_type)
			types = arena_printf(a, "%s%s%s", types, *types ? "," : "", g->what);
	}
	if (lack != LACKS_RESULTS)
		return lack == LACKS_PEAKS && any ? "on a quiet machine: bench --shaky" : NULL;
	const char *what_ifs = any ? arena_printf(a, "bench -w %s", l->what_ifs) : "";
	types = *types ? arena_printf(a, "%sbench -t %s", any ? "; " : "", types) : "";
	return any || *types ? arena_printf(a, "with the same options: %s%s", what_ifs, types) : NULL;
}

int advice_target_parse(const char *text, int64_t batch, struct advice_target *to, struct error *err)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "/s", 0 } };
	char *end;
	double value = strtod(text, &end), items = (double)(batch > 0 ? batch : 1);
	bool plain = strspn(text, "0123456789.eE-") >= (size_t)(end - text);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && plain && end > text; i++) {
		if (strcmp(end, units[i].name) != 0)
			continue;
		to->items_per_s = units[i].ns > 0 ? NAN : value;
		to->ns = units[i].ns > 0 ? value * units[i].ns : 1e9 * items / value;
		if (to->ns >= TARGET_LEAST_NS && to->ns <= TARGET_MOST_NS)
			return 0;
	}
	return error_set(err, "'%.40s' is not a latency (5ms, 300us, 1.2s) or a throughput (200/s)", text);
}

struct scenario session_unoptimized_of(const struct variant_ground *g)
{
	struct arena a = { 0 };
	struct scenario isolated = { .assume = g->scenario.assume };
	bool cpu = g->on.device->threads > 0; /* it has no launches */
	bool complete = !g->on.estimate && !cpu && analyze(&a, &g->on, &isolated)->complete;
	arena_free(&a);
	return (struct scenario){ .amortized = !complete, .assume = g->scenario.assume,
		.matrix = g->scenario.matrix && !g->session->matrix_given };
}

struct scenario session_unoptimized(struct session *s)
{
	const struct variant_ground g = session_shown(s);
	return session_unoptimized_of(&g);
}

/* Adds the variant in a type, open; nothing if it has none. */
static int type_add(struct session *s, struct variant v, enum dtype dtype, struct variant_ground *grounds,
	int count)
{
	struct error err = ERROR_NONE;
	v.dtype = dtype;
	if (variant_open(s, &v, &grounds[count], &err) == 0)
		return count + 1;
	log_line("no advice for %s: %s", session_type_name(s, dtype), err.text);
	return count;
}

static int plans_of(const struct variant_ground *grounds, int count, struct advice_plan *plans)
{
	for (int i = 0; i < count; i++)
		plans[i] = (struct advice_plan){ .on = grounds[i].on, .dtype = grounds[i].dtype ?
			dtype_name(grounds[i].dtype) : plan_type_name(grounds[i].on.plan),
			.matrix = grounds[i].scenario.matrix };
	return count;
}

struct advice_list session_advice_of(struct session *s, struct arena *a, const struct variant *v,
	const struct scenario *start, double target_ns)
{
	static const enum dtype others[] = { DTYPE_F32, DTYPE_F16, DTYPE_BF16 };
	struct variant_ground grounds[1 + sizeof(others) / sizeof(others[0])];
	struct advice_plan plans[sizeof(grounds) / sizeof(grounds[0])];
	enum dtype own = v->dtype; /* unknown: several */
	int count = type_add(s, *v, own, grounds, 0);
	for (size_t i = 0; count && i < sizeof(others) / sizeof(others[0]); i++)
		if (!own || dtype_bits(others[i]) < dtype_bits(own))
			count = type_add(s, *v, others[i], grounds, count);
	if (!count)
		return (struct advice_list){ .start_ns = NAN, .least_ns = NAN, .overhead_ns = NAN,
			.real_ns = NAN, .target_ns = target_ns };
	struct advice_list list = advice_find(a, plans, plans_of(grounds, count, plans), start, target_ns);
	for (int i = 0; i < count; i++)
		variant_close(&grounds[i]);
	return list;
}

struct advice_list session_advice(
	struct session *s, struct arena *a, const struct scenario *start, double target_ns)
{
	const struct variant v = session_variant(s);
	struct advice_list list = session_advice_of(s, a, &v, start, target_ns);
	lack_advise(s, a, start, session_bound_at(s, s->current->batch, DTYPE_F32), &list);
	const struct reality *real = session_reality_fastest(s);
	if (real) {
		list.real_ns = real->measured_ns;
		list.real_by = arena_printf(a, "%s", real->execution->framework);
	}
	return list;
}

static struct advice_plan plan_here(struct session *s)
{
	return (struct advice_plan){ .on = session_ground(s), .dtype = plan_type_name(s->current->plan) };
}

struct advice_list session_advice_here(struct session *s, struct arena *a)
{
	struct advice_plan plan = plan_here(s);
	struct advice_list list = advice_find(a, &plan, 1, &s->scenario, NAN);
	lack_advise(s, a, &s->scenario, (struct session_bound){ NAN, false }, &list);
	return list;
}

/* Opens the current plan in f16 and bf16 if it is f32; of a large model none. */
static void types_open(struct session *s)
{
	static const enum dtype types[] = { DTYPE_F16, DTYPE_BF16 };
	bool large = s->current->plan->layer_count > SESSION_ADVICE_LAYERS;
	for (int i = 0; i < 2 && s->current->dtype == DTYPE_F32 && !large; i++)
		s->advice_type_count = type_add(s, session_variant(s), types[i], s->advice_types,
			s->advice_type_count);
}

bool session_advice_begin(struct session *s, double target_ns)
{
	session_advice_cancel(s);
	if (!s->current || !s->analysis)
		return false;
	struct advice_plan plans[3] = { plan_here(s) };
	types_open(s);
	int count = 1 + plans_of(s->advice_types, s->advice_type_count, plans + 1);
	s->advice = advice_begin(plans, count, &s->scenario, target_ns);
	s->advice_from = s->scenario;
	return true;
}

bool session_advice_step(struct session *s, int ms)
{
	int64_t begin = clock_ms();
	while (s->advice && !s->advice_done && clock_ms() - begin < ms)
		s->advice_done = !advice_step(s->advice);
	return s->advice && !s->advice_done;
}

bool session_advice_runs(const struct session *s)
{
	return s->advice && scenario_equal(&s->advice_from, &s->scenario);
}

bool session_advice_take(struct session *s, struct arena *a, struct advice_list *list)
{
	if (!s->advice || !s->advice_done)
		return false;
	*list = advice_end(s->advice, a);
	lack_advise(s, a, &s->advice_from, (struct session_bound){ NAN, false }, list);
	session_advice_release(s);
	return true;
}
