/* quantize, dequantize and cast, computed in f32 by chunks. */
#include "config.h"

#include "runner/plain/plain_kernels.h"

#include "runner/plain/plain_convert.h"
#include "runner/verify/integers.h"

#define CHUNK 512 /* elements; even, so that packed types begin on a byte */

/* Layout of the scales along a tensor: `dim` indices of `inner` elements; adjacent elements share a scale
 * or have one each. */
struct scales {
	bool single, by_block;
	int64_t dim, inner, size, blocks;
};

static struct scales scales_of(const struct problem *p)
{
	struct problem_shape shape = problem_scale_shape(p);
	struct scales s = { .single = shape.rank == 0, .dim = 1, .inner = 1, .size = 1, .blocks = 1 };
	if (s.single)
		return s;
	s.by_block = p->mode == MODE_QUANTIZE_BLOCK || p->mode == MODE_DEQUANTIZE_BLOCK;
	s.dim = p->shape[0].dim[p->axis];
	for (int i = p->axis + 1; i < p->shape[0].rank; i++)
		s.inner *= p->shape[0].dim[i];
	s.size = s.by_block ? p->size : 1;
	s.blocks = (s.dim - 1) / s.size + 1;
	return s;
}

/* Returns how many of the next n elements have their scales at *place, *place + *step, ... */
static int64_t run_of(const struct scales *s, int64_t at, int64_t n, int64_t *place, int64_t *step)
{
	int64_t row = at / s->inner, column = at % s->inner, outer = row / s->dim, d = row % s->dim, left;
	*step = s->by_block ? s->inner > 1 : s->inner == 1;
	if (s->single) {
		*place = *step = 0;
		return n;
	}
	if (s->by_block) {
		*place = (outer * s->blocks + d / s->size) * s->inner + column;
		left = s->size - d % s->size < s->dim - d ? s->size - d % s->size : s->dim - d;
	} else {
		*place = d;
		left = s->dim - d;
	}
	left = s->inner > 1 ? s->inner - column : left;
	return left < n ? left : n;
}

static void run_quantize(float *x, int64_t n, const float *scale, int64_t step, float zero)
{
	if (step)
		for (int64_t i = 0; i < n; i++)
			x[i] = x[i] / scale[i] + zero;
	else
		for (int64_t i = 0; i < n; i++)
			x[i] = x[i] / *scale + zero;
}

static void run_dequantize(float *x, int64_t n, const float *scale, int64_t step, float zero)
{
	if (step)
		for (int64_t i = 0; i < n; i++)
			x[i] = (x[i] - zero) * scale[i];
	else
		for (int64_t i = 0; i < n; i++)
			x[i] = (x[i] - zero) * *scale;
}

static int64_t elements(const struct problem *p)
{
	int64_t n = 1;
	for (int i = 0; i < p->shape[0].rank; i++)
		n *= p->shape[0].dim[i];
	return n;
}

/* First element of share i; a multiple of CHUNK. */
static int64_t share_begin(int64_t n, int i, int count)
{
	int64_t chunks = (n - 1) / CHUNK + 1, at = (chunks / count * i + chunks % count * i / count) * CHUNK;
	return at < n ? at : n;
}

static void known_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	const struct scales s = scales_of(p);
	bool packs = p->kernel == KERNEL_QUANTIZE;
	float chunk[CHUNK], zero = (float)integer_zero_point(p->operand[packs].dtype);
	int64_t n = elements(p), end = share_begin(n, i + 1, count);
	for (int64_t at = share_begin(n, i, count); at < end; at += CHUNK) {
		int64_t here = end - at < CHUNK ? end - at : CHUNK, run, place, step;
		plain_load(chunk, a->source[0], p->operand[0].dtype, at, here);
		for (int64_t j = 0; j < here; j += run) {
			run = run_of(&s, at + j, here - j, &place, &step);
			if (packs)
				run_quantize(chunk + j, run, a->scale + place, step, zero);
			else
				run_dequantize(chunk + j, run, a->scale + place, step, zero);
		}
		plain_store(a->destination, p->operand[1].dtype, at, chunk, here);
	}
}

/* First pass of dynamic quantization: the range of each share, to a->partial. */
static void range_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	float chunk[CHUNK], low = 0, high = 0;
	int64_t n = elements(p), end = share_begin(n, i + 1, count);
	for (int64_t at = share_begin(n, i, count); at < end; at += CHUNK) {
		int64_t here = end - at < CHUNK ? end - at : CHUNK;
		plain_load(chunk, a->source[0], p->operand[0].dtype, at, here);
		for (int64_t j = 0; j < here; j++) {
			low = chunk[j] < low ? chunk[j] : low;
			high = chunk[j] > high ? chunk[j] : high;
		}
	}
	a->partial[2 * i] = low;
	a->partial[2 * i + 1] = high;
}

/* Second pass: every share computes the total range and quantizes its elements. */
static void dynamic_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	float chunk[CHUNK], low = 0, high = 0, least = p->operand[1].dtype == DTYPE_S8 ? -128 : 0;
	for (int j = 0; j < count; j++) {
		low = a->partial[2 * j] < low ? a->partial[2 * j] : low;
		high = a->partial[2 * j + 1] > high ? a->partial[2 * j + 1] : high;
	}
	float scale = high > low ? (high - low) / 255 : 1;
	float zero = (least - low / scale + 0x1.8p23f) - 0x1.8p23f;
	int64_t n = elements(p), end = share_begin(n, i + 1, count);
	for (int64_t at = share_begin(n, i, count); at < end; at += CHUNK) {
		int64_t here = end - at < CHUNK ? end - at : CHUNK;
		plain_load(chunk, a->source[0], p->operand[0].dtype, at, here);
		run_quantize(chunk, here, &scale, 0, zero);
		plain_store(a->destination, p->operand[1].dtype, at, chunk, here);
	}
}

void plain_cast_share(const struct plain *a, int i, int count)
{
	const struct problem *p = a->problem;
	float chunk[CHUNK];
	int64_t n = elements(p), end = share_begin(n, i + 1, count);
	for (int64_t at = share_begin(n, i, count); at < end; at += CHUNK) {
		int64_t here = end - at < CHUNK ? end - at : CHUNK;
		plain_load(chunk, a->source[0], p->operand[0].dtype, at, here);
		plain_store(a->destination, p->operand[1].dtype, at, chunk, here);
	}
}

void plain_quantize_share(const struct plain *a, int i, int count)
{
	if (a->problem->mode != MODE_QUANTIZE_DYNAMIC)
		known_share(a, i, count);
	else if (a->pass == 0)
		range_share(a, i, count);
	else
		dynamic_share(a, i, count);
}
