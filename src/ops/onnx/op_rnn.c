/* Recurrent layers: RNN, GRU, LSTM. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include <math.h>

/* Indexes of inputs after source and both weights. */
enum { RNN_BIAS = 3, RNN_LENGTHS = 4, RNN_STATE = 5, RNN_CELL = 6, RNN_PEEPHOLES = 7 };

struct rnn {
	enum mode mode;
	int gates;
	double cell; /* operations per cell element after the gates' sums */
	int activations;
	const char *activation[3]; /* default activations of a direction */
};

struct rnn_sizes {
	struct dim steps, n, input, hidden, directions;
	bool batch_first;
};

/* Merges the batch and the hidden size of an initial state with those of source and weights. */
static int rnn_state(const struct op_call *c, int input, struct rnn_sizes *s, struct error *err)
{
	const struct op_value *v = op_in(c, input);
	if (op_rank(v) < 0)
		return 0;
	int n = s->batch_first ? 0 : 1;
	if (v->shape.rank != 3 || dim_differs(v->shape.dims[1 - n], s->directions) ||
		!op_dim_merge(s->n, v->shape.dims[n], &s->n) ||
		!op_dim_merge(s->hidden, v->shape.dims[2], &s->hidden))
		return op_fail(c, err, "an initial state of shape %s for a source of shape %s",
			shape_text(c->arena, v->shape), shape_text(c->arena, c->inputs[0].shape));
	return 0;
}

static int rnn_get(const struct op_call *c, struct rnn_sizes *s, struct error *err)
{
	const struct rnn *row = c->op->own;
	struct shape x = c->inputs[0].shape, w = c->inputs[1].shape, r = c->inputs[2].shape;
	struct text direction = node_string(c->node, "direction", "forward");
	int64_t hidden = node_int(c->node, "hidden_size", 0);
	bool both = text_is(direction, "bidirectional");
	s->steps = s->n = s->input = dim_unknown();
	s->directions = dim_known(both ? 2 : 1);
	s->batch_first = c->opset >= 14 && node_int(c->node, "layout", 0) != 0;
	if ((x.rank >= 0 && x.rank != 3) || (w.rank >= 0 && w.rank != 3) || (r.rank >= 0 && r.rank != 3))
		return op_fail(c, err, "source and weights must have 3 dimensions");
	if (!both && !text_is(direction, "forward") && !text_is(direction, "reverse"))
		return op_fail(c, err, "direction is not forward, reverse or bidirectional");
	s->hidden = hidden > 0 ? dim_known(hidden) : dim_unknown();
	if (r.rank == 3 && !op_dim_merge(s->hidden, r.dims[2], &s->hidden))
		return op_fail(c, err, "hidden_size is %lld, the recurrent weights are %s", (long long)hidden,
			shape_text(c->arena, r));
	if (x.rank == 3) {
		s->steps = x.dims[s->batch_first ? 1 : 0];
		s->n = x.dims[s->batch_first ? 0 : 1];
		s->input = x.dims[2];
	}
	if (w.rank == 3 &&
		(!op_dim_merge(s->input, w.dims[2], &s->input) || dim_differs(w.dims[0], s->directions) ||
			dim_differs(w.dims[1], dim_mul(c->arena, s->hidden, dim_known(row->gates)))))
		return op_fail(c, err, "weights of shape %s for a source of shape %s",
			shape_text(c->arena, w), shape_text(c->arena, x));
	return rnn_state(c, RNN_STATE, s, err) || rnn_state(c, RNN_CELL, s, err) ? -1 : 0;
}

/* All states, then the last one (and the last cell state). */
static RULE_SHAPE(rnn)
{
	struct rnn_sizes s;
	if (rnn_get(c, &s, err))
		return -1;
	for (int i = 0; i < c->output_count && i < 3; i++) {
		struct dim all[2][4] = { { s.steps, s.directions, s.n, s.hidden },
			{ s.n, s.steps, s.directions, s.hidden } };
		struct dim last[2][3] = { { s.directions, s.n, s.hidden }, { s.n, s.directions, s.hidden } };
		struct shape y = shape_make(c->arena, i == 0 ? 4 : 3);
		for (int j = 0; j < y.rank; j++)
			y.dims[j] = i == 0 ? all[s.batch_first][j] : last[s.batch_first][j];
		c->outputs[i].shape = y;
	}
	return 0;
}

static RULE_COST(rnn)
{
	const struct rnn *row = c->op->own;
	struct rnn_sizes s;
	struct error err;
	if (rnn_get(c, &s, &err))
		return;
	double states = op_dim_number(s.steps) * op_dim_number(s.n) * op_dim_number(s.directions) *
		op_dim_number(s.hidden);
	double each = 2 * (op_dim_number(s.input) + op_dim_number(s.hidden)) + (op_in(c, RNN_BIAS) ? 2 : 0);
	cost->flops = states * (row->gates * each + row->cell);
	cost->bytes = op_bytes_all(c);
}

/* True for a plain RNN with relu in every direction. */
static bool rnn_is_relu(const struct op_call *c, const struct rnn *row)
{
	const struct attribute *a = node_attribute(c->node, "activations");
	bool is = row->mode == MODE_RNN_TANH && a && a->kind == ATTRIBUTE_STRINGS && a->count > 0;
	for (size_t i = 0; is && i < a->count; i++)
		is = text_is(a->strings[i], "Relu");
	return is;
}

/* True if every direction has the activations that libraries offer. */
static bool rnn_is_usual(const struct op_call *c, const struct rnn *row)
{
	const struct attribute *a = node_attribute(c->node, "activations");
	for (size_t i = 0; a && a->kind == ATTRIBUTE_STRINGS && i < a->count; i++) {
		if (!text_is(a->strings[i], row->activation[i % (size_t)row->activations]))
			return false;
	}
	return true;
}

/* True if all sequences are known to be as long as the source. */
static bool rnn_is_full(const struct op_call *c, struct dim steps)
{
	const struct op_value *lengths = op_in(c, RNN_LENGTHS);
	if (!lengths)
		return true;
	if (!op_elements_concrete(lengths->elements) || !lengths->elements->i)
		return false;
	for (int i = 0; i < lengths->elements->count; i++) {
		if (!dim_same(lengths->elements->i[i], steps))
			return false;
	}
	return true;
}

/* True if the layer differs from the kernel, which has the same matmuls. */
static bool rnn_is_proxy(const struct op_call *c, const struct rnn *row, const struct rnn_sizes *s)
{
	bool gru_first = row->mode == MODE_GRU && node_int(c->node, "linear_before_reset", 0) == 0;
	return gru_first || s->batch_first || !(rnn_is_usual(c, row) || rnn_is_relu(c, row)) ||
		!rnn_is_full(c, s->steps) || op_in(c, RNN_PEEPHOLES) ||
		node_int(c->node, "input_forget", 0) || node_float(c->node, "clip", 0) > 0 ||
		text_is(node_string(c->node, "direction", "forward"), "reverse");
}

RULE_PROBLEM(op_rnn)
{
	const struct rnn *row = c->op->own;
	struct rnn_sizes s;
	struct error err;
	if (!op_problem_ready(c, out))
		return;
	if (rnn_get(c, &s, &err)) {
		op_problem_why(out, arena_printf(c->arena, "%s", err.text));
		return;
	}
	/* the kernel always writes all states */
	struct op_value states = { .present = true, .dtype = c->inputs[0].dtype,
		.shape = op_shape_of(c->arena, 4, (struct dim[]){ s.steps, s.directions, s.n, s.hidden }) };
	if (!op_problem_value(c, &states, out))
		return;
	struct problem *p = op_problem_start(out, KERNEL_RNN,
		rnn_is_relu(c, row) ? MODE_RNN_RELU : row->mode);
	p->operand[0] = op_operand(&c->inputs[0]);
	p->operand[1] = op_operand(&c->inputs[1]);
	p->operand[1].constant = c->inputs[1].constant && c->inputs[2].constant;
	p->operand[2] = op_operand(&states);
	p->steps = s.steps.value;
	p->n = s.n.value;
	p->input_size = s.input.value;
	p->hidden_size = s.hidden.value;
	p->directions = s.directions.value;
	out->proxy = rnn_is_proxy(c, row, &s);
}

#define RECURRENT "peepholes, lengths and other activations or directions are not measured (proxy)"

#define RNN(name, most, ...)                                                                                 \
	{ name, "", 1, 0, 3, most, CLASS_COMPUTE, rnn_shape, rnn_cost, op_rnn_problem, NULL, RECURRENT, \
		&(const struct rnn){ __VA_ARGS__ } }

static const struct op rows[] = {
	RNN("GRU", 6, MODE_GRU, 3, 8, 2, { "Sigmoid", "Tanh", NULL }),
	RNN("LSTM", 8, MODE_LSTM, 4, 9, 3, { "Sigmoid", "Tanh", "Tanh" }),
	RNN("RNN", 6, MODE_RNN_TANH, 1, 1, 1, { "Tanh", NULL, NULL }),
};
const struct op_rows op_rnn_rows = OP_ROWS(rows);
