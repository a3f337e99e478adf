/* What every runner program says of itself and of the libraries it measures through. */
#ifndef RUNNER_DEVICE_H
#define RUNNER_DEVICE_H

#include "base/json.h"
#include "problem/result.h"

/* A description on its way: what grows while it is put together. */
struct device_draft {
	struct str stack;    /* parts, ", " between them */
	json_t *attributes;
};

void device_part(struct device_draft *draft, const char *part); /* "" adds nothing */
/* Asks all backends of the platform. -1: one of them cannot be used. */
int device_probe(struct device_draft *draft, bool *has_matrix, struct error *err);
/* Program, version, host, stack and attributes into the device; the draft is given back. Strings live in the arena. */
void device_finish(struct device_draft *draft, struct arena *a, struct device *d);

#endif
