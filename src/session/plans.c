/* The plans of a model: one for each batch, data type and values of dimensions that was asked for. */
#include "config.h"

#include "session/session_private.h"

#include <stdlib.h>
#include <string.h>

#define BATCH_MAX 65536 /* as of --batch */

static void plan_drop(struct session_plan *sp)
{
	arena_free(&sp->real_arena);
	fusion_free(sp->fusion);
	plan_free(sp->plan);
	sizes_free(sp->sizes);
	free(sp->assumed);
	free(sp);
}

void plans_keep(struct session_subject *u, struct session_plan *one)
{
	for (int i = 0; i < u->plan_count; i++)
		if (u->plans[i] != one)
			plan_drop(u->plans[i]);
	u->plan_count = one != NULL;
	if (one)
		u->plans[0] = one;
	memset(u->trimmed_types, 0, sizeof(u->trimmed_types));
}

/* ---- making ---- */

/* What a plan of few bits has beside them: what engines for GPUs use there; on CPUs the model's own. */
static enum dtype rest_type(const struct session *s, const struct seat *seat)
{
	return seat_on_gpu(s, seat) ? DTYPE_F16 : DTYPE_UNKNOWN;
}

bool plan_fits(const struct session *s, const struct seat *seat, const struct plan *p)
{
	return !plan_is_few(p) || p->rest == plan_rest(p->own, rest_type(s, seat));
}

/* Of the dimensions that an error names, besides the batch, those that no --dim gave, where one gave another:
 * "total_sequence=32 (remembered)". */
static void dims_kept(const struct sizes *z, const bool *named, struct str *out)
{
	bool given = false;
	for (int i = 0; i < z->count; i++) {
		bool option = strcmp(z->sources[i], "--dim") == 0;
		given |= option;
		if (option || !named[i] || text_is(z->dims[i].name, "batch"))
			continue;
		str_puts(out, out->n ? ", " : "");
		str_add_clean(out, z->dims[i].name);
		str_addf(out, "=%lld (%s)", (long long)z->dims[i].value, z->sources[i]);
	}
	if (!given)
		str_clear(out);
}

/* plan_build; an error that names dimensions says which of them --dim did not give. */
static struct plan *build(const struct model *m, struct plan_options *o, const struct sizes *z,
	struct error *err)
{
	struct arena a = { 0 };
	struct str kept = { 0 };
	o->binding_count = z->count;
	o->bindings = z->dims;
	o->named = ARENA_ARRAY(&a, bool, z->count);
	struct plan *p = plan_build(m, o, err);
	if (!p && err)
		dims_kept(z, o->named, &kept);
	if (kept.n) {
		struct error said = *err;
		error_set(err, "%s; these keep their values unless --dim sets them too: %s", said.text,
			kept.p);
	}
	str_free(&kept);
	arena_free(&a);
	return p;
}

/* A batch that dimensions set is valid as one of --batch is. */
static int batch_check(const struct session *s, const struct plan *p, struct error *err)
{
	bool had = s->current && s->current->plan->batch > 0;
	return p->batch <= BATCH_MAX && (p->batch > 0 || !had) ? 0 :
		error_set(err, "batch must be 1-%d", BATCH_MAX);
}

/* sizes: other than the subject's; they are the plan's then. NULL: the subject's. */
static struct session_plan *plan_make(struct session *s, struct session_subject *u, const struct seat *seat,
	const struct variant *v, struct sizes *sizes, struct error *err)
{
	struct plan_options o = {
		.dtype = v->dtype, .rest = rest_type(s, seat), .batch = v->batch,
		.shape_count = u->given.shape_count, .shapes = u->given.shapes,
		.value_count = u->given.value_count, .values = u->given.values,
		.trial = u->plan_count > 0, /* the first plan has said which values have no effect */
		.operators = &u->operators,
	};
	struct session_plan *made = base_calloc(1, sizeof(*made));
	made->sizes = sizes;
	made->plan = build(u->model, &o, sizes ? sizes : u->sizes, err);
	if (!made->plan || (sizes && batch_check(s, made->plan, err)) || session_assume_plan(u, made, err)) {
		plan_drop(made);
		return NULL;
	}
	made->batch = v->batch;
	made->dtype = made->plan->own_types && made->plan->mixed ? DTYPE_UNKNOWN : made->plan->dtype;
	made->used = ++s->plan_uses;
	VEC_GROW(u->plans, u->plan_count, u->plan_capacity);
	u->plans[u->plan_count++] = made;
	return made;
}

static struct session_plan *plan_find(const struct session *s, const struct session_subject *u,
	const struct seat *seat, const struct variant *v, const struct sizes *sizes)
{
	for (int i = 0; i < u->plan_count; i++) {
		struct session_plan *p = u->plans[i];
		if (p->batch == v->batch && (v->dtype ? p->dtype == v->dtype : p->plan->own_types) &&
			(sizes ? p->sizes && sizes_equal(p->sizes, sizes) : !p->sizes) &&
			plan_fits(s, seat, p->plan))
			return p;
	}
	return NULL;
}

struct session_plan *plan_get(struct session *s, struct session_subject *u, const struct seat *seat,
	const struct variant *v, struct error *err)
{
	for (int i = 0; i < v->dim_count; i++)
		if (v->dims[i].value < 0) {
			error_set(err, "a dimension cannot be negative");
			return NULL;
		}
	struct sizes *sizes = v->dim_count ? sizes_with(u->sizes, v->dims, v->dim_count) : NULL;
	struct session_plan *found = plan_find(s, u, seat, v, sizes);
	if (!found)
		return plan_make(s, u, seat, v, sizes, err);
	found->used = ++s->plan_uses;
	sizes_free(sizes);
	return found;
}

/* ---- keeping ---- */

void session_types_note(bool *types, struct session_plan *sp)
{
	for (int i = 0; !sp->typed && i < plan_problem_total(sp->plan); i++)
		peaks_note_type(sp->types, sp->plan->problems[i].text);
	sp->typed = true;
	for (int i = 0; i < DTYPE_COUNT; i++)
		types[i] |= sp->types[i];
}

void session_plans_trim(struct session *s)
{
	struct session_subject *u = s->subject;
	for (;;) {
		int layers = 0, oldest = -1;
		for (int i = 0; i < u->plan_count; i++) {
			if (u->plans[i] == s->current || u->plans[i]->held)
				continue;
			layers += u->plans[i]->plan->layer_count;
			if (oldest < 0 || u->plans[i]->used < u->plans[oldest]->used)
				oldest = i;
		}
		if (layers <= SESSION_PLANS_LAYERS)
			return;
		session_types_note(u->trimmed_types, u->plans[oldest]);
		if (s->seat->asked == u->plans[oldest])
			s->seat->asked = NULL;
		plan_drop(u->plans[oldest]);
		u->plans[oldest] = u->plans[--u->plan_count];
	}
}

void session_plan_distance(struct session *s, const struct session_plan *sp)
{
	if (s->seat->queue)
		queue_set_distance(s->seat->queue, sp->plan->reuse_bytes, s->scenario.huge_pages);
}

void session_set_distance(struct session *s)
{
	if (s->current)
		session_plan_distance(s, s->current);
}

/* ---- checks ---- */

/* The index of a binding in the plan, or -1. */
static int binding_find(const struct plan *p, struct text name)
{
	for (int i = 0; i < p->binding_count; i++)
		if (text_equal(p->bindings[i].name, name))
			return i;
	return -1;
}

/* The first of the session's batches (-b or the configuration) that is not `batch`; 0: none. */
static int64_t batch_unlike(const struct session *s, int64_t batch)
{
	for (int i = 0; i < s->given->batch_count; i++)
		if (s->given->batch[i] != batch)
			return s->given->batch[i];
	return 0;
}

/* Compares one --dim with the value in the plan. "batch" without such a symbol means the first dimension. */
static int dim_check(
	const struct session *s, const struct plan *p, const struct dim_binding *d, struct error *err)
{
	int at = binding_find(p, d->name);
	bool is_batch = at >= 0 ? p->binding_sources[at] == PLAN_DIM_BATCH : text_is(d->name, "batch");
	int64_t shape = at < 0 ? (is_batch ? p->shape_batch : 0) :
		p->binding_sources[at] == PLAN_DIM_SHAPE ? p->bindings[at].value : 0;
	int64_t batch = is_batch && !shape ? batch_unlike(s, d->value) : 0;
	struct arena a = { 0 };
	if (shape && shape != d->value)
		error_set(err, "--dim %s=%lld contradicts --input, which gives it %lld: leave one out",
			text_clean(&a, d->name), (long long)d->value, (long long)shape);
	else if (batch)
		error_set(err, "--dim %s=%lld contradicts %s %lld: leave one out", text_clean(&a, d->name),
			(long long)d->value, s->options.batch_option ? "-b" : "the configuration's batch",
			(long long)batch);
	arena_free(&a);
	return (shape && shape != d->value) || batch ? -1 : 0;
}

int session_check_options(const struct session *s, const struct plan *p, struct error *err)
{
	const struct sizes *z = s->subject->sizes;
	for (int i = 0; i < z->count; i++)
		if (strcmp(z->sources[i], "--dim") == 0 && dim_check(s, p, &z->dims[i], err))
			return -1;
	return 0;
}

const char *session_model_name(const struct session *s)
{
	const char *path = s->subject->model->path;
	return strcmp(path, "-") == 0 ? "standard input" : path;
}

int plan_check_bound(const struct session *s, const struct plan *p, struct error *err)
{
	if (!p->unbound_count)
		return 0;
	struct arena a = { 0 };
	bool one = p->unbound_count == 1;
	error_set(err, "%s: %d dimension%s not bound; add %s", session_model_name(s), p->unbound_count,
		one ? " is" : "s are", plan_needs_line(p, &a));
	arena_free(&a);
	return -1;
}

int session_check_bound(const struct session *s, struct error *err)
{
	return plan_check_bound(s, s->current->plan, err);
}
