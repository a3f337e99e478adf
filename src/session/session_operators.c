/* Operators that the user describes: those beside the model, then those of the configuration. */
#include "config.h"

#include "session/session_private.h"

#include <string.h>

#define NAMED 4 /* in a description */

/* True if a node, also of a subgraph, has an operator that is described with a time. */
static bool graph_has_times(const struct session_subject *u, const struct graph *g)
{
	for (int i = 0; g && i < g->node_count; i++) {
		const struct node *n = &g->nodes[i];
		if (op_own_time(op_own_find(&u->operators, n->domain, n->op)))
			return true;
		for (int k = 0; k < n->attribute_count; k++)
			if (n->attributes[k].kind == ATTRIBUTE_GRAPH &&
				graph_has_times(u, n->attributes[k].graph))
				return true;
	}
	return false;
}

bool subject_assumes(const struct session_subject *u)
{
	return u->given.assume_count > 0 || graph_has_times(u, u->model->graph);
}

/* The operators of a plan that the user describes, in order of appearance; uses: their layers, in bodies
 * too. */
struct operator_uses {
	int count, uses[OP_OWN_MAX];
	const struct op *at[OP_OWN_MAX];
};

static void uses_find(struct operator_uses *d, const struct plan *p, bool only_timed)
{
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		int at = 0;
		for (int j = 0; j < l->body_count; j++)
			uses_find(d, &l->bodies[j], only_timed);
		if (!op_own_place(l->op) || (only_timed &&
				(!op_own_time(l->op) || l->problem >= 0 || l->class == CLASS_FREE)))
			continue;
		while (at < d->count && d->at[at] != l->op)
			at++;
		if (at == OP_OWN_MAX)
			continue;
		d->at[at] = l->op;
		d->uses[at] = at == d->count ? 1 : d->uses[at] + 1;
		d->count += at == d->count;
	}
}

void session_operators_describe(const struct session *s, bool only_timed, struct str *out)
{
	struct operator_uses d = { 0 };
	if (s->current)
		uses_find(&d, s->current->plan, only_timed);
	for (int i = 0; i < d.count && i < NAMED; i++) {
		str_puts(out, i ? ", " : "");
		str_add_clean(out, text_of(d.at[i]->name));
		str_addf(out, " (%s, %d layer%s)", op_own_place(d.at[i]), d.uses[i],
			d.uses[i] == 1 ? "" : "s");
	}
	if (d.count > NAMED)
		str_addf(out, " and %d more", d.count - NAMED);
}
