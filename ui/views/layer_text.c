/* Texts of a row: depth, name, shape and operator, shortened to their columns. */
#include "config.h"

#include "ui/views/layer_text.h"

#include <math.h>
#include <string.h>

/* True if the layer is in a fused group and not its first layer, which has the cost. */
const struct fusion_group *layer_fused_into(const struct layer_cost *cost, int layer)
{
	return cost && cost->group && cost->group->layers[0] != layer ? cost->group : NULL;
}

/* Prefix of a name: for a layer inside another, depth and number of runs; for its owner, open or closed. */
static const char *body_prefix(struct app *app, int layer)
{
	const struct place *at = &app->places[layer];
	const struct plan *body = at->owner >= 0 ? at->plan : NULL;
	char number[STR_QUANTITY];
	const char *often = "", *round = body ? strstr(app_clean(app, body->role), ", round ") : NULL;
	if (round)
		often = arena_printf(&app->scratch, "#%s ", round + strlen(", round "));
	else if (body && isnan(body->times))
		often = app_layer(app, at->owner)->body_count == 2
			? arena_printf(&app->scratch, "%.4s? ", app_clean(app, body->role)) : "?x ";
	else if (body && body->times > 1)
		often = arena_printf(&app->scratch, "%sx ", str_count(number, body->times));
	const char *sign = !app_can_unfold(app, layer) ? "" : app->unfolded[layer] ? "\u25be " : "\u25b8 ";
	return arena_printf(&app->scratch, "%*s%s%s", 2 * (at->depth < 6 ? at->depth : 6), "", often, sign);
}

const char *layer_prefix(struct app *app, int layer, int above)
{
	const struct layer_cost *cost = app_cost(app, layer);
	const struct fusion_group *g = layer_fused_into(cost, layer);
	if (app_is_body(app, layer) || app_can_unfold(app, layer))
		return body_prefix(app, layer);
	if (!g)
		return "";
	const struct layer_cost *before = app_cost(app, above);
	bool adjoins = before && before->group == g;
	return !adjoins ? "\u2500 " : g->layers[g->layer_count - 1] == layer ? "\u2514 " : "\u251c ";
}

#define DIM_SHORT 6 /* longest dimension, in bytes, kept when the shape does not fit */

/* The shape with an ellipsis for each long dimension (mostly expressions). The details show all of it. */
static const char *shape_short(struct app *app, struct shape s)
{
	struct str out = { 0 };
	for (int i = 0; i < s.rank; i++) {
		struct shape one = { .rank = 1, .dims = &s.dims[i] };
		const char *dim = shape_text(&app->scratch, one);
		str_addf(&out, "%s%s", i ? "x" : "", strlen(dim) > DIM_SHORT ? "\u2026" : dim);
	}
	const char *text = app_clean(app, (struct text){ out.p, out.n });
	str_free(&out);
	return text;
}

const char *layer_output(struct app *app, const struct plan *p, const struct plan_layer *l,
	struct area line, int width)
{
	int at = l->output_count ? l->outputs[0] : -1;
	if (at < 0)
		return "";
	const struct plan_value *v = &p->values[at];
	const char *text = app_clean(app, text_of(plan_value_text(&app->scratch, v)));
	if (v->kind != VALUE_TENSOR || v->shape.rank < 2 || canvas_columns_on(line, text) <= width)
		return text;
	return shape_short(app, v->shape);
}

/* The operator; for an integer layer with its data type: "Conv u8". */
const char *layer_op(struct app *app, const struct plan_layer *l)
{
	const char *op = app_op_short(app, l->node->op);
	const struct plan_problem *problem = l->quantized ? plan_layer_problem(app_plan(app), l) : NULL;
	struct problem p;
	if (!problem)
		return op;
	problem_restore(problem->problem, &p);
	return arena_printf(&app->scratch, "%s %s", op, dtype_name(p.operand[0].dtype));
}
