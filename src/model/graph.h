/* A model as loaded from an ONNX file: graphs of nodes and values, names resolved to value indexes, weights
 * left in the file. Immutable after loading; everything is in model->arena. Names are length and bytes, and
 * may be hostile. */
#ifndef MODEL_GRAPH_H
#define MODEL_GRAPH_H

#include "base/arena.h"
#include "base/error.h"
#include "model/triangle.h"
#include "problem/dim.h"
#include "problem/dtype.h"

struct model;
struct graph;

/* A constant tensor. Payloads of up to TENSOR_PAYLOAD_KEPT bytes are in memory (shape arithmetic needs them),
 * also those of other files; larger ones are not: data is NULL. */
#define TENSOR_PAYLOAD_KEPT 4096
struct tensor {
	struct text name;
	enum dtype dtype;
	int rank;
	int64_t *dims;      /* `rank` dimensions, checked to be >= 0; their product fits int64 */
	int64_t elements;   /* product of dims */
	const void *data;   /* little-endian elements in ONNX raw order (typed fields converted), or NULL */
	size_t data_bytes;
	bool external;      /* stored in another file */
	enum triangle triangle; /* of the elements, whether data is kept or not; TRIANGLE_NONE: or not read */
	const char *unread; /* why a small payload in another file was not read, and what to do; else NULL */
};

enum attribute_kind {
	ATTRIBUTE_NONE, ATTRIBUTE_INT, ATTRIBUTE_FLOAT, ATTRIBUTE_STRING, ATTRIBUTE_TENSOR, ATTRIBUTE_GRAPH,
	ATTRIBUTE_INTS, ATTRIBUTE_FLOATS, ATTRIBUTE_STRINGS, ATTRIBUTE_TYPE, ATTRIBUTE_OTHER
};

/* ATTRIBUTE_OTHER: present but not read, because it is too long or of a kind that no operator in the table
 * has. */
struct attribute {
	struct text name;
	enum attribute_kind kind;
	int64_t i;
	float f;
	struct text s;
	struct tensor *tensor;
	struct graph *graph;
	const struct value *type; /* only dtype, shape and kind of this value are set */
	size_t count;          /* of ints, floats or strings */
	int64_t *ints;
	float *floats;
	struct text *strings;
};

/* A node. Calls of the model's local functions are inlined; names in them begin with the call's label:
 * "block_3/attention/MatMul_2". */
struct node {
	struct text name, op, domain; /* name may be empty; domain "" is ai.onnx (never the alias) */
	int64_t opset;                /* version of its domain, from the model or from the function that the
				         node is written in */
	int input_count, output_count;
	int *inputs, *outputs;        /* value indexes in the node's graph; -1 = omitted optional */
	int attribute_count;
	struct attribute *attributes;
};

/* The kind of a value. Its dtype and shape are those of the tensor; of a sequence or optional, what its
 * tensors have in common; of a map, dtype is the type of its values. */
enum value_kind {
	VALUE_TENSOR,            /* dense or sparse */
	VALUE_SEQUENCE,          /* of tensors */
	VALUE_OPTIONAL,          /* tensor or nothing */
	VALUE_OPTIONAL_SEQUENCE, /* sequence of tensors or nothing */
	VALUE_MAP,
	VALUE_MAPS,              /* sequence of maps */
	VALUE_OPAQUE             /* anything else */
};

/* A named value of a graph. A value of a body may be captured from an outer graph. */
struct value {
	struct text name;
	int producer;            /* node index, or -1 */
	bool is_input, is_output;/* of the graph */
	bool zeros;              /* an input that declares a dimension of 0, which may mean unknown: the plan
				    warns unless its user gives a shape */
	struct tensor *initializer; /* or NULL */
	enum dtype dtype;        /* declared by input, output, value_info or initializer; DTYPE_UNKNOWN if
				    not */
	struct shape shape;      /* declared; SHAPE_UNKNOWN if not */
	enum value_kind kind;    /* declared; else VALUE_TENSOR */
	int outer;               /* index in the parent graph of a captured value, or -1 */
};

struct graph {
	struct text name;
	struct graph *parent;    /* NULL for the main graph */
	int node_count, value_count, input_count, output_count;
	struct node *nodes;      /* topologically sorted; if the file's order was wrong, there is a warning */
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
	int external_count;
	struct text *externals;  /* files of external data as the model names them, each once */
	int warning_count;
	char **warnings;         /* one line each, cleaned */
};

/* Loads path ("-": standard input, read as a stream). Reads the structure only: payloads over
 * TENSOR_PAYLOAD_KEPT bytes are skipped. Of external files only smaller ones are read, at most 64 MiB in all,
 * from regular files below the model's folder. NULL with a one-line error that names the file and the fix.
 * Free with model_free. */
struct model *model_load(const char *path, struct error *err);
/* The same, but calls of functions with the name of a known operator stay nodes. known returns the place
 * where the user describes it, "" if it is built in, NULL if it is neither; `with` is passed on. NULL: none
 * is known. */
typedef const char *model_operators(const void *with, struct text domain, struct text name, int64_t opset);
struct model *model_load_over(const char *path, model_operators *known, const void *with, struct error *err);
/* The path of externals[i], from the model's own folder; in the arena. */
const char *model_external_path(const struct model *m, int i, struct arena *a);
void model_free(struct model *m);

/* The opset version that the model imports for a domain, or the assumed one if a node uses the domain without
 * an import; 0 otherwise. */
int64_t model_opset(const struct model *m, struct text domain);
const struct attribute *node_attribute(const struct node *n, const char *name); /* the attribute, or NULL */
/* The tensor of an initializer or of a Constant node, or NULL; its data may be NULL. */
const struct tensor *graph_tensor(const struct graph *g, const struct value *v);
int64_t node_int(const struct node *n, const char *name, int64_t otherwise);
float node_float(const struct node *n, const char *name, float otherwise);
struct text node_string(const struct node *n, const char *name, const char *otherwise);
/* A node's display name: its own, or "<op>_<index>" like ONNX Runtime if it has none. */
struct text node_label(struct arena *a, const struct node *n, int index);

#endif
