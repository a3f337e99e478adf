/* A model as loaded: the ONNX file in memory terms, names resolved to values, weights left on disk. Immutable
 * after load. Everything lives in model->arena. Names are length + bytes and hostile. */
#ifndef MODEL_GRAPH_H
#define MODEL_GRAPH_H

#include "base/arena.h"
#include "base/error.h"
#include "problem/dim.h"
#include "problem/dtype.h"

struct model;
struct graph;

/* A constant tensor. Payloads of up to TENSOR_PAYLOAD_KEPT bytes are in memory (shape arithmetic needs them);
 * larger ones and external ones are not: data is NULL. */
#define TENSOR_PAYLOAD_KEPT 4096
struct tensor {
	struct text name;
	enum dtype dtype;
	int rank;
	int64_t *dims;      /* rank of them, validated >= 0; their product fits int64 */
	int64_t elements;   /* the product */
	const void *data;   /* little-endian elements in ONNX raw order (typed fields converted), or NULL */
	size_t data_bytes;
	bool external;      /* stored in another file, which is never opened */
};

enum attribute_kind {
	ATTRIBUTE_NONE, ATTRIBUTE_INT, ATTRIBUTE_FLOAT, ATTRIBUTE_STRING, ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH,
	ATTRIBUTE_INTS, ATTRIBUTE_FLOATS, ATTRIBUTE_STRINGS, ATTRIBUTE_TYPE, ATTRIBUTE_OTHER
};

/* ATTRIBUTE_OTHER: there, but not read: too long to be kept, or of a kind that no operator here has. */
struct attribute {
	struct text name;
	enum attribute_kind kind;
	int64_t i;
	float f;
	struct text s;
	struct tensor *tensor;
	struct graph *graph;
	const struct value *type; /* of a value: its dtype, shape and kind alone */
	size_t count;          /* of ints, floats or strings */
	int64_t *ints;
	float *floats;
	struct text *strings;
};

/* A call of a function that the model defines itself is replaced by the function's nodes, their names and those of what
 * they make behind the call's label: "block_3/attention/MatMul_2". */
struct node {
	struct text name, op, domain; /* name may be empty; domain "" is ai.onnx (never the alias) */
	int64_t opset;                /* of its domain where the node was written: in the model or in a function of it */
	int input_count, output_count;
	int *inputs, *outputs;        /* value indexes in the node's graph; -1 = omitted optional */
	int attribute_count;
	struct attribute *attributes;
};

/* What a value holds. Its dtype and shape are those of the tensor, or of the tensors that a sequence or an optional
 * holds as far as all agree; of a map, dtype is that of what it maps to. An optional sequence: of its tensors. */
enum value_kind {
	VALUE_TENSOR,            /* a sparse one too */
	VALUE_SEQUENCE,          /* of tensors */
	VALUE_OPTIONAL,          /* tensor or nothing */
	VALUE_OPTIONAL_SEQUENCE, /* sequence of tensors or nothing */
	VALUE_MAP,
	VALUE_MAPS,              /* sequence of maps */
	VALUE_OPAQUE             /* anything else */
};

/* A named value of a graph. A body's values may refer to an outer graph's value. */
struct value {
	struct text name;
	int producer;            /* node index, or -1 */
	bool is_input, is_output;/* of the graph */
	struct tensor *initializer; /* or NULL */
	enum dtype dtype;        /* declared by input, output, value_info or initializer; DTYPE_UNKNOWN if not */
	struct shape shape;      /* declared; SHAPE_UNKNOWN if not */
	enum value_kind kind;    /* declared; else VALUE_TENSOR */
	int outer;               /* index in the parent graph of a captured value, or -1 */
};

struct graph {
	struct text name;
	struct graph *parent;    /* NULL for the main graph */
	int node_count, value_count, input_count, output_count;
	struct node *nodes;      /* topologically sorted (sorted on load where the file was not, with a warning) */
	struct value *values;
	int *inputs;             /* value indexes; initializers that are also listed as inputs are left out */
	int *outputs;
};

struct opset {
	struct text domain;      /* "" is ai.onnx */
	int64_t version;
};

struct model {
	struct arena arena;
	const char *path;        /* as given; "-" for stdin */
	struct text producer, producer_version, doc;
	int64_t ir_version;
	int opset_count;
	struct opset *opsets;
	int64_t file_bytes;
	struct graph *graph;     /* graph->name is the model's name */
	int warning_count;
	char **warnings;         /* cleaned lines */
};

/* Loads path ("-": standard input, read as a stream). Reads structure only: payloads over TENSOR_PAYLOAD_KEPT are
 * skipped in the file, external files are never opened. NULL with a one-line error that names the file and the fix. */
struct model *model_load(const char *path, struct error *err);
void model_free(struct model *m);

/* The opset version imported for a domain, or assumed if the model uses it without an import; 0: neither. */
int64_t model_opset(const struct model *m, struct text domain);
const struct attribute *node_attribute(const struct node *n, const char *name); /* or NULL */
int64_t node_int(const struct node *n, const char *name, int64_t otherwise);
float node_float(const struct node *n, const char *name, float otherwise);
struct text node_string(const struct node *n, const char *name, const char *otherwise);
/* A node's display name: its own, or "<op>_<index>" as ONNX Runtime calls nameless nodes. */
struct text node_label(struct arena *a, const struct node *n, int index);

#endif
