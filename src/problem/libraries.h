/* The libraries that a runner lists in its hello (docs/wire.md): those that it found, and those that it
 * lacks. A bound without some of them is that of the others. */
#ifndef PROBLEM_LIBRARIES_H
#define PROBLEM_LIBRARIES_H

#include "problem/result.h"

struct library {
	const char *name;          /* "cuBLASLt" */
	bool present;
	const char *version, *path; /* of a present one; "": unknown */
	const char *why, *fix;     /* of a missing one: one line each */
	const char *tried;         /* of a missing one: what was searched, separated by ", " */
};

/* Returns the number of libraries in the device's attributes, and the list, in the arena, with cleaned texts;
 * 0 if the runner lists none. */
int libraries_of(const struct device *d, struct arena *a, struct library **list);
/* "cuBLASLt missing: libcublasLt.so.13: cannot open shared object file; install cuBLAS". */
const char *library_missing(struct arena *a, const struct library *l);

#endif
