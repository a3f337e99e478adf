#include "config.h"

#include "drive/eta.h"

#include <math.h>

/* Fitted to the times of three models' problems on two cores (tests/eta): they explain half of what differs. */
#define BASE 0.2
#define CONSTANT_FACTOR 3.5
#define SIZE_BYTES 1e6        /* of which a problem has the weight that its kernel says */
#define SIZE_EXPONENT 0.25
#define SIZE_LEAST 0.5
#define SIZE_MOST 8.0
#define COPIES_BYTES_S 5e7    /* constants that are made in a second */
#define LEAN 1.0              /* so much weight of a kind's own stands for as much as the rate of all */

static double kernel_factor(enum kernel k)
{
	switch (k) {
	case KERNEL_CONV:
	case KERNEL_DECONV:
	case KERNEL_MATMUL:
	case KERNEL_ATTENTION:
	case KERNEL_RNN:
		return 1.25;
	case KERNEL_ELTWISE:
		return 2;
	default:
		return 1;
	}
}

struct eta_weight eta_weigh(const char *problem)
{
	struct problem p;
	if (problem_parse(text_of(problem), &p, NULL))
		return (struct eta_weight){ ETA_KINDS - 1, BASE };
	bool constant = problem_has_constant(&p);
	double size = pow(problem_bytes(&p) / SIZE_BYTES, SIZE_EXPONENT);
	double weight = BASE * kernel_factor(p.kernel) * fmin(fmax(size, SIZE_LEAST), SIZE_MOST);
	if (constant)
		weight = CONSTANT_FACTOR * weight + problem_constant_bytes(&p) / COPIES_BYTES_S;
	return (struct eta_weight){ 2 * (int)p.kernel + constant, weight };
}

void eta_learn(struct eta *e, struct eta_weight w, double took_s)
{
	if (!(took_s >= 0) || !isfinite(took_s))
		return;
	e->took_s[w.kind] += took_s;
	e->weight[w.kind] += w.weight;
	e->all_took_s += took_s;
	e->all_weight += w.weight;
}

double eta_expect(const struct eta *e, struct eta_weight w)
{
	if (!(e->all_weight > 0))
		return NAN;
	double rate = e->all_took_s / e->all_weight;
	return w.weight * (e->took_s[w.kind] + LEAN * rate) / (e->weight[w.kind] + LEAN);
}
