/* Windows along each spatial axis: kernel, stride, dilation, pads, in each of the ways in which opsets and
 * operators give them. */
#include "config.h"

#include "ops/onnx/op_window.h"

#include <math.h>
#include <string.h>

#define WINDOW_NUMBER_MAX ((int64_t)1 << 31)

/* Copies an integer list attribute of exactly n numbers; `at` is unchanged if it is absent. */
static int window_list(
	const struct op_call *c, const char *name, int n, int64_t least, int64_t *at, struct error *err)
{
	const struct attribute *a = node_attribute(c->node, name);
	if (!a || (a->kind == ATTRIBUTE_INTS && a->count == 0))
		return 0;
	if (a->kind != ATTRIBUTE_INTS || a->count != (size_t)n)
		return op_fail(c, err, "%s must have %d numbers, not %zu", name, n, a->count);
	for (int i = 0; i < n; i++) {
		if (a->ints[i] < least || a->ints[i] > WINDOW_NUMBER_MAX)
			return op_fail(
				c, err, "%s has %lld, which is out of range", name, (long long)a->ints[i]);
		at[i] = a->ints[i];
	}
	return 0;
}

static int window_auto_pad(const struct op_call *c, struct window *w, struct error *err)
{
	static const char *const names[] = { "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID" };
	struct text mode = node_string(c->node, "auto_pad", "NOTSET");
	for (int i = 0; i < 4; i++) {
		if (text_is(mode, names[i]) || (i == 0 && mode.n == 0)) {
			w->auto_pad = (enum window_auto)i;
			return 0;
		}
	}
	return op_fail(c, err, "auto_pad is not NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

static int window_kernel(const struct op_call *c, struct shape weights, struct window *w, struct error *err)
{
	int64_t size[OP_RANK_MAX] = { 0 };
	if (window_list(c, "kernel_shape", w->spatial, 1, size, err))
		return -1;
	for (int i = 0; i < w->spatial; i++) {
		w->kernel[i] = size[i] ? dim_known(size[i]) : dim_unknown();
		if (weights.rank < 0)
			continue;
		if (!op_dim_merge(w->kernel[i], weights.dims[2 + i], &w->kernel[i]))
			return op_fail(c, err, "kernel_shape contradicts weights of shape %s",
				shape_text(c->arena, weights));
		if (w->kernel[i].kind == DIM_KNOWN &&
			(w->kernel[i].value < 1 || w->kernel[i].value > WINDOW_NUMBER_MAX))
			return op_fail(
				c, err, "weights of shape %s are not a "
					"kernel", shape_text(c->arena, weights));
	}
	return 0;
}

int window_get(
	const struct op_call *c, int spatial, struct shape weights, struct window *w, struct error *err)
{
	int64_t pads[2 * OP_RANK_MAX] = { 0 };
	memset(w, 0, sizeof(*w));
	w->spatial = spatial;
	w->ceil = node_int(c->node, "ceil_mode", 0) != 0;
	if (weights.rank >= 0 && weights.rank != spatial + 2)
		return op_fail(c, err, "weights of shape %s for %d spatial dimensions",
			shape_text(c->arena, weights), spatial);
	for (int i = 0; i < spatial; i++)
		w->stride[i] = w->dilation[i] = 1;
	if (window_auto_pad(c, w, err) || window_kernel(c, weights, w, err) ||
		window_list(c, "strides", spatial, 1, w->stride, err) ||
		window_list(c, "dilations", spatial, 1, w->dilation, err) ||
		window_list(c, "pads", 2 * spatial, 0, pads, err))
		return -1;
	for (int i = 0; i < spatial && w->auto_pad == WINDOW_EXPLICIT; i++) {
		w->pad_begin[i] = pads[i];
		w->pad_end[i] = pads[spatial + i];
	}
	return 0;
}

int window_out(const struct op_call *c, const struct window *w, int i, struct dim in, struct dim *out,
	struct error *err)
{
	struct arena *a = c->arena;
	int64_t stride = w->stride[i];
	*out = dim_unknown();
	if (in.kind == DIM_KNOWN && in.value > WINDOW_NUMBER_MAX)
		return op_fail(c, err, "an input of %lld elements along one axis", (long long)in.value);
	if (w->auto_pad == WINDOW_SAME_UPPER || w->auto_pad == WINDOW_SAME_LOWER) {
		*out = dim_ceil_div(a, in, stride);
		return 0;
	}
	if (w->kernel[i].kind == DIM_SYMBOLIC && !w->ceil) {
		struct dim reach = dim_mul(a, dim_sub(a, w->kernel[i], dim_known(1)),
			dim_known(w->dilation[i]));
		struct dim room = dim_sub(a,
			dim_add(a, in, dim_known(w->pad_begin[i] + w->pad_end[i] - 1)), reach);
		*out = dim_add(a, dim_floor_div(a, room, dim_known(stride)), dim_known(1));
	}
	if (w->kernel[i].kind != DIM_KNOWN)
		return 0;
	int64_t window = (w->kernel[i].value - 1) * w->dilation[i] + 1;
	int64_t slack = w->pad_begin[i] + w->pad_end[i] - window;
	if (in.kind == DIM_KNOWN && in.value + slack < 0) {
		/* ONNX's formula with a quotient rounded to zero, as in ONNX Runtime: 1, 0 or less */
		int64_t size = (in.value + slack) / stride + 1;
		if (!w->pool || size < 0)
			return op_fail(c, err, "a window of %lld does not fit %lld padded inputs",
				(long long)window, (long long)(in.value + slack + window));
		*out = dim_known(size);
		return 0;
	}
	/* With ceil_mode the last window may extend past the end, but must start within the input or its left
	 * pad. */
	int64_t last = w->pad_begin[i] - 1, most = slack + stride - 1;
	int64_t rest = !w->ceil ? slack : most < last ? most : last;
	struct dim steps = dim_floor_div(a, dim_add(a, in, dim_known(rest)), dim_known(stride));
	if (steps.kind == DIM_UNKNOWN && in.upper >= 0 && in.upper <= WINDOW_NUMBER_MAX &&
		in.upper + rest >= 0)
		steps.upper = (in.upper + rest) / stride;
	else if (steps.kind == DIM_KNOWN && steps.value < 0)
		steps = dim_known(0);
	*out = dim_add(a, steps, dim_known(1));
	return 0;
}

double window_volume(const struct window *w)
{
	double volume = 1;
	for (int i = 0; i < w->spatial; i++)
		volume *= w->kernel[i].kind == DIM_KNOWN ? (double)w->kernel[i].value : NAN;
	return volume;
}

/* Pads along one axis. auto_pad: what the outputs need, an odd one at the end (upper) or beginning (lower).
 * Explicit: as given; with ceil_mode, or a window wider than the padded input, the end pad reaches the end of
 * the last window. */
static void window_pads(const struct window *w, int i, int64_t in, int64_t out, int64_t *begin, int64_t *end)
{
	int64_t reach = (out - 1) * w->stride[i] + (w->kernel[i].value - 1) * w->dilation[i] + 1;
	int64_t need = reach > in ? reach - in : 0;
	*begin = w->pad_begin[i];
	*end = w->pad_end[i];
	if (w->auto_pad == WINDOW_SAME_UPPER || w->auto_pad == WINDOW_SAME_LOWER) {
		*begin = w->auto_pad == WINDOW_SAME_UPPER ? need / 2 : need - need / 2;
		*end = need - *begin;
	} else if (w->ceil || *begin + *end < need) {
		*end = need > *begin ? need - *begin : 0;
	}
}

struct problem *window_pictures(const struct op_call *c, enum kernel kernel, enum mode mode,
	struct op_problem *out)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank < 3 || x.rank > 5) {
		op_problem_why(out, x.rank < 3 ? "not 1 to 3 spatial dimensions" :
			"more than 3 spatial dimensions");
		return NULL;
	}
	struct problem *p = op_problem_start(out, kernel, mode);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->outputs[0]);
	p->n = x.dims[0].value;
	p->c = x.dims[1].value;
	p->spatial = x.rank - 2;
	for (int i = 2; i < x.rank; i++)
		p->in[3 - x.rank + i] = x.dims[i].value;
	return p;
}

bool window_problem(const struct op_call *c, const struct window *w, struct op_problem *out)
{
	struct problem *p = &out->problem;
	struct shape y = c->outputs[0].shape;
	for (int i = 0; i < w->spatial; i++) {
		int at = 3 - w->spatial + i;
		if (w->kernel[i].kind != DIM_KNOWN) {
			op_problem_why(out, "the kernel's size is not known");
			return false;
		}
		p->kernel_size[at] = w->kernel[i].value;
		p->stride[at] = w->stride[i];
		p->dilation[at] = w->kernel[i].value > 1 ? w->dilation[i] : 1;
		window_pads(w, i, p->in[at], y.dims[2 + i].value, &p->pad_begin[at], &p->pad_end[at]);
	}
	return true;
}

void window_resample(const struct op_call *c, enum mode mode, struct op_problem *out)
{
	struct problem *p = window_pictures(c, KERNEL_RESAMPLE, mode, out);
	struct shape y = c->outputs[0].shape;
	for (int i = 2; p && i < y.rank; i++)
		p->out[3 - y.rank + i] = y.dims[i].value;
}
