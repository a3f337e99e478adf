/* Other operators of com.microsoft: padding of packed sequences, relative positions, transforms, hashes,
 * searches, and those that run on the host. */
#include "config.h"

#include "ops/onnx/op_attention.h"

#include <math.h>
#include <string.h>

/* ---- shared helpers */

/* The integer at input i as a size; unknown if it is negative. */
static struct dim size_at(const struct op_call *c, int i)
{
	struct dim d = op_dim_get(c, i);
	return d.kind == DIM_KNOWN && d.value < 0 ? dim_unknown() : d;
}

/* An unknown size with this upper bound, if the bound is known. */
static struct dim at_most(struct dim bound)
{
	return bound.kind == DIM_KNOWN ? dim_unknown_upto(bound.value) : dim_unknown();
}

static void output_type(struct op_call *c, int i, enum dtype type)
{
	if (i < c->output_count)
		c->outputs[i].dtype = type;
}

static void output_shape(struct op_call *c, int i, struct shape s)
{
	if (i < c->output_count)
		c->outputs[i].shape = s;
}

/* Bytes only: the operations are negligible or not documented. */
static void bytes_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->bytes = op_bytes_all(c);
}

/* ---- padding */

static int remove_padding_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 0, 3, err))
		return -1;
	struct dim n = op_dim_at(op_in(c, 0), 3, 0), length = op_dim_at(op_in(c, 0), 3, 1);
	struct dim tokens = at_most(dim_mul(c->arena, n, length));
	output_shape(c, 0, op_shape_of(c->arena, 2, (struct dim[]){ tokens, op_dim_at(op_in(c, 0), 3, 2) }));
	output_shape(c, 1, op_shape_of(c->arena, 2, (struct dim[]){ n, length }));
	output_shape(c, 2, op_shape_of(c->arena, 1, (struct dim[]){ dim_add(c->arena, n, dim_known(1)) }));
	output_shape(c, 3, op_shape_of(c->arena, 1, (struct dim[]){ dim_known(1) }));
	for (int i = 1; i < 4; i++)
		output_type(c, i, DTYPE_S32);
	return 0;
}

static int restore_padding_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 0, 2, err) || op_rank_is(c, 1, 2, err))
		return -1;
	output_shape(c, 0,
		op_shape_of(c->arena, 3,
			(struct dim[]){ op_dim_at(op_in(c, 1), 2, 0), op_dim_at(op_in(c, 1), 2, 1),
				op_dim_at(op_in(c, 0), 2, 1) }));
	return 0;
}

/* ---- relative positions */

/* RelativePositionBias: the table is buckets x heads; the lengths of queries and keys are inputs 1 and 2. */
static int relative_bias_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 0, 2, err))
		return -1;
	struct dim q = op_dim_get(c, 1), k = op_dim_get(c, 2);
	if ((q.kind == DIM_KNOWN && q.value < 0) || (k.kind == DIM_KNOWN && k.value < 0))
		return op_fail(c, err, "a negative length");
	output_shape(c, 0, attention_shape(c, dim_known(1), op_dim_at(op_in(c, 0), 2, 1), q, k));
	return 0;
}

static void relative_bias_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = op_bytes_all(c);
}

/* Queries are n x length x width; for packed ones token_offset (input 6) is n x length. */
static int gated_bias_shape(struct op_call *c, struct error *err)
{
	struct dim heads;
	bool packed = op_in(c, 6) != NULL;
	if (attention_heads(c, "num_heads", &heads, err) || op_rank_is(c, 0, packed ? 2 : 3, err))
		return -1;
	struct dim n = packed ? op_dim_at(op_in(c, 6), 2, 0) : op_dim_at(op_in(c, 0), 3, 0);
	struct dim length = packed ? op_dim_at(op_in(c, 6), 2, 1) : op_dim_at(op_in(c, 0), 3, 1);
	output_shape(c, 0, attention_shape(c, n, heads, length, length));
	return 0;
}

/* A matmul of each head's queries with the weights, and one multiplication per query and key pair. */
static void gated_bias_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 2 * op_count(op_in(c, 0)) * op_dim_number(op_dim_at(op_in(c, 3), 2, 1)) +
		      op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

/* GemmaRotaryEmbedding: outputs have the shapes of q and k. A sine and a cosine per angle; two
 * multiplications and an addition per element. */
static int gemma_rotary_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 1, 4, err) || op_rank_is(c, 3, 4, err))
		return -1;
	for (int i = 0; i < 2 && i < c->output_count; i++) {
		c->outputs[i].dtype = c->inputs[1 + 2 * i].dtype;
		c->outputs[i].shape = op_shape_copy(c->arena, c->inputs[1 + 2 * i].shape);
	}
	return 0;
}

static void gemma_rotary_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 2 * op_count(op_in(c, 0)) + 3 * (op_count(op_in(c, 1)) + op_count(op_in(c, 3)));
	cost->bytes = op_bytes_all(c);
}

/* ---- transforms and views */

static int unfold_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	int64_t size = node_int(c->node, "size", 0), step = node_int(c->node, "step", 1);
	if (size < 1 || step < 1 || size > INT32_MAX || step > INT32_MAX)
		return op_fail(c, err, "size %lld, step %lld", (long long)size, (long long)step);
	if (x.rank < 0)
		return 0;
	int axis = op_axis(c, node_int(c->node, "dim", -1), x.rank, err);
	if (axis < 0)
		return -1;
	if (x.dims[axis].kind == DIM_KNOWN && x.dims[axis].value < size)
		return op_fail(
			c, err, "slices of %lld from %lld", (long long)size, (long long)x.dims[axis].value);
	struct shape y = shape_make(c->arena, x.rank + 1);
	for (int i = 0; i < x.rank; i++)
		y.dims[i] = x.dims[i];
	struct dim room = dim_sub(c->arena, x.dims[axis], dim_known(size));
	y.dims[axis] = dim_add(c->arena, dim_floor_div(c->arena, room, dim_known(step)), dim_known(1));
	y.dims[x.rank] = dim_known(size);
	c->outputs[0].shape = y;
	return 0;
}

/* Rfft: real to one-sided complex (n / 2 + 1 pairs); Irfft: the inverse. Last dimension only. */
static int rfft_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	bool back = text_is(text_of(c->op->name), "Irfft");
	if (x.rank < 0)
		return 0;
	if (x.rank < (back ? 2 : 1) || (back && dim_differs(x.dims[x.rank - 1], dim_known(2))))
		return op_fail(c, err, "a signal of shape %s", shape_text(c->arena, x));
	if (node_int(c->node, "signal_ndim", 1) != 1)
		return 0;
	struct arena *a = c->arena;
	struct dim one = dim_known(1), two = dim_known(2), n = x.dims[x.rank - (back ? 2 : 1)];
	if (n.kind == DIM_KNOWN && n.value < 1)
		return op_fail(c, err, "an empty signal");
	struct shape y = shape_make(a, back ? x.rank - 1 : x.rank + 1);
	for (int i = 0; i < y.rank && i < x.rank; i++)
		y.dims[i] = x.dims[i];
	if (back) {
		y.dims[y.rank - 1] = dim_mul(a, dim_sub(a, n, one), two);
	} else {
		y.dims[x.rank - 1] = dim_add(a, dim_floor_div(a, n, two), one);
		y.dims[x.rank] = two;
	}
	c->outputs[0].shape = y;
	return 0;
}

/* A real transform of length n counts as 2.5 n log2 n operations, see op_signal.c. */
static void rfft_cost(const struct op_call *c, struct op_cost *cost)
{
	const struct op_value *signal = text_is(text_of(c->op->name), "Irfft") ? op_out(c, 0) : op_in(c, 0);
	double n = !signal || signal->shape.rank < 1 ? NAN :
		op_dim_number(signal->shape.dims[signal->shape.rank - 1]);
	cost->flops = node_int(c->node, "signal_ndim", 1) == 1 && n >= 1 ?
		2.5 * op_count(signal) * log2(n) : NAN;
	cost->bytes = op_bytes_all(c);
}

/* Complex multiplication: three operations per real number of the output. */
static void complex_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 3 * op_count(op_out(c, 0));
	cost->bytes = op_bytes_all(c);
}

static int broadcast_shape(struct op_call *c, struct error *err)
{
	return op_broadcast(c, c->inputs[0].shape, c->inputs[1].shape, &c->outputs[0].shape, err);
}

static int expand_dims_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	struct dim axis = op_dim_get(c, 1);
	if (x.rank < 0)
		return 0;
	struct shape y = shape_make(c->arena, x.rank + 1);
	c->outputs[0].shape = y;
	if (axis.kind != DIM_KNOWN)
		return 0;
	int at = op_axis(c, axis.value, y.rank, err);
	if (at < 0)
		return -1;
	for (int i = 0; i < y.rank; i++)
		y.dims[i] = i == at ? dim_known(1) : x.dims[i < at ? i : i - 1];
	c->outputs[0].elements = c->inputs[0].elements;
	return 0;
}

/* Range of ai.onnx, with a default step of 1. */
static int ms_range_shape(struct op_call *c, struct error *err)
{
	struct op_call view = *c;
	struct op_value in[3] = { c->inputs[0], c->inputs[1], c->inputs[0] };
	struct elements *one = op_elements_new(c->arena, 1, dtype_is_float(c->inputs[0].dtype));
	if (one->f)
		one->f[0] = 1;
	else
		one->i[0] = dim_known(1);
	in[2].elements = one;
	if (op_in(c, 2))
		in[2] = c->inputs[2];
	view.inputs = in;
	view.input_count = 3;
	return op_range_shape(&view, err);
}

/* CropAndResize: boxes x channels x height x width; input 3 holds the crop size. */
static int crop_shape(struct op_call *c, struct error *err)
{
	struct op_list size = op_list_get(c, NULL, 3);
	if (op_rank_is(c, 0, 4, err) || op_rank_is(c, 1, 2, err))
		return -1;
	bool known = size.state == OP_LIST_KNOWN && size.count == 2;
	for (int i = 0; i < 2 && known; i++) {
		if (size.at[i].kind == DIM_KNOWN && size.at[i].value < 1)
			return op_fail(c, err, "a crop of %lld", (long long)size.at[i].value);
	}
	output_shape(c, 0,
		attention_shape(c, op_dim_at(op_in(c, 1), 2, 0), op_dim_at(op_in(c, 0), 4, 1),
			known ? size.at[0] : dim_unknown(), known ? size.at[1] : dim_unknown()));
	return 0;
}

/* Bilinear interpolation: 7 operations per element. Reads at most 4 source elements per output element, and
 * at most the whole source. */
static void crop_cost(const struct op_call *c, struct op_cost *cost)
{
	double taken = 4 * op_bytes(op_out(c, 0));
	cost->flops = 7 * op_count(op_out(c, 0));
	cost->bytes = op_bytes_but(c, 1, 0) + fmin(taken, op_bytes(op_in(c, 0)));
}

/* ---- data-dependent sizes */

static int warping_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank >= 0 && x.rank != 2 && x.rank != 3)
		return op_fail(c, err, "costs of rank %d", x.rank);
	struct dim sum =
		x.rank < 2 ? dim_unknown() : dim_add(c->arena, x.dims[x.rank - 2], x.dims[x.rank - 1]);
	output_type(c, 0, DTYPE_S32);
	output_shape(c, 0,
		op_shape_of(c->arena, 2,
			(struct dim[]){ dim_known(2), at_most(dim_sub(c->arena, sum, dim_known(1))) }));
	return 0;
}

/* Per pair of positions: the minimum of three neighbours, and an addition. */
static void warping_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 3 * op_count(op_in(c, 0));
	cost->bytes = op_bytes_all(c);
}

static int ms_unique_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 0, 1, err))
		return -1;
	struct dim n = op_dim_at(op_in(c, 0), 1, 0);
	for (int i = 0; i < 3; i++) {
		output_type(c, i, i ? DTYPE_S64 : c->inputs[0].dtype);
		output_shape(c, i, op_shape_of(c->arena, 1, (struct dim[]){ i == 1 ? n : at_most(n) }));
	}
	return 0;
}

/* Output 0: the source tokens alone without predicted tokens, else a data-dependent number of tokens. */
static int bifurcation_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 0, 1, err) || op_rank_is(c, 1, 1, err) || op_rank_is(c, 3, 1, err))
		return -1;
	output_shape(c, 0,
		op_shape_of(c->arena, 1,
			(struct dim[]){ op_in(c, 3) ? dim_unknown() : op_dim_at(op_in(c, 1), 1, 0) }));
	const struct op_value *index = op_in(c, 2);
	output_shape(c, 1, index ? op_shape_copy(c->arena, index->shape) : SHAPE_UNKNOWN);
	return 0;
}

/* ---- hashes and checks */

static int hash_shape(struct op_call *c, struct error *err)
{
	output_type(c, 0, node_int(c->node, "positive", 1) ? DTYPE_U32 : DTYPE_S32);
	return op_shape_as_input(c, err);
}

/* Writes the number of previous ids kept, max_ngram_size - 1, and of hashes per id: (max_ngram_size - 1) x
 * heads. */
static int ngram_sizes(const struct op_call *c, struct dim *kept, struct dim *hashes, struct error *err)
{
	int64_t most = node_int(c->node, "max_ngram_size", 0),
		heads = node_int(c->node, "n_head_per_ngram", 0);
	if (most < 2 || heads < 1 || most > 1 << 20 || heads > 1 << 20)
		return op_fail(c, err, "max_ngram_size %lld, n_head_per_ngram %lld", (long long)most,
			(long long)heads);
	*kept = dim_known(most - 1);
	*hashes = dim_known((most - 1) * heads);
	return 0;
}

/* Outputs: n x length x hashes; the last ids of each sequence. */
static int ngram_hash_shape(struct op_call *c, struct error *err)
{
	struct dim kept, hashes;
	if (ngram_sizes(c, &kept, &hashes, err) || op_rank_is(c, 0, 2, err))
		return -1;
	struct dim n = op_dim_at(op_in(c, 0), 2, 0);
	output_shape(c, 0, op_shape_of(c->arena, 3,
		(struct dim[]){ n, op_dim_at(op_in(c, 0), 2, 1), hashes }));
	output_shape(c, 1, op_shape_of(c->arena, 2, (struct dim[]){ n, kept }));
	return 0;
}

/* VarlenNGramHashMapping, packed sequences: tokens x hashes; the last ids and the segments of each sequence;
 * the ids after each captured token. */
static int packed_ngram_shape(struct op_call *c, struct error *err)
{
	struct dim kept, hashes, n, captured;
	if (ngram_sizes(c, &kept, &hashes, err) || op_rank_is(c, 0, 1, err) ||
		attention_sequences(c, 3, &n, err) || attention_captures(c, &captured, err))
		return -1;
	if (!op_dim_merge(hashes, op_dim_at(op_in(c, 2), 1, 0), &hashes))
		return op_fail(c, err, "%s sizes of vocabularies for %lld hashes of a token",
			shape_text(c->arena, op_in(c, 2)->shape), (long long)hashes.value);
	output_shape(c, 0, op_shape_of(c->arena, 2, (struct dim[]){ op_dim_at(op_in(c, 0), 1, 0), hashes }));
	output_shape(c, 1, op_shape_of(c->arena, 2, (struct dim[]){ n, kept }));
	output_shape(c, 2, op_shape_of(c->arena, 2, (struct dim[]){ n, kept }));
	output_shape(c, 3, op_shape_of(c->arena, 3, (struct dim[]){ n, captured, kept }));
	output_type(c, 2, DTYPE_S32);
	return 0;
}

/* The output has the type and shape of the scores. */
static int ngram_block_shape(struct op_call *c, struct error *err)
{
	if (op_rank_is(c, 0, 2, err) || op_rank_is(c, 1, 2, err))
		return -1;
	output_type(c, 0, c->inputs[1].dtype);
	output_shape(c, 0, op_shape_copy(c->arena, c->inputs[1].shape));
	return 0;
}

static int all_finite_shape(struct op_call *c, struct error *err)
{
	(void)err;
	output_type(c, 0, DTYPE_BOOL);
	output_shape(c, 0, shape_make(c->arena, 0));
	return 0;
}

static void all_finite_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	for (int i = 0; i < c->input_count; i++)
		cost->flops += op_count(op_in(c, i));
	cost->bytes = op_bytes_all(c);
}

/* The mask is a vector of bits in 32-bit words. */
static int bitmask_dropout_shape(struct op_call *c, struct error *err)
{
	(void)err;
	output_shape(c, 0, op_shape_copy(c->arena, c->inputs[0].shape));
	output_type(c, 1, DTYPE_U32);
	output_shape(c, 1,
		op_shape_of(c->arena, 1,
			(struct dim[]){
				dim_ceil_div(c->arena, shape_elements(c->arena, c->inputs[0].shape), 32) }));
	return 0;
}

/* True outside training: the input is returned unchanged. */
static bool bitmask_dropout_free(const struct op_call *c)
{
	double training;
	return !op_in(c, 2) || (op_scalar(op_in(c, 2), &training) && training == 0);
}

/* ---- precompiled graphs: the outputs have the types and shapes that the file declares, or unknown ones */

static int compiled_shape(struct op_call *c, struct error *err)
{
	(void)err;
	for (int i = 0; i < c->output_count; i++)
		c->outputs[i].dtype = DTYPE_UNKNOWN;
	return 0;
}

static void compiled_cost(const struct op_call *c, struct op_cost *cost)
{
	(void)c;
	cost->flops = cost->bytes = NAN;
}

static void compiled_problem(const struct op_call *c, struct op_problem *out)
{
	(void)c;
	op_problem_why(out, "a compiled graph: its contents are unknown");
}

/* ---- host */

/* Tokenizer: appends a dimension, the largest number of tokens of a string: unknown. */
static int tokenizer_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank >= 0 && x.rank != 1 && x.rank != 2)
		return op_fail(c, err, "strings of rank %d", x.rank);
	if (x.rank < 0)
		return 0;
	struct shape y = shape_make(c->arena, x.rank + 1);
	for (int i = 0; i < x.rank; i++)
		y.dims[i] = x.dims[i];
	c->outputs[0].shape = y;
	return 0;
}

/* GreedySearch, Sampling: n x max_length (input 1); output 1 holds logits of n x vocabulary. */
static int search_shape(struct op_call *c, struct error *err)
{
	int64_t words = node_int(c->node, "vocab_size", -1);
	(void)err;
	struct shape ids = c->inputs[0].shape;
	struct dim n = ids.rank > 1 ? ids.dims[0] : dim_unknown();
	output_type(c, 0, DTYPE_S32);
	output_shape(c, 0, op_shape_of(c->arena, 2, (struct dim[]){ n, size_at(c, 1) }));
	output_type(c, 1, DTYPE_UNKNOWN);
	output_shape(c, 1,
		op_shape_of(c->arena, 2, (struct dim[]){ n, words > 0 ? dim_known(words) : dim_unknown() }));
	return 0;
}

/* BeamSearch: n x returned sequences (input 4) x max_length (input 1). */
static int beam_shape(struct op_call *c, struct error *err)
{
	(void)err;
	struct shape ids = c->inputs[0].shape;
	struct dim n = ids.rank > 1 ? ids.dims[0] : dim_unknown(), given = size_at(c, 4);
	output_type(c, 0, DTYPE_S32);
	output_shape(c, 0, op_shape_of(c->arena, 3, (struct dim[]){ n, given, size_at(c, 1) }));
	output_shape(c, 1, op_shape_of(c->arena, 2, (struct dim[]){ n, given }));
	for (int i = 1; i < c->output_count; i++)
		output_type(c, i, DTYPE_UNKNOWN);
	return 0;
}

#define MS "com.microsoft", 1, 0
#define SEARCH "a search around a decoder that is not measured"
#define COPIED op_problem_mover, NULL, OP_COPY
#define COMPILED compiled_shape, compiled_cost, compiled_problem, NULL, "a compiled graph: not measured"
#define HOST(name, fewest, most, shape, note)                                                                \
	{                                                                                                    \
		name, MS, fewest, most, CLASS_HOST, shape, NULL, NULL, NULL, note                            \
	}

static const struct op rows[] = {
	{ "RemovePadding", MS, 2, 2, CLASS_MOVE, remove_padding_shape, op_cost_move, COPIED },
	{ "RestorePadding", MS, 2, 2, CLASS_MOVE, restore_padding_shape, op_cost_move, COPIED },
	{ "RelativePositionBias", MS, 3, 3, CLASS_MOVE, relative_bias_shape, relative_bias_cost, COPIED },
	{ "GatedRelativePositionBias", MS, 6, 7, CLASS_MEMORY, gated_bias_shape, gated_bias_cost, COPIED },
	{ "GemmaRotaryEmbedding", MS, 5, 5, CLASS_MEMORY, gemma_rotary_shape, gemma_rotary_cost, COPIED },
	{ "UnfoldTensor", MS, 1, 1, CLASS_MOVE, unfold_shape, op_cost_move, COPIED },
	{ "Rfft", MS, 1, 1, CLASS_MEMORY, rfft_shape, rfft_cost, COPIED },
	{ "Irfft", MS, 1, 1, CLASS_MEMORY, rfft_shape, rfft_cost, COPIED },
	{ "ComplexMul", MS, 2, 2, CLASS_MEMORY, broadcast_shape, complex_cost, COPIED },
	{ "ComplexMulConj", MS, 2, 2, CLASS_MEMORY, broadcast_shape, complex_cost, COPIED },
	{ "ExpandDims", MS, 2, 2, CLASS_FREE, expand_dims_shape, NULL, NULL, NULL, NULL },
	{ "SampleOp", MS, 1, 1, CLASS_FREE, op_shape_as_input, NULL, NULL, NULL, NULL },
	{ "Range", MS, 2, 3, CLASS_MOVE, ms_range_shape, op_cost_move, COPIED },
	{ "CropAndResize", MS, 4, 4, CLASS_MEMORY, crop_shape, crop_cost, COPIED },
	{ "DynamicTimeWarping", MS, 1, 1, CLASS_MEMORY, warping_shape, warping_cost, COPIED },
	{ "Unique", MS, 1, 1, CLASS_MEMORY, ms_unique_shape, bytes_cost, COPIED },
	{ "BifurcationDetector", MS, 3, 4, CLASS_MEMORY, bifurcation_shape, bytes_cost, COPIED },
	{ "MurmurHash3", MS, 1, 1, CLASS_MEMORY, hash_shape, bytes_cost, COPIED },
	{ "NGramHashMapping", MS, 3, 7, CLASS_MEMORY, ngram_hash_shape, bytes_cost, COPIED },
	{ "VarlenNGramHashMapping", MS, 4, 10, CLASS_MEMORY, packed_ngram_shape, bytes_cost, COPIED },
	{ "NGramRepeatBlock", MS, 2, 2, CLASS_MEMORY, ngram_block_shape, bytes_cost, COPIED },
	{ "IsAllFinite", MS, 1, -1, CLASS_MEMORY, all_finite_shape, all_finite_cost, COPIED },
	{ "BitmaskDropout", MS, 1, 3, CLASS_MEMORY, bitmask_dropout_shape, op_cost_eltwise, op_problem_mover,
		bitmask_dropout_free, "free at inference" },
	{ "EPContext", MS, 0, -1, CLASS_COMPUTE, COMPILED },
	{ "Snpe", MS, 1, -1, CLASS_COMPUTE, COMPILED },
	HOST("Tokenizer", 1, 1, tokenizer_shape, "text, no kernel to measure"),
	HOST("GreedySearch", 2, 7, search_shape, SEARCH),
	HOST("Sampling", 2, 9, search_shape, SEARCH),
	HOST("BeamSearch", 2, 12, beam_shape, SEARCH),
	HOST("WhisperBeamSearch", 2, 15, beam_shape, SEARCH),
};
const struct op_rows op_microsoft_rest_rows = OP_ROWS(rows);
