/* Recurrent layers. oneDNN takes input weights, recurrent weights and biases as three arguments, a problem
 * has one blob (check.h); oneDNN has one bias per gate, a problem two; and a GRU's update gate comes
 * before the reset gate. Outputs of both directions are one vector, t n (d h), which is the layout chosen
 * for a destination without one. */
#include "config.h"

#include "runner/onednn/onednn_case_private.h"

#include <string.h>

#include "runner/verify/integers.h"

/* Biases per cell. A GRU that resets after the recurrent matmul has a separate bias for it. */
static int64_t biases_of(const struct problem *p)
{
	return mode_gates(p->mode) + (p->mode == MODE_GRU);
}

/* Adds weights from `from` values to the gates: in the library's layout if they are constant, else as in
 * the blob. */
static struct onednn_arg *weights_add(
	struct onednn_case *c, int arg, const char *role, int64_t from, struct error *err)
{
	const struct problem *p = &c->problem;
	const struct operand *o = &p->operand[1];
	int64_t gates = mode_gates(p->mode), h = p->hidden_size;
	struct problem_shape s = { .rank = 5, .dim = { 1, p->directions, from, gates, h } };
	const int64_t strides[5] = { p->directions * gates * h * from, gates * h * from, 1, h * from, from };
	struct onednn_arg *a = o->constant && o->layout == LAYOUT_ANY ?
		onednn_arg_add(c, arg, role, o, s, CHOICE_LIBRARY, err) :
		onednn_arg_add_strided(c, arg, role, o, s, strides, err);
	if (a) {
		a->letters = "ldigo";
		a->fill = FILL_SMALL;
	}
	return a;
}

int onednn_build_rnn(struct onednn_case *c, enum onednn_choice choice, struct error *err)
{
	const struct problem *p = &c->problem;
	struct problem_shape out = { .rank = 3, .dim = { p->steps, p->n, p->directions * p->hidden_size } };
	struct problem_shape bias = { .rank = 4, .dim = { 1, p->directions, biases_of(p), p->hidden_size } };
	const struct operand plain = { .dtype = p->operand[1].dtype, .constant = p->operand[1].constant };
	if (p->directions > 1 && p->n > 1 && p->operand[2].layout != LAYOUT_ANY)
		return error_set(
			err, "oneDNN interleaves the outputs of both directions, this layout separates them");
	struct onednn_arg *a = onednn_arg_add(
		c, DNNL_ARG_SRC_LAYER, "src", &p->operand[0], problem_operand_shape(p, 0), CHOICE_NCX, err);
	if (!a)
		return -1;
	a->letters = "tnc";
	c->op.src = a->md;
	a = weights_add(c, DNNL_ARG_WEIGHTS_LAYER, "wei", p->input_size, err);
	if (!a)
		return -1;
	c->op.src1 = a->md;
	a = weights_add(c, DNNL_ARG_WEIGHTS_ITER, "", p->hidden_size, err);
	if (!a)
		return -1;
	c->op.src2 = a->md;
	a = onednn_arg_add(c, DNNL_ARG_BIAS, "", &plain, bias, CHOICE_NCX, err);
	if (!a)
		return -1;
	a->fill = FILL_SMALL;
	c->op.bias = a->md;
	a = onednn_arg_add(c, DNNL_ARG_DST_LAYER, "dst", &p->operand[2], out, CHOICE_NCX, err);
	if (!a)
		return -1;
	a->letters = "tnc";
	c->op.dst = a->md;
	c->op.mode = p->mode;
	c->op.both_directions = p->directions > 1;
	(void)choice;
	return 0;
}

/* The library's index of a gate. */
static int64_t gate_place(const struct problem *p, int64_t gate)
{
	return p->mode == MODE_GRU && gate < 2 ? 1 - gate : gate;
}

/* Copies matrices [gate][to][from] of one direction from rows [from][gate][to]. */
static void matrices_copy(const struct problem *p, const float *from, int64_t width, float *to)
{
	int64_t gates = mode_gates(p->mode), h = p->hidden_size;
	for (int64_t g = 0; g < gates; g++)
		for (int64_t j = 0; j < h; j++)
			for (int64_t i = 0; i < width; i++)
				*to++ = from[(i * gates + gate_place(p, g)) * h + j];
}

float *onednn_rnn_blob(const struct problem *p, const float *input, const float *recurrent, const float *bias)
{
	int64_t gates = mode_gates(p->mode), h = p->hidden_size, rows = gates * h, biases = biases_of(p);
	int64_t matrices = rows * (p->input_size + h), all = p->directions * (matrices + 2 * rows);
	float *blob = base_calloc((size_t)all, sizeof(*blob)), *biases_at = blob + p->directions * matrices;
	for (int64_t d = 0; d < p->directions; d++) {
		float *to = blob + d * matrices;
		matrices_copy(p, input + d * rows * p->input_size, p->input_size, to);
		matrices_copy(p, recurrent + d * rows * h, h, to + rows * p->input_size);
		for (int64_t g = 0; g < gates; g++)
			memcpy(biases_at + (2 * d * gates + g) * h,
				bias + (d * biases + gate_place(p, g)) * h, (size_t)h * sizeof(*blob));
		if (p->mode == MODE_GRU) /* the reset bias comes after those of the gates */
			memcpy(biases_at + (2 * d * gates + 5) * h, bias + (d * biases + 3) * h,
				(size_t)h * sizeof(*blob));
	}
	return blob;
}

int64_t onednn_rnn_place(const struct problem *p, int64_t index)
{
	int64_t h = index % p->hidden_size, n = index / p->hidden_size % p->n;
	int64_t d = index / p->hidden_size / p->n % p->directions,
		t = index / p->hidden_size / p->n / p->directions;
	return ((t * p->n + n) * p->directions + d) * p->hidden_size + h;
}
