#include "config.h"

#include "drive/eta.h"

#include <math.h>

/* Fitted to the times of four models' problems on two cores (tests/eta). */
#define BASE 0.9              /* a second about, whatever it is: what differs most is how many implementations there are */
#define SIZE_BYTES 1e6        /* of which a problem has the weight that its kernel says */
#define SIZE_EXPONENT 0.11
#define SIZE_LEAST 0.5
#define CONSTANTS_BYTES_S 4e8 /* that are made in a second */
#define LEAN 4.0              /* so much weight of a kind's own stands for as much as the rate of all */

/* By kernel, without and with constants; 1 where nothing stands. */
static const double factors[KERNEL_COUNT][2] = {
	[KERNEL_CONV] = { 0.7, 0.7 },
	[KERNEL_DECONV] = { 0.7, 0.7 },
	[KERNEL_MATMUL] = { 0.4, 1 }, /* constants have two cache states, and may be packed */
	[KERNEL_ELTWISE] = { 2, 2 },
	[KERNEL_COPY] = { 0.6, 0.6 },
	[KERNEL_TRANSPOSE] = { 0.6, 0.6 },
};

struct eta_weight eta_weigh(const char *problem)
{
	struct problem p;
	if (problem_parse(text_of(problem), &p, NULL))
		return (struct eta_weight){ ETA_KINDS - 1, BASE };
	bool constant = problem_has_constant(&p);
	double size = fmax(pow(problem_bytes(&p) / SIZE_BYTES, SIZE_EXPONENT), SIZE_LEAST);
	double factor = factors[p.kernel][constant] > 0 ? factors[p.kernel][constant] : 1;
	double weight = BASE * factor * size + problem_constant_bytes(&p) / CONSTANTS_BYTES_S;
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
