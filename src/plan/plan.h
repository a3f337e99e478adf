/* The plan of a model for given dimensions and one data type: layers in execution order with shapes, costs,
 * DAG edges and distinct problems. Immutable after plan_build. */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "model/graph.h"
#include "model/write.h"
#include "ops/op_own.h"
#include "problem/kernel.h"

#include <string.h>

/* How much a sequence or optional holds, as in struct op_value. */
struct plan_held {
	struct dim length;
	const struct op_value *items;
};

/* A value with its inferred type and shape. There may be millions of values and layers: their fields have an
 * order that leaves no gaps. */
struct plan_value {
	struct text name;
	struct shape shape;
	const struct plan_held *held; /* never NULL: of a tensor an unknown length */
	const struct elements *elements;
	int *consumers;        /* layers that read it, each once, those whose subgraphs capture it included;
				  without graph outputs and layers folded before run time */
	int consumer_count;
	enum dtype dtype;      /* after the plan's dtype has replaced the model's own */
	enum value_kind kind;
	int producer;          /* layer, or -1 */
	int outer;             /* of a body: the captured value of the enclosing graph, or -1 */
	int dies_in;           /* the last layer that reads its memory, which the layer may overwrite; -1: it
				  may not (a model input or output, a constant, a value of an enclosing graph,
				  part of another value) */
	bool constant, given;  /* as in struct op_value */
	bool is_input, is_output; /* of the model */
	bool is_read;          /* a constant that is needed at run time: a layer with a kernel reads it */
	bool few;              /* it has the plan's few bits (plan_is_few), which are not its own */
	bool nxc;              /* layout what-if: stored channels last */
};

/* Why a layer takes no time. */
enum plan_fold {
	FOLD_NONE,
	/* In every scenario (class free): */
	FOLD_CONSTANT,         /* all inputs are constant: computed before run time */
	FOLD_KNOWN,            /* the result follows from shapes */
	FOLD_EMPTY,            /* the result has no elements */
	FOLD_PASSES,           /* the result has the bytes of an input: Reshape, Identity */
	/* With the what-if fold: graph optimizers remove it. Only layers of the model's own graph. */
	FOLD_UNCHANGED,        /* returns an input: adds 0, multiplies by 1 */
	FOLD_UNDOES,           /* undoes the layer before it: two Transposes, a Cast to a wider type and
				  back */
	FOLD_SAME,             /* computes what an earlier layer computes */
	FOLD_UNREAD            /* neither a layer that runs nor a user reads its result */
};

struct plan_layer {
	const struct node *node;
	const struct op *op;   /* NULL: unknown operator */
	struct text name;      /* node_label */
	int *inputs, *outputs; /* plan values, -1 omitted */
	double flops, bytes;   /* NaN unknown */
	const char *why;       /* problem -1: the reason; class free: why its outputs are unknown; absorbed:
				  the absorbing layer */
	int *preds, *succs;    /* layers, ascending, no repeats; only edges that carry run-time data */
	/* Subgraphs in the order of the node's attributes, or the iterations of a loop if their shapes
	 * differ. If the operator runs them, the layer's class is CLASS_HOST (CLASS_FREE if all their layers
	 * are free or the result is known before run time), and its cost is the sum over the subgraphs of
	 * cost times number of runs. */
	struct plan *bodies;
	int *captures;         /* values of this graph that its bodies read */
	int index;             /* = node index in execution order */
	enum op_class class;
	int input_count, output_count, pred_count, succ_count, body_count, capture_count;
	int problem;           /* index into plan->problems, or -1 */
	int problem_nxc;       /* layout what-if: the channels-last twin of the problem, or `problem` if the
				  layout makes no difference; undefined without plan->nxc */
	int absorbed_by;       /* quantized model: the layer whose kernel does this layer's work (this one is
				  then free), or -1 */
	enum plan_fold fold;
	int fold_of;           /* FOLD_UNDOES: the layer that it undoes; FOLD_SAME: the earlier layer;
				  else -1 */
	int fold_value;        /* FOLD_UNCHANGED, FOLD_UNDOES: the value that its readers read instead;
				  else -1 */
	bool proxy;            /* the problem is a stand-in of similar work */
	bool upto;             /* flops, bytes and the problem use upper bounds of unknown dimensions */
	bool quantized;        /* its kernel also does the work of neighbouring layers; its problem has their
				  types */
	bool at_least;         /* it is unknown which branch runs: the costs are those of the cheaper one */
};

/* A distinct problem. */
struct plan_problem {
	const char *text;
	const struct problem_kept *problem;
	int first_layer, use_count;
	bool border;           /* a cast at a model input or output when the plan's dtype differs from the
				  model's */
};

/* A cast at a model input or output, which keep their ONNX types: not those without elements, and not a state
 * that the model is given and returns (a cache of keys and values), which its caller keeps as it is. */
struct plan_border {
	int value;             /* plan value */
	bool is_input;
	int problem;
};

/* Layout what-if: the conversion of a value that some layers read in the layout in which it is not stored.
 * One per value, shared by its readers; weights need none, they are repacked before run time. */
struct plan_conversion {
	int value;             /* it has several channels and several spatial positions; else both layouts are
				  equal */
	bool to_nxc;
	int problem;           /* a transpose, index into plan->problems; -1: too large for a problem */
	int consumer_count;
	int *consumers;        /* layers that read the converted value, ascending; none: it is only a model
				  output */
};

/* Source of a dimension's value: a binding of its name, plan_options.batch, an input's shape (--input), the
 * file, which has a number there, or the default for a batch, 1. */
enum plan_dim_source { PLAN_DIM_BINDING, PLAN_DIM_BATCH, PLAN_DIM_SHAPE, PLAN_DIM_FIXED, PLAN_DIM_ASSUMED };

/* The plan of a model or of a body (a subgraph). A body has its own totals, values, layers, edges and fields
 * before `binding_count`; its layers refer to the problems of the whole plan. */
struct plan {
	struct arena arena;
	const struct model *model;
	const struct graph *graph;
	struct text role;      /* of a body: the attribute's name */
	double times;          /* of a body: its runs per run of its layer; NaN unknown, 0 never */
	enum dtype dtype;      /* float type in which the layers of class compute run; of several the most
				  frequent; f32 without such layers */
	enum dtype rest;       /* of the other layers where dtype has few bits (plan_is_few); else dtype */
	enum dtype own;        /* the same in the file's own types */
	bool own_types;        /* the values have the types of the file */
	bool mixed;            /* in the types of the file, layers of class compute run in several float
				  types */
	int binding_count;
	struct dim_binding *bindings; /* in use, from sidecar, options and defaults; "batch" if the model has
					 a fixed number there */
	enum plan_dim_source *binding_sources; /* binding_count */
	int64_t batch;         /* in use; 0: the model has no batch dimension, or it is not bound */
	int64_t shape_batch;   /* the batch that an input's shape (--input) sets; 0: none does */
	int unbound_count;
	struct text *unbound;  /* symbols of the model without a value, in order of appearance */
	int value_count, layer_count, problem_count, border_count;
	struct plan_value *values;
	struct plan_layer *layers;
	struct plan_problem *problems;
	struct plan_border *borders;
	/* The layout what-if, channels last throughout; filled by plan_layout. */
	bool nxc;                     /* at least one layer has a channels-last twin */
	int nxc_problem_count;        /* twins and conversions; in problems[] after the first problem_count */
	int padded_problem_count;     /* of the what-if pad; in problems[] after those of the layout */
	int *padded;                  /* per problem of the first problem_count: the padded one, or -1; NULL:
					 none has one. Filled by plan_pad */
	int conversion_count;
	struct plan_conversion *conversions; /* ascending by producer, those of model inputs first */
	double flops, bytes;          /* sums over the layers with known costs */
	bool upto, at_least;          /* the sums contain upper bounds; contain the cheaper of two branches */
	int unknown_flops_layers;     /* layers whose flops are not known */
	int unknown_bytes_layers;     /* layers whose bytes are not known */
	int unknown_shapes;           /* outputs with an unknown rank or dimension */
	double weight_bytes;          /* constants needed at run time, each once */
	double peak_live_bytes;       /* largest sum of activations that are alive at the same time, in
					 execution order; NaN unknown */
	double reuse_bytes;           /* reuse distance of the constants: what passes between two uses of one,
					 i.e. constants that are read (of a table the selected rows) and the
					 peak of live activations; NaN unknown */
	int fold_count;               /* layers that the what-if fold removes (plan_layer_folds) */
	int *folded_deaths;           /* per value: its dies_in if these layers share the memory of what is
					 read instead; NULL: no layer folds. Filled by plan_find_folds */
	const char *idle_value; /* name of an input whose given value (--value) changes nothing, or NULL */
	int warning_count;
	char **warnings;
	const struct op_own_table *operators; /* of the options */
};

struct plan_options {
	enum dtype dtype;             /* unknown: the types of the file; else replaces f32, f16, bf16 and the
					 model's own, unless it is that. One of at most 8 bits: see rest */
	enum dtype rest;              /* where dtype has at most 8 bits: products with constant weights run in
					 dtype, all other layers in this type if it has fewer bits than
					 the model's own, else in that */
	int64_t batch;                /* 0: not given; see plan_build. Overrides a binding of the batch's
					 symbol */
	int binding_count;
	const struct dim_binding *bindings;    /* --dim and sidecar, merged by the caller */
	bool *named;                  /* per binding, set to true if the error names its value; may be NULL */
	int shape_count;
	const struct plan_input_shape *shapes; /* --input NAME=1x3x224x224; overrides bindings and batch */
	int value_count;
	const struct plan_input_value *values; /* --value NAME=16000: contents that decide shapes and
						  branches; nothing else depends on them */
	bool trial;                   /* values are not checked for use */
	const struct op_own_table *operators;  /* of the user, asked first; NULL: none. Outlives the plan */
};

struct plan_input_shape {
	struct text name;
	int rank;
	int64_t dims[PROBLEM_RANK];
};

/* Contents of an input: one number per element, or one for all. If a name occurs twice, the last entry
 * counts. */
struct plan_input_value {
	struct text name;
	int count;
	const double *numbers;
};

/* Infers shapes with data propagation, computes the layers' costs, edges and distinct problems.
 *
 * Batch symbols: the first dimension of an input, if it has one of these names: ending in "batch" or
 * "batch_size" (optionally followed by "_dim", "_axis" or a number); x_dynamic_axes_1; N, B or bs in the
 * first input of rank 2 or more; in any such input, names that exporters generate for nameless dimensions
 * (unk__5, s6, DynamicDimension.0).
 *
 * options.batch > 0 binds all batch symbols. A model without batch symbols: it binds the symbol of the first
 * input's first dimension. If that has no name or is a fixed number, it is replaced there and in every other
 * input with the same first number; weights are unchanged. A Reshape to a constant shape with the old batch
 * is then an error that names the node. A binding named "batch" means the same, unless the model has a symbol
 * "batch".
 *
 * Batch symbols and nameless first dimensions without a value are 1; other symbols stay. A symbol whose name
 * is an expression of others ("past + sequence", "(height - 1)//2 + 1", "Max(1, n)") is computed from them
 * unless it is bound itself.
 *
 * Returns NULL with a one-line error for contradictions in the model and for bindings of names that the model
 * does not have. The caller frees the plan with plan_free; the model must outlive it. */
struct plan *plan_build(const struct model *m, const struct plan_options *options, struct error *err);
void plan_free(struct plan *p);

/* Fills the layout what-if of a plan that is complete otherwise; called by plan_build. Convolutions,
 * poolings, batch norms and similar layers are channels last, and so are elementwise layers and layers along
 * an axis that follow them. All others need ONNX order, and so do the model's inputs and outputs. */
void plan_layout(struct plan *p);
/* The problem with channels-last operands. False: the layout makes no difference. */
bool plan_twin(const struct problem *p, struct problem *twin);
/* Which layouts a layer can work in. */
enum kernel_layout plan_layer_layout(const struct plan *p, const struct plan_layer *l);
/* True if a layer that reads the value reads its data; Shape(x) and Size(x) do not. */
bool plan_reads_data(const struct plan_layer *l, const struct plan_value *v);
/* True if it is computed at run time and has several channels and several spatial positions; else all layouts
 * are the same bytes. */
bool plan_value_has_layout(const struct plan_value *v);

/* Layouts of images: ONNX order, channels last, ONNX order in blocks of 8 or 16 channels (nChw8c). */
enum image_layout { IMAGE_NCX, IMAGE_NXC, IMAGE_BLOCK8, IMAGE_BLOCK16, IMAGE_LAYOUTS };
/* The conversion of a value that has a layout, as a transpose of the bytes in memory, with space as one
 * dimension, so that equal work has one text. A last block counts as full. False: too large for a problem. */
bool plan_reorder(const struct plan_value *v, enum image_layout from, enum image_layout to,
	struct problem *t);

/* Fills the what-if pad of a plan that is complete otherwise; called by plan_build. */
void plan_pad(struct plan *p);
/* The problem with the channels of a convolution (not grouped), or the columns and the inner dimension of a
 * matmul, rounded up to a multiple of 8. False: nothing changes, or strides forbid it. */
bool plan_padded(const struct problem *p, struct problem *padded);

/* Fills the what-if fold of a plan that is complete otherwise; called by plan_build. */
void plan_find_folds(struct plan *p);
/* True if the what-if fold removes the layer. */
static inline bool plan_layer_folds(const struct plan_layer *l)
{
	return l->fold >= FOLD_UNCHANGED;
}
/* Why the layer takes no time, "folded: constant inputs", or with the what-if would take none: "undoes
 * Transpose_3". In arena a; NULL: it runs. */
const char *plan_fold_text(const struct plan *p, const struct plan_layer *l, struct arena *a);
/* Of a layer that the what-if fold removes: the layer whose result is read instead, or -1 (a model input, a
 * constant; nothing reads it). */
int plan_fold_target(const struct plan *p, const struct plan_layer *l);

/* Number of problems of all variants. */
static inline int plan_problem_total(const struct plan *p)
{
	return p->problem_count + p->nxc_problem_count + p->padded_problem_count;
}
/* Variants of problems, as bits: those of the what-if layout, and padded ones. */
enum { PROBLEMS_NXC = 1, PROBLEMS_PADDED = 2 };
/* True if the variants have the problem number `index`. */
static inline bool plan_problem_is_in(const struct plan *p, int index, unsigned variants)
{
	int nxc = p->problem_count, padded = nxc + p->nxc_problem_count;
	return index < nxc || (index < padded ? variants & PROBLEMS_NXC : variants & PROBLEMS_PADDED);
}
/* The padded problem of a problem; -1: none. */
static inline int plan_padded_index(const struct plan *p, int problem)
{
	return p->padded && problem >= 0 && problem < p->problem_count ? p->padded[problem] : -1;
}
/* Index of a layer's problem, with nxc in the what-if layout; -1: none. */
static inline int plan_layer_problem_index(const struct plan *p, const struct plan_layer *l, bool nxc)
{
	return nxc && p->nxc ? l->problem_nxc : l->problem;
}

/* Lists the options that would set what is unknown: unbound dimensions ("--dim sequence=VALUE"), inputs of
 * unknown shape ("--input x=1xNx8"), inputs whose contents decide shapes, branches or loop counts ("--value
 * repeats=VALUE,..."). Returns the count. List and texts are in arena a; the texts are clean and quoted for a
 * shell. */
int plan_needs(const struct plan *p, struct arena *a, char ***options);
/* The same as one line to paste; NULL: nothing is missing. */
char *plan_needs_line(const struct plan *p, struct arena *a);

/* True if the layer is a built-in ai.onnx operator; if it is ai.onnx `name`. */
static inline bool plan_layer_is_onnx(const struct plan_layer *l)
{
	return l->op && !l->op->domain[0] && !op_own_place(l->op);
}
static inline bool plan_layer_is(const struct plan_layer *l, const char *name)
{
	return plan_layer_is_onnx(l) && strcmp(l->op->name, name) == 0;
}

/* True if the layer's operator has one of the flags (enum op_flag). */
static inline bool plan_layer_has(const struct plan_layer *l, unsigned flags)
{
	return l->op && l->op->flags & flags;
}

/* The float type in which the layers run: "f32"; "mixed" if there are several. */
const char *plan_type_name(const struct plan *p);
/* The same for headings, in buf: "f32", "mixed", "s8, rest f16". */
#define PLAN_TYPES_SIZE 32
const char *plan_types_text(const struct plan *p, char buf[PLAN_TYPES_SIZE]);
/* True if the plan's type has at most 8 bits: then it is that of products and of what they read, and
 * plan.rest is that of other layers. */
bool plan_is_few(const struct plan *p);
/* plan.rest of a model with that own type; asked: plan_options.rest. */
enum dtype plan_rest(enum dtype own, enum dtype asked);
/* The type in which a layer computes that reads or writes the value, and is no product of few bits. */
enum dtype plan_wide(const struct plan *p, const struct plan_value *v);
/* The problem of a layer, or NULL. */
const struct plan_problem *plan_layer_problem(const struct plan *p, const struct plan_layer *l);
/* The shape of a tensor as text; for other kinds of values also element type and count: "seq(f32 ?x3)[4]". */
char *plan_value_text(struct arena *a, const struct plan_value *v);
void plan_value_add_text(struct str *out, const struct plan_value *v);
/* "sequence", "optional", "optional_sequence", "map", "maps" (a sequence of them), "opaque"; "tensor". */
const char *plan_kind_name(enum value_kind kind);
/* True for a layer that only computes constants (weights, shapes): it does not run, lists fold it, and it is
 * in no row of an execution, unless the framework runs it and reports its name. */
bool plan_layer_is_folded(const struct plan *p, const struct plan_layer *l);
/* The value in the form that operator rules take; index -1: an omitted input. */
struct op_value plan_op_value(const struct plan *p, int index);
/* What a value holds; in the arena where it is known. */
const struct plan_held *plan_held(struct arena *a, struct dim length, const struct op_value *items);
/* True if the layer's cost is that of its bodies. */
static inline bool plan_layer_is_control(const struct plan_layer *l)
{
	return l->body_count > 0 && l->class == CLASS_HOST;
}
/* The most bytes of activations that are alive at the same time, with the workspace of the layer that runs.
 * at: per layer the layer at which it runs (a group's members at its last one; values between them do not
 * exist); NULL: each at itself. workspace: bytes per layer; NULL: none. NaN: unknown. */
double plan_peak_bytes(const struct plan *p, const int *at, const double *workspace);
/* True if one kernel that does the work of these layers (ascending, at least one) may write the first output
 * of the last over a tensor of the same type and size that it reads. The kernel runs at its last layer, so
 * layers before that have read theirs. folded: also if any of the layers that fold are removed. */
bool plan_overwrites(const struct plan *p, const int *layers, int count, bool folded);

/* Appends layers (ascending indexes) to out, as an ONNX model with the plan's shapes and types; see
 * model_write. The plan must have the model's own types (own_types). Constants that the plan knows have their
 * contents, others are filled (WRITE_FILLED) or random. */
int plan_write(const struct plan *p, const int *layers, int count, enum write_weights weights, uint64_t seed,
	struct str *out, struct error *err);

#endif
