/* The segments of a problem's text, one row per kernel. */
#include "config.h"

#include "problem/problem_segments.h"

#include "problem/problem_private.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the cursor a text is read with ---- */

int cursor_fail(const struct cursor *c, const char *what)
{
	int shown = c->rest.n > 24 ? 24 : (int)c->rest.n;
	return error_set(c->err, "problem text: %s: expected %s at \"%.*s\"", c->segment, what,
		shown, c->rest.p);
}

bool cursor_skip(struct cursor *c, const char *literal)
{
	size_t n = strlen(literal);
	if (c->rest.n < n || memcmp(c->rest.p, literal, n) != 0)
		return false;
	c->rest.p += n;
	c->rest.n -= n;
	return true;
}

int cursor_number(struct cursor *c, int64_t *value)
{
	size_t n = 0;
	while (n < c->rest.n && c->rest.p[n] >= '0' && c->rest.p[n] <= '9')
		n++;
	if (!text_to_int64((struct text){ c->rest.p, n }, value))
		return cursor_fail(c, "a number");
	if (*value > PROBLEM_NUMBER_MAX)
		return cursor_fail(c, "a smaller number");
	c->rest.p += n;
	c->rest.n -= n;
	return 0;
}

int cursor_field(struct cursor *c, const char *name, int64_t *value)
{
	if (!cursor_skip(c, name))
		return cursor_fail(c, name);
	return cursor_number(c, value);
}

/* The text up to the next of `stops` (or the end). */
struct text cursor_word(struct cursor *c, const char *stops)
{
	size_t n = 0;
	while (n < c->rest.n && !strchr(stops, c->rest.p[n]))
		n++;
	struct text word = { c->rest.p, n };
	c->rest.p += n;
	c->rest.n -= n;
	return word;
}

int cursor_float(struct cursor *c, float *value)
{
	struct text word = cursor_word(c, ",:+");
	char copy[STR_QUANTITY], *end;
	if (!word.n || word.n >= sizeof(copy))
		return cursor_fail(c, "a parameter");
	memcpy(copy, word.p, word.n);
	copy[word.n] = '\0';
	*value = strtof(copy, &end);
	return *end || !isfinite(*value) ? cursor_fail(c, "a finite parameter") : 0;
}

/* ---- segments ---- */

static const char space_names[3][2] = { "d", "h", "w" };
static const char kernel_size_names[3][2] = { "t", "r", "s" };

/* A letter or word followed by a number. */
static void number_write(const char *name, int64_t value, struct str *out)
{
	str_puts(out, name);
	str_add_int(out, value);
}

/* Numbers along the spatial axes: prefix, then d h w. */
static void spatial_write(const struct problem *p, const char *prefix, const char names[3][2], const int64_t *v,
	struct str *out)
{
	for (int i = 3 - p->spatial; i < 3; i++) {
		str_puts(out, prefix);
		number_write(names[i], v[i], out);
	}
}

static int spatial_read(struct cursor *c, const struct problem *p, const char *prefix, const char names[3][2],
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

static void sizes_write(const struct problem *p, struct str *out)
{
	number_write("n", p->n, out);
	number_write("c", p->c, out);
	spatial_write(p, "", space_names, p->in, out);
	if (p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV)
		number_write("k", p->k, out);
	if (p->kernel != KERNEL_RESAMPLE)
		spatial_write(p, "", kernel_size_names, p->kernel_size, out);
}

static int sizes_read(struct cursor *c, struct problem *p)
{
	if (cursor_field(c, "n", &p->n) || cursor_field(c, "c", &p->c))
		return -1;
	for (int i = 0; i < 3; i++)
		if (c->rest.n && c->rest.p[0] == space_names[i][0])
			p->spatial = 3 - i;
	if (!p->spatial)
		return cursor_fail(c, "d, h or w");
	if (spatial_read(c, p, "", space_names, p->in))
		return -1;
	if ((p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV) && cursor_field(c, "k", &p->k))
		return -1;
	return p->kernel == KERNEL_RESAMPLE ? 0 : spatial_read(c, p, "", kernel_size_names, p->kernel_size);
}

static void pads_write(const struct problem *p, struct str *out)
{
	spatial_write(p, "p", space_names, p->pad_begin, out);
	spatial_write(p, "q", space_names, p->pad_end, out);
}

static int pads_read(struct cursor *c, struct problem *p)
{
	return spatial_read(c, p, "p", space_names, p->pad_begin) ||
		spatial_read(c, p, "q", space_names, p->pad_end);
}

static void strides_write(const struct problem *p, struct str *out)
{
	spatial_write(p, "s", space_names, p->stride, out);
}

static int strides_read(struct cursor *c, struct problem *p)
{
	return spatial_read(c, p, "s", space_names, p->stride);
}

static void dilations_write(const struct problem *p, struct str *out)
{
	spatial_write(p, "d", space_names, p->dilation, out);
}

static int dilations_read(struct cursor *c, struct problem *p)
{
	return spatial_read(c, p, "d", space_names, p->dilation);
}

static void out_write(const struct problem *p, struct str *out)
{
	spatial_write(p, "o", space_names, p->out, out);
}

static int out_read(struct cursor *c, struct problem *p)
{
	return spatial_read(c, p, "o", space_names, p->out);
}

static void groups_write(const struct problem *p, struct str *out)
{
	number_write("g", p->g, out);
}

static int groups_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "g", &p->g);
}

void shape_write(const struct problem_shape *s, struct str *out)
{
	if (s->rank == 0)
		str_add(out, "1", 1);
	for (int i = 0; i < s->rank; i++)
		number_write(i ? "x" : "", s->dim[i], out);
}

int shape_read(struct cursor *c, struct problem_shape *s)
{
	s->rank = 0;
	do {
		if (s->rank == PROBLEM_RANK)
			return cursor_fail(c, "fewer dimensions");
		if (cursor_number(c, &s->dim[s->rank++]))
			return -1;
	} while (cursor_skip(c, "x"));
	return 0;
}

static void batches_write(const struct problem *p, struct str *out)
{
	str_add(out, "ba", 2);
	shape_write(&p->batch_a, out);
	str_add(out, "bb", 2);
	shape_write(&p->batch_b, out);
	number_write("m", p->m, out);
	number_write("n", p->mn, out);
	number_write("k", p->mk, out);
}

static int batches_read(struct cursor *c, struct problem *p)
{
	if (!cursor_skip(c, "ba"))
		return cursor_fail(c, "ba");
	if (shape_read(c, &p->batch_a))
		return -1;
	if (!cursor_skip(c, "bb"))
		return cursor_fail(c, "bb");
	return shape_read(c, &p->batch_b) || cursor_field(c, "m", &p->m) || cursor_field(c, "n", &p->mn) ||
		cursor_field(c, "k", &p->mk);
}

static void transposed_write(const struct problem *p, struct str *out)
{
	number_write("ta", p->transpose_a, out);
	number_write("tb", p->transpose_b, out);
}

static int transposed_read(struct cursor *c, struct problem *p)
{
	int64_t a, b;
	if (cursor_field(c, "ta", &a) || cursor_field(c, "tb", &b))
		return -1;
	p->transpose_a = a == 1;
	p->transpose_b = b == 1;
	return 0;
}

static void shape0_write(const struct problem *p, struct str *out)
{
	shape_write(&p->shape[0], out);
}

static int shape0_read(struct cursor *c, struct problem *p)
{
	p->shape_count = 1;
	return shape_read(c, &p->shape[0]);
}

static void shape1_write(const struct problem *p, struct str *out)
{
	shape_write(&p->shape[1], out);
}

static int shape1_read(struct cursor *c, struct problem *p)
{
	p->shape_count = 2;
	return shape_read(c, &p->shape[1]);
}

static void shapes_write(const struct problem *p, struct str *out)
{
	for (int i = 0; i < p->shape_count; i++) {
		if (i)
			str_add(out, ",", 1);
		shape_write(&p->shape[i], out);
	}
}

static int shapes_read(struct cursor *c, struct problem *p)
{
	do {
		if (p->shape_count == PROBLEM_SHAPES)
			return cursor_fail(c, "fewer shapes");
		if (shape_read(c, &p->shape[p->shape_count++]))
			return -1;
	} while (cursor_skip(c, ","));
	return 0;
}

static void axis_write(const struct problem *p, struct str *out)
{
	number_write("ax", p->axis, out);
}

static int axis_read(struct cursor *c, struct problem *p)
{
	int64_t axis;
	if (cursor_field(c, "ax", &axis))
		return -1;
	p->axis = axis < PROBLEM_RANK ? (int)axis : PROBLEM_RANK;
	return 0;
}

static void perm_write(const struct problem *p, struct str *out)
{
	struct problem_shape s = { .rank = p->shape[0].rank };
	for (int i = 0; i < s.rank; i++)
		s.dim[i] = p->perm[i];
	str_add(out, "perm", 4);
	shape_write(&s, out);
}

static int perm_read(struct cursor *c, struct problem *p)
{
	struct problem_shape s;
	if (!cursor_skip(c, "perm"))
		return cursor_fail(c, "perm");
	if (shape_read(c, &s))
		return -1;
	for (int i = 0; i < s.rank; i++)
		p->perm[i] = s.dim[i] < PROBLEM_RANK ? (int)s.dim[i] : PROBLEM_RANK;
	return 0;
}

static void window_write(const struct problem *p, struct str *out)
{
	number_write("n", p->size, out);
}

static int window_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "n", &p->size);
}

static void bytes_write(const struct problem *p, struct str *out)
{
	number_write("b", p->size, out);
}

static int bytes_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "b", &p->size);
}

static void out_pad_write(const struct problem *p, struct str *out)
{
	spatial_write(p, "u", space_names, p->out_pad, out);
}

static int out_pad_read(struct cursor *c, struct problem *p)
{
	return spatial_read(c, p, "u", space_names, p->out_pad);
}

/* Several letters, each followed by a number. */
struct field {
	const char *name;
	size_t at; /* offset of an int64_t in struct problem */
};

#define FIELD(name, member) { name, offsetof(struct problem, member) }
static const struct field attention_fields[] = { FIELD("n", n), FIELD("hq", heads), FIELD("hk", kv_heads),
	FIELD("lq", query_length), FIELD("lk", key_length), FIELD("d", head_size), FIELD("e", value_size), { 0 } };
static const struct field rnn_fields[] = { FIELD("t", steps), FIELD("n", n), FIELD("i", input_size),
	FIELD("h", hidden_size), FIELD("d", directions), { 0 } };
#undef FIELD

static void fields_write(const struct field *f, const struct problem *p, struct str *out)
{
	for (; f->name; f++) {
		int64_t value;
		memcpy(&value, (const char *)p + f->at, sizeof(value));
		number_write(f->name, value, out);
	}
}

static int fields_read(const struct field *f, struct cursor *c, struct problem *p)
{
	for (; f->name; f++) {
		int64_t value;
		if (cursor_field(c, f->name, &value))
			return -1;
		memcpy((char *)p + f->at, &value, sizeof(value));
	}
	return 0;
}

static void attention_write(const struct problem *p, struct str *out)
{
	fields_write(attention_fields, p, out);
}

static int attention_read(struct cursor *c, struct problem *p)
{
	return fields_read(attention_fields, c, p);
}

static void rnn_write(const struct problem *p, struct str *out)
{
	fields_write(rnn_fields, p, out);
}

static int rnn_read(struct cursor *c, struct problem *p)
{
	return fields_read(rnn_fields, c, p);
}

static void shape2_write(const struct problem *p, struct str *out)
{
	shape_write(&p->shape[2], out);
}

static int shape2_read(struct cursor *c, struct problem *p)
{
	p->shape_count = 3;
	return shape_read(c, &p->shape[2]);
}

static void taken_write(const struct problem *p, struct str *out)
{
	number_write("k", p->size, out);
}

static int taken_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "k", &p->size);
}

static const struct segment seg_sizes = { "sizes", sizes_write, sizes_read };
static const struct segment seg_pads = { "pads", pads_write, pads_read };
static const struct segment seg_strides = { "strides", strides_write, strides_read };
static const struct segment seg_dilations = { "dilations", dilations_write, dilations_read };
static const struct segment seg_out = { "output size", out_write, out_read };
static const struct segment seg_groups = { "groups", groups_write, groups_read };
static const struct segment seg_batches = { "sizes", batches_write, batches_read };
static const struct segment seg_transposed = { "transposition", transposed_write, transposed_read };
static const struct segment seg_shape0 = { "shape", shape0_write, shape0_read };
static const struct segment seg_shape1 = { "second shape", shape1_write, shape1_read };
static const struct segment seg_shapes = { "shapes", shapes_write, shapes_read };
static const struct segment seg_axis = { "axis", axis_write, axis_read };
static const struct segment seg_perm = { "permutation", perm_write, perm_read };
static const struct segment seg_window = { "window", window_write, window_read };
static const struct segment seg_bytes = { "bytes", bytes_write, bytes_read };
static const struct segment seg_block = { "block", bytes_write, bytes_read };
static const struct segment seg_out_pad = { "output pads", out_pad_write, out_pad_read };
static const struct segment seg_attention = { "sizes", attention_write, attention_read };
static const struct segment seg_rnn = { "sizes", rnn_write, rnn_read };
static const struct segment seg_shape2 = { "third shape", shape2_write, shape2_read };
static const struct segment seg_taken = { "k", taken_write, taken_read };

#define SEGMENTS 6 /* maximum segments of a kernel */
static const struct segment *const kernel_rows[KERNEL_COUNT][SEGMENTS + 1] = {
	[KERNEL_CONV] = { &seg_sizes, &seg_pads, &seg_strides, &seg_dilations, &seg_groups },
	[KERNEL_MATMUL] = { &seg_batches, &seg_transposed },
	[KERNEL_POOL] = { &seg_sizes, &seg_pads, &seg_strides, &seg_dilations },
	[KERNEL_BATCHNORM] = { &seg_shape0 },
	[KERNEL_LAYERNORM] = { &seg_shape0, &seg_axis },
	[KERNEL_SOFTMAX] = { &seg_shape0, &seg_axis },
	[KERNEL_ELTWISE] = { &seg_shape0 },
	[KERNEL_BINARY] = { &seg_shape0, &seg_shape1 },
	[KERNEL_REDUCE] = { &seg_shape0, &seg_shape1 },
	[KERNEL_CONCAT] = { &seg_shapes, &seg_axis },
	[KERNEL_TRANSPOSE] = { &seg_shape0, &seg_perm },
	[KERNEL_RESAMPLE] = { &seg_sizes, &seg_out },
	[KERNEL_LRN] = { &seg_shape0, &seg_window },
	[KERNEL_CAST] = { &seg_shape0 },
	[KERNEL_COPY] = { &seg_bytes },
	[KERNEL_DECONV] = { &seg_sizes, &seg_pads, &seg_strides, &seg_dilations, &seg_out_pad, &seg_groups },
	[KERNEL_INSTANCENORM] = { &seg_shape0 },
	[KERNEL_RMSNORM] = { &seg_shape0, &seg_axis },
	[KERNEL_ATTENTION] = { &seg_attention },
	[KERNEL_RNN] = { &seg_rnn },
	[KERNEL_DROPOUT] = { &seg_shape0 },
	[KERNEL_GATHER] = { &seg_shape0, &seg_axis, &seg_shape1 },
	[KERNEL_SELECT] = { &seg_shape0, &seg_shape1, &seg_shape2 },
	[KERNEL_TOPK] = { &seg_shape0, &seg_axis, &seg_taken },
	[KERNEL_ARGREDUCE] = { &seg_shape0, &seg_axis },
	[KERNEL_SCAN] = { &seg_shape0, &seg_axis },
	[KERNEL_QUANTIZE] = { &seg_shape0 },
	[KERNEL_DEQUANTIZE] = { &seg_shape0 },
};

const struct segment *const *problem_segments(const struct problem *p)
{
	static const struct segment *const by_axis[] = { &seg_shape0, &seg_axis, NULL };
	static const struct segment *const by_block[] = { &seg_shape0, &seg_axis, &seg_block, NULL };
	return mode_is_by_block(p->mode) ? by_block : mode_is_by_axis(p->mode) ? by_axis :
		kernel_rows[p->kernel];
}
