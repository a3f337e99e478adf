/* Normalizations: batchnorm, layernorm, instancenorm, rmsnorm, softmax, lrn. Operations count as in the
 * formula. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

/* Scale, shift ...: one value a channel. */
static int64_t channel_count(const struct problem *p)
{
	return p->shape[0].dim[1];
}

/* One value an element from the axis on. */
static int64_t element_count(const struct problem *p)
{
	int64_t count = 1;
	for (int i = p->axis; i < p->shape[0].rank; i++)
		count *= p->shape[0].dim[i];
	return count;
}

/* A multiply-add. */
const struct kernel_row kernel_batchnorm = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&segment_shape),
	.shapes = 1,
	.channels = true,
	.element_flops = 2,
	.image_like = true,
	.layout = KERNEL_LAYOUT_IMAGE,
	.transcendental = true,
	.pointwise = true,
	.eta_factor = { 1.3, 1.3 },
	.parameters = 4,
	.parameter_count = channel_count,
	.estimated_as = ESTIMATED_AS_NORM,
	.estimated_from_own = true,
};

/* Mean, variance (2), the difference, scale (2), shift. */
const struct kernel_row kernel_layernorm = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&segment_shape, &segment_axis),
	.shapes = 1,
	.axis = true,
	.element_flops = 7,
	.transcendental = true,
	.parameters = 2,
	.parameter_count = element_count,
};

const struct kernel_row kernel_instancenorm = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&segment_shape),
	.shapes = 1,
	.channels = true,
	.element_flops = 7,
	.image_like = true,
	.layout = KERNEL_LAYOUT_IMAGE,
	.transcendental = true,
	.parameters = 2,
	.parameter_count = channel_count,
};

/* Square, sum, two scalings. */
const struct kernel_row kernel_rmsnorm = {
	.operands = 2,
	.names = { "src", "dst" },
	.segments = SEGMENTS(&segment_shape, &segment_axis),
	.shapes = 1,
	.axis = true,
	.element_flops = 4,
	.transcendental = true,
	.parameters = 2,
	.parameter_count = element_count,
};

/* Maximum, difference, exponential, sum, division. */
const struct kernel_row kernel_softmax = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape, &segment_axis),
	.shapes = 1,
	.axis = true,
	.element_flops = 5,
	.transcendental = true,
	.estimated_from_own = true,
};

/* ---- lrn: `size` channels are summed */

static void window_write(const struct problem *p, struct str *out)
{
	number_write("n", p->size, out);
}

static int window_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "n", &p->size);
}

static const struct segment seg_window = { "window", window_write, window_read };

static int lrn_check(const struct problem *p, struct error *err)
{
	return p->size < 1 || p->size > PROBLEM_NUMBER_MAX
		? error_set(err, "problem: window %lld", (long long)p->size)
		: 0;
}

/* A square and an addition for each channel of the window, then 3. */
static double lrn_flops(const struct problem *p)
{
	return problem_operand_volume(p, 0) * (2 * (double)p->size + 3);
}

const struct kernel_row kernel_lrn = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&segment_shape, &seg_window),
	.shapes = 1,
	.channels = true,
	.check = lrn_check,
	.flops = lrn_flops,
	.image_like = true,
	.layout = KERNEL_LAYOUT_IMAGE,
	.transcendental = true,
};
