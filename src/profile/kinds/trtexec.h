/* Information about TensorRT's layers, as JSON and as trtexec prints it, for the rows of a profile. Private
 * to the room. */
#ifndef PROFILE_KINDS_TRTEXEC_H
#define PROFILE_KINDS_TRTEXEC_H

#include "base/hash.h"
#include "base/json.h"
#include "profile/read/reader.h"

struct layer_information {
	struct arena *arena;
	struct execution *e;
	struct hash first;  /* name -> first row of that name that has no information yet */
	int *next;          /* per row: the next of the same name, or -1 */
	int objects, found; /* layers with more than a name; layers that are in the profile */
};

/* Begins with the rows of e, which stay until the end. */
void layer_information_begin(struct layer_information *i, struct arena *a, struct execution *e);
/* Adds a layer: an object (Name, LayerType, Inputs, Outputs, TacticName, Origin, Metadata) or a name. A layer
 * with a repeated name belongs to the next row of that name. */
void layer_information_add(struct layer_information *i, const json_t *layer);
/* Sets the types of e and says what is missing; frees the memory of i. Returns the number of layers found. */
int layer_information_end(struct layer_information *i);

#endif
