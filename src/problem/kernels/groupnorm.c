/* Group normalization (Wu and He, 2018): groupnorm. The c channels form g groups; mean and variance are those
 * of c/g channels and all their space. Scale and shift are per channel. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

static int check(const struct problem *p, struct error *err)
{
	if (problem_check_positive(&p->g, 0, 1, "groups", err))
		return -1;
	return p->shape[0].dim[1] % p->g
		? error_set(err, "problem: channels are not a multiple of the groups")
		: 0;
}

static int64_t channel_count(const struct problem *p)
{
	return p->shape[0].dim[1];
}

/* Its operations are those of layernorm. */
const struct kernel_row kernel_groupnorm = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&segment_shape, &segment_groups),
	.shapes = 1,
	.channels = true,
	.check = check,
	.parameters = 2,
	.parameter_count = channel_count,
	.element_flops = 7,
	.transcendental = true,
};
