/* Operators of com.microsoft for recurrent and speculative decoding, new in ONNX Runtime 1.32: RMSNormRotary,
 * HyperConnectionLowRankMix, Mamba2Verify, ConvStateReplay, GatedDeltaNetStateReplay,
 * PackedSparseAttentionIndexerMerge, SpeculativePrefixCommit. Source: the operators' schemas. */
#include "config.h"

#include "ops/microsoft/op_microsoft.h"

#include <math.h>

/* ---- RMSNormRotary: RMS normalization of a slice of every head, then a rotation of the slice's first
 * values */

enum { ROTARY_POSITIONS = 2, ROTARY_COSINE, ROTARY_SINE };

/* Writes the number of normalized values per head: input_width, or the whole head. Returns -1 after an
 * error. */
static int rotary_width(const struct op_call *c, struct dim *width, struct error *err)
{
	int64_t start = node_int(c->node, "input_start", 0), wide = node_int(c->node, "input_width", 0);
	int64_t turned = node_int(c->node, "rotary_embedding_dim", 0);
	struct dim stride = op_dim_at(&c->inputs[0], 4, 3);
	if (op_rank_is(c, 0, 4, err) || op_rank_is(c, 1, 1, err) || op_rank_is(c, ROTARY_COSINE, 2, err))
		return -1;
	*width = wide > 0 ? dim_known(wide) : stride;
	if (start < 0 || start > INT32_MAX || wide < 0 || wide > INT32_MAX)
		return op_fail(
			c, err, "a slice of %lld values from %lld on", (long long)wide, (long long)start);
	if (stride.kind == DIM_KNOWN && start + width->value > stride.value)
		return op_fail(c, err, "values %lld to %lld of %lld", (long long)start,
			(long long)(start + width->value), (long long)stride.value);
	if (turned < 2 || turned % 2 || (width->kind == DIM_KNOWN && turned > width->value))
		return op_fail(c, err, "rotary_embedding_dim is %lld", (long long)turned);
	if (!op_dim_merge(*width, op_dim_at(op_in(c, 1), 1, 0), width))
		return op_fail(c, err, "a scale of %s for %lld values",
			shape_text(c->arena, c->inputs[1].shape), (long long)width->value);
	return 0;
}

static RULE_SHAPE(norm_rotary)
{
	struct dim width;
	const struct op_value *x = &c->inputs[0];
	if (rotary_width(c, &width, err))
		return -1;
	struct dim n = op_dim_at(x, 4, 0), length = op_dim_at(x, 4, 1), heads = op_dim_at(x, 4, 2),
		   one = dim_known(1);
	struct dim row = dim_mul(c->arena, heads, width);
	bool flat = node_int(c->node, "flatten_batch", 0) != 0;
	c->outputs[0].dtype = node_int(c->node, "output_fp16", 0) ? DTYPE_F16 : DTYPE_BF16;
	c->outputs[0].shape = op_shape_of(c->arena, 3,
		(struct dim[]){ flat ? one : n, flat ? dim_mul(c->arena, n, length) : length, row });
	if (c->output_count > 1) {
		c->outputs[1].dtype = DTYPE_F32;
		c->outputs[1].shape = op_shape_of(c->arena, 4, (struct dim[]){ n, length, heads, width });
	}
	return 0;
}

/* 4 operations per normalized value, 3 per rotated one. Reads the slice of the input, and one row of the sine
 * and cosine caches per token. */
static RULE_COST(norm_rotary)
{
	struct dim width;
	struct error err;
	if (rotary_width(c, &width, &err))
		return;
	double turned = (double)node_int(c->node, "rotary_embedding_dim", 0), y = op_count(op_out(c, 0));
	double values = op_dim_number(width),
	       tokens = microsoft_size_at(c, 0, 4, 0) * microsoft_size_at(c, 0, 4, 1);
	const struct op_value *x = &c->inputs[0];
	cost->flops = y * 4 + 3 * y * turned / values;
	cost->bytes = op_bytes_but(c, 1u | 3u << ROTARY_COSINE, 0) + dtype_bytes(x->dtype, y);
	for (int i = ROTARY_COSINE; i <= ROTARY_SINE; i++)
		cost->bytes +=
			fmin(op_bytes(op_in(c, i)), dtype_bytes(c->inputs[i].dtype, tokens * turned / 2));
}

/* Proxy: the normalization alone, with the same number of rows. */
static RULE_PROBLEM(norm_rotary)
{
	struct dim width;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (rotary_width(c, &width, &err) || width.kind != DIM_KNOWN || width.value < 1) {
		op_problem_why(out, "the normalized width is not known");
		return;
	}
	double rows = op_count(&c->outputs[0]) / (double)width.value;
	op_problem_norm(&c->inputs[0], &c->outputs[0], KERNEL_RMSNORM, 3, out);
	out->problem.shape[0] = (struct problem_shape){ .rank = 2, .dim = { (int64_t)rows, width.value } };
	out->problem.axis = 1;
	out->proxy = true;
}

/* ---- HyperConnectionLowRankMix: num_branches streams of H values, normalized, gated by a low-rank network
 * and added */

enum { MIX_DOWN = 2, MIX_UP, MIX_INJECT, MIX_PREVIOUS };

static int mix_sizes(const struct op_call *c, struct dim *width, struct error *err)
{
	const struct op_value *x = &c->inputs[0];
	int64_t branches = node_int(c->node, "num_branches", 0);
	struct dim wide = x->shape.rank > 0 ? x->shape.dims[x->shape.rank - 1] : dim_unknown();
	if (x->shape.rank == 0 || branches < 1 || (wide.kind == DIM_KNOWN && wide.value % branches))
		return op_fail(c, err, "num_branches is %lld, streams %s", (long long)branches,
			shape_text(c->arena, x->shape));
	*width = dim_floor_div(c->arena, wide, dim_known(branches));
	const struct dim want[] = { [MIX_DOWN] = wide, op_dim_at(op_in(c, MIX_DOWN), 2, 1), wide };
	for (int i = MIX_DOWN; i <= MIX_INJECT; i++) {
		if (op_rank_is(c, i, 2, err))
			return -1;
		if (dim_differs(op_dim_at(op_in(c, i), 2, 0), want[i]))
			return op_fail(c, err, "streams %s, input %d %s", shape_text(c->arena, x->shape), i,
				shape_text(c->arena, c->inputs[i].shape));
	}
	return 0;
}

static RULE_SHAPE(low_rank_mix)
{
	struct dim width;
	if (mix_sizes(c, &width, err))
		return -1;
	struct dim last[] = { width, dim_known(node_int(c->node, "num_branches", 0)) };
	for (int i = 0; i < c->output_count; i++) {
		struct shape y = op_shape_copy(c->arena, c->inputs[0].shape);
		if (y.rank > 0 && i < 2)
			y.dims[y.rank - 1] = last[i];
		c->outputs[i].shape = y;
	}
	return 0;
}

/* Three matmuls. Per value of a stream: 4 for the norm, 3 for its gate and the sum, 2 for the earlier block.
 * 3 per value between the low-rank matmuls and per gate of the next block. */
static RULE_COST(low_rank_mix)
{
	const struct op_value *x = &c->inputs[0];
	double wide = x->shape.rank > 0 ? op_dim_number(x->shape.dims[x->shape.rank - 1]) : NAN;
	double rows = op_count(x) / wide, rank = microsoft_size_at(c, MIX_DOWN, 2, 1),
	       branches = microsoft_size_at(c, MIX_INJECT, 2, 1);
	double each = 7 + (op_in(c, MIX_PREVIOUS) ? 2 : 0);
	cost->flops = rows * (2 * wide * (2 * rank + branches) + each * wide + 3 * (rank + branches));
	cost->bytes = op_bytes_all(c);
}

/* Proxy: one matmul with the multiplications of all three. */
static RULE_PROBLEM(low_rank_mix)
{
	const struct op_value *x = &c->inputs[0], *down = op_in(c, MIX_DOWN);
	if (!op_problem_ready(c, out))
		return;
	if (x->shape.rank < 1 || down->shape.rank != 2) {
		op_problem_why(out, "a rank is not known");
		return;
	}
	struct dim wide = x->shape.dims[x->shape.rank - 1];
	struct dim columns = dim_add(c->arena, dim_mul(c->arena, down->shape.dims[1], dim_known(2)),
		op_dim_at(op_in(c, MIX_INJECT), 2, 1));
	struct dim rows =
		shape_elements(c->arena, (struct shape){ .rank = x->shape.rank - 1, .dims = x->shape.dims });
	if (op_problem_matmul(x, down, &c->outputs[0], rows, columns, wide, out))
		out->proxy = true;
}

/* ---- Mamba2Verify: a convolution of four taps, a state-space recurrence and a gated norm, over R tokens */

enum { MAMBA_CONV = 1, MAMBA_STATE };

struct mamba {
	struct dim rows, channels, inner; /* tokens; convolved channels; heads x head_dim */
	struct dim heads, head, state;
};

static int mamba_get(const struct op_call *c, struct mamba *m, struct error *err)
{
	int64_t heads = node_int(c->node, "heads", 0), groups = node_int(c->node, "n_groups", 0);
	int64_t head = node_int(c->node, "head_dim", 64), state = node_int(c->node, "d_state", 128);
	int64_t most = 1 << 20;
	if (heads < 1 || groups < 1 || heads > most || heads % groups || head < 1 || head > most ||
		state < 1 || state > most)
		return op_fail(c, err, "%lld heads of %lld in %lld groups, d_state %lld", (long long)heads,
			(long long)head, (long long)groups, (long long)state);
	*m = (struct mamba){ .rows = op_dim_at(&c->inputs[0], 2, 0),
		.channels = dim_known(heads * head + 2 * groups * state),
		.inner = dim_known(heads * head),
		.heads = dim_known(heads),
		.head = dim_known(head),
		.state = dim_known(state) };
	struct dim wide = dim_known(m->inner.value + m->channels.value + heads);
	if (op_rank_is(c, 0, 2, err) || op_rank_is(c, MAMBA_CONV, 3, err) ||
		op_rank_is(c, MAMBA_STATE, 4, err))
		return -1;
	if (dim_differs(op_dim_at(&c->inputs[0], 2, 1), wide))
		return op_fail(c, err, "projection %s, not %lld values a row",
			shape_text(c->arena, c->inputs[0].shape), (long long)wide.value);
	if (dim_differs(op_dim_at(op_in(c, MAMBA_CONV), 3, 1), m->channels) ||
		dim_differs(op_dim_at(op_in(c, MAMBA_CONV), 3, 0), op_dim_at(op_in(c, MAMBA_STATE), 4, 0)))
		return op_fail(c, err, "states %s and %s do not fit",
			shape_text(c->arena, c->inputs[MAMBA_CONV].shape),
			shape_text(c->arena, c->inputs[MAMBA_STATE].shape));
	return 0;
}

static RULE_SHAPE(mamba_verify)
{
	struct mamba m;
	if (mamba_get(c, &m, err))
		return -1;
	microsoft_output_like(c, 1, MAMBA_CONV);
	microsoft_output_like(c, 2, MAMBA_STATE);
	for (int i = 0; i < c->output_count; i += i ? 1 : 3) {
		c->outputs[i].shape =
			op_shape_of(c->arena, 2, (struct dim[]){ m.rows, i == 3 ? m.channels : m.inner });
		c->outputs[i].dtype = i == 4 ? DTYPE_F32 : c->inputs[0].dtype;
	}
	return 0;
}

/* Per token: 10 per convolved channel (4 taps, bias, SiLU), 5 per element of the state (decay, update,
 * readout), 9 per value of the result (skip, time step, gate, norm), 4 per head. Reads one snapshot of the
 * state and writes one per token. */
static RULE_COST(mamba_verify)
{
	struct mamba m;
	struct error err;
	if (mamba_get(c, &m, &err))
		return;
	double rows = op_dim_number(m.rows), slots = microsoft_size_at(c, MAMBA_STATE, 4, 0),
	       inner = op_dim_number(m.inner);
	double each = 10 * op_dim_number(m.channels) + inner * (5 * op_dim_number(m.state) + 9) +
		      4 * op_dim_number(m.heads);
	double states = (op_bytes(op_in(c, MAMBA_CONV)) + op_bytes(op_in(c, MAMBA_STATE))) / slots;
	cost->flops = rows * each;
	cost->bytes = op_bytes_but(c, 3u << MAMBA_CONV, 3u << 1) + states * (1 + fmin(rows, slots));
}

/* Proxy: per state, one matmul with the same number of multiplications, as if tokens were independent. */
static RULE_PROBLEM(mamba_verify)
{
	struct mamba m;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (mamba_get(c, &m, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	struct op_value state = c->inputs[0];
	state.constant = false;
	if (!op_problem_matmul(&c->inputs[0], &state, &c->outputs[0], m.rows,
		    dim_mul(c->arena, m.head, dim_known(2)), m.state, out))
		return;
	out->problem.batch_a.dim[0] = out->problem.batch_b.dim[0] = m.heads.value;
	out->proxy = true;
}

/* ---- ConvStateReplay, GatedDeltaNetStateReplay: write one state inside a buffer, from sizes in input 3 */

enum { REPLAY_BUFFER = 2, REPLAY_SIZES };

static RULE_SHAPE(replay)
{
	for (int i = 0; i < REPLAY_SIZES; i++) {
		if (op_rank_is(c, i, 1, err))
			return -1;
	}
	microsoft_output_like(c, 0, REPLAY_BUFFER);
	return op_rank_is(c, REPLAY_SIZES, 1, err);
}

/* Reads `count` sizes of input 3 from element `from` on; false if one is unknown or negative. */
static bool replay_sizes(const struct op_call *c, int from, int count, double *sizes)
{
	struct op_list list = op_list_get(c, NULL, REPLAY_SIZES);
	if (!op_list_all_known(&list) || list.count < from + count)
		return false;
	for (int i = 0; i < count; i++) {
		if (list.at[from + i].value < 0)
			return false;
		sizes[i] = (double)list.at[from + i].value;
	}
	return true;
}

/* Sizes are batch, channels, history: copies each value of the history once. Upper bound if the sizes depend
 * on the data: the whole buffer. */
static RULE_COST(conv_replay)
{
	double sizes[3];
	bool known = replay_sizes(c, 3, 3, sizes);
	const struct op_value *buffer = op_in(c, REPLAY_BUFFER);
	double values = known ? sizes[0] * sizes[1] * sizes[2] : op_count(buffer);
	cost->flops = 0;
	cost->bytes = 2 * dtype_bytes(buffer->dtype, values) + op_bytes(op_in(c, REPLAY_SIZES));
	cost->upto = !known && !isnan(cost->bytes);
}

/* Sizes are value heads Hv, Dv, Dk, key heads Hk, capacity, kept tokens. Each kept token decays the state and
 * adds an outer product, 3 operations per element, and reads its decays, key and delta. Upper bound if the
 * sizes depend on the data: all bytes. */
static RULE_COST(delta_replay)
{
	double s[6], starts[2] = { 0, 0 };
	cost->bytes = op_bytes_all(c);
	cost->upto = !isnan(cost->bytes);
	if (!replay_sizes(c, 5, 6, s) || !replay_sizes(c, 2, 2, starts))
		return;
	double state = s[0] * s[1] * s[2], kept = s[5], decays = s[0];
	if (starts[1] - starts[0] == s[4] * s[0] * s[2])
		decays *= s[2]; /* a decay per key value */
	cost->flops = 3 * state * kept;
	cost->bytes = 4 * (2 * state + kept * (decays + s[3] * s[2] + s[0] * s[1])) +
		      op_bytes(op_in(c, REPLAY_SIZES));
	cost->upto = false;
}

/* ---- PackedSparseAttentionIndexerMerge: unions of selected indices, a fixed number per query */

static RULE_SHAPE(index_merge)
{
	int64_t most = node_int(c->node, "max_output_entries", 0);
	struct dim queries = op_dim_at(op_in(c, 2), 1, 0);
	if (most < 1 || most > (int64_t)1 << 30)
		return op_fail(c, err, "max_output_entries is %lld, not 1 to 2^30", (long long)most);
	if (op_rank_is(c, 0, 2, err) || op_rank_is(c, 1, 1, err) || op_rank_is(c, 2, 1, err))
		return -1;
	for (int i = 0; i < c->output_count; i++) {
		c->outputs[i].dtype = DTYPE_S32;
		c->outputs[i].shape =
			op_shape_of(c->arena, i ? 1 : 2, (struct dim[]){ queries, dim_known(most) });
	}
	return 0;
}

/* ---- SpeculativePrefixCommit: 16 control words and the committed context of each sequence */

enum { COMMIT_TOKENS, COMMIT_CONTROL = 3, COMMIT_CONTEXT };

static RULE_SHAPE(prefix_commit)
{
	const struct op_value *tokens = &c->inputs[COMMIT_TOKENS], *control = op_in(c, COMMIT_CONTROL);
	struct dim words = control->shape.rank < 0 ? dim_unknown() : shape_elements(c->arena, control->shape);
	int rank = op_rank(tokens);
	if (rank == 0 || rank > 2)
		return op_fail(c, err, "next_tokens of rank %d, not 1 or 2", rank);
	if (words.kind == DIM_KNOWN && words.value % 16)
		return op_fail(c, err, "ctl has %lld words, not 16 a sequence", (long long)words.value);
	struct dim batch = dim_floor_div(c->arena, words, dim_known(16));
	struct dim given = rank == 2 ? tokens->shape.dims[0] : rank == 1 ? dim_known(1) : dim_unknown();
	if (!op_dim_merge(batch, given, &batch))
		return op_fail(c, err, "next_tokens %s, ctl %s", shape_text(c->arena, tokens->shape),
			shape_text(c->arena, control->shape));
	c->outputs[0].dtype = DTYPE_S32;
	c->outputs[0].shape = op_shape_of(c->arena, 1, &batch);
	microsoft_output_like(c, 1, COMMIT_CONTROL);
	microsoft_output_like(c, 2, COMMIT_CONTEXT);
	return 0;
}

#define MS "com.microsoft", 1, 0

static const struct op rows[] = {
	{ "RMSNormRotary", MS, 5, 6, CLASS_MEMORY, norm_rotary_shape, norm_rotary_cost, norm_rotary_problem,
		NULL, "measured as the normalization alone (proxy)" },
	{ "HyperConnectionLowRankMix", MS, 5, 7, CLASS_COMPUTE, low_rank_mix_shape, low_rank_mix_cost,
		low_rank_mix_problem, NULL, "measured as one matmul with all multiplications (proxy)" },
	{ "Mamba2Verify", MS, 10, 10, CLASS_COMPUTE, mamba_verify_shape, mamba_verify_cost,
		mamba_verify_problem, NULL,
		"measured as one matmul, without the dependences between tokens (proxy)" },
	{ "ConvStateReplay", MS, 4, 4, CLASS_MOVE, replay_shape, conv_replay_cost, op_problem_mover, NULL,
		OP_COPY },
	{ "GatedDeltaNetStateReplay", MS, 4, 4, CLASS_MEMORY, replay_shape, delta_replay_cost,
		op_problem_mover, NULL, OP_COPY },
	{ "PackedSparseAttentionIndexerMerge", MS, 3, 7, CLASS_MOVE, index_merge_shape, op_cost_move,
		op_problem_mover, NULL, OP_COPY },
	{ "SpeculativePrefixCommit", MS, 7, 7, CLASS_MOVE, prefix_commit_shape, op_cost_move,
		op_problem_mover, NULL, OP_COPY },
};
const struct op_rows op_microsoft_replay_rows = OP_ROWS(rows);
