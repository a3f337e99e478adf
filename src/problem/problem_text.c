/* The text form of a problem: one row a kernel says which segments follow the operands; each segment knows how to
 * write and how to read itself. Reading is lenient and then compared with what would be written, which is what
 * makes one spelling. */
#include "config.h"

#include "problem/problem_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the cursor a text is read with ---- */

struct cursor {
	struct text rest;
	struct error *err;
	const char *segment; /* what is being read, for messages */
};

static int cursor_fail(const struct cursor *c, const char *what)
{
	int shown = c->rest.n > 24 ? 24 : (int)c->rest.n;
	return error_set(c->err, "problem text: %s: expected %s at \"%.*s\"", c->segment, what, shown, c->rest.p);
}

static bool cursor_skip(struct cursor *c, const char *literal)
{
	size_t n = strlen(literal);
	if (c->rest.n < n || memcmp(c->rest.p, literal, n) != 0)
		return false;
	c->rest.p += n;
	c->rest.n -= n;
	return true;
}

static int cursor_number(struct cursor *c, int64_t *value)
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

static int cursor_field(struct cursor *c, const char *name, int64_t *value)
{
	if (!cursor_skip(c, name))
		return cursor_fail(c, name);
	return cursor_number(c, value);
}

/* The text up to the next of `stops` (or the end). */
static struct text cursor_word(struct cursor *c, const char *stops)
{
	size_t n = 0;
	while (n < c->rest.n && !strchr(stops, c->rest.p[n]))
		n++;
	struct text word = { c->rest.p, n };
	c->rest.p += n;
	c->rest.n -= n;
	return word;
}

static int cursor_float(struct cursor *c, float *value)
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

/* Numbers along the spatial axes: prefix, then d h w. */
static void spatial_write(const struct problem *p, const char *prefix, const char names[3][2], const int64_t *v,
	struct str *out)
{
	for (int i = 3 - p->spatial; i < 3; i++)
		str_addf(out, "%s%s%lld", prefix, names[i], (long long)v[i]);
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
	str_addf(out, "n%lldc%lld", (long long)p->n, (long long)p->c);
	spatial_write(p, "", space_names, p->in, out);
	if (p->kernel == KERNEL_CONV)
		str_addf(out, "k%lld", (long long)p->k);
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
	if (p->kernel == KERNEL_CONV && cursor_field(c, "k", &p->k))
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
	return spatial_read(c, p, "p", space_names, p->pad_begin) || spatial_read(c, p, "q", space_names, p->pad_end);
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
	str_addf(out, "g%lld", (long long)p->g);
}

static int groups_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "g", &p->g);
}

static void shape_write(const struct problem_shape *s, struct str *out)
{
	if (s->rank == 0)
		str_add(out, "1", 1);
	for (int i = 0; i < s->rank; i++)
		str_addf(out, "%s%lld", i ? "x" : "", (long long)s->dim[i]);
}

static int shape_read(struct cursor *c, struct problem_shape *s)
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
	str_addf(out, "m%lldn%lldk%lld", (long long)p->m, (long long)p->mn, (long long)p->mk);
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
	str_addf(out, "ta%dtb%d", p->transpose_a, p->transpose_b);
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
	str_addf(out, "ax%d", p->axis);
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
	str_addf(out, "n%lld", (long long)p->size);
}

static int window_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "n", &p->size);
}

static void bytes_write(const struct problem *p, struct str *out)
{
	str_addf(out, "b%lld", (long long)p->size);
}

static int bytes_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "b", &p->size);
}

struct segment {
	const char *name;
	void (*write)(const struct problem *p, struct str *out);
	int (*read)(struct cursor *c, struct problem *p);
};

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

/* One row a kernel: has it a mode, has it an accumulator, which segments. */
static const struct {
	bool mode, accumulator;
	const struct segment *segments[6];
} kernel_rows[KERNEL_COUNT] = {
	[KERNEL_CONV] = { false, true, { &seg_sizes, &seg_pads, &seg_strides, &seg_dilations, &seg_groups } },
	[KERNEL_MATMUL] = { false, true, { &seg_batches, &seg_transposed } },
	[KERNEL_POOL] = { true, false, { &seg_sizes, &seg_pads, &seg_strides, &seg_dilations } },
	[KERNEL_BATCHNORM] = { false, false, { &seg_shape0 } },
	[KERNEL_LAYERNORM] = { false, false, { &seg_shape0, &seg_axis } },
	[KERNEL_SOFTMAX] = { true, false, { &seg_shape0, &seg_axis } },
	[KERNEL_ELTWISE] = { true, false, { &seg_shape0 } },
	[KERNEL_BINARY] = { true, false, { &seg_shape0, &seg_shape1 } },
	[KERNEL_REDUCE] = { true, false, { &seg_shape0, &seg_shape1 } },
	[KERNEL_CONCAT] = { false, false, { &seg_shapes, &seg_axis } },
	[KERNEL_TRANSPOSE] = { false, false, { &seg_shape0, &seg_perm } },
	[KERNEL_RESAMPLE] = { true, false, { &seg_sizes, &seg_out } },
	[KERNEL_LRN] = { true, false, { &seg_shape0, &seg_window } },
	[KERNEL_CAST] = { false, false, { &seg_shape0 } },
	[KERNEL_COPY] = { false, false, { &seg_bytes } },
};

/* ---- operands, modes, epilogues ---- */

static void operand_write(const struct operand *o, struct str *out)
{
	str_addf(out, "%s%s", dtype_name(o->dtype), o->constant ? ".c" : "");
	if (o->layout == LAYOUT_NCX)
		str_addf(out, "@ncx");
	else if (o->layout == LAYOUT_NXC)
		str_addf(out, "@nxc");
	else if (o->layout == LAYOUT_STRIDES)
		for (int i = 0; i < o->stride_rank; i++)
			str_addf(out, "%s%lld", i ? "x" : "@s", (long long)o->stride[i]);
}

static int layout_read(struct cursor *c, struct operand *o)
{
	if (cursor_skip(c, "ncx")) {
		o->layout = LAYOUT_NCX;
	} else if (cursor_skip(c, "nxc")) {
		o->layout = LAYOUT_NXC;
	} else if (cursor_skip(c, "s")) {
		struct problem_shape s;
		if (shape_read(c, &s))
			return -1;
		o->layout = LAYOUT_STRIDES;
		o->stride_rank = s.rank;
		memcpy(o->stride, s.dim, sizeof(o->stride));
	} else {
		return cursor_fail(c, "a layout (ncx, nxc or s and strides)");
	}
	return 0;
}

static int operand_read(struct cursor *c, struct operand *o)
{
	o->dtype = dtype_parse(cursor_word(c, ".@,/:+"));
	if (o->dtype == DTYPE_UNKNOWN)
		return cursor_fail(c, "a data type before this");
	o->constant = cursor_skip(c, ".c");
	return cursor_skip(c, "@") ? layout_read(c, o) : 0;
}

static void mode_write(enum mode m, float alpha, float beta, struct str *out)
{
	char text[STR_QUANTITY];
	str_addf(out, "%s", mode_name(m));
	if (mode_parameters(m) > 0)
		str_addf(out, ",%s", str_float(text, alpha));
	if (mode_parameters(m) > 1)
		str_addf(out, ",%s", str_float(text, beta));
}

static int mode_read_parameters(struct cursor *c, enum mode m, float *alpha, float *beta)
{
	float *to[2] = { alpha, beta };
	for (int i = 0; i < mode_parameters(m); i++) {
		if (!cursor_skip(c, ","))
			return cursor_fail(c, "\",\" and a parameter");
		if (cursor_float(c, to[i]))
			return -1;
	}
	return 0;
}

static void epilogue_write(const struct epilogue *e, struct str *out)
{
	str_add(out, "+", 1);
	if (e->kind == EPILOGUE_ELTWISE) {
		mode_write(e->mode, e->alpha, e->beta, out);
		return;
	}
	str_addf(out, "%s:", e->kind == EPILOGUE_BIAS ? "bias" : mode_name(e->mode));
	operand_write(&e->operand, out);
}

static int epilogue_read(struct cursor *c, struct epilogue *e)
{
	struct text name = cursor_word(c, ":,+");
	if (text_is(name, "bias")) {
		e->kind = EPILOGUE_BIAS;
	} else if ((e->mode = mode_parse(KERNEL_BINARY, name)) != MODE_NONE) {
		e->kind = EPILOGUE_BINARY;
	} else if ((e->mode = mode_parse(KERNEL_ELTWISE, name)) != MODE_NONE) {
		e->kind = EPILOGUE_ELTWISE;
		return mode_read_parameters(c, e->mode, &e->alpha, &e->beta);
	} else {
		return cursor_fail(c, "an epilogue (bias, a binary or an eltwise mode) before this");
	}
	return cursor_skip(c, ":") ? operand_read(c, &e->operand) : cursor_fail(c, "\":\" and a data type");
}

bool kernel_has_mode(enum kernel k)
{
	return kernel_rows[k].mode;
}

bool kernel_has_accumulator(enum kernel k)
{
	return kernel_rows[k].accumulator;
}

/* ---- whole texts ---- */

static void problem_write(const struct problem *p, struct str *out)
{
	str_addf(out, "%s:", kernel_name(p->kernel));
	for (int i = 0; i < problem_operand_count(p); i++) {
		if (i)
			str_add(out, ",", 1);
		operand_write(&p->operand[i], out);
	}
	if (kernel_rows[p->kernel].accumulator)
		str_addf(out, "/%s", dtype_name(p->accumulator));
	if (kernel_rows[p->kernel].mode) {
		str_add(out, ":", 1);
		mode_write(p->mode, p->alpha, p->beta, out);
	}
	for (const struct segment *const *s = kernel_rows[p->kernel].segments; *s; s++) {
		str_add(out, ":", 1);
		(*s)->write(p, out);
	}
	for (int i = 0; i < p->epilogue_count; i++)
		epilogue_write(&p->epilogue[i], out);
}

int problem_format(const struct problem *p, char *buf, struct error *err)
{
	if (problem_check(p, err))
		return -1;
	struct str out = { 0 };
	problem_write(p, &out);
	int bad = 0;
	if (out.n >= PROBLEM_TEXT_SIZE)
		bad = error_set(err, "problem: the text is longer than %d bytes", PROBLEM_TEXT_SIZE - 1);
	else
		memcpy(buf, out.p, out.n + 1);
	str_free(&out);
	return bad;
}

static int operands_read(struct cursor *c, struct problem *p)
{
	c->segment = "operands";
	if (!cursor_skip(c, ":"))
		return cursor_fail(c, "\":\"");
	for (int i = 0; i < problem_operand_count(p); i++) {
		if (i && !cursor_skip(c, ","))
			return cursor_fail(c, "\",\" and another operand");
		if (operand_read(c, &p->operand[i]))
			return -1;
	}
	if (!kernel_rows[p->kernel].accumulator)
		return 0;
	if (!cursor_skip(c, "/"))
		return cursor_fail(c, "\"/\" and the accumulator type");
	p->accumulator = dtype_parse(cursor_word(c, ":"));
	return p->accumulator == DTYPE_UNKNOWN ? cursor_fail(c, "a data type before this") : 0;
}

static int body_read(struct cursor *c, struct problem *p)
{
	if (kernel_rows[p->kernel].mode) {
		c->segment = "mode";
		if (!cursor_skip(c, ":"))
			return cursor_fail(c, "\":\" and a mode");
		p->mode = mode_parse(p->kernel, cursor_word(c, ",:+"));
		if (p->mode == MODE_NONE)
			return cursor_fail(c, "a mode of this kernel before this");
		if (mode_read_parameters(c, p->mode, &p->alpha, &p->beta))
			return -1;
	}
	for (const struct segment *const *s = kernel_rows[p->kernel].segments; *s; s++) {
		c->segment = (*s)->name;
		if (!cursor_skip(c, ":"))
			return cursor_fail(c, "\":\"");
		if ((*s)->read(c, p))
			return -1;
	}
	c->segment = "epilogue";
	while (cursor_skip(c, "+")) {
		if (p->epilogue_count == PROBLEM_EPILOGUES)
			return cursor_fail(c, "fewer epilogues");
		if (epilogue_read(c, &p->epilogue[p->epilogue_count++]))
			return -1;
	}
	return c->rest.n ? cursor_fail(c, "the end") : 0;
}

int problem_parse(struct text t, struct problem *p, struct error *err)
{
	struct cursor c = { .rest = t, .err = err, .segment = "kernel" };
	*p = (struct problem){ 0 };
	struct text name = cursor_word(&c, ":");
	p->kernel = KERNEL_COUNT;
	for (int k = 0; k < KERNEL_COUNT; k++)
		if (text_is(name, kernel_name((enum kernel)k)))
			p->kernel = (enum kernel)k;
	if (p->kernel == KERNEL_COUNT) {
		c.rest = t;
		return cursor_fail(&c, "a kernel (conv, matmul, pool ...)");
	}
	char canonical[PROBLEM_TEXT_SIZE];
	if (operands_read(&c, p) || body_read(&c, p) || problem_format(p, canonical, err))
		return -1;
	if (!text_is(t, canonical))
		return error_set(err, "problem text: not in its one spelling, which is %s", canonical);
	return 0;
}
