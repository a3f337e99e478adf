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
int cursor_number(struct cursor *c, int64_t *value);
/* Parses the literal `name` followed by a number ("k64"). */
int cursor_field(struct cursor *c, const char *name, int64_t *value);
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

/* The segments after operands and mode, NULL-terminated. p->kernel and p->mode must be set. */
const struct segment *const *problem_segments(const struct problem *p);

#endif
