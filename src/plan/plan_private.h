/* How a plan is built: bind.c binds the model's symbols, infer.c infers node after node, control.c and control_loop.c
 * the graphs inside nodes, quant.c groups nodes that run as one integer layer, dedup.c prices layers, dag.c makes the
 * edges. Private to the room. */
#ifndef PLAN_PLAN_PRIVATE_H
#define PLAN_PLAN_PRIVATE_H

#include "base/hash.h"
#include "plan/plan.h"

#define PLAN_WARNINGS 50     /* kept; the rest is counted */
#define PLAN_DEPTH 16        /* subgraphs within subgraphs */
#define BODY_EFFORT (1 << 17) /* nodes of bodies inferred in all; beyond it each body is inferred once */
#define UNROLL_EFFORT (1 << 15) /* the same of unrolled loops, counted separately */
#define EFFORT_SMALL 16      /* values and inputs that count as one node */
#define PLAN_SIZE_MAX ((int64_t)1 << 40) /* of one bound dimension */

/* A named dimension of the model. */
struct plan_symbol {
	struct text name;
	bool in_input;       /* of the main graph */
	bool batch;          /* first dimension of an input, named like a batch */
	bool derived;        /* an expression of other symbols */
	bool bound;
	bool by_shape;       /* bound by --input */
	bool assumed;        /* a batch that nothing bound: 1 */
	int64_t value;       /* when bound */
	struct dim dim;      /* what stands for it from now on, once bindings are settled */
};

/* The batch when it is no symbol: the first dimension of the first input. */
struct plan_batch {
	int64_t was;         /* the model's number; 0: nameless, -1: no such dimension */
	int64_t is;          /* its replacement; 0: none */
};

struct plan_symbols {
	int count, capacity;
	struct plan_symbol *at; /* in order of appearance, inputs first */
	struct hash by_name;
	const struct value *first; /* the input whose first dimension is the batch, or NULL */
	struct plan_batch batch;
	bool resized;        /* --input changed a fixed number: declared shapes are stale */
};

/* A layer that a quantized model writes as several nodes: what its core reads and writes. Indexes of values or layers,
 * -1: none. */
struct quant {
	int *source;         /* per input of the core: read in its place */
	int *result;         /* per output: written in its place */
	int residual, residual_layer; /* added to the sums, and what adds it */
	int bias;            /* added to the scaled sums of dynamic quantization */
	double scale_bytes;  /* bytes of scales and zero points that are not inputs of the core */
	int activation;
	struct epilogue function; /* the activation's; MODE_NONE: it needs none */
	bool product;        /* sums in s32, or f32 of the small floats, that are scaled */
	bool rescaled;       /* between scales that its kernel does not know: its problem stands in, unless it is a table */
	bool stands_in;      /* the function stands in for the activation, or there is none; or scales are no constants */
};

/* One graph on its way to a plan. */
struct builder {
	struct plan *p;
	const struct model *m;
	const struct graph *g;
	const struct plan_options *o;
	struct builder *up;          /* the graph around a body, or NULL */
	struct builder *top;         /* the main graph's: symbols and warnings live there */
	int depth;
	/* top only */
	struct plan_symbols symbols;
	int warning_total, warning_capacity;
	char **warnings;
	int64_t elements;            /* known contents kept so far */
	int64_t effort, unroll_effort; /* nodes of bodies looked at so far, see BODY_EFFORT */
	int unrolling;               /* > 0: round by round */
	int64_t kept;                /* layers of loop iterations that are listed separately */
	int quiet;                   /* > 0: a trial; warnings are dropped */
	/* of each graph */
	struct quant **quants;       /* per layer: NULL or the group whose core it is; NULL: no model of integers */
	/* of one call at a time, kept between calls */
	int input_capacity, output_capacity;
	struct op_value *inputs, *outputs;
	/* of a body: what its inputs are, in the graph's order; NULL, or not present: as declared */
	const struct op_value *given;
};

/* One line, cleaned by the caller; capped. */
void plan_warn(struct builder *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* bind.c: symbols, bindings, batch. Top only. */
int bind_symbols(struct builder *b, struct error *err);
/* A declared dimension with the bindings in force. */
struct dim bind_dim(const struct builder *b, struct dim d);
/* The shape of a model input: bindings, --input and batch applied. */
struct shape bind_input(struct builder *b, const struct value *v);
/* The error of an option for an input that the model lacks, which names those it has. -1. */
int input_unknown(struct builder *b, struct text name, struct error *err);
/* True if an option replaced a fixed size of the model: declared shapes are then out of date. */
bool bind_is_stale(const struct builder *b);
/* Fills the plan's bindings, batch and unbound. */
void bind_report(struct builder *b);

/* expression.c: the dimension that a name spells as an expression: sums, products, quotients, floor, ceiling, min and max
 * of numbers and of names that `symbol` resolves. DIM_UNKNOWN if it is not an expression. */
struct dim expression_dim(
	struct arena *a, struct text t, struct dim (*symbol)(const void *with, struct text name), const void *with);

/* given.c: the values that options give to inputs. Checked once the shapes are bound; NULL: none is given, or the input
 * has more than OP_ELEMENTS_MAX elements (given_check_all warns). */
int given_check_all(struct builder *b, struct error *err);
const struct elements *given_elements(struct builder *b, const struct value *v, struct shape shape);

/* infer.c: values, then node after node; bodies become plans on the way. */
int infer_graph(struct builder *b, struct error *err);
/* The call of node i as the plan's values stand; arrays of the builder. */
void infer_call(struct builder *b, int i, struct op_call *c);

/* control.c: infers the bodies of node i, and its outputs from theirs. */
int control_infer(struct builder *b, int i, struct op_call *c, struct error *err);
/* Infers a body with these inputs (see struct builder) into an empty plan, which must be freed even on failure. */
int control_body(struct builder *b, const struct graph *g, const struct op_value *given, struct plan *body,
	struct error *err);
/* The same as a trial: only the outputs, into out (as many as the graph has), in the arena of b's plan. */
int control_try(struct builder *b, const struct graph *g, const struct op_value *given, struct op_value *out,
	struct error *err);
/* An output of a layer as a body gives it. */
void control_output(struct op_value *out, const struct op_value *from);
/* True while the budget of trials (BODY_EFFORT, UNROLL_EFFORT) lasts. */
bool control_may_try(const struct builder *b);

/* quant.c: finds the groups of a quantized model and marks the layers that they absorb. */
void quant_find(struct builder *b);
/* quant_price.c: the core's call, cost and problem as they are in its group. */
void quant_call(const struct builder *b, const struct quant *q, struct op_call *c);
void quant_cost(const struct builder *b, const struct quant *q, const struct op_call *c, struct op_cost *cost);
double quant_value_bytes(const struct plan *p, int value); /* at upper bounds; 0 for an omitted one */
void quant_problem(const struct builder *b, const struct quant *q, const struct op_call *c, struct op_problem *out);

/* A layer that runs one body, many times. */
struct loop {
	struct builder *b;
	struct op_call *c;
	const struct graph *g;       /* the body */
	struct plan *body;           /* to be filled */
	struct plan_layer *layer;    /* whose only body it is, or NULL */
	struct error *err;
};
/* control_loop.c: infer the call's outputs and how often the body runs. 0, also for a body whose count of inputs or outputs
 * does not match (left unknown); -1 on error. */
int control_loop(struct loop *l);
int control_scan(struct loop *l);

/* plan.c: frees what a plan holds, bodies and all, not the plan itself. */
void plan_empty(struct plan *p);

/* dedup.c: classes, costs, problems, borders, totals, bodies and all. */
void dedup_layers(struct builder *b);
/* dag.c: edges, consumers, live bytes, bodies and all. After dedup_layers: it asks for classes. */
void dag_edges(struct plan *p);

#endif
