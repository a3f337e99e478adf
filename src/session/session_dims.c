/* For reports: the sources of a plan's dimensions, and the numbers of its layers. */
#include "config.h"

#include "session/session_private.h"

#include <string.h>

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

int *session_numbers(const struct plan *p, struct arena *a, int *total)
{
	int *numbers = ARENA_ARRAY(a, int, p->layer_count);
	*total = 0;
	for (int i = 0; i < p->layer_count; i++)
		numbers[i] = plan_layer_is_folded(p, &p->layers[i]) ? 0 : ++*total;
	return numbers;
}
