/* Values given by --value that change nothing: the plan is built again without each of them. */
#include "config.h"

#include "plan/plan_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool shapes_agree(struct shape x, struct shape y)
{
	bool same = x.rank == y.rank;
	for (int i = 0; same && i < x.rank; i++)
		same = x.dims[i].kind == y.dims[i].kind &&
			(x.dims[i].kind == DIM_UNKNOWN || dim_same(x.dims[i], y.dims[i]));
	return same;
}

static bool layers_agree(const struct plan *x, int index, const struct plan *y)
{
	const struct plan_layer *a = &x->layers[index], *b = &y->layers[index];
	const struct plan_problem *p = plan_layer_problem(x, a), *q = plan_layer_problem(y, b);
	bool same = a->node == b->node && a->class == b->class && !p == !q &&
		(!p || strcmp(p->text, q->text) == 0) && a->body_count == b->body_count;
	for (int i = 0; same && i < a->output_count; i++)
		same = a->outputs[i] < 0 || shapes_agree(x->values[a->outputs[i]].shape,
			y->values[b->outputs[i]].shape);
	return same;
}

/* True if two plans of a model have the same shapes, problems and runs of bodies. */
static bool plans_agree(const struct plan *x, const struct plan *y)
{
	bool same = x->layer_count == y->layer_count &&
		(x->times == y->times || (isnan(x->times) && isnan(y->times)));
	for (int i = 0; same && i < x->layer_count; i++) {
		same = layers_agree(x, i, y);
		for (int k = 0; same && k < x->layers[i].body_count; k++)
			same = plans_agree(&x->layers[i].bodies[k], &y->layers[i].bodies[k]);
	}
	return same;
}

void given_check_use(struct builder *b)
{
	const struct plan_options *all = b->o;
	struct plan_input_value *rest = base_calloc((size_t)all->value_count + 1, sizeof(*rest));
	struct plan_options without = *all;
	without.values = rest;
	without.value_count = all->value_count - 1;
	without.trial = true;
	for (int i = 0; i < all->value_count; i++) {
		const char *name = text_clean(&b->p->arena, all->values[i].name);
		for (int k = 0, n = 0; k < all->value_count; k++)
			if (k != i)
				rest[n++] = all->values[k];
		struct plan *p = plan_build(b->m, &without, NULL);
		if (p && plans_agree(b->p, p)) {
			plan_warn(b, "--value %s has no effect: no shape and no branch depends on it", name);
			b->p->idle_value = name;
		}
		plan_free(p);
	}
	free(rest);
}
