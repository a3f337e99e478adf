#include "config.h"

#include "session/session.h"

#include <string.h>

/* For reports: the sources of a plan's dimensions, and the numbers of its layers. */

const char *session_dim_origin(const struct session *s, struct text name)
{
	const struct plan *p = s->current->plan;
	const char *source = session_dim_source(s, name);
	bool by_batch = s->current->batch > 0 && text_is(name, "batch");
	if (*source && !by_batch)
		return strcmp(source, "--dim") == 0 ? "option" : strcmp(source, "config") == 0 ? "configuration" : source;
	for (int i = 0; i < p->binding_count && s->current->batch > 0; i++) /* a batch of another name: "N" */
		by_batch |= text_equal(p->bindings[i].name, name) && p->bindings[i].value == s->current->batch;
	return !by_batch ? "default" : s->options.batch_option || !s->given->batch_count ? "option" : "configuration";
}

void session_dims_describe(const struct session *s, struct str *out)
{
	const struct plan *p = s->current->plan;
	for (int i = 0; i < p->binding_count; i++) {
		str_puts(out, i ? ", " : "");
		str_add_clean(out, p->bindings[i].name);
		str_addf(out, " %lld (%s)", (long long)p->bindings[i].value, session_dim_origin(s, p->bindings[i].name));
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
