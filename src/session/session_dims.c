#include "config.h"

#include "session/session.h"

#include <string.h>

/* For reports: the sources of a plan's dimensions, and the numbers of its layers. */

const char *session_binding_origin(const struct session *s, int index)
{
	const struct plan *p = s->current->plan;
	const char *source;
	switch (p->binding_sources[index]) {
	case PLAN_DIM_SHAPE: return "option";
	case PLAN_DIM_BATCH: return s->options.batch_option || !s->given->batch_count ? "option" : "configuration";
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

void session_dims_describe(const struct session *s, struct str *out)
{
	const struct plan *p = s->current->plan;
	for (int i = 0; i < p->binding_count; i++) {
		str_puts(out, i ? ", " : "");
		str_add_clean(out, p->bindings[i].name);
		str_addf(out, " %lld (%s)", (long long)p->bindings[i].value, session_binding_origin(s, i));
	}
}

bool session_is_folded(const struct plan *p, const struct plan_layer *l)
{
	if (l->class != CLASS_FREE || l->output_count == 0)
		return false;
	for (int i = 0; i < l->output_count; i++) {
		const struct plan_value *v = l->outputs[i] >= 0 ? &p->values[l->outputs[i]] : NULL;
		if (v && (v->is_output || (!v->constant && !v->elements)))
			return false;
	}
	return true;
}

int *session_numbers(const struct plan *p, struct arena *a, int *total)
{
	int *numbers = ARENA_ARRAY(a, int, p->layer_count);
	*total = 0;
	for (int i = 0; i < p->layer_count; i++)
		numbers[i] = session_is_folded(p, &p->layers[i]) ? 0 : ++*total;
	return numbers;
}
