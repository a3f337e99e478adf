/* Fills that keep the steps of a problem (its mode and its epilogues) inside their domains: the square root
 * or the logarithm of a negative value is NaN, and a NaN cannot be checked. */
#ifndef RUNNER_DOMAIN_H
#define RUNNER_DOMAIN_H

#include "problem/problem.h"
#include "runner/verify/fill.h"

/* For FILL_POSITIVE. fill_mode_positive: true if the mode needs positive inputs (a division: a positive
 * divisor). fill_chain_positive: true if any epilogue needs them; all operands should then be positive. */
bool fill_mode_positive(enum mode m);
bool fill_chain_positive(const struct problem *p);

/* Arguments of fill_value. */
struct fill_range {
	enum fill_kind kind;
	int64_t limit;
};

/* Where positive operands leave a domain, e.g. sqrt(log x) for x < 1: chooses others for the sources and
 * weights [0] and for the second operands [1]: a binary's second source, biases, epilogue operands. False:
 * nothing to change, or no choice is better. */
bool fill_domain(const struct problem *p, struct fill_range choice[2]);

#endif
