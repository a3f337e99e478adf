/* A device that lacks the type of a model. */
#ifndef SESSION_TYPE_LACK_H
#define SESSION_TYPE_LACK_H

#include "analyze/analyze.h"

/* Layers in f16 or bf16 without an implementation on the device, of those that have a problem. Of f64 this
 * says nothing: frameworks compute in it where the runner's library does not. */
struct type_lack {
	enum dtype type; /* of the first */
	int count, of;   /* 0: no such layer */
	int *layers;     /* ascending */
};

/* Of an analysis of the plan; nothing if it is NULL. */
struct type_lack type_lack_of(const struct plan *p, const struct analysis *x, struct arena *a);
/* "this device has no f16 for 10 of 10 layers, where frameworks insert casts and compute in f32" */
const char *type_lack_text(const struct type_lack *l, struct arena *a);

#endif
