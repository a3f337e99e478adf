/* The operator table: one row per operator. Rules see a struct op_call, never the graph, so they are tested
 * without a model. A rule has three outcomes: known (returns 0, outputs filled), unknown (0, outputs left
 * unknown), error (-1). */
#ifndef OPS_OP_H
#define OPS_OP_H

#include "model/graph.h"
#include "problem/problem.h"

/* compute: arithmetic that needs a kernel; memory: bandwidth-bound arithmetic (eltwise, norm, softmax,
 * reduce, pool); move: copies only; free: no kernel at run time (reshape, constant, dropout at inference,
 * shape arithmetic); host: runs on the host by nature; unknown: not in the table. */
enum op_class { CLASS_UNKNOWN, CLASS_COMPUTE, CLASS_MEMORY, CLASS_MOVE, CLASS_FREE, CLASS_HOST };
const char *op_class_name(enum op_class c);

/* Known elements of a small tensor, flattened, for data propagation. Integers and bools are in i (symbolic
 * allowed), floats in f. Single elements may be unknown: DIM_UNKNOWN in i, NaN in f. */
#define OP_ELEMENTS_MAX 1024
#define OP_ITEMS_MAX 256 /* longest sequence whose tensors are followed individually */
struct elements {
	int count;
	struct dim *i; /* integer and bool types */
	double *f;     /* float types */
};

struct op_value {
	bool present;                    /* false: an omitted optional input */
	enum dtype dtype;
	struct shape shape;
	const struct elements *elements; /* known contents, or NULL */
	enum triangle triangle;          /* of an initializer or Constant node: that of its elements */
	bool constant;                   /* a weight: initializer, or computed from initializers only; also a
					    result that data propagation knows in full (folded before run
					    time) */
	bool given;                      /* the elements follow from --value: they decide shapes and branches,
					    but a run computes them, so they are not constant */
	enum value_kind kind;
	/* Of a sequence and of optionals: how many things it holds (an optional 0 or 1), and each of them
	 * where that is known and not too many, else NULL. An optional sequence holds a sequence. */
	struct dim length;
	const struct op_value *items;
};

/* What is true of both x and y (an empty list agrees with any other of its kind). bounds: a dimension that
 * differs gets the larger size as its upper bound. In arena a, or shared with x and y. */
struct op_value op_value_join(
	struct arena *a, const struct op_value *x, const struct op_value *y, bool bounds);
/* True if every element is a known number; false for NULL. */
bool op_elements_concrete(const struct elements *e);
/* True if the same facts are known of both. */
bool op_value_same(const struct op_value *x, const struct op_value *y);

struct op_call {
	const struct op *op;
	const struct node *node;     /* attributes; names are for messages only */
	int64_t opset;               /* node->opset */
	int input_count, output_count;
	const struct op_value *inputs;
	struct op_value *outputs;    /* rules fill dtype, shape, elements */
	struct arena *arena;         /* for what the rules make */
};

/* Work of one call; NaN = unknown. flops: arithmetic operations, a multiply-add counts 2. bytes: compulsory
 * traffic, every input element needed and every output element once. */
struct op_cost {
	double flops, bytes;
	bool upto;        /* upper bounds, because some dimensions only have an upper bound */
};

/* The problem that is measured for a call. */
struct op_problem {
	bool known;       /* problem is set */
	bool proxy;       /* the problem is similar work, not the same (a plain copy of equal bytes ...):
			     origin `proxy` */
	bool upto;        /* computed with upper bounds of dimensions; then a proxy, too */
	struct problem problem;
	const char *why;  /* when not known: one line, e.g. "batch is not bound" */
};

/* What other rooms ask of an operator, so that they need not list names. */
enum op_flag {
	OP_ANY_LAYOUT = 1,   /* elementwise, or data movement: a copy or proxy costs the same in any layout */
	OP_ACTIVATION = 2,   /* an integer layer applies it before its result is quantized */
	OP_EPILOGUE = 4,     /* frameworks fuse it with the kernel before it */
	OP_RANDOM = 8,       /* the outputs do not follow from inputs and attributes (Dropout: in training) */
	OP_RESHAPES = 16,    /* new dimensions for the same elements in the same order */
	OP_MOVES_WEIGHTS = 32, /* moves or casts quantized weights, which happens before run time */
	OP_READS_SHAPE = 64  /* reads the shape of its input, no data */
};

/* Which inputs and outputs must be quantized for the operator to be an integer layer. */
enum op_quant {
	QUANT_NONE,
	QUANT_PRODUCT, /* sums in s32: both factors quantized; any output */
	QUANT_PAIR,    /* two quantized inputs, one quantized output */
	QUANT_LIST,    /* all inputs and the output quantized */
	QUANT_SINGLE,  /* the first input and the output quantized */
	QUANT_CHOICE,  /* the second and third input and the output quantized */
	QUANT_INDEX,   /* the first input quantized; the output is an index without a scale */
	QUANT_MOVER    /* the first input and the outputs quantized with one scale: integers are only moved or
			  compared */
};

struct op {
	const char *name;
	const char *domain;          /* "" = ai.onnx */
	int since, until;            /* opset range, inclusive; until 0 = still current */
	int inputs_min, inputs_max;  /* inputs_max -1 = any number; the first inputs_min are required. Rules
					see no inputs beyond inputs_max */
	enum op_class class;
	int (*shape)(struct op_call *c, struct error *err);
	void (*cost)(const struct op_call *c, struct op_cost *cost);
	void (*problem)(const struct op_call *c, struct op_problem *out); /* NULL only in classes free and
									     host */
	bool (*is_free)(const struct op_call *c); /* true if this call needs no kernel (Cast to its own type
						     ...); NULL = never */
	const char *note;            /* for `benanza ops` and the man page; may be NULL */
	const void *own;             /* what the row's rules need to know of it; of a type of their file */
	unsigned flags;              /* of enum op_flag */
	enum op_quant quant;
};

/* The row of a node's operator, or NULL if it is not in the table. O(1). */
const struct op *op_find(struct text domain, struct text name, int64_t opset);
bool op_exists(struct text domain, struct text name, int64_t opset);
/* All rows, for help, tests and documentation. */
size_t op_row_count(void);
const struct op *op_row(size_t i);

/* The triangle of a constant ... x queries x keys, also of one that layers compute if its elements are known.
 */
enum triangle op_triangle(const struct op_value *v);

/* Runs the shape rule and what all rules share: default output types, constness, elements capped at
 * OP_ELEMENTS_MAX. Unknown operator (c->op NULL): outputs stay unknown. -1 with an error for an invalid call.
 * */
int op_infer(struct op_call *c, struct error *err);
/* The class of this call. Operators of class compute or move are CLASS_FREE if all inputs are constant or the
 * result is known by data propagation (folded before run time); so is a Cast to the same type ... */
enum op_class op_call_class(const struct op_call *c);
/* The rules of the call's row, and what all rules share: a free call costs 0 and has no problem; an unknown
 * operator costs NaN and has a reason instead of a problem; dimensions that only have upper bounds are
 * replaced by them, and the result is marked `upto`. `out` and `cost` need no initialization; `why` is in
 * c->arena. */
void op_call_cost(const struct op_call *c, struct op_cost *cost);
void op_call_problem(const struct op_call *c, struct op_problem *out);
/* Why an attribute cannot be read, which makes the outputs unknown; in c->arena. NULL: all can be read. */
const char *op_call_unread(const struct op_call *c);
/* Rows of the table of types found before, by operator; all zero at first. */
#define OP_TYPES_SLOTS 64
struct op_types_met {
	struct op_types_slot {
		const struct op *op;
		int64_t opset;
		const struct types_row *row; /* NULL: the operator is not in the table */
	} slots[OP_TYPES_SLOTS];
};
/* How many inputs of a node rules see: those beyond a row's inputs_max, which a newer version of the operator
 * may have, are left out. */
int op_inputs_known(const struct op *op, int count);
/* Why ONNX Runtime rejects the call though its shapes are known: it says the same twice, or not at all. NULL:
 * no reason known. */
const char *op_call_ambiguous(const struct op_call *c);
/* What is left out of the call, for a warning; in c->arena. NULL: nothing. */
const char *op_call_surplus(const struct op_call *c);
/* Why ONNX Runtime rejects the call: an input type that the operator's schema does not allow, or different
 * types where one is required; in c->arena. NULL: no reason known. */
const char *op_call_mistyped(const struct op_call *c, struct op_types_met *met);

/* Sets the output type of an integer convolution or matmul to `to`: sums in s32, one factor per channel (a
 * gemm's alpha included), then a bias in f32. To s32: the raw sums. Of 8-bit floats: sums in f32, and factors
 * only if the weights have a scale per channel (by_channel); those of whole tensors are not in a problem. */
void op_problem_requantize(struct problem *p, enum dtype to, bool by_channel);

/* Gives full attention a mask that broadcasts to the scores (n, heads, queries, keys): mode masked. Returns
 * false and changes nothing if it does not broadcast, its shape is unknown, or the problem has another
 * mode. */
bool op_problem_mask(struct shape mask, struct problem *p);

/* True if the problem maps bytes to bytes, so that a table of 256 entries implements it for any scales; false
 * if equal scales need no table (a comparison of bytes). */
bool op_problem_is_table(const struct problem *p);
bool op_is_byte(enum dtype t); /* u8, s8 */

/* The contents of a constant tensor for data propagation; NULL if it is too large, not in memory, or not
 * numeric. */
const struct elements *op_elements_of_tensor(struct arena *a, const struct tensor *t);

#endif
