/* The plan: a model under bound dimensions and one data type, as ordered layers with shapes, costs, DAG edges and
 * distinct problems. Immutable once built; analysis and the explorer only read it. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "model/graph.h"
#include "model/write.h"
#include "ops/op.h"

#include <string.h>

/* A value as inferred. */
struct plan_value {
	struct text name;
	enum dtype dtype;      /* after the plan's dtype has replaced f32 */
	struct shape shape;
	bool constant, given;  /* as in struct op_value */
	enum value_kind kind;
	struct dim length;     /* as in struct op_value */
	const struct op_value *items;
	const struct elements *elements;
	int producer;          /* layer, or -1 */
	int outer;             /* of a body: value of the graph around it that this is, or -1 */
	int consumer_count;    /* layers that read it (a layer reading it twice counts once; one with a subgraph that
	                          captures it does too); graph outputs and layers folded before run time not counted */
	int *consumers;
	bool is_input, is_output; /* of the model */
	bool is_read;          /* a constant that is there at run time, since a layer with a kernel reads it */
	bool nxc;              /* lies channels last in the layout what-if */
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
	int problem_nxc;       /* the same in the layout what-if: its channels-last twin, or `problem` where the layout
	                          makes no difference; meaningless without plan->nxc */
	bool proxy;            /* the problem is a stand-in of similar work */
	bool upto;             /* flops, bytes and the problem use upper bounds of unknown dimensions */
	const char *why;       /* problem -1: the reason; class free: why its outputs are unknown; absorbed: by which layer */
	int absorbed_by;       /* quantized model: the layer whose kernel does this one's work (it is then free), or -1 */
	bool quantized;        /* its kernel also does the work of neighbouring layers; its problem has their types */
	int pred_count, succ_count;
	int *preds, *succs;    /* layers, ascending, no repeats; only edges that carry run-time data */
	/* Subgraphs in the order of the node's attributes, or the iterations of a loop if their shapes differ. If the
	   operator runs them, the layer's class is CLASS_HOST (CLASS_FREE if all layers in them are free or the result is
	   known beforehand) and its cost is the sum of their costs times how often each runs. */
	struct plan *bodies;
	int body_count;
	int capture_count, *captures; /* values of this graph that its bodies read */
	bool at_least;         /* the branch is unknown: the costs are those of the cheaper one */
};

/* A distinct problem. */
struct plan_problem {
	const char *text;
	struct problem problem;
	int first_layer, use_count;
	bool border;           /* a cast at a model input or output when the plan's dtype differs from the model's */
};

/* A cast at a model input or output: these keep their ONNX type. */
struct plan_border {
	int value;             /* plan value */
	bool is_input;
	int problem;
};

/* In the layout what-if: a value that at least one layer reads in the layout that it is not stored in. One conversion a
 * value, however many layers read it; weights are repacked before run time. */
struct plan_conversion {
	int value;             /* with more than one channel and more than one spatial position: else the layouts are equal */
	bool to_nxc;
	int problem;           /* a transpose, index into plan->problems; -1: out of the grammar's range */
	int consumer_count;
	int *consumers;        /* layers that read it converted, ascending; none: only the model's output does */
};

/* What set the value of a dimension: a binding of its name, plan_options.batch, an input's shape (--input), or nothing: a
 * batch is then 1. */
enum plan_dim_source { PLAN_DIM_BINDING, PLAN_DIM_BATCH, PLAN_DIM_SHAPE, PLAN_DIM_ASSUMED };

/* The plan of a model, or of a body. A body has its own fields before `bindings`, its own totals, values, layers and
 * edges; its problems are those of the whole plan. */
struct plan {
	struct arena arena;
	const struct model *model;
	const struct graph *graph;
	struct text role;      /* of a body: the attribute's name */
	double times;          /* of a body: how often it runs when its layer does; NaN unknown, 0 never */
	enum dtype dtype;      /* float type the layers run in; DTYPE_F32 leaves the model as it is */
	int binding_count;
	struct dim_binding *bindings; /* in force: sidecar, options, defaults; "batch" where the model has a number there */
	enum plan_dim_source *binding_sources; /* binding_count */
	int64_t batch;         /* in force; 0: the model has no batch dimension, or it is not bound */
	int unbound_count;
	struct text *unbound;  /* symbols the model has and nothing bound, in order of appearance */
	int value_count, layer_count, problem_count, border_count;
	struct plan_value *values;
	struct plan_layer *layers;
	struct plan_problem *problems;
	struct plan_border *borders;
	/* The layout what-if, channels last throughout: filled by plan_layout. */
	bool nxc;                     /* at least one layer has a channels-last twin */
	int nxc_problem_count;        /* twins and conversions, in problems[] behind the problem_count others */
	int conversion_count;
	struct plan_conversion *conversions; /* ascending by producer, those of model inputs first */
	double flops, bytes;          /* sums over known layers */
	bool upto, at_least;          /* a layer's share is an upper bound; is that of the cheaper of two branches */
	int unknown_flops_layers;     /* layers whose flops are not known */
	int unknown_bytes_layers;     /* layers whose bytes are not known */
	int unknown_shapes;           /* outputs with an unknown rank or dimension */
	double weight_bytes;          /* constants that run-time layers read, each once */
	double peak_live_bytes;       /* activations alive at once in execution order; NaN unknown */
	int warning_count;
	char **warnings;
};

struct plan_options {
	enum dtype dtype;             /* DTYPE_F32 default */
	int64_t batch;                /* 0: not given; see plan_build. Wins over a binding of the batch's symbol */
	int binding_count;
	const struct dim_binding *bindings;    /* --dim, sidecar defaults already merged by the caller */
	int shape_count;
	const struct plan_input_shape *shapes; /* --input NAME=1x3x224x224; wins over bindings and batch */
	int value_count;
	const struct plan_input_value *values; /* --value NAME=16000: decide shapes and branches; costs do not depend on them otherwise */
};

struct plan_input_shape {
	struct text name;
	int rank;
	int64_t dims[PROBLEM_RANK];
};

/* Contents of an input: a number for each of its elements, or one for all. The last entry of a name wins. */
struct plan_input_value {
	struct text name;
	int count;
	const double *numbers;
};

/* Infers shapes with data propagation, prices layers, builds edges and distinct problems.
 *
 * Batch: a symbol is a batch when it is the first dimension of an input and is named like one: it ends in "batch" or
 * "batch_size" ("_dim", "_axis", a number behind), or is x_dynamic_axes_1, or, of the first input of two dimensions or
 * more, N, B or bs, or, of any such input, what exporters write for nameless dimensions (unk__5, s6,
 * DynamicDimension.0). options.batch > 0 binds all of these; where there is none, the symbol of the first
 * input's first dimension; where that is nameless or a fixed number in the model, it is replaced there and in every other input that begins with the same number (weights
 * do not move), and where a Reshape bakes the old batch in, that is an error that names the node. A binding called
 * "batch" means the same unless the model has such a symbol. Batches and nameless first dimensions that nothing bound
 * default to 1; other symbols stay. A symbol whose name reads as an expression of others ("past + sequence", "(height - 1)//2 + 1",
 * "Max(1, n)") follows them unless it is bound itself.
 * NULL with a one-line error for contradictions in the model and for bindings of names the model does not have. */
struct plan *plan_build(const struct model *m, const struct plan_options *options, struct error *err);
void plan_free(struct plan *p);

/* Derives the channels-last side of a plan whose values have consumers and layers have problems; plan_build does it.
 * Convolution, pooling, batch norm and their like lie channels last, and what is element by element or along an axis
 * after them; everything else needs ONNX order, and so do the model's inputs and outputs. */
void plan_layout(struct plan *p);
/* The same problem on channels-last values; false: layout makes no difference. */
bool plan_twin(const struct problem *p, struct problem *twin);
/* Number of problems of both layouts. */
static inline int plan_problem_total(const struct plan *p)
{
	return p->problem_count + p->nxc_problem_count;
}
/* Index of a layer's problem in one layout or the other, or -1. */
static inline int plan_layer_problem_index(const struct plan *p, const struct plan_layer *l, bool nxc)
{
	return nxc && p->nxc ? l->problem_nxc : l->problem;
}

/* The options that would tell what is not known of the model, e.g. "--dim sequence=VALUE", "--input x=1xNx8",
 * "--value repeats=VALUE,...": unbound dimensions, inputs of unknown shape, inputs whose contents decide shapes, branches
 * or rounds. Count; texts and list in arena a, clean, quoted for a shell. */
int plan_needs(const struct plan *p, struct arena *a, char ***options);
/* The same as one line to paste, or NULL: nothing is missing. */
char *plan_needs_line(const struct plan *p, struct arena *a);

/* True if the layer is a known ai.onnx operator; if it is ai.onnx `name`. */
static inline bool plan_layer_is_onnx(const struct plan_layer *l)
{
	return l->op && !l->op->domain[0];
}
static inline bool plan_layer_is(const struct plan_layer *l, const char *name)
{
	return plan_layer_is_onnx(l) && strcmp(l->op->name, name) == 0;
}

/* A layer's problem or NULL. */
const struct plan_problem *plan_layer_problem(const struct plan *p, const struct plan_layer *l);
/* Text of a tensor's shape; of other values also the element type and the count: "seq(f32 ?x3)[4]". */
char *plan_value_text(struct arena *a, const struct plan_value *v);
void plan_value_add_text(struct str *out, const struct plan_value *v);
/* "sequence", "optional", "optional_sequence", "map", "maps" (a sequence of them), "opaque"; "tensor". */
const char *plan_kind_name(enum value_kind kind);
/* A value as rules see it; index -1: an omitted one. */
struct op_value plan_op_value(const struct plan *p, int index);
/* True if the layer's cost is that of its bodies. */
static inline bool plan_layer_is_control(const struct plan_layer *l)
{
	return l->body_count > 0 && l->class == CLASS_HOST;
}
/* Fills the layer's op_call from the plan, for fusion and reports; arrays in arena a. */
void plan_layer_call(const struct plan *p, const struct plan_layer *l, struct arena *a, struct op_call *c);

/* Appends layers (ascending indexes) as an ONNX model of their own with the plan's shapes and types to out; see
 * model_write. The plan must have the model's own types (DTYPE_F32). Constants that the plan knows have their
 * contents, others are filled (WRITE_FILLED) or random. */
int plan_write(const struct plan *p, const int *layers, int count, enum write_weights weights, uint64_t seed,
	struct str *out, struct error *err);

#endif
