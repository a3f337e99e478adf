/* One function per kernel that oneDNN lacks, each computing a share of the output, so that threads need no
 * lock. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/plain/plain_kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/verify/fill.h"
#include "runner/host/lines.h"
#include "runner/plain/plain_convert.h"
#include "runner/plain/plain_lines.h"

/* A problem along one axis: `outer` lines of `size` elements, `inner` elements apart. */
struct lines {
	int64_t outer, size, inner;
};

static struct lines lines_of(const struct problem *p)
{
	const struct problem_shape *s = &p->shape[0];
	return (struct lines){ plain_volume(s, 0, p->axis), s->dim[p->axis],
		plain_volume(s, p->axis + 1, s->rank) };
}

int64_t plain_volume(const struct problem_shape *s, int from, int to)
{
	int64_t n = 1;
	for (int i = from; i < to; i++)
		n *= s->dim[i];
	return n;
}

int64_t plain_begin(int64_t total, int i, int count)
{
	return total / count * i + total % count * i / count;
}

/* --- data movement, by element size --- */

static int64_t index_at(const void *from, enum dtype type, int64_t i)
{
	return type == DTYPE_S64 ? ((const int64_t *)from)[i] : ((const int32_t *)from)[i];
}

static void gather_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	struct lines l = lines_of(p);
	int64_t taken = plain_volume(&p->shape[1], 0, p->shape[1].rank), total = l.outer * taken;
	size_t bytes = (size_t)l.inner * (size_t)dtype_bits(p->operand[0].dtype) / 8;
	int64_t end = plain_begin(total, i + 1, count);
	for (int64_t row = plain_begin(total, i, count); row < end; row++) {
		int64_t at = row / taken * l.size + index_at(a->source[1], p->operand[1].dtype, row % taken);
		memcpy((char *)a->destination + (size_t)row * bytes,
			(const char *)a->source[0] + (size_t)at * bytes, bytes);
	}
}

int64_t plain_source_begin(const struct problem *p, int number)
{
	int64_t begin = 0;
	for (int i = 0; i < number; i++)
		begin += plain_volume(&p->shape[i], 0, p->shape[i].rank);
	return begin;
}

/* Elements of the destination one after the other; those of a row of the outer dimensions are pieces of the
 * sources, each contiguous. O(copied elements + pieces). */
static void concat_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	int64_t outer = plain_volume(&p->shape[0], 0, p->axis);
	int64_t total = plain_source_begin(p, p->shape_count), width = total / outer;
	int64_t bytes = dtype_bits(p->operand[0].dtype) / 8;
	int64_t at = plain_begin(total, i, count), end = plain_begin(total, i + 1, count);
	while (at < end) {
		int64_t row = at / width, past = at % width;
		const char *from = a->source[0];
		for (int j = 0; j < p->shape_count && at < end; j++) {
			int64_t piece = plain_volume(&p->shape[j], p->axis, p->shape[j].rank);
			int64_t n = piece - past;
			if (n > 0) {
				n = n < end - at ? n : end - at;
				memcpy((char *)a->destination + at * bytes,
					from + (row * piece + past) * bytes, (size_t)(n * bytes));
				at += n;
			}
			past = past > piece ? past - piece : 0;
			from += outer * piece * bytes;
		}
	}
}

void plain_broadcast_steps(
	const struct problem_shape *from, const struct problem_shape *to, int64_t *step)
{
	int64_t next = 1;
	for (int i = to->rank - 1; i >= 0; i--) {
		int at = i - (to->rank - from->rank);
		step[i] = at < 0 || from->dim[at] == 1 ? 0 : next;
		next *= at < 0 ? 1 : from->dim[at];
	}
}

#define SELECT_ROW(type)                                                                                     \
	for (int64_t j = 0; j < n; j++)                                                                      \
	((type *)to)[j] = c[j * step[0]] ? ((const type *)x)[j * step[1]] : ((const type *)y)[j * step[2]]

static void select_row(
	int bytes, int64_t n, const int64_t *step, char *to, const char *c, const char *x, const char *y)
{
	struct pair {
		int64_t half[2];
	};
	switch (bytes) {
	case 1: SELECT_ROW(char); break;
	case 2: SELECT_ROW(int16_t); break;
	case 4: SELECT_ROW(int32_t); break;
	case 8: SELECT_ROW(int64_t); break;
	default: SELECT_ROW(struct pair); break;
	}
}

/* Number of rows along the destination's last dimension. */
static void select_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	struct problem_shape to = problem_operand_shape(p, 3);
	int bytes = dtype_bits(p->operand[3].dtype) / 8, inner = to.rank - 1;
	int64_t step[3][PROBLEM_RANK], total = plain_volume(&to, 0, inner), n = to.dim[inner];
	for (int j = 0; j < 3; j++)
		plain_broadcast_steps(&p->shape[j], &to, step[j]);
	int64_t end = plain_begin(total, i + 1, count);
	for (int64_t row = plain_begin(total, i, count); row < end; row++) {
		int64_t at[3] = { 0 }, rest = row;
		for (int d = inner - 1; d >= 0; rest /= to.dim[d--])
			for (int j = 0; j < 3; j++)
				at[j] += rest % to.dim[d] * step[j][d];
		int64_t last[3] = { step[0][inner], step[1][inner], step[2][inner] };
		select_row(bytes, n, last, (char *)a->destination + row * n * bytes,
			(const char *)a->source[0] + at[0], (const char *)a->source[1] + at[1] * bytes,
			(const char *)a->source[2] + at[2] * bytes);
	}
}

/* --- along one axis --- */

/* Inserts into the k best so far, in order. Ties keep the lower index. */
#define TOPK_LINE(type)                                                                                      \
	do {                                                                                                 \
		type *best = (type *)a->destination + to;                                                    \
		const type *x = (const type *)a->source[0] + from;                                           \
		int64_t *place = a->indices + to, held = 0;                                                  \
		for (int64_t j = 0; j < l.size; j++) {                                                       \
			type v = x[j * l.inner];                                                             \
			if (held == k &&                                                                     \
				!(small ? v < best[(k - 1) * l.inner] : v > best[(k - 1) * l.inner]))        \
				continue;                                                                    \
			int64_t at = held < k ? held++ : k - 1;                                              \
			for (; at > 0; at--) {                                                               \
				type before = best[(at - 1) * l.inner];                                      \
				if (!(small ? v < before : v > before))                                      \
					break;                                                               \
				best[at * l.inner] = before;                                                 \
				place[at * l.inner] = place[(at - 1) * l.inner];                             \
			}                                                                                    \
			best[at * l.inner] = v;                                                              \
			place[at * l.inner] = j;                                                             \
		}                                                                                            \
	} while (0)

#define ARG_LINE(type)                                                                                       \
	do {                                                                                                 \
		const type *x = (const type *)a->source[0] + from;                                           \
		type best = x[0];                                                                            \
		for (int64_t j = 1; j < l.size; j++) {                                                       \
			if (small ? x[j * l.inner] < best : x[j * l.inner] > best) {                         \
				best = x[j * l.inner];                                                       \
				found = j;                                                                   \
			}                                                                                    \
		}                                                                                            \
	} while (0)

#define SCAN_LINE(type, wide)                                                                                \
	do {                                                                                                 \
		const type *x = (const type *)a->source[0] + from;                                           \
		type *y = (type *)a->destination + from;                                                     \
		wide sum = 0;                                                                                \
		for (int64_t j = 0; j < l.size; j++) {                                                       \
			sum += (wide)x[j * l.inner];                                                         \
			y[j * l.inner] = (type)sum;                                                          \
		}                                                                                            \
	} while (0)

static void topk_line(const struct plain *a, struct lines l, int64_t from, int64_t to)
{
	bool small = a->problem->mode == MODE_SMALLEST;
	int64_t k = a->problem->size;
	if (a->problem->operand[0].dtype == DTYPE_F32)
		TOPK_LINE(float);
	else if (a->problem->operand[0].dtype == DTYPE_S64)
		TOPK_LINE(int64_t);
	else
		TOPK_LINE(int32_t);
}

static void arg_line(const struct plain *a, struct lines l, int64_t from, int64_t to)
{
	bool small = a->problem->mode == MODE_ARGMIN;
	int64_t found = 0;
	if (a->problem->operand[0].dtype == DTYPE_F32)
		ARG_LINE(float);
	else if (a->problem->operand[0].dtype == DTYPE_S64)
		ARG_LINE(int64_t);
	else if (a->problem->operand[0].dtype == DTYPE_U8)
		ARG_LINE(uint8_t);
	else if (a->problem->operand[0].dtype == DTYPE_S8)
		ARG_LINE(int8_t);
	else
		ARG_LINE(int32_t);
	if (a->problem->operand[1].dtype == DTYPE_S64)
		((int64_t *)a->destination)[to] = found;
	else
		((int32_t *)a->destination)[to] = (int32_t)found;
}

static void scan_line(const struct plain *a, struct lines l, int64_t from, int64_t to)
{
	(void)to;
	if (a->problem->operand[0].dtype == DTYPE_F32)
		SCAN_LINE(float, float);
	else if (a->problem->operand[0].dtype == DTYPE_S64)
		SCAN_LINE(int64_t, uint64_t); /* wraps around */
	else
		SCAN_LINE(int32_t, uint32_t);
}

/* Computes one line. `from` and `to` are its first elements in source and destination. */
typedef void plain_line(const struct plain *a, struct lines l, int64_t from, int64_t to);

/* A line of 16-bit floats and its f32 copy, which is used to compute. */
struct narrow {
	struct problem problem; /* the same problem in f32 */
	uint16_t *raw;
	float *wide, *result;
	int64_t *indices;
};

static void narrow_line(
	const struct plain *a, struct narrow *w, int64_t kept, plain_line *line, int64_t from, int64_t to)
{
	const struct problem *p = a->problem;
	enum dtype type = p->operand[0].dtype;
	struct lines l = lines_of(p), dense = { 1, l.size, 1 };
	struct plain b = *a;
	for (int64_t j = 0; j < l.size; j++)
		w->raw[j] = ((const uint16_t *)a->source[0])[from + j * l.inner];
	plain_load(w->wide, w->raw, type, 0, l.size);
	b.problem = &w->problem;
	b.source[0] = w->wide;
	if (p->operand[1].dtype != type) { /* the result is an index */
		line(&b, dense, 0, to);
		return;
	}
	b.destination = w->result;
	b.indices = w->indices;
	line(&b, dense, 0, 0);
	plain_store(w->raw, type, 0, w->result, kept);
	for (int64_t j = 0; j < kept; j++) {
		((uint16_t *)a->destination)[to + j * l.inner] = w->raw[j];
		if (a->indices)
			a->indices[to + j * l.inner] = w->indices[j];
	}
}

/* Share i of `count` of the lines, `kept` outputs each. */
static void lines_share(const struct plain *a, int i, int count, int64_t kept, plain_line *line)
{
	const struct problem *p = a->problem;
	struct lines l = lines_of(p);
	int64_t total = l.outer * l.inner;
	bool is_narrow = dtype_bits(p->operand[0].dtype) == 16;
	struct narrow w = { 0 };
	if (is_narrow) {
		size_t n = (size_t)l.size;
		w = (struct narrow){ .problem = *p,
			.raw = base_malloc(n * sizeof(*w.raw)),
			.wide = base_malloc(n * sizeof(*w.wide)),
			.result = base_malloc(n * sizeof(*w.result)),
			.indices = base_malloc(n * sizeof(*w.indices)) };
		w.problem.operand[0].dtype = DTYPE_F32;
	}
	int64_t end = plain_begin(total, i + 1, count);
	for (int64_t at = plain_begin(total, i, count); at < end; at++) {
		int64_t from = at / l.inner * l.size * l.inner + at % l.inner;
		int64_t to = at / l.inner * kept * l.inner + at % l.inner;
		if (is_narrow)
			narrow_line(a, &w, kept, line, from, to);
		else
			line(a, l, from, to);
	}
	free(w.raw);
	free(w.wide);
	free(w.result);
	free(w.indices);
}

static void topk_share(const struct plain *a, int i, int count)
{
	lines_share(a, i, count, a->problem->size, topk_line);
}

static void argreduce_share(const struct plain *a, int i, int count)
{
	lines_share(a, i, count, 1, arg_line);
}

static void scan_share(const struct plain *a, int i, int count)
{
	lines_share(a, i, count, lines_of(a->problem).size, scan_line);
}

/* --- normalizations --- */

/* Normalizes row number `row`, n elements. */
typedef void norm_row(const struct plain *a, const float *x, float *y, int64_t n, int64_t row);

static void rmsnorm_row(const struct plain *a, const float *x, float *y, int64_t n, int64_t row)
{
	double squares = 0;
	(void)row;
	for (int64_t j = 0; j < n; j++)
		squares += (double)x[j] * (double)x[j];
	float by = (float)(1 / sqrt(squares / (double)n + (double)a->epsilon));
	for (int64_t j = 0; j < n; j++)
		y[j] = x[j] * by * a->scale[j];
}

/* *by: the inverse deviation. */
static void moments(const struct plain *a, const float *x, int64_t n, float *mean, float *by)
{
	double sum = 0, squares = 0;
	for (int64_t j = 0; j < n; j++)
		sum += (double)x[j];
	*mean = (float)(sum / (double)n);
	for (int64_t j = 0; j < n; j++)
		squares += (double)(x[j] - *mean) * (double)(x[j] - *mean);
	*by = (float)(1 / sqrt(squares / (double)n + (double)a->epsilon));
}

static void instancenorm_row(const struct plain *a, const float *x, float *y, int64_t n, int64_t row)
{
	int64_t channel = row % a->problem->shape[0].dim[1];
	float mean, by;
	moments(a, x, n, &mean, &by);
	by *= a->scale[channel];
	for (int64_t j = 0; j < n; j++)
		y[j] = (x[j] - mean) * by + a->shift[channel];
}

/* A row is a group of channels. Each channel has its own scale and shift. */
static void groupnorm_row(const struct plain *a, const float *x, float *y, int64_t n, int64_t row)
{
	const struct problem *p = a->problem;
	int64_t channels = p->shape[0].dim[1] / p->g, space = n / channels, first = row % p->g * channels;
	float mean, by;
	moments(a, x, n, &mean, &by);
	for (int64_t c = 0; c < channels; c++) {
		float scale = by * a->scale[first + c], shift = a->shift[first + c];
		for (int64_t j = c * space; j < (c + 1) * space; j++)
			y[j] = (x[j] - mean) * scale + shift;
	}
}

/* Share i of `count` of a problem's rows, of n adjacent elements each; computes in f32. */
static void norm_rows(const struct plain *a, int i, int count, int64_t n, norm_row *normalize)
{
	const struct problem *p = a->problem;
	int64_t rows = plain_volume(&p->shape[0], 0, p->shape[0].rank) / n;
	enum dtype from = p->operand[0].dtype, to = p->operand[1].dtype;
	float *wide = from != DTYPE_F32 || to != DTYPE_F32 ? base_malloc((size_t)n * sizeof(*wide)) : NULL;
	int64_t end = plain_begin(rows, i + 1, count);
	for (int64_t row = plain_begin(rows, i, count); row < end; row++) {
		const float *x = wide ? wide : (const float *)a->source[0] + row * n;
		float *y = wide ? wide : (float *)a->destination + row * n;
		if (wide)
			plain_load(wide, a->source[0], from, row * n, n);
		normalize(a, x, y, n, row);
		if (wide)
			plain_store(a->destination, to, row * n, wide, n);
	}
	free(wide);
}

static void rmsnorm_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	norm_rows(a, i, count, plain_volume(&p->shape[0], p->axis, p->shape[0].rank), rmsnorm_row);
}

static void instancenorm_share(const struct plain *a, int i, int count)
{
	const struct problem_shape *s = &a->problem->shape[0];
	norm_rows(a, i, count, plain_volume(s, 2, s->rank), instancenorm_row);
}

static void groupnorm_share(const struct plain *a, int i, int count)
{
	const struct problem_shape *s = &a->problem->shape[0];
	norm_rows(a, i, count, plain_volume(s, 1, s->rank) / a->problem->g, groupnorm_row);
}

/* --- powers --- */

/* alpha x^2 and alpha x^3, as in the cubic of a GELU that the model writes as several layers: oneDNN computes
 * every power by logarithms, which takes many times longer. */
static bool is_product(const struct problem *p)
{
	return p->kernel == KERNEL_ELTWISE && p->mode == MODE_POW &&
		((double)p->beta == 2 || (double)p->beta == 3) && p->operand[0].dtype == DTYPE_F32 &&
		p->operand[1].dtype == DTYPE_F32;
}

static void product_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	int64_t n = plain_volume(&p->shape[0], 0, p->shape[0].rank), from = plain_begin(n, i, count);
	bool cubic = (double)p->beta == 3;
	n = plain_begin(n, i + 1, count);
	for (int64_t at = from; at < n; at += LINE) {
		int64_t now = n - at < LINE ? n - at : LINE;
		line_t x;
		line_load(&x, a->source[0], false, at, now);
		x = p->alpha * x * x * (cubic ? x : 1 - (line_t){ 0 });
		line_store(&x, a->destination, false, at, now);
	}
}

/* --- elementwise --- */

static bool eltwise_fits(const struct problem *p)
{
	return plain_by_table(p) || plain_by_lines(p) || is_product(p);
}

static void eltwise_share(const struct plain *a, int i, int count)
{
	(plain_by_lines(a->problem)	   ? plain_lines_share
		: is_product(a->problem)   ? product_share
					   : plain_table_share)(a, i, count);
}

static bool softmax_fits(const struct problem *p)
{
	return plain_by_table(p) || plain_by_lines(p);
}

static void softmax_share(const struct plain *a, int i, int count)
{
	(plain_by_table(a->problem) ? plain_table_share : plain_softmax_share)(a, i, count);
}

/* --- supported problems --- */

int plain_passes(const struct problem *p)
{
	return p->mode == MODE_QUANTIZE_DYNAMIC ? 2 : 1;
}

static bool is_whole(enum dtype t)
{
	return t == DTYPE_S64 || t == DTYPE_S32;
}

static bool is_float(enum dtype t)
{
	return t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16;
}

static bool gather_fits(const struct problem *p)
{
	enum dtype t = p->operand[0].dtype;
	return t == p->operand[2].dtype && is_whole(p->operand[1].dtype) && fill_handles(t);
}

static bool concat_fits(const struct problem *p)
{
	enum dtype t = p->operand[0].dtype;
	return t == p->operand[1].dtype && fill_handles(t) && dtype_bits(t) >= 8;
}

static bool select_fits(const struct problem *p)
{
	enum dtype c = p->operand[0].dtype, to = p->operand[3].dtype;
	return dtype_bits(c) == 8 && fill_handles(c) && fill_handles(to) && p->operand[1].dtype == to &&
		p->operand[2].dtype == to;
}

static bool argreduce_fits(const struct problem *p)
{
	enum dtype t = p->operand[0].dtype;
	return (is_float(t) || is_whole(t) || t == DTYPE_U8 || t == DTYPE_S8) &&
		is_whole(p->operand[1].dtype);
}

static bool same_number_fits(const struct problem *p)
{
	enum dtype t = p->operand[0].dtype;
	return t == p->operand[1].dtype && (is_float(t) || is_whole(t));
}

static bool quantize_fits(const struct problem *p)
{
	enum dtype to = p->operand[1].dtype;
	return plain_converts(p->operand[0].dtype) && plain_converts(to) && to != DTYPE_S32 &&
		(p->mode != MODE_QUANTIZE_DYNAMIC || to == DTYPE_U8 || to == DTYPE_S8);
}

/* oneDNN converts f16 one element after the other. */
static bool cast_fits(const struct problem *p)
{
	enum dtype from = p->operand[0].dtype, to = p->operand[1].dtype;
	return (from == DTYPE_F16 || to == DTYPE_F16) && is_float(from) && is_float(to);
}

static bool float_fits(const struct problem *p)
{
	return is_float(p->operand[0].dtype) && is_float(p->operand[1].dtype);
}

/* What plain C computes: the function of a share, and the data types. */
static const struct {
	void (*share)(const struct plain *a, int i, int count);
	bool (*fits)(const struct problem *p);
	bool rare; /* other problems of this kernel are not for plain C */
} kernels[KERNEL_COUNT] = {
	[KERNEL_CONCAT] = { concat_share, concat_fits, false },
	[KERNEL_GATHER] = { gather_share, gather_fits, false },
	[KERNEL_SELECT] = { select_share, select_fits, false },
	[KERNEL_TOPK] = { topk_share, same_number_fits, false },
	[KERNEL_ARGREDUCE] = { argreduce_share, argreduce_fits, false },
	[KERNEL_SCAN] = { scan_share, same_number_fits, false },
	[KERNEL_RMSNORM] = { rmsnorm_share, float_fits, false },
	[KERNEL_INSTANCENORM] = { instancenorm_share, float_fits, false },
	[KERNEL_GROUPNORM] = { groupnorm_share, float_fits, false },
	[KERNEL_QUANTIZE] = { plain_quantize_share, quantize_fits, false },
	[KERNEL_DEQUANTIZE] = { plain_quantize_share, quantize_fits, false },
	[KERNEL_ELTWISE] = { eltwise_share, eltwise_fits, true },
	[KERNEL_BINARY] = { plain_lines_share, plain_by_lines, true },
	[KERNEL_BATCHNORM] = { plain_lines_share, plain_by_lines, true },
	[KERNEL_SOFTMAX] = { softmax_share, softmax_fits, true },
	[KERNEL_CAST] = { plain_cast_share, cast_fits, true },
};

bool plain_takes_order(const struct problem *p)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	/* with one scale or function for all elements their order is irrelevant */
	if (row->any_order && row->any_order(p) && p->operand[0].layout == LAYOUT_NXC &&
		p->operand[1].layout == LAYOUT_NXC)
		return true;
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].layout == LAYOUT_NXC || p->operand[i].layout == LAYOUT_STRIDES)
			return false;
	return true;
}

int plain_refuses(const struct problem *p, struct error *err)
{
	if (p->kernel == KERNEL_DECONV || p->kernel == KERNEL_RNN || p->kernel == KERNEL_DROPOUT)
		return error_set(err, "%s is not measured on a CPU", kernel_name(p->kernel));
	if (!kernels[p->kernel].share || (kernels[p->kernel].rare && !kernels[p->kernel].fits(p)))
		return error_set(err,
			"only data movement, sorting, normalizations, tables, powers, exponentials, "
			"broadcasts and casts of f16");
	if (p->epilogue_count && !plain_by_lines(p))
		return error_set(err, "this kernel in plain C has no epilogues");
	if (!plain_takes_order(p))
		return error_set(err, "kernels in plain C take only dense tensors in ONNX order");
	return kernels[p->kernel].fits(p)
		? 0
		: error_set(err, "plain C has no %s for these types", kernel_name(p->kernel));
}

void plain_share(void *plain, int i, int count)
{
	const struct plain *a = plain;
	kernels[a->problem->kernel].share(a, i, count);
}
