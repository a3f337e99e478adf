/* How a plan is built: bind.c binds the model's symbols, infer.c infers node after node, control.c and
 * control_loop.c the graphs inside nodes, quant.c groups nodes that run as one integer layer, dedup.c prices
 * layers, dag.c makes the edges. Private to the room. */
#ifndef PLAN_PLAN_PRIVATE_H
#define PLAN_PLAN_PRIVATE_H

#include "base/hash.h"
#include "plan/plan.h"

#define PLAN_WARNINGS 50     /* kept; the rest is counted */
#define PLAN_DEPTH 33        /* subgraphs within subgraphs: as deep as SKIM_DEPTH allows */
#define BODY_EFFORT (1 << 17) /* nodes of bodies inferred in all; beyond it each body is inferred once */
#define UNROLL_EFFORT (1 << 15) /* the same of unrolled loops, counted separately */
#define EFFORT_SMALL 16      /* values or inputs of a body that count as one node (see effort_of) */
#define PLAN_SIZE_MAX ((int64_t)1 << 40) /* of one bound dimension */

/* A named dimension of the model. */
struct plan_symbol {
	struct text name;
	bool in_input;       /* of the main graph */
	bool batch;          /* first dimension of an input, named like a batch */
	bool derived;        /* an expression of other symbols */
	bool bound;
	bool by_shape;       /* bound by --input */
	bool by_batch;       /* bound by plan_options.batch */
	bool guessed;        /* a batch that nothing bound, see struct guess */
	int64_t value;       /* when bound */
	struct dim dim;      /* replaces the symbol once the bindings are settled */
};

/* The batch if it is not a symbol: the first dimension of the first input. */
struct plan_batch {
	int64_t was;         /* the model's number; 0: a dimension without a name, -1: no such dimension */
	int64_t is;          /* replaces it; 0: nothing does */
	bool named;          /* a binding called "batch" gave it */
};

struct plan_symbols {
	int count, capacity;
	struct plan_symbol *at; /* in order of appearance, inputs first */
	struct hash by_name;
	const struct value *first; /* the input whose first dimension is the batch, or NULL */
	struct plan_batch batch;
	bool resized;        /* --input changed a fixed number: declared shapes are stale */
};

/* The batch of a model that nothing binds. It is 1, unless the file contradicts that: then the file's own
 * value if it implies one, else it stays unbound. */
#define GUESS_NUMBERS 16
struct guess {
	int64_t batch;       /* 0: it stays unbound */
	const char *why;     /* why it is not 1, or NULL: it is */
	bool made, refused;  /* it was needed; with it a layer refused */
	int64_t declared;    /* a size that the file declares where the guess leads to another; 0: none */
	const char *contradiction; /* then the warning about it, in the plan's arena */
	int number_count;    /* numbers of the layer that refused, at which it may run */
	int64_t numbers[GUESS_NUMBERS];
};

/* A group: one integer layer that a quantized model writes as several nodes around a core. Indexes are of
 * values or layers, -1 = absent. */
struct quant {
	int *source;         /* per input of the core: the value that the kernel reads instead */
	int *result;         /* per output of the core: the value that the kernel writes instead */
	int residual, residual_layer; /* the value added to the sums, and the layer that adds it */
	int bias;            /* value added to the scaled sums of dynamic quantization */
	double scale_bytes;  /* bytes of scales and zero points that are not inputs of the core */
	int64_t block;       /* terms of a column of packed weights that share a scale; 0: none do */
	bool zero_points;    /* each block has one */
	int activation;
	struct epilogue function; /* the activation's epilogue; MODE_NONE: no activation */
	bool product;        /* a matmul or convolution whose sums (s32; f32 for 8-bit floats) are scaled */
	bool by_channel;     /* its weights have a scale per channel */
	bool rescaled;       /* input and output scales differ and the kernel takes none: its problem is a
			        proxy, unless it is a table lookup */
	bool stands_in;      /* a proxy: the epilogue only approximates the activation, or scales are not
			        constant */
};

/* A graph while its plan is being built. */
struct builder {
	struct plan *p;
	const struct model *m;
	const struct graph *g;
	const struct plan_options *o;
	struct builder *up;          /* builder of the graph around a body, or NULL */
	struct builder *top;         /* builder of the main graph: it holds symbols and warnings */
	int depth;
	/* the next fields are used in the top builder only */
	struct guess *guess;
	struct plan_symbols symbols;
	int warning_total, warning_capacity;
	char **warnings;
	int64_t elements;            /* elements of known contents kept so far */
	int64_t effort, unroll_effort; /* nodes of bodies inferred so far, limited by BODY_EFFORT and
				          UNROLL_EFFORT */
	int unrolling;               /* > 0: a loop is being unrolled */
	int64_t kept;                /* layers of loop iterations that are listed separately */
	int quiet;                   /* > 0: a trial; warnings are dropped */
	/* in every builder */
	struct quant **quants;       /* per layer: the group whose core it is, or NULL; the array is NULL if
				        the model is not quantized */
	struct text *needed; /* per value: the unbound symbol that it depends on; NULL: not computed */
	/* buffers of the current call, reused by the next */
	int input_capacity, output_capacity;
	struct op_value *inputs, *outputs;
	/* bodies only: the inputs, in the graph's order; if NULL or not present, they are as declared */
	const struct op_value *given;
};

/* Adds a warning of one line, which the caller has cleaned; at most PLAN_WARNINGS are kept. */
void plan_warn(struct builder *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* bind.c: symbols, bindings, batch. Top builder only. -1 with an error. */
int bind_symbols(struct builder *b, struct error *err);
/* A declared dimension with the bindings in force. */
struct dim bind_dim(const struct builder *b, struct dim d);
/* The shape of a model input: bindings, --input and batch applied. */
struct shape bind_input(struct builder *b, const struct value *v);
/* Sets the error for an option that names an input that the model lacks; it lists the existing ones. Returns
 * -1. */
int input_unknown(struct builder *b, struct text name, struct error *err);
/* True if an option replaced a fixed size of the model: declared shapes are then out of date. */
bool bind_is_stale(const struct builder *b);
/* Fills the plan's bindings, batch and unbound. */
void bind_report(struct builder *b);

/* given.c: the values that options give to inputs. Checked once the shapes are bound; NULL: none is given, or
 * the input has more than OP_ELEMENTS_MAX elements (given_check_all warns). */
int given_check_all(struct builder *b, struct error *err);
const struct elements *given_elements(struct builder *b, const struct value *v, struct shape shape);
/* Warns of values on which no shape and no branch depends: the plan without them is the same. Called once the
 * plan is built. */
void given_check_use(struct builder *b);

/* needs.c: warns of constants that decide unknown shapes, branches or loop counts and were not read. Called
 * once the plan is built. */
void needs_check_read(struct builder *b);

/* infer.c: values, then node after node; bodies become plans on the way. */
int infer_graph(struct builder *b, struct error *err);
/* The call of node i with the plan's values as they are now; its arrays belong to the builder. */
void infer_call(struct builder *b, int i, struct op_call *c);

/* control.c: infers the bodies of node i, and its outputs from theirs. */
int control_infer(struct builder *b, int i, struct op_call *c, struct error *err);
/* Infers a body with these inputs (see struct builder) into an empty plan, which must be freed even on
 * failure. */
int control_body(struct builder *b, const struct graph *g, const struct op_value *given, struct plan *body,
	struct error *err);
/* The same as a trial: only the outputs, into out (as many as the graph has), in the arena of b's plan. */
int control_try(struct builder *b, const struct graph *g, const struct op_value *given, struct op_value *out,
	struct error *err);
/* Copies a body's output to the layer's output. */
void control_output(struct op_value *out, const struct op_value *from);
/* True while the budget of trials (BODY_EFFORT, UNROLL_EFFORT) lasts. */
bool control_may_try(const struct builder *b);

/* quant.c: finds the groups of a quantized model and marks the layers that they absorb. */
void quant_find(struct builder *b);
/* quant_price.c: call, cost and problem of a core with the types of its group. */
void quant_call(const struct builder *b, const struct quant *q, struct op_call *c);
void quant_cost(
	const struct builder *b, const struct quant *q, const struct op_call *c, struct op_cost *cost);
double quant_value_bytes(const struct plan *p, int value); /* at upper bounds; 0 for an omitted one */
void quant_problem(
	const struct builder *b, const struct quant *q, const struct op_call *c, struct op_problem *out);

/* A layer that runs one body repeatedly. */
struct loop {
	struct builder *b;
	struct op_call *c;
	const struct graph *g;       /* the body */
	struct plan *body;           /* to be filled */
	struct plan_layer *layer;    /* the layer that has only this body, or NULL */
	struct error *err;
};
/* control_loop.c: infer the call's outputs and how often the body runs. 0, also for a body whose count of
 * inputs or outputs does not match (left unknown); -1 on error. */
int control_loop(struct loop *l);
int control_scan(struct loop *l);

/* types.c: finds the model's own type and puts `asked` in its place, DTYPE_UNKNOWN: none; rest as in
 * plan_options. 0, or -1 with an error. */
int types_settle(struct plan *p, enum dtype asked, enum dtype rest, struct error *err);
/* Gives b->inputs and b->outputs of a layer in a plan of few bits the types in which it runs. Returns true if
 * it is a product of few bits. Another layer that reads or writes few bits beside plan.rest runs in plan.rest
 * throughout: few libraries have kernels of such mixed types. */
bool types_call(const struct builder *b, const struct plan_layer *l);

/* dedup.c: classes, costs, problems, casts at inputs and outputs, totals; bodies included. */
void dedup_layers(struct builder *b);
/* dag.c: edges, consumers, live bytes; bodies included. Call it after dedup_layers: it needs the classes. */
void dag_edges(struct plan *p);
/* Fills folded_deaths, after fold_count and the layers' folds. */
void dag_folded_deaths(struct plan *p);

#endif
