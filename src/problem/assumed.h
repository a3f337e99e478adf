/* Costs that nothing measured: of --assume and of operators that users describe. */
#ifndef PROBLEM_ASSUMED_H
#define PROBLEM_ASSUMED_H

#include "base/error.h"
#include "base/str.h"

/* The assumed cost of a layer: a time, or its cost divided by a factor. */
struct assumption {
	enum { ASSUME_NOTHING, ASSUME_TIME, ASSUME_FACTOR } kind;
	double value;           /* ns; the factor, above 0 */
};

/* "12us", "0" (free), "2x": twice as fast. */
int assumed_parse(struct text word, struct assumption *cost, struct error *err);
/* The same as text, "12 us" or "2x"; "" for nothing. Returns buf. */
#define ASSUMED_TEXT_SIZE 48
char *assumed_text(char *buf, const struct assumption *cost);

#endif
