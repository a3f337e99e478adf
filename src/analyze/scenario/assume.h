/* Assumed costs of layers (--assume LAYER=COST): the effect of a custom kernel. */
#ifndef ANALYZE_ASSUME_H
#define ANALYZE_ASSUME_H

#include "plan/plan.h"
#include "problem/assumed.h"

/* "LAYER=COST", split at the last '='. LAYER selects layers of the model's own graph: a name, a name with
 * wildcards (* ? [...]), a number as `layers` prints it (or #12), op=Conv, or the text of a problem. */
struct assume_item {
	struct text layer;      /* part of the text that was parsed */
	struct assumption cost;
};
int assume_parse(const char *text, struct assume_item *item, struct error *err);

/* Sets by_layer (per layer of the plan) of the layers that the item selects; of several items for one layer
 * the last counts. numbers: of each layer, from 1; 0: not listed. A wildcard, an operator or a problem
 * selects only layers that need time. Returns the number of layers; -1: none or more than one meant, and err
 * names the nearest layer. */
int assume_apply(const struct plan *p, const int *numbers, const struct assume_item *item,
	struct assumption *by_layer, struct error *err);

#endif
