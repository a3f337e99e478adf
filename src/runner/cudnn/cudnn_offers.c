/* Asks cuDNN's heuristics for the engine configurations of a problem. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/cudnn/cudnn_offers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Per graph variant of the problem, the heuristics are asked in mode A and, if that returns anything, in mode
 * B; then in mode FALLBACK for all variants. An engine configuration is named by its engine and knobs, and
 * listed once. Ready-made engines are listed only if their plan can be finalized, which also gives the
 * workspace; run-time compiled ones would have to be compiled for that, so their plans are made when they are
 * measured. */
#define CONFIGS 512 /* maximum results requested per heuristics mode */

#define NOTE(name) (1u << CUDNN_NUMERICAL_NOTE_##name)

static const char *const numerical_names[] = {
	[CUDNN_NUMERICAL_NOTE_TENSOR_CORE] = "tensor_core",
	[CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS] = "down_convert",
	[CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION] = "reduced_precision_reduction",
	[CUDNN_NUMERICAL_NOTE_FFT] = "fft",
	[CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC] = "nondeterministic",
	[CUDNN_NUMERICAL_NOTE_WINOGRAD] = "winograd",
	[CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4] = "tile4x4",
	[CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6] = "tile6x6",
	[CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13] = "tile13x13",
	[CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP] = "strict_nan",
};
#define NUMERICAL_NAMES ((int)(sizeof(numerical_names) / sizeof(numerical_names[0])))

static const char *const behaviour_names[] = {
	[CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION] = "runtime_compilation",
	[CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER] = "filter_reorder",
	[CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER] = "bias_reorder",
	[CUDNN_BEHAVIOR_NOTE_SUPPORTS_CUDA_GRAPH_NATIVE_API] = "", /* not useful in results */
	[CUDNN_BEHAVIOR_NOTE_CUBLASLT_DEPENDENCY] = "cublaslt",
};
#define BEHAVIOUR_NAMES ((int)(sizeof(behaviour_names) / sizeof(behaviour_names[0])))

static void names_add(struct str *text, uint32_t bits, const char *const *names, int count)
{
	for (int i = 0; i < 32; i++) {
		if (!(bits >> i & 1) || (i < count && !*names[i]))
			continue;
		str_addf(text, "%s", text->n ? " " : "");
		if (i < count)
			str_addf(text, "%s", names[i]);
		else /* unknown to the header this program was built with */
			str_addf(text, "note%d", i);
	}
}

const char *cudnn_notes_text(struct arena *a, uint32_t numerical, uint32_t behaviour)
{
	struct str text = { 0 };
	names_add(&text, numerical, numerical_names, NUMERICAL_NAMES);
	names_add(&text, behaviour, behaviour_names, BEHAVIOUR_NAMES);
	const char *copy = arena_strndup(a, text.n ? text.p : "", text.n);
	str_free(&text);
	return copy;
}

const char *cudnn_math_name(enum dtype source, uint32_t numerical)
{
	if (source == DTYPE_F32 && numerical & NOTE(DOWN_CONVERT_INPUTS))
		return "fast_f16";
	if (source == DTYPE_F32 && numerical & NOTE(TENSOR_CORE))
		return "tf32";
	if (source == DTYPE_F16 && numerical & NOTE(REDUCED_PRECISION_REDUCTION))
		return "f16_accumulate";
	if (source == DTYPE_BF16 && numerical & NOTE(REDUCED_PRECISION_REDUCTION))
		return "bf16_accumulate";
	return "strict";
}

/* --- name and properties of an engine configuration --- */

struct engine {
	struct cudnn_choice choice;
	struct cudnn_notes notes;
	char name[256];
};

/* Reads the knobs of a configuration. Returns false if it has too many. */
static bool knobs_read(struct cudnn_bag *bag, cudnnBackendDescriptor_t config, struct cudnn_choice *choice)
{
	cudnnBackendDescriptor_t knob[CUDNN_KNOBS];
	for (int i = 0; i < CUDNN_KNOBS; i++)
		knob[i] = CUDNN_NEW(bag, KNOB_CHOICE);
	int64_t n = cudnn_desc_get(bag, config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
		CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOBS, knob);
	choice->knob_count = n < CUDNN_KNOBS ? (int)n : CUDNN_KNOBS;
	for (int i = 0; i < choice->knob_count; i++) {
		struct cudnn_knob *k = &choice->knob[i];
		k->type = CUDNN_KNOB_TYPE_COUNTS;
		cudnn_desc_get(
			bag, knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &k->type);
		cudnn_desc_get(
			bag, knob[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &k->value);
	}
	return n <= CUDNN_KNOBS;
}

/* Makes a name like "eng12{k2=4,k14=1}" of engine and knobs. Returns false if it is too long. */
static bool name_write(struct engine *e, const char *tag)
{
	struct str name = { 0 };
	const struct cudnn_choice *c = &e->choice;
	str_addf(&name, "%seng%lld", tag, (long long)c->engine);
	for (int i = 0; i < c->knob_count; i++)
		str_addf(&name, "%sk%d=%lld", i ? "," : "{", (int)c->knob[i].type,
			(long long)c->knob[i].value);
	str_addf(&name, "%s", c->knob_count ? "}" : "");
	bool fits = name.n < sizeof(e->name);
	if (fits)
		memcpy(e->name, name.p, name.n + 1);
	str_free(&name);
	return fits;
}

/* Reads the engine, its notes and its knobs. Leaves nothing in the bag. */
static bool engine_read(
	struct cudnn_bag *bag, cudnnBackendDescriptor_t config, const char *tag, struct engine *e)
{
	int mark = bag->count;
	cudnnBackendDescriptor_t engine = CUDNN_NEW(bag, ENGINE);
	bool ok = cudnn_desc_get(bag, config, CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
			  &engine) == 1 &&
		cudnn_desc_get(bag, engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
			&e->choice.engine) == 1;
	if (ok) {
		e->notes = cudnn_notes_read(bag, engine);
		ok = knobs_read(bag, config, &e->choice) && name_write(e, tag);
	}
	cudnn_bag_cut(bag, mark);
	return ok;
}

/* Names the layouts of operands whose layout the asked problem leaves open, as they are in the form. */
static const char *layouts_text(struct arena *a, const struct problem *asked, const struct problem *p)
{
	const char *const *role = kernel_row(p->kernel)->names;
	int count = problem_operand_count(p);
	struct str text = { 0 };
	for (int i = 0; i < count; i++)
		if (asked->operand[i].layout == LAYOUT_ANY)
			str_addf(&text, "%s%s=%s", text.n ? " " : "", role[i], cuda_layout_name(p, i));
	const char *copy = arena_strndup(a, text.n ? text.p : "", text.n);
	str_free(&text);
	return copy;
}

/* --- the list --- */

static bool is_known(const struct cudnn_offers *o, const char *name)
{
	for (int i = 0; i < o->count; i++)
		if (strcmp(o->algorithm[i].name, name) == 0)
			return true;
	return false;
}

/* Returns the maximum of run-time compiled algorithms: an environment variable sets it, since it depends on
 * how long the GPU is available. No limit without it, and when planning. */
static int64_t compiled_limit(void)
{
	const char *text = getenv("BENANZA_CUDNN_COMPILED");
	int64_t most;
	if (cuda_context()->planning)
		return CUDNN_ALGORITHMS;
	return text && text_to_int64(text_of(text), &most) && most >= 0 ? most : CUDNN_ALGORITHMS;
}

static int compiled_count(const struct cudnn_offers *o)
{
	int n = 0;
	for (int i = 0; i < o->count; i++)
		n += o->candidate[i].choice.compiled;
	return n;
}

/* True if a plan can be made. A ready-made engine's plan is finalized, which also gives its workspace. A
 * compiled engine is accepted with unknown workspace: compiling takes up to two seconds and is left to its
 * preparation. */
static bool is_plannable(struct cudnn_graph *g, cudnnBackendDescriptor_t config, bool compiled,
	double *workspace_bytes, struct error *err)
{
	int mark = g->bag.count;
	*workspace_bytes = NAN;
	if (compiled)
		return true;
	bool ok = cudnn_plan_make(&g->bag, config, workspace_bytes) != NULL;
	if (!ok)
		error_set(err, "%s", g->bag.why.text);
	cudnn_bag_cut(&g->bag, mark);
	return ok;
}

/* Notes that are ignored for graphs without a matmul or convolution. The run-time fusion engine handles
 * graphs with and without one, and always reports the notes of its matrix units. */
#define PRODUCT_NOTES (NOTE(TENSOR_CORE) | NOTE(DOWN_CONVERT_INPUTS) | NOTE(REDUCED_PRECISION_REDUCTION))

/* Ready-made integer kernels have no notes, so it is unknown whether they use matrix units. */
static enum matrix matrix_of(const struct problem *p, uint32_t numerical)
{
	bool integer = p->operand[0].dtype == DTYPE_S8 || p->operand[0].dtype == DTYPE_U8;
	if (numerical & NOTE(TENSOR_CORE))
		return MATRIX_YES;
	return integer && kernel_row(p->kernel)->product ? MATRIX_UNKNOWN : MATRIX_NO;
}

/* The engine's part of a workspace with the converted source behind it; NaN stays NaN. */
static double own_space(double workspace_bytes)
{
	return ceil(workspace_bytes / CUDNN_SPACE_ALIGNMENT) * CUDNN_SPACE_ALIGNMENT;
}

/* Adds an engine with its name and notes. A configuration that is listed already, by another mode or by the
 * sweep, is not added again: its name identifies it. */
static void engine_add(
	struct cudnn_offers *o, struct engine *e, cudnnBackendDescriptor_t config, struct error *err)
{
	bool compiled = e->notes.behaviour >> CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION & 1;
	double workspace_bytes;
	if (is_known(o, e->name) ||
		!is_plannable(o->graph[e->choice.variant], config, compiled, &workspace_bytes, err))
		return;
	if (o->count == CUDNN_ALGORITHMS || (compiled && compiled_count(o) >= compiled_limit())) {
		o->left_out++;
		return;
	}
	if (!kernel_row(o->problem.kernel)->product)
		e->notes.numerical &= ~PRODUCT_NOTES;
	enum dtype source = o->problem.operand[0].dtype;
	const struct cudnn_form *form = &o->form[o->chosen];
	const char *notes = cudnn_notes_text(&o->arena, e->notes.numerical, e->notes.behaviour);
	if (form->as_s8)
		workspace_bytes = own_space(workspace_bytes) + cuda_signed_bytes(&form->as_signed);
	e->choice.compiled = compiled;
	o->candidate[o->count] = (struct cudnn_candidate){ .choice = e->choice, .form = o->chosen };
	o->algorithm[o->count] = (struct algorithm){ .api = "cuDNN",
		.name = arena_strndup(&o->arena, e->name, strlen(e->name)),
		.layouts = form->layouts,
		.math = cudnn_math_name(source, e->notes.numerical), .rank = o->count,
		.matrix = matrix_of(&o->problem, e->notes.numerical), .workspace_bytes = workspace_bytes,
		.notes = !*form->notes ? notes : arena_printf(&o->arena, "%s%s%s", form->notes,
			*notes ? " " : "", notes) };
	o->count++;
}

/* Adds a result of the heuristics. */
static void config_add(struct cudnn_offers *o, int variant, cudnnBackendDescriptor_t config, const char *tag,
	struct error *err)
{
	struct engine e = { .choice.variant = variant };
	if (engine_read(&o->graph[variant]->bag, config, tag, &e))
		engine_add(o, &e, config, err);
}

/* Adds the results of one heuristics mode. Returns -1 and sets err if nothing was added. */
static int heuristics_ask(struct cudnn_offers *o, int variant, cudnnBackendHeurMode_t mode, const char *tag,
	struct error *err)
{
	struct cudnn_graph *g = o->graph[variant];
	struct cudnn_bag *b = &g->bag;
	int64_t count = 0;
	cudnn_error_forget();
	cudnnBackendDescriptor_t device = cudnn_deviceprop_make(b), heuristics = CUDNN_NEW(b, ENGINEHEUR);
	CUDNN_PUT(b, heuristics, ENGINEHEUR_OPERATION_GRAPH, BACKEND_DESCRIPTOR, g->graph);
	CUDNN_PUT(b, heuristics, ENGINEHEUR_MODE, HEUR_MODE, mode);
	if (device)
		CUDNN_PUT(b, heuristics, ENGINEHEUR_DEVICEPROP, BACKEND_DESCRIPTOR, device);
	cudnn_desc_finish(b, heuristics, "heuristics");
	if (!b->bad && cudnn_error(b->api->cudnnBackendGetAttribute(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS,
		CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, NULL), "heuristics", &b->why))
		b->bad = true;
	o->left_out += count > CONFIGS ? (int)(count - CONFIGS) : 0;
	count = count < CONFIGS ? count : CONFIGS;
	cudnnBackendDescriptor_t config[CONFIGS];
	for (int64_t i = 0; i < count; i++)
		config[i] = CUDNN_NEW(b, ENGINECFG);
	int64_t got = cudnn_desc_get(
		b, heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, count, config);
	int before = o->count;
	for (int64_t i = 0; i < got && i < count; i++)
		config_add(o, variant, config[i], tag, err);
	if (b->bad)
		error_set(err, "%s", b->why.text);
	else if (got == 0)
		cudnn_error_reason("cuDNN has no engine", err);
	b->bad = false;
	return o->count > before ? 0 : -1;
}

/* Adds the ranked results. Mode B returns A's results if it has no better ones, and takes as long as A to
 * refuse a graph: it is asked only if A has results. */
static void variant_rank(struct cudnn_offers *o, int variant, const char *tag, struct error *err)
{
	struct error second = ERROR_NONE;
	if (heuristics_ask(o, variant, CUDNN_HEUR_MODE_A, tag, err) == 0)
		heuristics_ask(o, variant, CUDNN_HEUR_MODE_B, tag, &second);
}

/* --- all engines --- */

struct sweeping {
	struct cudnn_offers *o;
	int variant;
	const char *tag;
};

/* Visits a choice that cuDNN accepts (cudnn_engine_sweep). */
static void choice_add(void *user, const struct cudnn_choice *choice, struct cudnn_notes notes,
	cudnnBackendDescriptor_t config)
{
	struct sweeping *s = user;
	struct engine e = { .choice = *choice, .notes = notes };
	struct error ignored = ERROR_NONE;
	e.choice.variant = s->variant;
	if (name_write(&e, s->tag))
		engine_add(s->o, &e, config, &ignored);
}

/* Adds what the variant's engines can do beyond the results of the heuristics. They share the room that is
 * left, so that the first ones push no other out. */
static void engines_add(struct cudnn_offers *o, int variant, const char *tag)
{
	struct sweeping s = { o, variant, tag };
	struct cudnn_graph *g = o->graph[variant];
	int64_t count = cudnn_engine_count(g);
	int supporting = 0;
	for (int64_t i = 0; i < count; i++)
		supporting += cudnn_engine_supports(g, i);
	for (int64_t i = 0; i < count; i++) {
		int share = (CUDNN_ALGORITHMS - o->count) / (supporting > 0 ? supporting : 1);
		if (!cudnn_engine_supports(g, i))
			continue;
		cudnn_engine_sweep(g, i, share < CUDNN_ENGINE_MOST ? share : CUDNN_ENGINE_MOST, choice_add,
			&s);
		supporting--;
	}
}

/* Adds the ranked results of all variants of the chosen form, then the fallback results, which work but are
 * not ranked by speed; then, if all are asked for, what else the engines can do. */
static void variants_ask(struct cudnn_offers *o, struct error *err)
{
	struct error why[CUDNN_VARIANTS] = { ERROR_NONE }, fallback[CUDNN_VARIANTS] = { ERROR_NONE };
	const char *tag[CUDNN_VARIANTS];
	bool built[CUDNN_VARIANTS] = { false };
	struct cudnn_form *form = &o->form[o->chosen];
	form->layouts = layouts_text(&o->arena, &o->problem, &form->problem);
	for (int i = 0; i < CUDNN_VARIANTS; i++) {
		o->graph[i] = base_malloc(sizeof(**o->graph));
		int bad = cudnn_graph_build(o->graph[i], cudnn_form_asked(form), i, &tag[i], &why[i]);
		if (bad == 0)
			break;
		built[i] = bad > 0;
		if (built[i])
			tag[i] = arena_printf(&o->arena, "%s%s", form->tag, tag[i]);
		if (built[i])
			variant_rank(o, i, tag[i], &why[i]);
	}
	for (int i = 0; i < CUDNN_VARIANTS; i++)
		if (built[i])
			heuristics_ask(o, i, CUDNN_HEUR_MODE_FALLBACK, tag[i], &fallback[i]);
	for (int i = 0; i < CUDNN_VARIANTS; i++)
		if (built[i] && o->all)
			engines_add(o, i, tag[i]);
	/* the reason of the first variant, the direct translation, is the most useful one */
	for (int i = 0; i < CUDNN_VARIANTS && !*err->text; i++)
		error_set(err, "%s", *why[i].text ? why[i].text : fallback[i].text);
	if (!*err->text)
		error_set(err, "cuDNN has no engine for this problem");
}

static void graphs_free(struct cudnn_offers *o)
{
	for (int i = 0; i < CUDNN_VARIANTS; i++)
		if (o->graph[i]) {
			cudnn_graph_free(o->graph[i]);
			free(o->graph[i]);
			o->graph[i] = NULL;
		}
}

int cudnn_algorithms(const struct problem *p, struct backend_list *list, struct error *err)
{
	struct cudnn_offers *o = base_calloc(1, sizeof(*o));
	struct error why = ERROR_NONE;
	o->problem = *p;
	o->all = list->all;
	int forms = cudnn_forms(p, o->form);
	for (int i = 0; i < forms; i++) {
		if (o->count && !cudnn_form_always(&o->form[i]))
			continue;
		struct error now = ERROR_NONE;
		o->chosen = i;
		variants_ask(o, &now);
		graphs_free(o);
		if (i == 0) /* its reason is about the problem as asked */
			why = now;
	}
	list->count = o->count;
	list->left_out = o->left_out;
	list->algorithm = o->algorithm;
	list->state = o;
	if (o->count)
		return 0;
	cudnn_forget(list);
	return error_set(err, "%s", why.text);
}

/* Reads and writes only its own candidate, so that threads can compile candidates of one list at once. */
void cudnn_compile(const struct backend_list *list, int index)
{
	struct cudnn_offers *o = list->state;
	struct cudnn_candidate *c = &o->candidate[index];
	if (c->choice.compiled && !c->plan)
		c->plan = cudnn_plan_new(cudnn_form_asked(&o->form[c->form]), &c->choice);
}

struct cudnn_plan *cudnn_plan_take(const struct backend_list *list, int index)
{
	struct cudnn_offers *o = list->state;
	struct cudnn_candidate *c = &o->candidate[index];
	struct cudnn_plan *plan = c->plan;
	c->plan = NULL;
	return plan ? plan : cudnn_plan_new(cudnn_form_asked(&o->form[c->form]), &c->choice);
}

void cudnn_forget(struct backend_list *list)
{
	struct cudnn_offers *o = list->state;
	for (int i = 0; o && i < o->count; i++)
		cudnn_plan_free(o->candidate[i].plan);
	if (o)
		arena_free(&o->arena);
	free(o);
	list->count = 0;
	list->algorithm = NULL;
	list->state = NULL;
}
