/* Convolution and its transpose: conv, deconv. */
#include "config.h"

#include "problem/kernels/space.h"

#include <math.h>

#define TAPS_MOST 1024 /* the share computed of larger windows is unknown */

static void sizes_write(const struct problem *p, struct str *out)
{
	space_write_source(p, out);
	number_write("k", p->k, out);
	space_write_kernel(p, out);
}

static int sizes_read(struct cursor *c, struct problem *p)
{
	return space_read_source(c, p) || cursor_field(c, "k", &p->k) || space_read_kernel(c, p) ? -1 : 0;
}

static void out_pad_write(const struct problem *p, struct str *out)
{
	space_write(p, "u", p->out_pad, out);
}

static int out_pad_read(struct cursor *c, struct problem *p)
{
	return space_read(c, p, "u", p->out_pad);
}

static const struct segment seg_sizes = { "sizes", sizes_write, sizes_read };
static const struct segment seg_out_pad = { "output pads", out_pad_write, out_pad_read };

static int check_channels(const struct problem *p, struct error *err)
{
	int64_t channels[2] = { p->k, p->g };
	if (problem_check_positive(channels, 0, 2, "output channels and groups", err))
		return -1;
	return p->c % p->g || p->k % p->g
		? error_set(err, "problem: channels are not a multiple of the groups")
		: 0;
}

static int conv_check(const struct problem *p, struct error *err)
{
	return space_check_source(p, err) || space_check_window(p, space_check_fits, err) ||
			check_channels(p, err)
		? -1
		: 0;
}

/* The output size of a deconvolution is at least 1 and does not overflow. */
static int deconv_check_out(const struct problem *p, int i, struct error *err)
{
	if (p->in[i] > INT32_MAX || p->stride[i] > (1 << 24))
		return error_set(err, "problem: input size or stride is too large");
	int64_t most = p->stride[i] > p->dilation[i] ? p->stride[i] : p->dilation[i];
	if (p->out_pad[i] < 0 || p->out_pad[i] >= most)
		return error_set(err, "problem: an output pad must be less than stride or dilation");
	return problem_out_size(p, i) < 1 ? error_set(err, "problem: the pads leave no output") : 0;
}

static int deconv_check(const struct problem *p, struct error *err)
{
	return space_check_source(p, err) || space_check_window(p, deconv_check_out, err) ||
			check_channels(p, err)
		? -1
		: 0;
}

static int64_t deconv_out_size(const struct problem *p, int i)
{
	int64_t pads = p->pad_begin[i] + p->pad_end[i];
	return (p->in[i] - 1) * p->stride[i] - pads + (p->kernel_size[i] - 1) * p->dilation[i] + 1 +
		p->out_pad[i];
}

static struct problem_shape shape_of(const struct problem *p, int i, int64_t first, int64_t second)
{
	if (i == 0)
		return space_source(p);
	if (i == 2)
		return space_destination(p, p->k);
	struct problem_shape s = { .rank = 2 + p->spatial, .dim = { first, second / (p->g ? p->g : 1) } };
	for (int j = 3 - p->spatial, at = 2; j < 3; j++, at++)
		s.dim[at] = p->kernel_size[j];
	return s;
}

static struct problem_shape conv_shape(const struct problem *p, int i)
{
	return shape_of(p, i, p->k, p->c);
}

static struct problem_shape deconv_shape(const struct problem *p, int i)
{
	return shape_of(p, i, p->c, p->k);
}

static int64_t output_channels(const struct problem *p)
{
	return p->k;
}

/* In one output: the channels of a group in each place of the window. */
static double sum_terms(const struct problem *p)
{
	return (double)(p->c / p->g) * space_kernel_volume(p);
}

static double conv_flops(const struct problem *p)
{
	return 2 * problem_operand_volume(p, 2) * (double)(p->c / p->g) * space_kernel_volume(p);
}

/* Each source element times the kernel of each output channel of its group. */
static double deconv_flops(const struct problem *p)
{
	return 2 * problem_operand_volume(p, 0) * (double)(p->k / p->g) * space_kernel_volume(p);
}

/* Number of (index, tap) pairs that hit an element of the other side: index * stride + tap * dilation - pad
 * in [0, n). */
static double pairs_met(
	int64_t places, int64_t taps, int64_t stride, int64_t dilation, int64_t pad, int64_t n)
{
	double met = 0;
	for (int64_t t = 0; t < taps; t++) {
		double at = (double)t * (double)dilation - (double)pad;
		double first = fmax(ceil(-at / (double)stride), 0);
		double last = fmin(floor(((double)n - 1 - at) / (double)stride), (double)places - 1);
		met += last >= first ? last - first + 1 : 0;
	}
	return met;
}

/* Of windows that start at `places` indexes of one side, the share of taps that hit one of the n of the
 * other. */
static double share_met(const struct problem *p, int i, int64_t places, int64_t n)
{
	int64_t taps = p->kernel_size[i];
	if (taps > TAPS_MOST || taps < 1 || places < 1)
		return 0;
	return pairs_met(places, taps, p->stride[i], p->dilation[i], p->pad_begin[i], n) /
		((double)places * (double)taps);
}

static double conv_share_computed(const struct problem *p)
{
	double share = 1;
	for (int i = 3 - p->spatial; i < 3; i++)
		share *= share_met(p, i, problem_out_size(p, i), p->in[i]);
	return share;
}

static double deconv_share_computed(const struct problem *p)
{
	double share = 1;
	for (int i = 3 - p->spatial; i < 3; i++)
		share *= share_met(p, i, p->in[i], problem_out_size(p, i));
	return share;
}

const struct kernel_row kernel_conv = {
	.operands = 3,
	.names = { "src", "wei", "dst" },
	.accumulator = true,
	.segments =
		SEGMENTS(&seg_sizes, &segment_pads, &segment_strides, &segment_dilations, &segment_groups),
	.check = conv_check,
	.shape = conv_shape,
	.out_size = space_out_size,
	.flops = conv_flops,
	.output_channels = output_channels,
	.image_like = true,
	.layout = KERNEL_LAYOUT_IMAGE,
	.product = true,
	.share_computed = conv_share_computed,
	.share_read = space_share_read,
	.takes_epilogues = true,
	.eta_factor = { 0.5, 0.5 },
	.weights = true,
	.sum_terms = sum_terms,
	.estimated_as = ESTIMATED_AS_CONV,
	.estimated_from_own = true,
};

const struct kernel_row kernel_deconv = {
	.operands = 3,
	.names = { "src", "wei", "dst" },
	.accumulator = true,
	.segments = SEGMENTS(&seg_sizes, &segment_pads, &segment_strides, &segment_dilations, &seg_out_pad,
		&segment_groups),
	.check = deconv_check,
	.shape = deconv_shape,
	.out_size = deconv_out_size,
	.flops = deconv_flops,
	.output_channels = output_channels,
	.image_like = true,
	.layout = KERNEL_LAYOUT_IMAGE,
	.product = true,
	.share_computed = deconv_share_computed,
	.eta_factor = { 0.5, 0.5 },
	.weights = true,
	.sum_terms = sum_terms,
	.estimated_as = ESTIMATED_AS_CONV,
};
