/* Compares what an algorithm computed on the GPU with plain C. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/gpu/cuda_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/verify/integers.h"

/* Checks, in this order: guard bytes, 8 elements of every input, then outputs: the corners of the shape and
 * 64 to 500 random elements, as many as about 2e6 reference terms allow. Their reference values are computed
 * in double, once per problem. After a failure other than a finite error all inputs are written again, so
 * that the next algorithm is not blamed for inputs that this one has changed. */
#define SAMPLES_MOST 500
#define SAMPLES_LEAST 64
#define SAMPLES_TERMS 2e6       /* terms of all sampled references together: some tens of milliseconds */
#define CORNERS 64
#define READ_WHOLE 16777216     /* bytes; larger destinations are read element by element */
#define INPUT_SAMPLES 8         /* elements per input compared with the values filled in */
#define INPUT_SLACK 0.01        /* relative; an overwritten input differs by more */
#define ELEMENT 8               /* bytes of the widest type */
#define SLACK 0.13              /* relative, for scaled values of dropout: rounding of f8e5m2 */

static cudaStream_t stream(void)
{
	return cuda_context()->stream;
}

/* --- before the execution --- */

int cuda_check_begin(const struct cuda_check *c, struct error *err)
{
	const struct cuda_buffers *b = c->buffers;
	for (int i = 0; i < b->part_count; i++)
		if (b->part[i].kind != CUDA_PART_INPUT &&
			cuda_error(cudaMemsetAsync(cuda_buffers_at(b, &b->part[i], 0), CUDA_POISON_BYTE,
				(size_t)b->part[i].bytes, stream()), "cudaMemsetAsync", err))
			return -1;
	if (!c->space)
		return 0;
	char *at = cuda_space_at(c->space, 0);
	return cuda_error(cudaMemsetAsync(at - CUDA_GUARD, CUDA_GUARD_BYTE, CUDA_GUARD, stream()),
		       "cudaMemsetAsync", err) ||
			cuda_error(cudaMemsetAsync(at + (size_t)c->workspace_bytes, CUDA_GUARD_BYTE,
					   CUDA_GUARD, stream()),
				"cudaMemsetAsync", err)
		? -1
		: 0;
}

/* --- reading back --- */

/* Pinned memory, one buffer per process: copies to pageable memory are serialized, at some microseconds
 * each. */
static unsigned char *staging;

/* Returns a host buffer of at least `bytes`, valid until the next call; the caller frees *own. */
static unsigned char *staging_of(size_t bytes, unsigned char **own)
{
	void *p = NULL;
	*own = NULL;
	if (!staging && cudaHostAlloc(&p, READ_WHOLE, cudaHostAllocDefault) == cudaSuccess)
		staging = p;
	if (!staging)
		cudaGetLastError(); /* pageable memory works too */
	if (staging && bytes <= READ_WHOLE)
		return staging;
	return *own = base_malloc(bytes);
}

void cuda_check_close(void)
{
	if (staging)
		cudaFreeHost(staging);
	staging = NULL;
}

static int fetch(void *to, const char *from, size_t bytes, struct error *err)
{
	return cuda_error(
		cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream()), "cudaMemcpyAsync", err);
}

static int wait(struct error *err)
{
	return cuda_error(cudaStreamSynchronize(stream()), "reading outputs back", err);
}

/* --- guards --- */

static bool is_whole_guard(const unsigned char *g)
{
	for (int i = 0; i < CUDA_GUARD; i++)
		if (g[i] != CUDA_GUARD_BYTE)
			return false;
	return true;
}

static const char *part_name(const struct cuda_part *part)
{
	static const char *const roles[] = { [CHECK_SOURCE] = "a source", [CHECK_WEIGHTS] = "the weights",
		[CHECK_EPILOGUE] = "an epilogue operand", [CHECK_SCALE] = "the scale",
		[CHECK_SHIFT] = "the shift", [CHECK_MEAN] = "the mean", [CHECK_VARIANCE] = "the variance" };
	return part->kind == CUDA_PART_DESTINATION ? "the destination"
		: part->kind == CUDA_PART_INDICES  ? "the indices"
						   : roles[part->role];
}

/* Returns 0 if all guards are intact, 1 if one is overwritten (err names its operand), -1 if they cannot be
 * read. */
static int guards_check(const struct cuda_check *c, struct error *err)
{
	const struct cuda_buffers *b = c->buffers;
	int count = b->part_count + (c->space != NULL), bad = 0;
	unsigned char *own, *seen = staging_of((size_t)count * 2 * CUDA_GUARD, &own);
	for (int i = 0; i < count && !bad; i++) {
		bool space = i == b->part_count;
		const char *at = space ? cuda_space_at(c->space, 0) : cuda_buffers_at(b, &b->part[i], 0);
		size_t bytes = (size_t)(space ? c->workspace_bytes : b->part[i].bytes);
		unsigned char *to = seen + (size_t)i * 2 * CUDA_GUARD;
		bad = fetch(to, at - CUDA_GUARD, CUDA_GUARD, err) ||
				fetch(to + CUDA_GUARD, at + bytes, CUDA_GUARD, err)
			? -1
			: 0;
	}
	if (!bad)
		bad = wait(err);
	for (int i = 0; i < count * 2 && !bad; i++) {
		if (is_whole_guard(seen + (size_t)i * CUDA_GUARD))
			continue;
		bad = 1;
		error_set(err, "it writes %s %s", i % 2 ? "past the end of" : "before the start of",
			i / 2 == b->part_count ? "its workspace" : part_name(&b->part[i / 2]));
	}
	free(own);
	return bad;
}

/* --- choosing outputs --- */

static const struct cuda_part *part_of(const struct cuda_buffers *b, enum cuda_part_kind kind)
{
	for (int i = 0; i < b->part_count; i++)
		if (b->part[i].kind == kind)
			return &b->part[i];
	return NULL;
}

static double volume(const struct problem_shape *s)
{
	double n = 1;
	for (int i = 0; i < s->rank; i++)
		n *= (double)s->dim[i];
	return n;
}

/* Lists the corners of a shape as row-major indices; includes the first and the last element. Returns their
 * number. */
static int corners(const struct problem_shape *s, int64_t *index)
{
	int count = s->rank > 6 ? CORNERS : 1 << s->rank, n = 0;
	for (int corner = 0; corner < count; corner++) {
		int64_t at = 0;
		bool again = false;
		for (int i = 0; i < s->rank; i++) {
			/* the last corner is always the last element, also if the rank is larger than 6 */
			bool end = corner == count - 1 || (i < 6 && (corner >> i & 1));
			again = again || (end && s->dim[i] == 1 && corner != count - 1);
			at = at * s->dim[i] + (end ? s->dim[i] - 1 : 0);
		}
		if (!again && (n == 0 || index[n - 1] != at))
			index[n++] = at;
	}
	return n;
}

/* Chooses the outputs to check, as indices in an array of SAMPLES_MOST + CORNERS. Returns their number. */
static int samples_choose(const struct problem *p, const struct problem_shape *s, int64_t *index)
{
	double total = volume(s), samples = SAMPLES_TERMS / check_terms(p, total);
	int64_t most = (int64_t)fmin(fmax(samples, SAMPLES_LEAST), SAMPLES_MOST);
	/* no corners for an rnn: each may need the reference of another whole sequence */
	int n = p->kernel == KERNEL_RNN ? 0 : corners(s, index);
	if (total <= (double)most) {
		for (n = 0; n < (int)total; n++)
			index[n] = n;
		return n;
	}
	for (int64_t i = 0; i < most; i++)
		index[n++] = check_sample(p, (int64_t)total, most, i);
	return n;
}

/* --- reading outputs --- */

static int64_t offset_of(const struct cuda_layout *l, int64_t index)
{
	int64_t at = 0;
	for (int i = l->shape.rank - 1; i >= 0; i--) {
		at += index % l->shape.dim[i] * l->stride[i];
		index /= l->shape.dim[i];
	}
	return at;
}

/* Reads elements of an operand into `to`, ELEMENT bytes apart; of types of 4 bits, the byte that has it. */
static int elements_read(const struct cuda_buffers *b, const struct cuda_part *part, const int64_t *index,
	int count, unsigned char *to, struct error *err)
{
	const char *base = cuda_buffers_at(b, part, 0);
	int bits = dtype_bits(part->layout.dtype), per_byte = bits < 8 ? 8 / bits : 1;
	size_t size = bits < 8 ? 1 : (size_t)bits / 8;
	bool whole = part->bytes <= READ_WHOLE && count > INPUT_SAMPLES;
	unsigned char *own, *seen = staging_of(whole ? (size_t)part->bytes : (size_t)count * ELEMENT, &own);
	int bad = whole ? fetch(seen, base, (size_t)part->bytes, err) : 0;
	for (int i = 0; i < count && !bad && !whole; i++)
		bad = fetch(seen + i * ELEMENT,
			base + (size_t)(offset_of(&part->layout, index[i]) / per_byte) * size, size, err);
	bad = bad || wait(err) ? -1 : 0;
	for (int i = 0; i < count && !bad; i++)
		memcpy(to + i * ELEMENT, seen + (whole ?
			(size_t)(offset_of(&part->layout, index[i]) / per_byte) * size :
			(size_t)i * ELEMENT), size);
	free(own);
	return bad;
}

/* --- reference values --- */

static void expected_compute(struct cuda_buffers *b, const struct cuda_part *destination)
{
	int64_t index[SAMPLES_MOST + CORNERS];
	bool known = true;
	int count = samples_choose(&b->problem, &destination->layout.shape, index);
	free(b->expected);
	b->expected = base_calloc((size_t)count, sizeof(*b->expected));
	b->expected_count = 0;
	for (int i = 0; i < count && known; i++) {
		struct cuda_expected *e = &b->expected[i];
		e->index = index[i];
		/* several values are correct: check_accepts judges the output itself, except for topk's
		 * values */
		check_accepts(&b->problem, &b->inputs, 0, 0, SLACK, &known);
		bool judged = known && !kernel_row(b->problem.kernel)->second_output;
		known = judged || check_output(&b->problem, &b->inputs, index[i], &e->value, &e->scale);
		b->expected_count += known;
	}
}

/* Minimum scale for relative errors: a few of the type's smallest quanta. */
static double least_scale(enum dtype t)
{
	switch (t) {
	case DTYPE_F16: return 0x1p-12;
	case DTYPE_F8E4M3: return 0x1p-4;
	case DTYPE_F8E5M2: return 0x1p-12;
	default: return 1e-6;
	}
}

static double off_by(double got, const struct cuda_expected *e, enum dtype type)
{
	unsigned char rounded[ELEMENT];
	fill_encode(e->value, type, rounded);
	double best = fill_decode(rounded, type);
	if (got == best || (isnan(got) && isnan(best)))
		return 0;
	double off = integer_error(type, got, e->value) / fmax(e->scale, least_scale(type));
	return isnan(off) ? INFINITY : off;
}

static bool is_unwritten(const unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (bytes[i] != CUDA_POISON_BYTE)
			return false;
	return true;
}

/* Returns the relative error of one output; INFINITY, with err set, if it is unwritten or not comparable. */
static double judge(struct cuda_buffers *b, const struct cuda_part *part, const struct cuda_expected *e,
	const unsigned char *bytes, struct error *err)
{
	enum dtype type = part->layout.dtype;
	double got = fill_decode(bytes, type);
	bool known = false, accepted = false;
	if (part->kind == CUDA_PART_INDICES || !kernel_row(b->problem.kernel)->second_output)
		accepted = check_accepts(&b->problem, &b->inputs, e->index, got, SLACK, &known);
	double off = known ? (accepted ? 0 : INFINITY) : off_by(got, e, type);
	if (off > 0 && is_unwritten(bytes, (size_t)dtype_bits(type) / 8)) {
		error_set(err, "%s: element %lld is not written", part_name(part), (long long)e->index);
		return INFINITY;
	}
	if (isinf(off) && known)
		error_set(err, "%s: element %lld is %g, which is not a correct value", part_name(part),
			(long long)e->index, got);
	else if (isinf(off))
		error_set(err, "%s: element %lld is %g, expected %g", part_name(part), (long long)e->index,
			got, e->value);
	return off;
}

/* `factor`: between the part and the expected values. */
static int part_compare(struct cuda_buffers *b, const struct cuda_part *part, double factor, double *worst,
	struct error *err)
{
	int count = b->expected_count;
	int64_t *index = base_calloc((size_t)count, sizeof(*index));
	unsigned char *bytes = base_calloc((size_t)count, ELEMENT);
	for (int i = 0; i < count; i++)
		index[i] = b->expected[i].index;
	int bad = elements_read(b, part, index, count, bytes, err);
	for (int i = 0; i < count && !bad && *worst < INFINITY; i++) {
		struct cuda_expected e = b->expected[i];
		e.value *= factor;
		e.scale *= factor;
		*worst = fmax(*worst, judge(b, part, &e, bytes + i * ELEMENT, err));
	}
	free(index);
	free(bytes);
	return bad;
}

/* For kernels without a reference: checks only that the first and the last element are written. */
static int written_check(
	struct cuda_buffers *b, const struct cuda_part *part, double *worst, struct error *err)
{
	unsigned char bytes[2 * ELEMENT];
	int64_t index[2] = { 0, (int64_t)volume(&part->layout.shape) - 1 };
	if (!dtype_is_float(part->layout.dtype))
		return 0;
	if (elements_read(b, part, index, 2, bytes, err))
		return -1;
	for (int i = 0; i < 2; i++)
		if (is_unwritten(bytes + i * ELEMENT, (size_t)dtype_bits(part->layout.dtype) / 8)) {
			*worst = INFINITY;
			error_set(
				err, "%s: element %lld is not written", part_name(part), (long long)index[i]);
		}
	return 0;
}

/* Returns an element of an input from its bytes, those of elements_read. */
static double input_value(const struct cuda_part *part, const unsigned char *bytes, int64_t index)
{
	enum dtype t = part->layout.dtype;
	if (dtype_bits(t) >= 8)
		return fill_decode(bytes, t);
	int v = bytes[0] >> (offset_of(&part->layout, index) % 2 ? 4 : 0) & 15;
	return t == DTYPE_S4 && v > 7 ? v - 16 : v;
}

/* Returns 1 and sets err if an input no longer has the values filled in, -1 if it cannot be read. */
static int inputs_check(const struct cuda_buffers *b, struct error *err)
{
	for (int i = 0; i < b->part_count; i++) {
		const struct cuda_part *part = &b->part[i];
		unsigned char seen[INPUT_SAMPLES * ELEMENT];
		int64_t index[INPUT_SAMPLES], last = (int64_t)volume(&part->layout.shape) - 1;
		if (part->kind != CUDA_PART_INPUT)
			continue;
		for (int j = 0; j < INPUT_SAMPLES; j++)
			index[j] = (int64_t)((double)last * j / (INPUT_SAMPLES - 1));
		if (elements_read(b, part, index, INPUT_SAMPLES, seen, err))
			return -1;
		for (int j = 0; j < INPUT_SAMPLES; j++) {
			double filled = fill_value(
				cuda_part_seed(part), index[j], part->fill, part->limit, part->layout.dtype);
			double now = input_value(part, seen + j * ELEMENT, index[j]);
			if (fabs(now - filled) <= INPUT_SLACK * fabs(filled))
				continue;
			error_set(err, "it overwrites %s", part_name(part));
			return 1;
		}
	}
	return 0;
}

int cuda_check_end(const struct cuda_check *c, double *worst, struct error *err)
{
	struct cuda_buffers *b = c->buffers;
	const struct cuda_part *destination = part_of(b, CUDA_PART_DESTINATION);
	const struct cuda_part *indices = part_of(b, CUDA_PART_INDICES);
	*worst = 0;
	int broken = guards_check(c, err);
	if (!broken)
		broken = inputs_check(b, err);
	if (broken < 0)
		return -1;
	if (b->expected_count < 0 || b->inputs.epsilon != c->epsilon) {
		b->inputs.epsilon = c->epsilon;
		expected_compute(b, destination);
	}
	int bad = 0;
	if (broken)
		*worst = INFINITY;
	else if (b->expected_count == 0)
		bad = written_check(b, destination, worst, err);
	else
		bad = part_compare(b, destination, c->factor > 0 ? c->factor : 1, worst, err) ||
			(indices && *worst < INFINITY && part_compare(b, indices, 1, worst, err)) ? -1 : 0;
	/* the algorithm may have overwritten inputs of the next one */
	if (!bad && isinf(*worst))
		return cuda_buffers_refill(b, NULL);
	*worst /= c->gain > 0 ? c->gain : 1;
	if (!bad && b->expected_count == 0)
		return error_set(err, "no reference values for %s", kernel_name(b->problem.kernel));
	return bad;
}
