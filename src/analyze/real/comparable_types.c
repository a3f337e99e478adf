/* The types in which an execution ran beside those of a plan's layers. */
#include "config.h"

#include "analyze/real/comparable_private.h"

#include <stdlib.h>
#include <string.h>

/* Operands of 8 bits count as one type: a row reports that of one of them. TF32 is f32 in relaxed math. */
static enum dtype type_class(enum dtype t)
{
	return t == DTYPE_U8 ? DTYPE_S8 : t == DTYPE_TF32 ? DTYPE_F32 : t;
}

/* Marks the types of the operands in a problem's text, "conv:f16,f16.c,f16/f32:...". Returns the first. */
static enum dtype problem_types(const char *text, bool types[DTYPE_COUNT])
{
	enum dtype first = DTYPE_UNKNOWN;
	const char *p = strchr(text, ':');
	do {
		struct text word = { p + 1, strcspn(p + 1, ".@,/:") };
		enum dtype t = dtype_parse(word);
		types[type_class(t)] = true;
		first = first ? first : t;
		p += 1 + strcspn(p + 1, ",/:");
	} while (*p == ',');
	return first;
}

/* Marks the types in which a layer computes, those of its bodies included; quantized layers have those of
 * their problem. Returns the first; unknown: none does work. */
static enum dtype layer_types(const struct plan *p, const struct plan_layer *l, bool types[DTYPE_COUNT])
{
	const struct plan_problem *problem = plan_layer_problem(p, l);
	enum dtype first = problem ? problem_types(problem->text, types) : DTYPE_UNKNOWN;
	for (int i = 0; i < l->body_count; i++)
		for (int k = 0; k < l->bodies[i].layer_count; k++) {
			enum dtype t = layer_types(&l->bodies[i], &l->bodies[i].layers[k], types);
			first = first ? first : t;
		}
	return first;
}

#define APART_LEAST 0.1 /* share of the rows' time that ran in another type than their layers */

/* Marks the types of a row's layers: of those of class compute, without any of all. Returns the first. */
static enum dtype row_types(const struct plan *p, const struct match_row *m, bool types[DTYPE_COUNT])
{
	enum dtype first = DTYPE_UNKNOWN;
	for (int pass = 0; pass < 2 && !first; pass++)
		for (int k = 0; k < m->layer_count; k++) {
			const struct plan_layer *l = &p->layers[m->layers[k]];
			if (!pass && l->class != CLASS_COMPUTE)
				continue;
			enum dtype t = layer_types(p, l, types);
			first = first ? first : t;
		}
	return first;
}

/* The outermost row that a row is in. */
static int outermost(const struct execution *e, int row)
{
	while (e->rows[row].parent >= 0)
		row = e->rows[row].parent;
	return row;
}

/* The type of a row that tells in which type layers ran: kernels and calls have none, and a cast in a body
 * may be the framework's own. */
static enum dtype row_type(const struct execution_row *r)
{
	bool added = r->parent >= 0 && !strcmp(r->op, "Cast");
	return added || !(r->ns > 0) ? DTYPE_UNKNOWN : dtype_parse(text_of(r->dtype));
}

/* True for a row that ran nodes of a body: the types of these rows count instead. */
static bool *rows_with_inner(const struct execution *e)
{
	bool *inner = base_calloc((size_t)e->row_count + 1, sizeof(*inner));
	for (int i = 0; i < e->row_count; i++)
		if (e->rows[i].parent >= 0 && row_type(&e->rows[i]))
			inner[e->rows[i].parent] = true;
	return inner;
}

/* Compares the type of each row with those of its layers; of a row in a body with those of the layer that has
 * the body. Returns false without a row that has both. */
static bool rows_apart(const struct plan *p, const struct execution *e, const struct match *match,
	struct types_apart *found)
{
	double ran[DTYPE_COUNT] = { 0 }, apart[DTYPE_COUNT] = { 0 }, all = 0, all_apart = 0;
	enum dtype bounds[DTYPE_COUNT] = { 0 };
	*found = (struct types_apart){ 0 };
	if (!match)
		return false;
	bool *inner = rows_with_inner(e);
	for (int i = 0; i < match->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		enum dtype own = row_type(r);
		bool types[DTYPE_COUNT] = { 0 };
		enum dtype bound = own && !inner[i] ?
			row_types(p, &match->rows[outermost(e, i)], types) : DTYPE_UNKNOWN;
		all += bound ? r->ns : 0;
		ran[own] += bound ? r->ns : 0;
		if (!bound || types[type_class(own)])
			continue;
		all_apart += r->ns;
		apart[own] += r->ns;
		bounds[own] = bounds[own] ? bounds[own] : bound;
		found->own = apart[own] > apart[found->own] ? own : found->own;
	}
	free(inner);
	found->bound = bounds[found->own];
	found->apart = all_apart > APART_LEAST * all;
	found->alone = ran[found->own] >= (1 - APART_LEAST) * all;
	return all > 0;
}

/* Compares the type that the execution reports as a whole with those in which the layers of class compute
 * run. */
static struct types_apart whole_apart(const struct plan *p, const struct execution *e)
{
	enum dtype own = dtype_parse(text_of(e->dtype));
	bool types[DTYPE_COUNT] = { 0 };
	int kinds = 0;
	for (int i = 0; i < p->layer_count; i++)
		if (p->layers[i].class == CLASS_COMPUTE || p->layers[i].class == CLASS_HOST)
			layer_types(p, &p->layers[i], types);
	for (int t = DTYPE_UNKNOWN + 1; t < DTYPE_COUNT; t++)
		kinds += types[t];
	types[type_class(p->dtype)] |= kinds == 0;
	bool apart = own ? !types[type_class(own)] : kinds < 2;
	return (struct types_apart){ own, p->dtype, *e->dtype && apart, own != DTYPE_UNKNOWN };
}

struct types_apart types_apart(const struct plan *p, const struct execution *e, const struct match *m)
{
	struct types_apart found;
	return rows_apart(p, e, m, &found) ? found : whole_apart(p, e);
}
