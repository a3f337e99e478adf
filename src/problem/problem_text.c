/* The text form of a problem. The kernel's row lists the segments after the operands; each segment can
 * write and read itself. Reading is lenient; the result is written again and compared, so that each
 * problem has exactly one spelling. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

#include <string.h>

/* ---- operands, modes, epilogues ---- */

static void operand_write(const struct operand *o, struct str *out)
{
	str_puts(out, dtype_name(o->dtype));
	if (o->constant)
		str_puts(out, ".c");
	if (o->layout == LAYOUT_NCX)
		str_puts(out, "@ncx");
	else if (o->layout == LAYOUT_NXC)
		str_puts(out, "@nxc");
	for (int i = 0; o->layout == LAYOUT_STRIDES && i < o->stride_rank; i++) {
		str_puts(out, i ? "x" : "@s");
		str_add_int(out, o->stride[i]);
	}
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

/* The error names what stands at `at`, which was read already. */
static int fail_at(struct cursor *c, struct text at, const char *what)
{
	c->rest = at;
	return cursor_fail(c, what);
}

static int operand_read(struct cursor *c, struct operand *o)
{
	struct text at = c->rest;
	o->dtype = dtype_parse(cursor_word(c, ".@,/:+"));
	if (o->dtype == DTYPE_UNKNOWN)
		return fail_at(c, at, "a data type");
	o->constant = cursor_skip(c, ".c");
	return cursor_skip(c, "@") ? layout_read(c, o) : 0;
}

static void mode_write(enum mode m, float alpha, float beta, struct str *out)
{
	char text[STR_QUANTITY];
	str_puts(out, mode_name(m));
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
	str_puts(out, e->kind == EPILOGUE_BIAS ? "bias" : e->kind == EPILOGUE_SCALE ? "scale" :
		mode_name(e->mode));
	str_add(out, ":", 1);
	operand_write(&e->operand, out);
}

static int epilogue_read(struct cursor *c, struct epilogue *e)
{
	struct text at = c->rest, name = cursor_word(c, ":,+");
	if (text_is(name, "bias")) {
		e->kind = EPILOGUE_BIAS;
	} else if (text_is(name, "scale")) {
		e->kind = EPILOGUE_SCALE;
	} else if ((e->mode = mode_parse(KERNEL_BINARY, name)) != MODE_NONE) {
		e->kind = EPILOGUE_BINARY;
	} else if ((e->mode = mode_parse(KERNEL_ELTWISE, name)) != MODE_NONE) {
		e->kind = EPILOGUE_ELTWISE;
		return mode_read_parameters(c, e->mode, &e->alpha, &e->beta);
	} else {
		return fail_at(c, at, "an epilogue (bias, scale, a binary or an eltwise mode)");
	}
	return cursor_skip(c, ":") ? operand_read(c, &e->operand) : cursor_fail(c, "\":\" and a data type");
}

static const struct segment *const *segments_of(const struct problem *p)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	return row->segments_by_mode ? row->segments_by_mode(p->mode) : row->segments;
}

/* ---- whole texts ---- */

static void problem_write(const struct problem *p, struct str *out)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	str_puts(out, kernel_name(p->kernel));
	if (problem_operand_count(p))
		str_add(out, ":", 1);
	for (int i = 0; i < problem_operand_count(p); i++) {
		if (i)
			str_add(out, ",", 1);
		operand_write(&p->operand[i], out);
	}
	if (row->accumulator) {
		str_add(out, "/", 1);
		str_puts(out, dtype_name(p->accumulator));
	}
	if (row->mode) {
		str_add(out, ":", 1);
		mode_write(p->mode, p->alpha, p->beta, out);
	}
	for (const struct segment *const *s = segments_of(p); *s; s++) {
		if (!s[1] && row->has_last && !row->has_last(p))
			continue;
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
	if (!problem_operand_count(p))
		return 0;
	if (!cursor_skip(c, ":"))
		return cursor_fail(c, "\":\"");
	for (int i = 0; i < problem_operand_count(p); i++) {
		if (i && !cursor_skip(c, ","))
			return cursor_fail(c, "\",\" and another operand");
		if (operand_read(c, &p->operand[i]))
			return -1;
	}
	if (!kernel_row(p->kernel)->accumulator)
		return 0;
	if (!cursor_skip(c, "/"))
		return cursor_fail(c, "\"/\" and the accumulator type");
	struct text at = c->rest;
	p->accumulator = dtype_parse(cursor_word(c, ":"));
	return p->accumulator == DTYPE_UNKNOWN ? fail_at(c, at, "a data type") : 0;
}

static int body_read(struct cursor *c, struct problem *p)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	if (row->mode) {
		c->segment = "mode";
		if (!cursor_skip(c, ":"))
			return cursor_fail(c, "\":\" and a mode");
		struct text at = c->rest;
		p->mode = mode_parse(p->kernel, cursor_word(c, ",:+"));
		if (p->mode == MODE_NONE)
			return fail_at(c, at, "a mode of this kernel");
		if (mode_read_parameters(c, p->mode, &p->alpha, &p->beta))
			return -1;
	}
	for (const struct segment *const *s = segments_of(p); *s; s++) {
		c->segment = (*s)->name;
		bool there = cursor_skip(c, ":");
		if (!there && (s[1] || !row->has_last))
			return cursor_fail(c, "\":\"");
		if (there && (*s)->read(c, p))
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
		return error_set(err, "problem text: not the canonical spelling, which is %s", canonical);
	return 0;
}
