/* Windows without weights: pool, resample. */
#include "config.h"

#include "problem/kernels/space.h"

#include <math.h>

static void pool_sizes_write(const struct problem *p, struct str *out)
{
	space_write_source(p, out);
	space_write_kernel(p, out);
}

static int pool_sizes_read(struct cursor *c, struct problem *p)
{
	return space_read_source(c, p) || space_read_kernel(c, p) ? -1 : 0;
}

static void out_write(const struct problem *p, struct str *out)
{
	space_write(p, "o", p->out, out);
}

static int out_read(struct cursor *c, struct problem *p)
{
	return space_read(c, p, "o", p->out);
}

static const struct segment seg_pool_sizes = { "sizes", pool_sizes_write, pool_sizes_read };
static const struct segment seg_resample_sizes = { "sizes", space_write_source, space_read_source };
static const struct segment seg_out = { "output size", out_write, out_read };

static int pool_check(const struct problem *p, struct error *err)
{
	return space_check_source(p, err) || space_check_window(p, space_check_fits, err) ? -1 : 0;
}

static int resample_check(const struct problem *p, struct error *err)
{
	return space_check_source(p, err) ||
			problem_check_positive(p->out, 3 - p->spatial, 3, "output size", err)
		? -1
		: 0;
}

static struct problem_shape shape_of(const struct problem *p, int i)
{
	return i == 1 ? space_destination(p, p->c) : space_source(p);
}

static double pool_flops(const struct problem *p)
{
	return problem_operand_volume(p, 1) * space_kernel_volume(p);
}

static int64_t resample_out_size(const struct problem *p, int i)
{
	return p->out[i];
}

/* A multiply-add for each of the 2^spatial neighbours. */
static double resample_flops(const struct problem *p)
{
	return p->mode == MODE_NEAREST ? 0 : 2 * problem_operand_volume(p, 1) * exp2(p->spatial);
}

/* Downsampling may skip any element. */
static double resample_share_read(const struct problem *p)
{
	(void)p;
	return 0;
}

const struct kernel_row kernel_pool = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&seg_pool_sizes, &segment_pads, &segment_strides, &segment_dilations),
	.check = pool_check,
	.shape = shape_of,
	.out_size = space_out_size,
	.flops = pool_flops,
	.image_like = true,
	.layout = KERNEL_LAYOUT_IMAGE,
	.share_read = space_share_read,
	.eta_factor = { 4, 4 },
	.estimated_from_own = true,
};

const struct kernel_row kernel_resample = {
	.operands = 2,
	.names = { "src", "dst" },
	.mode = true,
	.segments = SEGMENTS(&seg_resample_sizes, &seg_out),
	.check = resample_check,
	.shape = shape_of,
	.out_size = resample_out_size,
	.flops = resample_flops,
	.image_like = true,
	.layout = KERNEL_LAYOUT_IMAGE,
	.share_read = resample_share_read,
};
