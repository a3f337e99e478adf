/* The weight of a problem is an estimate, fitted to measured times, from its kernel, cache states and
 * launch modes; the rate of the problems measured so far turns it into seconds. */
#include "config.h"

#include "drive/eta.h"

#include <math.h>

#include "drive/queue.h"
#include "problem/kernel.h"
#include "problem/result.h"
#include "wire/wire.h"

/* Fitted to the times of the problems of five models on two cores (tests/eta), each measured twice. */
#define BASE_S 0.04           /* s to prepare and check a problem, for a kernel of factor 1 */
#define BUDGET_S 0.5          /* s of samples at most */
#define SAMPLES 30            /* per cache state and launch mode, within the budget */
#define FLOPS_S 1.3e10        /* flop/s of an execution, roughly */
#define BYTES_S 2.2e10        /* byte/s of an execution, roughly */
#define CONSTANTS_BYTES_S 8e8 /* byte/s of creating constants */
#define LEAN 0.16             /* weight of the average rate, in units of problem weight */

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

/* Predicted time of a job in seconds of the fitting machine: a fixed part plus samples (per cache state
 * and launch mode, up to the budget), times the kernel's fitted factor, plus the creation of constants.
 * One execution is estimated by flops and bytes at fixed rates. Only ratios of weights matter. A brief job
 * measures one state, with a part of the usual budget. */
static struct eta_weight weigh(const char *problem, bool brief)
{
	struct problem p;
	if (problem_parse(text_of(problem), &p, NULL))
		return (struct eta_weight){ ETA_KINDS - 1, BASE_S };
	bool constant = problem_has_constant(&p);
	double states = brief ? 1 : LAUNCH_COUNT * (constant ? 2 : 1); /* net, and warm with constants */
	double budget_s = brief ? BUDGET_S * QUEUE_BRIEF_MS / WIRE_BUDGET_MS : BUDGET_S;
	double execution_s = known(problem_flops(&p)) / FLOPS_S + known(problem_bytes(&p)) / BYTES_S;
	double fitted = kernel_row(p.kernel)->eta_factor[constant], factor = fitted > 0 ? fitted : 1;
	double weight = factor * (BASE_S + fmin(states * SAMPLES * execution_s, budget_s)) +
		known(problem_constant_bytes(&p)) / CONSTANTS_BYTES_S;
	return (struct eta_weight){ 2 * (int)p.kernel + constant, weight };
}

struct eta_weight eta_weigh(const char *problem)
{
	return weigh(problem, false);
}

struct eta_weight eta_weigh_brief(const char *problem)
{
	return weigh(problem, true);
}

/* Adds a finished job to the sums of its kind and of all: time and weight, whose quotient is the rate
 * (seconds per unit of weight). A ratio of sums gives long jobs their share, unlike the mean of ratios
 * (Cochran, Sampling Techniques, chapter 6). Constant time. */
void eta_learn(struct eta *e, struct eta_weight w, double took_s)
{
	if (!(took_s >= 0) || !isfinite(took_s))
		return;
	e->took_s[w.kind] += took_s;
	e->weight[w.kind] += w.weight;
	e->all_took_s += took_s;
	e->all_weight += w.weight;
}

/* Weighted mean of the kind's own rate and the average rate: LEAN is the weight of the average, so a kind
 * without finished jobs has the average, and one with many its own (shrinkage; Efron and Morris,
 * Scientific American 236, 1977). NaN before the first job. */
double eta_expect(const struct eta *e, struct eta_weight w)
{
	if (!(e->all_weight > 0))
		return NAN;
	double rate = e->all_took_s / e->all_weight;
	return w.weight * (e->took_s[w.kind] + LEAN * rate) / (e->weight[w.kind] + LEAN);
}
