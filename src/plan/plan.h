/* The plan: a model under bound dimensions and one data type, as ordered layers with shapes, costs, DAG edges and
 * distinct problems. Immutable once built; analysis and the explorer only read it. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "model/graph.h"
#include "ops/op.h"

/* A value as inferred. */
struct plan_value {
	struct text name;
	enum dtype dtype;      /* after the plan's dtype has replaced f32 */
	struct shape shape;
	bool constant, is_tensor;
	const struct elements *elements;
	int producer;          /* layer, or -1 */
	int consumer_count;    /* layers that read it (a layer reading it twice counts once); graph outputs not counted */
	int *consumers;
	bool is_input, is_output; /* of the model */
};

struct plan_layer {
	int index;             /* = node index in execution order */
	const struct node *node;
	const struct op *op;   /* NULL: unknown operator */
	struct text name;      /* node_label */
	enum op_class class;
	int input_count, output_count;
	int *inputs, *outputs; /* plan values, -1 omitted */
	double flops, bytes;   /* NaN unknown */
	int problem;           /* index into plan->problems, or -1 */
	bool proxy;            /* the problem stands in */
	const char *why;       /* class compute/memory/move and problem -1: the reason */
	int pred_count, succ_count;
	int *preds, *succs;    /* layers, ascending, no repeats; only edges that carry run-time data */
	struct plan *bodies;   /* subgraphs: array of body_count plans */
	int body_count;
};

/* A distinct problem. */
struct plan_problem {
	const char *text;
	struct problem problem;
	int first_layer, use_count;
	bool border;           /* a cast at a model input or output when the plan's dtype differs from the model's */
};

/* A cast at the model's border: inputs and outputs keep their ONNX type. */
struct plan_border {
	int value;             /* plan value */
	bool is_input;
	int problem;
};

struct plan {
	struct arena arena;
	const struct model *model;
	enum dtype dtype;      /* float type the layers run in; DTYPE_F32 leaves the model as it is */
	int binding_count;
	struct dim_binding *bindings; /* in force: sidecar, options, defaults */
	int unbound_count;
	struct text *unbound;  /* symbols the model has and nothing bound, in order of appearance */
	int value_count, layer_count, problem_count, border_count;
	struct plan_value *values;
	struct plan_layer *layers;
	struct plan_problem *problems;
	struct plan_border *borders;
	double flops, bytes;          /* sums over known layers */
	int unknown_flops_layers;     /* layers whose flops are not known */
	int unknown_shapes;           /* outputs with an unknown rank or dimension */
	double weight_bytes;          /* constants that run-time layers read, each once */
	double peak_live_bytes;       /* activations alive at once in execution order; NaN unknown */
	int warning_count;
	char **warnings;
};

struct plan_options {
	enum dtype dtype;             /* DTYPE_F32 default */
	int64_t batch;                /* 0: not given. Binds the first dimension of every model input that has more than
	                                 ... see plan_build */
	int binding_count;
	const struct dim_binding *bindings;    /* --dim, sidecar defaults already merged by the caller */
	int shape_count;
	const struct plan_input_shape *shapes; /* --input NAME=1x3x224x224 */
};

struct plan_input_shape {
	struct text name;
	int rank;
	int64_t dims[PROBLEM_RANK];
};

/* Infers shapes with data propagation, prices layers, builds edges and distinct problems.
 *
 * Batch: options.batch > 0 binds the symbol of the first dimension of the model's inputs; where that dimension is a
 * fixed number in the model, it is replaced (weights do not move), and where a Reshape bakes the old batch in, that
 * is an error that names the node. A symbol named like a batch that nothing bound defaults to 1; other symbols stay.
 * NULL with a one-line error for contradictions in the model and for bindings of names the model does not have. */
struct plan *plan_build(const struct model *m, const struct plan_options *options, struct error *err);
void plan_free(struct plan *p);

/* A layer's problem or NULL. */
const struct plan_problem *plan_layer_problem(const struct plan *p, const struct plan_layer *l);
/* What op_call the layer is: for fusion and reports. Filled from the plan; arena for scratch. */
void plan_layer_call(const struct plan *p, const struct plan_layer *l, struct arena *a, struct op_call *c);

#endif
