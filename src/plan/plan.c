/* Builds a plan: binds dimensions, infers, folds, finds quantized layers and distinct problems. If shapes
 * contradict each other at batch 1, other batches that the file implies are tried. */
#include "config.h"

#include "plan/plan.h"

#include "plan/plan_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Copies the warnings to the plan's arena, and adds a line that counts those not kept. */
static void warnings_settle(struct builder *b)
{
	struct plan *p = b->p;
	p->warnings = ARENA_ARRAY(&p->arena, char *, p->warning_count + 1);
	for (int i = 0; i < p->warning_count; i++)
		p->warnings[i] = b->warnings[i];
	if (b->warning_total > p->warning_count) {
		int more = b->warning_total - p->warning_count;
		p->warnings[p->warning_count++] = arena_printf(&p->arena, "and %d more warnings", more);
	}
}

/* Constants of the layers that run, at most all of them: layers that share some count them twice. Of
 * subgraphs all constants count. */
static double reuse_bytes(const struct plan *p)
{
	double read = 0;
	for (int i = 0; i < p->layer_count; i++)
		if (p->layers[i].body_count)
			return p->weight_bytes + p->peak_live_bytes;
	for (int i = 0; i < p->problem_count; i++) {
		struct problem problem;
		problem_restore(p->problems[i].problem, &problem);
		read += p->problems[i].use_count *
			fmin(problem_constant_bytes(&problem), problem_bytes(&problem));
	}
	return fmin(read, p->weight_bytes) + p->peak_live_bytes;
}

static int plan_graph(struct builder *b, struct error *err)
{
	if (infer_graph(b, err))
		return -1;
	if (types_settle(b->p, b->o->dtype, b->o->rest, err))
		return -1;
	dedup_layers(b);
	dag_edges(b->p);
	b->p->reuse_bytes = reuse_bytes(b->p);
	plan_find_folds(b->p);
	plan_layout(b->p);
	plan_pad(b->p);
	return 0;
}

static void builder_free(struct builder *b)
{
	free(b->inputs);
	free(b->outputs);
	free(b->symbols.at);
	hash_free(&b->symbols.by_name);
	free(b->warnings);
}

static struct plan *plan_at(const struct model *m, const struct plan_options *options, struct guess *guess,
	struct error *err)
{
	struct plan *p = base_calloc(1, sizeof(*p));
	struct builder b = { .p = p, .m = m, .g = m->graph, .o = options, .top = &b, .guess = guess };
	p->model = m;
	p->graph = m->graph;
	p->operators = options->operators;
	int bad = bind_symbols(&b, err);
	if (!bad && guess->why)
		plan_warn(&b, "the batch is %s: the default of 1 does not fit: %s",
			guess->batch ? arena_printf(&p->arena, "%lld", (long long)guess->batch) : "not set",
			guess->why);
	if (!bad) {
		bind_report(&b);
		bad = plan_graph(&b, err);
	}
	if (!bad)
		needs_check_read(&b);
	if (!bad && options->value_count && !options->trial)
		given_check_use(&b);
	if (!bad)
		warnings_settle(&b);
	builder_free(&b);
	if (bad) {
		plan_free(p);
		return NULL;
	}
	return p;
}

/* The plan at the batch that the file implies: the model runs at this number, but neither at 1 nor at one
 * more. NULL: none of the numbers is that. */
static struct plan *plan_implied(
	const struct model *m, const struct plan_options *o, const struct guess *first, const char *why)
{
	for (int i = 0; i < first->number_count; i++) {
		struct guess at = { .batch = first->numbers[i], .why = why };
		struct guess next = { .batch = at.batch + 1 };
		struct plan *p = plan_at(m, o, &at, NULL);
		struct plan *more = p ? plan_at(m, o, &next, NULL) : NULL;
		if (p && !more)
			return p;
		plan_free(p);
		plan_free(more);
	}
	return NULL;
}

/* The same at the size that the file declares where a batch of 1 leads to another; NULL: that contradicts the
 * file, too. */
static struct plan *plan_declared(
	const struct model *m, const struct plan_options *o, const struct guess *first)
{
	struct guess at = { .batch = first->declared, .why = first->contradiction };
	struct plan *p = plan_at(m, o, &at, NULL);
	if (p && !at.declared)
		return p;
	plan_free(p);
	return NULL;
}

struct plan *plan_build(const struct model *m, const struct plan_options *options, struct error *err)
{
	struct guess guess = { .batch = 1 };
	struct error why = ERROR_NONE;
	struct plan *p = plan_at(m, options, &guess, &why), *other = NULL;
	if (!p && guess.made && guess.refused) {
		struct guess open = { .why = why.text };
		struct error said = ERROR_NONE;
		p = plan_implied(m, options, &guess, why.text);
		p = p ? p : plan_at(m, options, &open, &said);
		why = p ? why : said;
	} else if (p && guess.declared) {
		other = plan_declared(m, options, &guess);
	}
	if (!p && err)
		*err = why;
	if (!other)
		return p;
	plan_free(p);
	return other;
}

/* Recursion is limited by PLAN_DEPTH. */
static void plan_empty(struct plan *p)
{
	for (int i = 0; i < p->layer_count; i++)
		for (int j = 0; j < p->layers[i].body_count; j++)
			plan_empty(&p->layers[i].bodies[j]);
	arena_free(&p->arena);
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	plan_empty(p);
	free(p);
}

const struct plan_problem *plan_layer_problem(const struct plan *p, const struct plan_layer *l)
{
	return l->problem >= 0 ? &p->problems[l->problem] : NULL;
}

const char *plan_kind_name(enum value_kind kind)
{
	static const char *const names[] = { "tensor", "sequence", "optional", "optional_sequence", "map",
		"maps", "opaque" };
	return (size_t)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "opaque";
}

void plan_value_add_text(struct str *out, const struct plan_value *v)
{
	static const char *const before[] = { "", "seq(", "optional(", "optional(seq(", "map(", "seq(map(" };
	static const char *const after[] = { "", ")", ")", "))", ")", "))" };
	struct shape length = { 1, (struct dim *)&v->held->length };
	bool is_tensor = v->kind == VALUE_TENSOR, is_map = v->kind == VALUE_MAP || v->kind == VALUE_MAPS;
	if (v->kind == VALUE_OPAQUE) {
		str_puts(out, "opaque");
		return;
	}
	str_puts(out, before[v->kind]);
	if (!is_tensor)
		str_puts(out, dtype_name(v->dtype));
	if (!is_tensor && !is_map)
		str_puts(out, " ");
	if (!is_map)
		shape_add_text(out, v->shape);
	str_puts(out, after[v->kind]);
	if (v->held->length.kind != DIM_UNKNOWN && (v->kind == VALUE_SEQUENCE || v->kind == VALUE_MAPS)) {
		str_puts(out, "[");
		shape_add_text(out, length);
		str_puts(out, "]");
	}
}

char *plan_value_text(struct arena *a, const struct plan_value *v)
{
	struct str out = { 0 };
	plan_value_add_text(&out, v);
	char *text = arena_strndup(a, out.p, out.n);
	str_free(&out);
	return text;
}
