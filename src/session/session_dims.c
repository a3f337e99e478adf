#include "config.h"

#include "session/session_private.h"

#include <string.h>

/* For reports: the sources of a plan's dimensions, and the numbers of its layers. */

const char *session_binding_origin(const struct session *s, int index)
{
	const struct plan *p = s->current->plan;
	const char *source;
	switch (p->binding_sources[index]) {
	case PLAN_DIM_SHAPE: return "option";
	case PLAN_DIM_BATCH:
		return s->options.batch_option || !s->given->batch_count ? "option" : "configuration";
	case PLAN_DIM_FIXED:
	case PLAN_DIM_ASSUMED: return "default";
	case PLAN_DIM_BINDING: break;
	}
	source = session_dim_source(s, p->bindings[index].name);
	if (!*source) /* a batch of another name, bound by "batch" */
		source = session_dim_source(s, TEXT("batch"));
	return strcmp(source, "--dim") == 0 ? "option" : strcmp(source, "config") == 0 ? "configuration" :
		*source ? source : "default";
}

const char *session_dim_origin(const struct session *s, struct text name)
{
	const struct plan *p = s->current->plan;
	for (int i = 0; i < p->binding_count; i++)
		if (text_equal(p->bindings[i].name, name))
			return session_binding_origin(s, i);
	return "default";
}

static bool is_among(struct text name, const struct dim_binding *list, int count)
{
	for (int i = 0; i < count; i++)
		if (text_equal(name, list[i].name))
			return true;
	return false;
}

static void dims_add(const struct session *s, bool with_batch, const struct dim_binding *but, int but_count,
	struct str *out)
{
	const struct plan *p = s->current->plan;
	size_t before = out->n;
	for (int i = 0; i < p->binding_count; i++) {
		struct text name = p->bindings[i].name;
		bool batch = p->batch && text_is(name, "batch");
		if ((batch && !with_batch) || is_among(name, but, but_count))
			continue;
		str_puts(out, out->n > before ? ", " : "");
		str_add_clean(out, name);
		str_addf(out, " %lld (%s)", (long long)p->bindings[i].value,
			p->binding_sources[i] == PLAN_DIM_FIXED ? "fixed in the file"
								: session_binding_origin(s, i));
	}
}

void session_dims_describe(const struct session *s, struct str *out)
{
	dims_add(s, true, NULL, 0, out);
}

void session_dims_besides(
	const struct session *s, const struct dim_binding *but, int but_count, struct str *out)
{
	dims_add(s, false, but, but_count, out);
}

/* Of the dimensions that an error names, besides the batch, those that no --dim gave, where one gave another:
 * "total_sequence=32 (remembered)". */
static void dims_kept(const struct session *s, const bool *named, struct str *out)
{
	bool given = false;
	for (int i = 0; i < s->dim_count; i++) {
		bool option = strcmp(s->dim_sources[i], "--dim") == 0;
		given |= option;
		if (option || !named[i] || text_is(s->dims[i].name, "batch"))
			continue;
		str_puts(out, out->n ? ", " : "");
		str_add_clean(out, s->dims[i].name);
		str_addf(out, "=%lld (%s)", (long long)s->dims[i].value, s->dim_sources[i]);
	}
	if (!given)
		str_clear(out);
}

struct plan *session_plan_build(const struct session *s, struct plan_options *o, struct error *err)
{
	struct arena a = { 0 };
	struct str kept = { 0 };
	o->named = ARENA_ARRAY(&a, bool, s->dim_count);
	struct plan *p = plan_build(s->model, o, err);
	if (!p && err)
		dims_kept(s, o->named, &kept);
	if (kept.n) {
		struct error said = *err;
		error_set(err, "%s; these keep their values unless --dim sets them too: %s", said.text,
			kept.p);
	}
	str_free(&kept);
	arena_free(&a);
	return p;
}

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
	for (int i = 0; i < s->dim_count; i++)
		if (strcmp(s->dim_sources[i], "--dim") == 0 && dim_check(s, p, &s->dims[i], err))
			return -1;
	return 0;
}

int *session_numbers(const struct plan *p, struct arena *a, int *total)
{
	int *numbers = ARENA_ARRAY(a, int, p->layer_count);
	*total = 0;
	for (int i = 0; i < p->layer_count; i++)
		numbers[i] = plan_layer_is_folded(p, &p->layers[i]) ? 0 : ++*total;
	return numbers;
}
