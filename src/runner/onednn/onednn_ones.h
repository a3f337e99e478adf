/* Sums as one product with a matrix of ones, which matrix units compute (Dakkak et al., "Accelerating
 * reduction and scan using tensor core units", ICS 2019):
 *   sums and means of one group of dimensions, and averages of whole images: the source times a column of
 *   ones, or a row of ones times the source; a mean multiplies the f32 sum by 1 / length afterwards
 *   running sums: times a triangle of ones, on and above the diagonal, or below for a product from the left
 * The ones are on the right or on the left; only on the left if the kept elements lie inside the summed ones,
 * as columns. The sum of squares that a normalization needs is no such product: a library's matmul does not
 * square its source. */
#ifndef RUNNER_ONEDNN_ONES_H
#define RUNNER_ONEDNN_ONES_H

#include "base/error.h"
#include "runner/onednn/onednn_layout.h"

#define ONES_RUNNING 512 /* longest line of a running sum: every output takes as many products */

/* The source as batch x length x kept elements; what is summed has index `length`. */
struct onednn_ones {
	int64_t batch, length, kept;
	struct onednn_steps {
		int64_t batch, length, kept;
	} lies, at;                  /* strides, in elements: in memory; in the problem's row-major order */
	bool running;                /* one sum for each place of the line */
	float factor;                /* of the sums: 1, or 1 / length */
};

/* Describes the source of a problem that has such a product, in its own layout or for `any` in that of the
 * choice (NCX or NXC). The destination is then batch x kept elements, row-major; of running sums it has the
 * source's order. -1: no such product, with the reason in err. */
int onednn_ones_view(
	const struct problem *p, enum onednn_choice choice, struct onednn_ones *v, struct error *err);

#endif
