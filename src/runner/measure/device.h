/* Describes the runner program and its libraries. */
#ifndef RUNNER_DEVICE_H
#define RUNNER_DEVICE_H

#include "base/json.h"
#include "problem/result.h"

/* A description under construction. */
struct device_draft {
	struct str stack;    /* parts, separated by ", " */
	json_t *attributes;
};

void device_part(struct device_draft *draft, const char *part); /* appends to the stack; "" adds nothing */
/* Calls probe of all backends. Returns -1 with err if one of them cannot be used. */
int device_probe(struct device_draft *draft, bool *has_matrix, struct error *err);
/* Fills the program, version, host, stack and attributes of *d; strings are in the arena. Frees the draft. */
void device_finish(struct device_draft *draft, struct arena *a, struct device *d);

#endif
