/* The cursor that a problem's text is read with, and the segments that many kernels share. */
#include "config.h"

#include "problem/problem_segments.h"

#include "problem/problem_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the cursor a text is read with ---- */

int cursor_fail(const struct cursor *c, const char *what)
{
	int shown = c->rest.n > 24 ? 24 : (int)c->rest.n;
	if (!shown)
		return error_set(c->err, "problem text: %s: expected %s at its end", c->segment, what);
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

int cursor_field(struct cursor *c, const char *name, int64_t *value)
{
	if (!cursor_skip(c, name))
		return cursor_fail(c, name);
	return cursor_number(c, value);
}

int cursor_flag(struct cursor *c, const char *name, bool *value)
{
	int64_t number;
	struct cursor at = *c;
	if (cursor_field(c, name, &number))
		return -1;
	*value = number == 1;
	return number == 0 || number == 1 ? 0 : cursor_fail(cursor_skip(&at, name) ? &at : c, "0 or 1");
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

void number_write(const char *name, int64_t value, struct str *out)
{
	str_puts(out, name);
	str_add_int(out, value);
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

static void shape2_write(const struct problem *p, struct str *out)
{
	shape_write(&p->shape[2], out);
}

static int shape2_read(struct cursor *c, struct problem *p)
{
	p->shape_count = 3;
	return shape_read(c, &p->shape[2]);
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

static void groups_write(const struct problem *p, struct str *out)
{
	number_write("g", p->g, out);
}

static int groups_read(struct cursor *c, struct problem *p)
{
	return cursor_field(c, "g", &p->g);
}

void fields_write(const struct segment_field *f, const struct problem *p, struct str *out)
{
	for (; f->name; f++) {
		int64_t value;
		memcpy(&value, (const char *)p + f->at, sizeof(value));
		number_write(f->name, value, out);
	}
}

int fields_read(const struct segment_field *f, struct cursor *c, struct problem *p)
{
	for (; f->name; f++) {
		int64_t value;
		if (cursor_field(c, f->name, &value))
			return -1;
		memcpy((char *)p + f->at, &value, sizeof(value));
	}
	return 0;
}

const struct segment segment_shape = { "shape", shape0_write, shape0_read };
const struct segment segment_shape1 = { "second shape", shape1_write, shape1_read };
const struct segment segment_shape2 = { "third shape", shape2_write, shape2_read };
const struct segment segment_axis = { "axis", axis_write, axis_read };
const struct segment segment_groups = { "groups", groups_write, groups_read };
