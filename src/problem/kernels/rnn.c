/* Recurrent layers: rnn. */
#include "config.h"

#include "problem/problem_private.h"
#include "problem/problem_segments.h"

static const struct segment_field fields[] = { SEGMENT_FIELD("t", steps), SEGMENT_FIELD("n", n),
	SEGMENT_FIELD("i", input_size), SEGMENT_FIELD("h", hidden_size), SEGMENT_FIELD("d", directions),
	{ 0 } };

static void sizes_write(const struct problem *p, struct str *out)
{
	fields_write(fields, p, out);
}

static int sizes_read(struct cursor *c, struct problem *p)
{
	return fields_read(fields, c, p);
}

static const struct segment seg_sizes = { "sizes", sizes_write, sizes_read };

static int check(const struct problem *p, struct error *err)
{
	int64_t sizes[5] = { p->steps, p->n, p->input_size, p->hidden_size, p->directions };
	if (problem_check_positive(sizes, 0, 5, "a size", err))
		return -1;
	if (p->directions > 2 || p->input_size > 1 << 24 || p->hidden_size > 1 << 24)
		return error_set(err, "problem: directions, input or hidden size are out of range");
	return 0;
}

int mode_gates(enum mode m)
{
	return m == MODE_LSTM ? 4 : m == MODE_GRU ? 3 : 1;
}

static struct problem_shape shape_of(const struct problem *p, int i)
{
	int64_t blob =
		p->directions * mode_gates(p->mode) * p->hidden_size * (p->input_size + p->hidden_size + 2);
	if (i == 0)
		return (struct problem_shape){ .rank = 3, .dim = { p->steps, p->n, p->input_size } };
	if (i == 1)
		return (struct problem_shape){ .rank = 1, .dim = { blob } };
	return (struct problem_shape){ .rank = 4, .dim = { p->steps, p->directions, p->n, p->hidden_size } };
}

/* Two matmuls; two biases per gate; then lstm: four activations, three operations of the cell, a tanh and
 * a multiplication; gru: three activations, the reset multiplication and four operations of the blend; a
 * plain rnn: its activation. */
static double flops(const struct problem *p)
{
	double gates = mode_gates(p->mode), width = (double)p->input_size + (double)p->hidden_size;
	double cell = p->mode == MODE_LSTM ? 9 : p->mode == MODE_GRU ? 8 : 1;
	return problem_operand_volume(p, 2) * (gates * (2 * width + 2) + cell);
}

const struct kernel_row kernel_rnn = {
	.operands = 3,
	.names = { "src", "wei", "dst" },
	.mode = true,
	.segments = SEGMENTS(&seg_sizes),
	.check = check,
	.shape = shape_of,
	.flops = flops,
	.product = true,
	.transcendental = true,
	.weights = true,
	.estimated_as = ESTIMATED_AS_MATMUL,
};
