/* Parsing and printing of problem texts: a cursor, and the segments of numbers between colons. Private to the
 * room. */
#ifndef PROBLEM_PROBLEM_SEGMENTS_H
#define PROBLEM_PROBLEM_SEGMENTS_H

#include "problem/problem.h"

struct cursor {
	struct text rest;
	struct error *err;
	const char *segment; /* name of the segment being parsed, for messages */
};

/* Sets the error "expected `what` at ...". Always returns -1. */
int cursor_fail(const struct cursor *c, const char *what);
/* If the rest begins with the literal: skips it and returns true. */
bool cursor_skip(struct cursor *c, const char *literal);
/* Parses the literal `name` followed by a number ("k64"). */
int cursor_field(struct cursor *c, const char *name, int64_t *value);
/* Parses the literal `name` followed by 0 or 1 ("tb1"). */
int cursor_flag(struct cursor *c, const char *name, bool *value);
/* Returns the text up to the next character in `stops`, or to the end. */
struct text cursor_word(struct cursor *c, const char *stops);
int cursor_float(struct cursor *c, float *value);

/* "64x3x3". A scalar is written as "1", which parses as rank 1. */
void shape_write(const struct problem_shape *s, struct str *out);
int shape_read(struct cursor *c, struct problem_shape *s);

/* A segment: numbers between two colons, with its printer and its parser (-1: error in c->err). */
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
