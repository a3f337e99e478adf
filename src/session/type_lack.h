/* A device that lacks the type of a model. */
#ifndef SESSION_TYPE_LACK_H
#define SESSION_TYPE_LACK_H

#include "session/session.h"

/* Layers without an implementation on the device, of those that have a problem, whose type is a float other
 * than f32. */
struct type_lack {
	enum dtype type; /* of the first */
	int count, of;   /* 0: no such layer */
	int *layers;     /* ascending */
};

/* Of the current analysis; nothing without one. */
struct type_lack type_lack_of(const struct session *s, struct arena *a);
/* "this device has no f16 for 10 of 10 layers, where frameworks insert casts and compute in f32" */
const char *type_lack_text(const struct type_lack *l, struct arena *a);

#endif
