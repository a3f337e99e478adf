/* References of attention and recurrent layers; the latter keep what they computed, because each step
 * needs all before it. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "runner/verify/check_private.h"
#include "runner/verify/fill.h"


/* One row of q times all keys that it sees, softmax, and the weighted sum of their values. */
/* What is added to the scores of one query of one head: index of its value for key 0 in the mask, and the
 * step to the next key (0: the same for all). */
struct mask_row {
	bool there;
	int64_t at, step;
};

static struct mask_row mask_row_of(const struct problem *p, int64_t n, int64_t head, int64_t query)
{
	const struct problem_shape *mask = problem_mask(p);
	if (!mask)
		return (struct mask_row){ false, 0, 0 };
	const int64_t at[] = { n, head, query, 0 };
	return (struct mask_row){ true, check_ravel_broadcast(mask, at, 4), mask->dim[3] > 1 };
}

static struct check_sum check_attention(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t column = index % p->value_size, query = index / p->value_size % p->query_length;
	int64_t head = index / p->value_size / p->query_length % p->heads;
	int64_t n = index / p->value_size / p->query_length / p->heads;
	int64_t plane = n * p->kv_heads + head / (p->heads / p->kv_heads);
	int64_t q = ((n * p->heads + head) * p->query_length + query) * p->head_size;
	int64_t seen = p->mode == MODE_CAUSAL ? query + 1 + p->key_length - p->query_length : p->key_length;
	struct mask_row mask = mask_row_of(p, n, head, query);
	seen = seen > p->key_length ? p->key_length : seen;
	if (seen < 1)
		return (struct check_sum){ 0, 1 }; /* a query that sees no key */
	double *score = base_malloc((size_t)seen * sizeof(*score)), most = -INFINITY, total = 0;
	for (int64_t i = 0; i < seen; i++) {
		double dot = 0;
		for (int64_t j = 0; j < p->head_size; j++)
			dot += check_source(in, q + j) *
				check_at(in, CHECK_SOURCE, 1, (plane * p->key_length + i) * p->head_size + j);
		score[i] = dot / sqrt((double)p->head_size);
		if (mask.there)
			score[i] += check_at(in, CHECK_SOURCE, 3, mask.at + i * mask.step);
		most = fmax(most, score[i]);
	}
	for (int64_t i = 0; i < seen; i++)
		total += score[i] = exp(score[i] - most);
	struct check_sum s = { 0 };
	for (int64_t i = 0; i < seen; i++)
		check_add(&s, score[i] / total *
			check_at(in, CHECK_SOURCE, 2, (plane * p->key_length + i) * p->value_size + column));
	free(score);
	return s;
}

struct check_memo *check_memo_of(struct check_inputs *in)
{
	if (!in->memo) {
		in->memo = base_calloc(1, sizeof(*in->memo));
		in->memo->n = in->memo->weights_direction = -1;
	}
	return in->memo;
}

void check_forget(struct check_inputs *in)
{
	if (!in->memo)
		return;
	free(in->memo->w);
	free(in->memo->output);
	free(in->memo);
	in->memo = NULL;
}

static void memo_weights(
	struct check_memo *m, const struct problem *p, const struct check_inputs *in, int64_t direction)
{
	int64_t rows = mode_gates(p->mode) * p->hidden_size,
		matrices = rows * (p->input_size + p->hidden_size);
	if (!m->w)
		m->w = base_malloc((size_t)(matrices + 2 * rows) * sizeof(double));
	m->r = m->w + rows * p->input_size;
	m->bw = m->w + matrices;
	m->br = m->bw + rows;
	for (int64_t i = 0; i < matrices; i++)
		m->w[i] = check_at(in, CHECK_WEIGHTS, 0, direction * matrices + i);
	for (int64_t i = 0; i < 2 * rows; i++)
		m->bw[i] =
			check_at(in, CHECK_WEIGHTS, 0, p->directions * matrices + direction * 2 * rows + i);
	m->weights_direction = direction;
}

static double dot(const double *a, const double *b, int64_t n)
{
	double sum = 0;
	for (int64_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

/* New state of cell j. x: input terms per gate, h: state terms per gate. */
static double cell(const struct problem *p, const double *x, const double *h, double last, double *carried)
{
	if (p->mode == MODE_LSTM) {
		*carried = sigmoid(x[1] + h[1]) * *carried + sigmoid(x[0] + h[0]) * tanh(x[2] + h[2]);
		return sigmoid(x[3] + h[3]) * tanh(*carried);
	}
	if (p->mode == MODE_RNN_RELU || p->mode == MODE_RNN_TANH)
		return p->mode == MODE_RNN_TANH ? tanh(x[0] + h[0]) : fmax(x[0] + h[0], 0);
	double reset = sigmoid(x[0] + h[0]), update = sigmoid(x[1] + h[1]);
	return (1 - update) * tanh(x[2] + reset * h[2]) + update * last;
}

static void step(const struct problem *p, const struct check_memo *m, const double *x, const double *last,
	double *carried, double *next)
{
	int64_t hidden = p->hidden_size;
	for (int64_t j = 0; j < hidden; j++) {
		double from_x[4], from_h[4];
		for (int64_t g = 0; g < mode_gates(p->mode); g++) {
			int64_t row = g * hidden + j;
			from_x[g] = dot(m->w + row * p->input_size, x, p->input_size) + m->bw[row];
			from_h[g] = dot(m->r + row * hidden, last, hidden) + m->br[row];
		}
		next[j] = cell(p, from_x, from_h, last[j], &carried[j]);
	}
}

static void memo_sequence(struct check_memo *m, const struct problem *p, const struct check_inputs *in,
	int64_t n, int64_t direction)
{
	int64_t hidden = p->hidden_size;
	if (m->weights_direction != direction)
		memo_weights(m, p, in, direction);
	if (!m->output)
		m->output = base_malloc((size_t)(p->steps * hidden) * sizeof(double));
	double *x = base_calloc((size_t)p->input_size, sizeof(double)),
	       *zero = base_calloc((size_t)hidden, sizeof(double));
	double *carried = base_calloc((size_t)hidden, sizeof(double));
	const double *last = zero;
	for (int64_t i = 0; i < p->steps; i++) {
		int64_t t = direction ? p->steps - 1 - i : i;
		for (int64_t j = 0; j < p->input_size; j++)
			x[j] = check_source(in, (t * p->n + n) * p->input_size + j);
		step(p, m, x, last, carried, m->output + t * hidden);
		last = m->output + t * hidden;
	}
	free(x);
	free(zero);
	free(carried);
	m->n = n;
	m->direction = direction;
}

/* The destination is steps, directions, n, hidden. Errors are relative to 1, about the maximum of the gate
 * functions. */
static struct check_sum check_rnn(const struct problem *p, struct check_inputs *in, int64_t index)
{
	int64_t j = index % p->hidden_size, n = index / p->hidden_size % p->n;
	int64_t direction = index / p->hidden_size / p->n % p->directions;
	int64_t t = index / p->hidden_size / p->n / p->directions;
	struct check_memo *m = check_memo_of(in);
	if (m->n != n || m->direction != direction)
		memo_sequence(m, p, in, n, direction);
	double value = m->output[t * p->hidden_size + j];
	return (struct check_sum){ value, 1 };
}

static int64_t rnn_sample(const struct problem *p, int64_t total, int64_t count, int64_t i)
{
	(void)total;
	/* sequence by sequence, so that each is computed once; about a second in total */
	double cost = (double)p->steps * (double)mode_gates(p->mode) * (double)p->hidden_size *
		(double)(p->hidden_size + p->input_size);
	int64_t all = p->n * p->directions,
		sequences = (int64_t)fmax(1, fmin(fmin((double)all, (double)count), 5e8 / cost));
	int64_t each = (count + sequences - 1) / sequences, sequence = i / each, within = i % each;
	int64_t of = p->steps * p->hidden_size;
	/* the last sequence may have fewer samples */
	int64_t looks = (sequence + 1) * each > count ? count - sequence * each : each,
		at = check_spread(of, looks, within);
	int64_t chosen = sequences > 1 ? sequence * (all - 1) / (sequences - 1) : all - 1;
	int64_t direction = chosen / p->n, n = chosen % p->n;
	return ((at / p->hidden_size * p->directions + direction) * p->n + n) * p->hidden_size +
		at % p->hidden_size;
}

static double attention_terms(const struct problem *p, double outputs)
{
	(void)outputs;
	return (double)p->key_length * (double)(p->head_size + 1);
}

static const struct check_row rows[] = {
	{ .kernel = KERNEL_ATTENTION, .reference = check_attention, .terms = attention_terms },
	{ .kernel = KERNEL_RNN, .reference = check_rnn, .sample = rnn_sample },
};
const struct check_rows check_sequence_rows = CHECK_ROWS(rows);
