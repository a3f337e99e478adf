/* Operands in device memory: copies that rotate, with guard bytes around each. */
#include "config.h"

#include "runner/gpu/cuda_buffers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/kernels/cuda_kernels.h"

struct cuda_space {
	char *base;
	size_t bytes;        /* of one copy, guards included */
	int64_t copies;
	int users;
	struct cuda_space *next;
};

static struct cuda_buffers *kept; /* buffers of the problem prepared last */

static size_t round_up(double bytes)
{
	size_t n = (size_t)bytes;
	return (n + CUDA_GUARD - 1) / CUDA_GUARD * CUDA_GUARD;
}

/* cudaMalloc; lack of memory is STATUS_NO_MEMORY. No CUDA error stays pending. */
static int device_alloc(char **to, double bytes, enum status *status, struct error *err)
{
	void *p = NULL;
	cudaError_t c = cudaMalloc(&p, (size_t)bytes);
	*to = c == cudaSuccess ? p : NULL;
	*status = cuda_error_is_memory(c) ? STATUS_NO_MEMORY : STATUS_FAILED;
	char words[STR_QUANTITY];
	if (cuda_error(c, "cudaMalloc", err))
		return error_context(err, "allocating %s", str_bytes(words, bytes));
	return 0;
}

static void device_free(char **p)
{
	if (*p)
		cudaFree(*p);
	*p = NULL;
}

int cuda_buffers_refuse(double bytes, const struct backend_limits *limits, struct error *err)
{
	char wanted[STR_QUANTITY], left[STR_QUANTITY];
	if (bytes <= limits->memory_bytes)
		return 0;
	return error_set(err, "needs %s of device memory, but only %s are free", str_bytes(wanted, bytes),
		str_bytes(left, limits->memory_bytes));
}

/* --- workspaces --- */

/* Frees the workspaces without users. */
static void spaces_trim(struct cuda_buffers *b)
{
	for (struct cuda_space **at = &b->spaces; *at;) {
		struct cuda_space *s = *at;
		if (s->users > 0) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		device_free(&s->base);
		free(s);
	}
}

struct cuda_space *cuda_space_get(struct cuda_buffers *b, double bytes, int64_t copies, enum status *status,
	struct error *err)
{
	size_t need = round_up(bytes) + 2 * CUDA_GUARD;
	for (struct cuda_space *s = b->spaces; s; s = s->next)
		if (s->bytes >= need && s->copies >= copies) {
			s->users++;
			return s;
		}
	spaces_trim(b);
	struct cuda_space *s = base_calloc(1, sizeof(*s));
	*s = (struct cuda_space){ .bytes = need, .copies = copies, .users = 1, .next = b->spaces };
	if (device_alloc(&s->base, (double)need * (double)copies, status, err)) {
		free(s);
		return NULL;
	}
	b->spaces = s;
	return s;
}

void cuda_space_put(struct cuda_space *s)
{
	if (s)
		s->users--;
}

char *cuda_space_at(const struct cuda_space *s, int64_t copy)
{
	return s->base + (size_t)(copy % s->copies) * s->bytes + CUDA_GUARD;
}

/* --- operands --- */

char *cuda_buffers_at(const struct cuda_buffers *b, const struct cuda_part *part, int64_t copy)
{
	const struct cuda_block *block = &b->block[part->constant];
	return block->base + (size_t)(copy % block->copies) * block->bytes + part->at;
}

/* Returns the member of *at that holds an input's address. */
static const void **input_slot(struct cuda_pointers *at, const struct cuda_part *part)
{
	switch (part->role) {
	case CHECK_SOURCE: return &at->source[part->number];
	case CHECK_WEIGHTS: return &at->weights;
	case CHECK_EPILOGUE: return &at->epilogue[part->number];
	case CHECK_SCALE: return &at->scale;
	case CHECK_SHIFT: return &at->shift;
	case CHECK_MEAN: return &at->mean;
	default: return &at->variance;
	}
}

void cuda_buffers_pointers(const struct cuda_buffers *b, int64_t constant_copy, int64_t other_copy,
	struct cuda_pointers *at)
{
	memset(at, 0, sizeof(*at));
	for (int i = 0; i < b->part_count; i++) {
		const struct cuda_part *part = &b->part[i];
		char *address = cuda_buffers_at(b, part, part->constant ? constant_copy : other_copy);
		if (part->kind == CUDA_PART_DESTINATION)
			at->destination = address;
		else if (part->kind == CUDA_PART_INDICES)
			at->indices = address;
		else
			*input_slot(at, part) = address;
	}
}

static void buffers_free(struct cuda_buffers *b)
{
	for (struct cuda_space *s = b->spaces; s; s = s->next)
		s->users = 0;
	spaces_trim(b);
	device_free(&b->block[0].base);
	device_free(&b->block[1].base);
	check_forget(&b->inputs);
	free(b->expected);
	free(b);
}

static int part_fill(const struct cuda_buffers *b, const struct cuda_part *part, struct error *err)
{
	const struct cuda_layout *l = &part->layout;
	struct cuda_strided t = {
		.data = cuda_buffers_at(b, part, 0), .dtype = l->dtype, .rank = l->shape.rank
	};
	memcpy(t.dim, l->shape.dim, sizeof(t.dim));
	memcpy(t.stride, l->stride, sizeof(t.stride));
	return cuda_error(
		cuda_fill(&t, cuda_part_seed(part), part->fill, part->limit, cuda_context()->stream),
		"filling an operand", err);
}

/* Writes guard bytes over the whole first copy, then its inputs, then duplicates it by doubling: 1, 2, 4 ...
 * copies. */
static int block_fill(struct cuda_buffers *b, int which, struct error *err)
{
	struct cuda_block *block = &b->block[which];
	cudaStream_t s = cuda_context()->stream;
	if (!block->base)
		return 0;
	if (cuda_error(
		    cudaMemsetAsync(block->base, CUDA_GUARD_BYTE, block->bytes, s), "cudaMemsetAsync", err))
		return -1;
	for (int i = 0; i < b->part_count; i++)
		if (b->part[i].constant == (which == 1) && b->part[i].kind == CUDA_PART_INPUT &&
			part_fill(b, &b->part[i], err))
			return -1;
	for (int64_t done = 1; done < block->copies;) {
		int64_t more = done < block->copies - done ? done : block->copies - done;
		if (cuda_error(cudaMemcpyAsync(block->base + (size_t)done * block->bytes, block->base,
			(size_t)more * block->bytes, cudaMemcpyDeviceToDevice, s), "cudaMemcpyAsync", err))
			return -1;
		done += more;
	}
	return 0;
}

int cuda_buffers_refill(struct cuda_buffers *b, struct error *err)
{
	return block_fill(b, 0, err) || block_fill(b, 1, err) ||
		cuda_error(cudaStreamSynchronize(cuda_context()->stream), "filling operands", err) ? -1 : 0;
}

static double value_of(void *state, enum check_role role, int number, int64_t index)
{
	const struct cuda_buffers *b = state;
	for (int i = 0; i < b->part_count; i++) {
		const struct cuda_part *part = &b->part[i];
		if (part->kind == CUDA_PART_INPUT && part->role == role && part->number == number)
			return fill_value(
				cuda_part_seed(part), index, part->fill, part->limit, part->layout.dtype);
	}
	/* of weights in blocks (own/cuda_own_scales.c) */
	return role == CHECK_SCALE ? 1 : role == CHECK_SHIFT ? 0 : NAN;
}

static int buffers_make(struct cuda_buffers *b, const struct backend_limits *limits, enum status *status,
	struct error *err)
{
	double bytes[2];
	*status = STATUS_UNSUPPORTED;
	if (cuda_parts_list(&b->problem, b->part, &b->part_count, bytes, err))
		return -1;
	int64_t cold = b->cold_sets, net = b->sets;
	double need = bytes[0] * (double)cold + bytes[1] * (double)(net > cold ? net : cold);
	*status = STATUS_NO_MEMORY;
	if (cuda_buffers_refuse(need, limits, err))
		return -1;
	for (int i = 0; i < 2; i++) {
		struct cuda_block *block = &b->block[i];
		block->bytes = (size_t)bytes[i];
		block->copies = i && net > cold ? net : cold;
		if (block->bytes > 0 &&
			device_alloc(&block->base, (double)block->bytes * (double)block->copies, status, err))
			return -1;
	}
	*status = STATUS_FAILED;
	b->inputs = (struct check_inputs){ .value = value_of, .state = b };
	return cuda_buffers_refill(b, err);
}

static bool is_same(const struct cuda_buffers *b, const struct problem *p, int64_t sets, int64_t cold_sets)
{
	char mine[PROBLEM_TEXT_SIZE], theirs[PROBLEM_TEXT_SIZE];
	if (b->sets != sets || b->cold_sets != cold_sets)
		return false;
	if (problem_format(&b->problem, mine, NULL) || problem_format(p, theirs, NULL))
		return false;
	return strcmp(mine, theirs) == 0;
}

struct cuda_buffers *cuda_buffers_get(
	const struct problem *p, const struct backend_limits *limits, enum status *status, struct error *err)
{
	int64_t sets = limits->sets > 1 ? limits->sets : 1,
		cold = limits->cold_sets > 1 ? limits->cold_sets : 1;
	if (!limits->apart && kept && is_same(kept, p, sets, cold)) {
		kept->users++;
		return kept;
	}
	cuda_buffers_drop();
	struct cuda_buffers *b = base_calloc(1, sizeof(*b));
	b->problem = *p;
	b->sets = sets;
	b->cold_sets = cold;
	b->users = 1;
	b->expected_count = -1;
	if (buffers_make(b, limits, status, err)) {
		buffers_free(b);
		return NULL;
	}
	if (!kept && !limits->apart)
		kept = b;
	return b;
}

void cuda_buffers_put(struct cuda_buffers *b)
{
	if (b && --b->users == 0 && b != kept)
		buffers_free(b);
}

void cuda_buffers_drop(void)
{
	if (!kept || kept->users > 0)
		return;
	buffers_free(kept);
	kept = NULL;
}

double cuda_buffers_bytes(const struct cuda_buffers *b)
{
	double sum = 0;
	for (int i = 0; i < 2; i++)
		sum += b->block[i].base ? (double)b->block[i].bytes * (double)b->block[i].copies : 0;
	return sum;
}
