/* Writes nodes of a loaded model as an ONNX model of their own: to reproduce a measurement, or to run one
 * layer in another program. The file is valid and small: weights are made, not copied. */
#ifndef MODEL_WRITE_H
#define MODEL_WRITE_H

#include "model/graph.h"

/* A value of the graph as it is to be written; a plan knows more than the file declares. */
struct write_value {
	enum value_kind kind;
	enum dtype dtype;
	struct shape shape;	       /* unknown and symbolic dimensions are written as such */
	bool constant;		       /* a weight */
	const struct tensor *contents; /* of a constant whose elements are known (data is set), else NULL */
};

enum write_weights {
	WRITE_FILLED, /* weights of unknown contents are computed by ConstantOfShape: the file stays small */
	WRITE_RANDOM  /* they are initializers with random contents: positive floats below 1, any integers of
			 at  most 8 bits; wider integers are 0, because they may be indexes */
};

struct write_request {
	const struct model *model;
	const struct graph *graph; /* the main graph or a body */
	int node_count;
	const int *nodes;		  /* indexes of nodes of the graph, ascending */
	const struct write_value *values; /* one per value of the graph */
	enum write_weights weights;
	uint64_t seed; /* of WRITE_RANDOM: the same seed gives the same bytes */
};

/* Appends the model's bytes to out. Values that the nodes read and do not compute become inputs, if they are
 * constant initializers or ConstantOfShape nodes; values that the model reads elsewhere, or not at all,
 * become outputs, the others value_info. Nodes keep their attributes, bodies and the version of their
 * operator set; calls of functions were replaced by the functions' nodes when the model was loaded. Names are
 * kept, cleaned, and made unique. Returns -1, and leaves out unchanged, if the nodes use two versions of an
 * operator set, an attribute was not loaded (ATTRIBUTE_OTHER) or is sparse, or a type that must be written is
 * unknown or a map. */
int model_write(const struct write_request *request, struct str *out, struct error *err);

#endif
