/* The parts a problem's text is made of: the cursor it is read with, and the segments of numbers. Private to the room. */
#ifndef PROBLEM_PROBLEM_SEGMENTS_H
#define PROBLEM_PROBLEM_SEGMENTS_H

#include "problem/problem.h"

struct cursor {
	struct text rest;
	struct error *err;
	const char *segment; /* what is being read, for messages */
};

/* "expected `what` at ...". Always -1. */
int cursor_fail(const struct cursor *c, const char *what);
/* True and past it where the rest begins with the literal. */
bool cursor_skip(struct cursor *c, const char *literal);
int cursor_number(struct cursor *c, int64_t *value);
/* The literal `name` and a number. */
int cursor_field(struct cursor *c, const char *name, int64_t *value);
/* The text up to the next of `stops` (or the end). */
struct text cursor_word(struct cursor *c, const char *stops);
int cursor_float(struct cursor *c, float *value);

/* "64x3x3"; a scalar is written 1 and read as one dimension. */
void shape_write(const struct problem_shape *s, struct str *out);
int shape_read(struct cursor *c, struct problem_shape *s);

/* Numbers between colons: each segment writes and reads itself. */
struct segment {
	const char *name;
	void (*write)(const struct problem *p, struct str *out);
	int (*read)(struct cursor *c, struct problem *p);
};

/* The segments of a row, in order (struct kernel_row). */
#define SEGMENTS(...) ((const struct segment *const[]){ __VA_ARGS__, NULL })

extern const struct segment segment_shape, segment_shape1, segment_shape2; /* shape 0, 1, 2 */
extern const struct segment segment_axis, segment_groups;

/* A letter or word followed by a number. */
void number_write(const char *name, int64_t value, struct str *out);

/* Several of them; the list ends with a row without name. */
struct segment_field {
	const char *name;
	size_t at; /* offset of an int64_t in struct problem */
};
#define SEGMENT_FIELD(name, member) { name, offsetof(struct problem, member) }
void fields_write(const struct segment_field *f, const struct problem *p, struct str *out);
int fields_read(const struct segment_field *f, struct cursor *c, struct problem *p);

#endif
