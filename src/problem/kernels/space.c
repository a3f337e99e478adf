/* Spatial dimensions in problem texts, and the checks that windows fit into their source. */
#include "config.h"

#include "problem/kernels/space.h"

#include <math.h>
#include <stdio.h>

/* ---- text */

static const char space_names[3][2] = { "d", "h", "w" };
static const char kernel_size_names[3][2] = { "t", "r", "s" };

static void named_write(const struct problem *p, const char *prefix, const char names[3][2], const int64_t *v,
	struct str *out)
{
	for (int i = 3 - p->spatial; i < 3; i++) {
		str_puts(out, prefix);
		number_write(names[i], v[i], out);
	}
}

static int named_read(struct cursor *c, const struct problem *p, const char *prefix, const char names[3][2],
	int64_t *v)
{
	for (int i = 3 - p->spatial; i < 3; i++) {
		char name[4];
		snprintf(name, sizeof(name), "%s%s", prefix, names[i]);
		if (cursor_field(c, name, &v[i]))
			return -1;
	}
	return 0;
}

void space_write(const struct problem *p, const char *prefix, const int64_t *v, struct str *out)
{
	named_write(p, prefix, space_names, v, out);
}

int space_read(struct cursor *c, const struct problem *p, const char *prefix, int64_t *v)
{
	return named_read(c, p, prefix, space_names, v);
}

void space_write_kernel(const struct problem *p, struct str *out)
{
	named_write(p, "", kernel_size_names, p->kernel_size, out);
}

int space_read_kernel(struct cursor *c, struct problem *p)
{
	return named_read(c, p, "", kernel_size_names, p->kernel_size);
}

void space_write_source(const struct problem *p, struct str *out)
{
	number_write("n", p->n, out);
	number_write("c", p->c, out);
	space_write(p, "", p->in, out);
}

int space_read_source(struct cursor *c, struct problem *p)
{
	if (cursor_field(c, "n", &p->n) || cursor_field(c, "c", &p->c))
		return -1;
	for (int i = 0; i < 3; i++)
		if (c->rest.n && c->rest.p[0] == space_names[i][0])
			p->spatial = 3 - i;
	if (!p->spatial)
		return cursor_fail(c, "d, h or w");
	return space_read(c, p, "", p->in);
}

static void pads_write(const struct problem *p, struct str *out)
{
	space_write(p, "p", p->pad_begin, out);
	space_write(p, "q", p->pad_end, out);
}

static int pads_read(struct cursor *c, struct problem *p)
{
	return space_read(c, p, "p", p->pad_begin) || space_read(c, p, "q", p->pad_end);
}

static void strides_write(const struct problem *p, struct str *out)
{
	space_write(p, "s", p->stride, out);
}

static int strides_read(struct cursor *c, struct problem *p)
{
	return space_read(c, p, "s", p->stride);
}

static void dilations_write(const struct problem *p, struct str *out)
{
	space_write(p, "d", p->dilation, out);
}

static int dilations_read(struct cursor *c, struct problem *p)
{
	return space_read(c, p, "d", p->dilation);
}

const struct segment segment_pads = { "pads", pads_write, pads_read };
const struct segment segment_strides = { "strides", strides_write, strides_read };
const struct segment segment_dilations = { "dilations", dilations_write, dilations_read };

/* ---- checks */

int space_check_source(const struct problem *p, struct error *err)
{
	if (p->spatial < 1 || p->spatial > 3)
		return error_set(err, "problem: %d spatial dimensions", p->spatial);
	int64_t sizes[2] = { p->n, p->c };
	return problem_check_positive(sizes, 0, 2, "batch and channels", err) ||
		problem_check_positive(p->in, 3 - p->spatial, 3, "input size", err) ? -1 : 0;
}

int space_check_window(const struct problem *p,
	int (*check_out)(const struct problem *p, int i, struct error *err), struct error *err)
{
	int from = 3 - p->spatial;
	if (problem_check_positive(p->kernel_size, from, 3, "kernel size", err) ||
		problem_check_positive(p->stride, from, 3, "stride", err) ||
		problem_check_positive(p->dilation, from, 3, "dilation", err))
		return -1;
	for (int i = from; i < 3; i++) {
		if (p->pad_begin[i] < 0 || p->pad_end[i] < 0 || p->pad_begin[i] > PROBLEM_NUMBER_MAX ||
			p->pad_end[i] > PROBLEM_NUMBER_MAX)
			return error_set(err, "problem: a pad is out of range");
		if (p->kernel_size[i] > (1 << 24) || p->dilation[i] > (1 << 24))
			return error_set(err, "problem: kernel size or dilation is too large");
		if (check_out(p, i, err))
			return -1;
	}
	return 0;
}

int space_check_fits(const struct problem *p, int i, struct error *err)
{
	return space_out_size(p, i) < 1
		? error_set(err, "problem: the kernel is larger than the padded input")
		: 0;
}

/* ---- shapes and costs */

struct problem_shape space_source(const struct problem *p)
{
	struct problem_shape s = { .rank = 2 + p->spatial, .dim = { p->n, p->c } };
	for (int i = 3 - p->spatial, at = 2; i < 3; i++, at++)
		s.dim[at] = p->in[i];
	return s;
}

struct problem_shape space_destination(const struct problem *p, int64_t channels)
{
	struct problem_shape s = { .rank = 2 + p->spatial, .dim = { p->n, channels } };
	for (int i = 3 - p->spatial, at = 2; i < 3; i++, at++)
		s.dim[at] = problem_out_size(p, i);
	return s;
}

int64_t space_out_size(const struct problem *p, int i)
{
	int64_t left =
		p->in[i] + p->pad_begin[i] + p->pad_end[i] - ((p->kernel_size[i] - 1) * p->dilation[i] + 1);
	return left < 0 ? 0 : left / p->stride[i] + 1;
}

double space_kernel_volume(const struct problem *p)
{
	double volume = 1;
	for (int i = 3 - p->spatial; i < 3; i++)
		volume *= (double)p->kernel_size[i];
	return volume;
}

double space_share_read(const struct problem *p)
{
	double share = 1;
	for (int i = 3 - p->spatial; i < 3; i++) {
		int64_t taps = p->dilation[i] > 1 ? 1 : p->kernel_size[i],
			each = taps < p->stride[i] ? taps : p->stride[i];
		share *= fmin(1, (double)problem_out_size(p, i) * (double)each / (double)p->in[i]);
	}
	return share;
}
