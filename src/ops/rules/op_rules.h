/* Functions shared by the rules, and the rules by file. Private to the room.
 * Cost conventions. FLOPs: a multiply-add counts 2; every elementwise function counts 1 per output
 * element, transcendental ones (exp, erf, tanh, gelu, pow ...) too: they are bandwidth-bound, and each
 * library has its own polynomials. A variadic sum of n inputs counts n-1; a reduction 1 per input element
 * (2 if it is squared, made absolute or exponentiated first; 1 more per output element for a mean, root or
 * logarithm); data movement 0. Bytes: what must be read at least once (of a Gather or Slice only the
 * selected elements) plus what is written. An Einsum counts its multiplications in the cheapest order.
 * Attention counts both matmuls and 5 for softmax per visible pair of query and key; causal masks and
 * windows leave fewer pairs. Of a cache the past is read and the present written; only new rows are
 * written if both are one buffer. */
#ifndef OPS_RULES_OP_RULES_H
#define OPS_RULES_OP_RULES_H

#include "ops/op.h"

/* The last members of a row may be left out. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* Largest rank that rules handle; op_infer leaves the outputs of larger ranks unknown. */
#define OP_RANK_MAX 64

/* ---- inputs, outputs, errors */

/* Input i, or NULL when it is omitted or past the end. */
const struct op_value *op_in(const struct op_call *c, int i);
/* Output i, or NULL if it is omitted. */
struct op_value *op_out(const struct op_call *c, int i);
/* Sets the error with "<operator>: " in front. Returns -1. */
int op_fail(const struct op_call *c, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- operands that are an attribute in some opsets and an input in others */

/* A list of integers that is an attribute in older opsets and an input in newer ones. */
enum op_list_state {
	OP_LIST_ABSENT,  /* neither is present */
	OP_LIST_UNKNOWN, /* an input of unknown contents; count = its length or -1 */
	OP_LIST_KNOWN    /* count elements in at; each may still be symbolic or unknown */
};
struct op_list {
	enum op_list_state state;
	int count;
	struct dim *at;
};
/* The input if both are present. attribute NULL or input < 0: does not exist. An INT attribute is a list of
 * one. */
struct op_list op_list_get(const struct op_call *c, const char *attribute, int input);
/* True when every element is a known number. */
bool op_list_all_known(const struct op_list *l);
/* -1 with an error if a size is negative. */
int op_list_sizes(const struct op_call *c, const struct op_list *l, struct error *err);
/* The float at input i (a scalar or one element) or of attribute `name`: NaN if the input is present and
 * unknown, `otherwise` if neither is present. */
double op_float_get(const struct op_call *c, const char *attribute, int input, double otherwise);
/* The integer at input i (a scalar or one element), which may be symbolic; DIM_UNKNOWN if the input is
 * omitted, unknown or has several elements. */
struct dim op_dim_get(const struct op_call *c, int input);
/* The type that an attribute names by ONNX's code; `otherwise` when it is absent. */
enum dtype op_dtype_get(const struct op_call *c, const char *attribute, enum dtype otherwise);

/* ---- axes */

/* Normalizes an axis in [-rank, rank) to >= 0; -1 with an error if it is out of range. */
int op_axis(const struct op_call *c, int64_t axis, int rank, struct error *err);
/* Sets mask[0..rank-1] for the axes of the list, which must all be known (op_list_all_known). -1: an axis is
 * out of range or given twice. */
int op_axes(const struct op_call *c, const struct op_list *l, int rank, bool *mask, struct error *err);

/* ---- shapes. Values may share their dimensions: only the rule that made them may change them. */

/* A copy whose dimensions are in arena a; an unknown rank stays unknown. */
struct shape op_shape_copy(struct arena *a, struct shape s);
/* A shape of these dimensions. */
struct shape op_shape_of(struct arena *a, int rank, const struct dim *dims);
/* Moves the channels of a shape: from last to second (to_first), or back. Shapes of fewer than three
 * dimensions are returned unchanged. */
struct shape op_shape_turned(struct arena *a, struct shape s, bool to_first);
/* Rank of a value; -1: unknown, or the value is omitted. */
int op_rank(const struct op_value *v);
/* 0 if input i has this rank, an unknown one, or is omitted; else -1 with an error. */
int op_rank_is(const struct op_call *c, int i, int rank, struct error *err);
/* Dimension i of a value if it is present and has this rank; else unknown. */
struct dim op_dim_at(const struct op_value *v, int rank, int i);
/* Merges two descriptions of a dimension: *out is the more precise one. False: they contradict. */
bool op_dim_merge(struct dim x, struct dim y, struct dim *out);
/* Multidirectional broadcast. If a rank is unknown, so is the result, which may share the dimensions of x or
 * y. -1: the shapes contradict. */
int op_broadcast(
	const struct op_call *c, struct shape x, struct shape y, struct shape *out, struct error *err);
/* True if both are fully known and equal. */
bool op_shape_same(struct shape x, struct shape y);

/* Shape rule "like input 0" for any number of outputs, which share its dimensions; op_infer has set the
 * types. */
int op_shape_as_input(struct op_call *c, struct error *err);

/* ---- elements (data propagation) */

/* New elements, all unknown; in f if `floats`, else in i. */
struct elements *op_elements_new(struct arena *a, int count, bool floats);
/* True if every element is known or symbolic; false for NULL. */
bool op_elements_known(const struct elements *e);
/* Number of elements of a known shape when it is <= OP_ELEMENTS_MAX, else -1. */
int op_elements_count(struct shape s);
/* Elements from[index[i]]; index -1 makes an element unknown. */
struct elements *op_elements_pick(struct arena *a, const struct elements *from, int count, const int *index);
/* Convert a linear index to coordinates and back, for a known shape of at most OP_ELEMENTS_MAX elements. */
void op_coords(struct shape s, int index, int *at);
int op_index(struct shape s, const int *at);
/* The linear index in a tensor of shape `from` of the element that is broadcast to element `index` of shape
 * `to`. */
int op_broadcast_index(struct shape to, int index, struct shape from);
/* True if v fits the integer type. Results that do not fit would wrap; data propagation treats them as
 * unknown. */
bool op_int_fits(enum dtype t, int64_t v);
/* v rounded to a float type, to nearest, ties to even; NaN if the result is undefined. Shape arithmetic uses
 * the model's type even if the plan runs in a shorter one. */
double op_float_round(enum dtype t, double v);
/* The largest number of a float type. */
double op_float_most(enum dtype t);
/* True and *value if v is a single known number of any rank. */
bool op_scalar(const struct op_value *v, double *value);

/* ---- costs */

/* Elements and bytes of a value; 0 for NULL (omitted), NaN where unknown. */
double op_count(const struct op_value *v);
double op_bytes(const struct op_value *v);
/* A dimension as a number; NaN where it is not known. */
double op_dim_number(struct dim d);
/* Bytes of all inputs and outputs, each once; the second without those whose bit is set (bit i: input or
 * output i, the first 32). */
double op_bytes_all(const struct op_call *c);
double op_bytes_but(const struct op_call *c, unsigned inputs, unsigned outputs);
/* No arithmetic; bytes = all inputs and outputs. */
void op_cost_move(const struct op_call *c, struct op_cost *cost);
/* One operation per element of output 0; bytes = all inputs and outputs. */
void op_cost_eltwise(const struct op_call *c, struct op_cost *cost);

/* ---- problems */

/* True for types that deep-learning libraries compute with, including bool (as u8); others are measured as
 * copies. */
bool op_is_library_type(enum dtype t);
/* True if v (not NULL) has a type, a known shape of rank <= PROBLEM_RANK and at least one element; else `why`
 * tells what is missing. */
bool op_problem_value(const struct op_call *c, const struct op_value *v, struct op_problem *out);
/* The same for all present inputs and outputs. */
bool op_problem_ready(const struct op_call *c, struct op_problem *out);
/* Sets out->why; known = false. */
void op_problem_why(struct op_problem *out, const char *why);
/* Starts a problem: sets kernel and mode, everything else to 0, known = true. Returns it to be filled in. */
struct problem *op_problem_start(struct op_problem *out, enum kernel kernel, enum mode mode);
/* The same for a map from x to y; its only shape is x's. */
struct problem *op_problem_map(struct op_problem *out, enum kernel kernel, enum mode mode,
	const struct op_value *x, const struct op_value *y);
/* Type and constness of a value, any layout. bool becomes u8, which libraries support. */
struct operand op_operand(const struct op_value *v);
/* A known shape as numbers; a scalar becomes rank 1. */
struct problem_shape op_problem_shape(struct shape s);
/* The same with leading dimensions of 1 up to `rank`. */
struct problem_shape op_problem_shape_of_rank(struct shape s, int rank);
/* A plain copy of (read + written) / 2 bytes as a proxy; if `bytes` is NaN, `why` is set instead. */
void op_problem_copy(const struct op_call *c, double bytes, struct op_problem *out);
/* A function of one tensor; a copy if the type is not floating. in: an input with the shape of output 0. */
void op_problem_eltwise(const struct op_call *c, const struct op_value *in, enum mode mode, float alpha,
	float beta, struct op_problem *out);
/* A function of two tensors of known shapes that broadcast. */
void op_problem_binary(enum mode mode, const struct op_value *a, const struct op_value *b,
	const struct op_value *y, struct op_problem *out);
/* Matmul y = a b of m x k and k x n without batch. False: `why` tells what is unknown, or that it is too
 * large. */
bool op_problem_matmul(const struct op_value *a, const struct op_value *b, const struct op_value *y,
	struct dim m, struct dim n, struct dim k, struct op_problem *out);
/* Adds a bias (NULL: none) to a known problem. */
void op_problem_bias(const struct op_value *bias, struct op_problem *out);
/* layernorm or rmsnorm of x from `axis` (below its rank) on; the normalized dimensions become one. */
void op_problem_norm(const struct op_value *x, const struct op_value *y, enum kernel kernel, int axis,
	struct op_problem *out);
/* Group normalization of input 0 (batch first). Channels that are not dimension 1 make it a proxy: the same
 * number of channels and elements in ONNX order. */
void op_problem_groups(const struct op_call *c, int64_t groups, int channel_axis, struct op_problem *out);
/* Problem rule of data movement: a copy of the bytes that the row's cost rule counts. */
void op_problem_mover(const struct op_call *c, struct op_problem *out);

/* ---- rules: RULES(x) declares x_shape, x_cost, x_problem; each file defines those of its rows */
#define RULE_SHAPE(x) int x##_shape(struct op_call *c, struct error *err)
#define RULE_COST(x) void x##_cost(const struct op_call *c, struct op_cost *cost)
#define RULE_PROBLEM(x) void x##_problem(const struct op_call *c, struct op_problem *out)
#define RULE_FREE(x) bool x##_free(const struct op_call *c)
#define RULES(x)                                                                                             \
	RULE_SHAPE(x);                                                                                       \
	RULE_COST(x);                                                                                        \
	RULE_PROBLEM(x)

/* Rules used by rows of several files: op_conv.c, op_gemm.c */
RULES(op_conv);
RULES(op_deconv);
RULES(op_gemm);
RULES(op_matmul);
/* The accumulator type of sums of products of type t: f32 for 16-bit and 8-bit floats, s32 for 8-bit
 * integers. */
enum dtype op_accumulator(enum dtype t);
/* op_attention.c, op_microsoft_attention.c, op_rnn.c */
RULES(op_attention);
RULE_SHAPE(op_packed_attention);
RULE_PROBLEM(op_projected_attention);
RULE_PROBLEM(op_rnn);
/* op_microsoft_packed.c */
RULE_PROBLEM(op_group_router);
/* op_shape.c */
RULE_COST(op_constant_of_shape);
RULE_PROBLEM(op_constant_of_shape);
RULE_SHAPE(op_range);
/* op_move.c, op_slice.c, op_gather.c */
RULE_COST(op_taken);
RULE_COST(op_first);
RULE_FREE(op_same_shape);
RULE_SHAPE(op_slice);
RULE_FREE(op_slice);
RULE_COST(op_gather);
/* op_quant.c, op_quant_core.c: quantized operators; the latter uses the rules of their core operator */
#define CORE_INPUTS 4
enum op_core_kind { CORE_PLAIN, CORE_PRODUCT, CORE_VARIADIC, CORE_RECURRENT };

struct op_core_row {
	const char *core;
	enum op_core_kind kind;
	int needed;             /* number of the core's required inputs */
	int at[CORE_INPUTS];    /* their indexes; -1: no more. CORE_VARIADIC: the first; every third follows
				   */
	int typed;              /* the input with the output's type; -1: none */
	enum dtype type;        /* the output's type if that input is absent */
	int bias;
	int zeros;              /* CORE_PRODUCT whose scales may be anything: index of its first zero point;
				   else 0 */
};
RULES(op_core);
/* op_random.c: the shape rule of random number generators. Their outputs are never constant. */
RULE_SHAPE(op_random);

/* ---- groups of rows, each at the end of the file with their rules, in the order of OP_GROUPS; op_table.c
 * searches them. Rows of one operator follow each other, oldest first; it has several only if rules or input
 * counts differ. */
struct op_rows {
	const struct op *at;
	size_t count;
	bool any_kind; /* rules accept sequences, optionals and maps; other rules never see them */
};
#define OP_ROWS(rows) { .at = rows, .count = sizeof(rows) / sizeof(rows[0]) }
#define OP_ROWS_ANY_KIND(rows) { .at = rows, .count = sizeof(rows) / sizeof(rows[0]), .any_kind = true }
#define OP_GROUPS(X)                                                                                         \
	X(conv) X(pool) X(gemm) X(einsum) X(norm) X(resize) X(attention) X(rnn) X(shape) X(cast)     \
	X(move) X(slice) X(pad) X(gather) X(eltwise) X(binary) X(reduce) X(quant) X(llm) X(state)    \
	X(microsoft_norm) X(microsoft_attention) X(microsoft_matmul) X(microsoft_ragged)             \
	X(microsoft_product) X(microsoft_indexer) X(microsoft_packed) X(microsoft_replay)            \
	X(microsoft_rest) X(microsoft_alias) X(vision) X(select) X(signal) X(random) X(text) X(ml)   \
	X(ml_map) X(loss) X(old) X(sequence) X(tensorrt) X(memcpy)
#define OP_GROUP_DECLARE(name) extern const struct op_rows op_##name##_rows;
OP_GROUPS(OP_GROUP_DECLARE)
/* True if the row's group is any_kind. */
bool op_row_any_kind(const struct op *op);

/* A common note, and shorthands for rows: without cost at run time; data movement. */
#define OP_COPY "measured as a plain copy of equal bytes"
#define OP_SHAPE_ROW(name, since, until, fewest, most, shape, ...) /* flags, quant */ \
	{ name, "", since, until, fewest, most, CLASS_FREE, shape, NULL, NULL, NULL, NULL, NULL, __VA_ARGS__ }
#define OP_MOVER_ROW(name, since, until, fewest, most, shape, cost, is_free, ...)                            \
	{ name, "", since, until, fewest, most, CLASS_MOVE, shape, cost, op_problem_mover, is_free, OP_COPY, \
		NULL, __VA_ARGS__ }

#endif
