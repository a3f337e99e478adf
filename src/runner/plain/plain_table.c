/* Functions of 8-bit values by lookup: 256 entries hold the function, including both scales. */
#include "config.h"

#include "runner/plain/plain_kernels.h"

#include <math.h>

#include "runner/verify/check_private.h"
#include "runner/verify/fill.h"
#include "runner/plain/plain_table.h"

#define LEAST_FOR_TABLE 256 /* minimum length of a line for which a table of results pays off */

static bool is_byte(enum dtype t)
{
	return t == DTYPE_U8 || t == DTYPE_S8;
}

bool plain_by_table(const struct problem *p)
{
	return (p->kernel == KERNEL_ELTWISE || (p->kernel == KERNEL_SOFTMAX && p->mode == MODE_SOFTMAX)) &&
		is_byte(p->operand[0].dtype) && is_byte(p->operand[1].dtype);
}

void plain_table_make(const struct problem *p, struct plain_table *t)
{
	for (int i = 0; i < 256; i++) {
		uint8_t bits = (uint8_t)i;
		if (p->kernel == KERNEL_ELTWISE)
			fill_encode(check_eltwise(p->mode, p->alpha, p->beta,
					    fill_decode(&bits, p->operand[0].dtype)),
				p->operand[1].dtype, &t->byte[i]);
		t->power[i] = (uint32_t)nearbyint(exp((double)(i - 255)) * 0x1p31);
	}
}

static void eltwise_share(const struct plain *a, int i, int count)
{
	const struct problem_shape *s = &a->problem->shape[0];
	int64_t n = plain_volume(s, 0, s->rank);
	int64_t end = plain_begin(n, i + 1, count), at = plain_begin(n, i, count);
	const uint8_t *x = a->source[0], *byte = a->table->byte;
	uint8_t *restrict y = a->destination;
	for (; at < end - 3; at += 4) {
		uint8_t first = byte[x[at]], second = byte[x[at + 1]], third = byte[x[at + 2]],
			fourth = byte[x[at + 3]];
		y[at] = first;
		y[at + 1] = second;
		y[at + 2] = third;
		y[at + 3] = fourth;
	}
	for (; at < end; at++)
		y[at] = byte[x[at]];
}

/* Softmax of one line. `flip` maps signed bytes to 0..255 and back. exp() values are integers in units of
 * 2^-31, so that sums do not depend on the order. */
struct softmax_line {
	const uint8_t *x;
	uint8_t *y;
	int64_t n, step;
	uint8_t flip_in, flip_out;
};

static uint8_t softmax_most(const struct softmax_line *l)
{
	uint8_t most = 0, flip = l->flip_in;
	if (l->step == 1)
		for (int64_t j = 0; j < l->n; j++) {
			uint8_t v = l->x[j] ^ flip;
			most = v > most ? v : most;
		}
	else
		for (int64_t j = 0; j < l->n; j++) {
			uint8_t v = l->x[j * l->step] ^ flip;
			most = v > most ? v : most;
		}
	return most;
}

static uint8_t softmax_round(uint32_t power, float by)
{
	float v = (float)power * by + 0.5f;
	return (uint8_t)(v < 255 ? v : 255);
}

static void softmax_line(const uint32_t *powers, const struct softmax_line *l)
{
	const uint32_t *power = powers + 255 - softmax_most(l);
	uint64_t sum[4] = { 0 };
	int64_t j = 0;
	for (; j < l->n - 3; j += 4)
		for (int k = 0; k < 4; k++)
			sum[k] += power[l->x[(j + k) * l->step] ^ l->flip_in];
	for (; j < l->n; j++)
		sum[0] += power[l->x[j * l->step] ^ l->flip_in];
	float by = 256.0f / (float)(sum[0] + sum[1] + sum[2] + sum[3]);
	if (l->n < LEAST_FOR_TABLE) {
		for (j = 0; j < l->n; j++)
			l->y[j * l->step] =
				softmax_round(power[l->x[j * l->step] ^ l->flip_in], by) ^ l->flip_out;
		return;
	}
	/* indices stay in the table: no element is above the maximum */
	uint8_t result[256] = { 0 };
	for (int v = 0, most = (int)(powers + 255 - power); v <= most; v++)
		result[v] = softmax_round(power[v], by) ^ l->flip_out;
	for (j = 0; j < l->n; j++)
		l->y[j * l->step] = result[l->x[j * l->step] ^ l->flip_in];
}

static void softmax_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	const struct problem_shape *s = &p->shape[0];
	int64_t inner = plain_volume(s, p->axis + 1, s->rank), size = s->dim[p->axis],
		total = plain_volume(s, 0, p->axis) * inner;
	struct softmax_line l = { .n = size,
		.step = inner,
		.flip_in = p->operand[0].dtype == DTYPE_S8 ? 0x80 : 0,
		.flip_out = p->operand[1].dtype == DTYPE_S8 ? 0x80 : 0 };
	for (int64_t line = plain_begin(total, i, count), end = plain_begin(total, i + 1, count); line < end;
		line++) {
		int64_t from = line / inner * size * inner + line % inner;
		l.x = (const uint8_t *)a->source[0] + from;
		l.y = (uint8_t *)a->destination + from;
		softmax_line(a->table->power, &l);
	}
}

void plain_table_share(const struct plain *a, int i, int count)
{
	if (a->problem->kernel == KERNEL_ELTWISE)
		eltwise_share(a, i, count);
	else
		softmax_share(a, i, count);
}
