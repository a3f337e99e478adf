/* Texts of a row of the layers view. They live until the next drawing. */
#ifndef UI_VIEWS_LAYER_TEXT_H
#define UI_VIEWS_LAYER_TEXT_H

#include "ui/model/app.h"

/* The group that the layer is in, if it is not its first layer, which has the cost; else NULL. */
const struct fusion_group *layer_fused_into(const struct layer_cost *cost, int layer);
/* What stands before the name: the sign of a fused or inner layer, or of one with layers inside. above: the
 * layer on the line above, or -1. */
const char *layer_prefix(struct app *app, int layer, int above);
/* The type of its first output, shortened to `width` columns if it can be. */
const char *layer_output(struct app *app, const struct plan *p, const struct plan_layer *l, struct area line,
	int width);
/* The operator; for an integer layer with its data type: "Conv u8". */
const char *layer_op(struct app *app, const struct plan_layer *l);

#endif
