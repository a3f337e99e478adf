/* Sums as products with ones (runner/measure/ones.h) in oneDNN. The ones are on the right or on the left;
 * only on the left if the kept elements lie inside the summed ones, as columns. */
#ifndef RUNNER_ONEDNN_ONES_H
#define RUNNER_ONEDNN_ONES_H

#include "runner/measure/ones.h"
#include "runner/onednn/onednn_layout.h"

/* Describes the source of a problem that has such a product, in its own layout or for `any` in that of the
 * choice (NCX or NXC). -1: no such product, with the reason in err. */
int onednn_ones_view(
	const struct problem *p, enum onednn_choice choice, struct ones_sum *v, struct error *err);

#endif
