/* Sums as one product with a matrix of ones, which matrix units compute (Dakkak et al., "Accelerating
 * reduction and scan using tensor core units", ICS 2019):
 *   sums and means of one group of dimensions, and averages of whole images: the source times a column of
 *   ones, or a row of ones times the source; a mean multiplies the sum by 1 / length afterwards
 *   running sums: times a triangle of ones, on and above the diagonal, or below for a product from the left
 * The sum of squares that a normalization needs is no such product: a library's matmul does not square its
 * source. */
#ifndef RUNNER_ONES_H
#define RUNNER_ONES_H

#include "problem/problem.h"

#define ONES_RUNNING 512 /* longest line of a running sum: every output takes as many products */

/* The source as batch x length x kept elements; what is summed has index `length`. */
struct ones_sum {
	int64_t batch, length, kept;
	struct ones_steps {
		int64_t batch, length, kept;
	} lies, at;                  /* strides, in elements: in memory; in the problem's row-major order */
	bool running;                /* one sum for each place of the line */
	float factor;                /* of the sums: 1, or 1 / length */
};

/* Describes the source of a problem that has such a product. `stride`: where the source's elements lie in
 * memory, one stride a dimension. The destination is then batch x kept elements, row-major; that of running
 * sums has the source's order. -1: no such product, with the reason in err, which begins with "only". */
int ones_view(
	const struct problem *p, const int64_t *stride, struct ones_sum *v, struct error *err);

#endif
