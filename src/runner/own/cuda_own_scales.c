/* The scales and zero points of weights of 4 bits, for each buffer set: scales of 1, then zero points of
 * 0. */
#include "config.h"

#include "runner/own/cuda_own.h"

static int64_t blocks_of(const struct cuda_few *f)
{
	return (f->terms + f->block - 1) / f->block;
}

int cuda_own_scales_ready(const struct cuda_own *o, struct cuda_kept *kept, const struct cuda_pointers *at,
	struct error *err)
{
	const struct cuda_few *f = &o->few;
	const void *key[CUDA_KEPT_KEYS] = { at->weights };
	int64_t scales = f->columns * blocks_of(f), zeros = f->columns * ((blocks_of(f) + 1) / 2);
	if (cuda_kept_find(kept, key))
		return 0;
	char *memory = cuda_kept_add(kept, key, (size_t)(scales * dtype_bits(f->dtype) / 8 + zeros), err);
	if (!memory)
		return -1;
	struct cuda_strided t = { .data = memory, .dtype = f->dtype, .rank = 1, .dim = { scales },
		.stride = { 1 } };
	cudaStream_t s = cuda_context()->stream;
	return cuda_error(cuda_fill(&t, 0, FILL_ONE, 0, s), "the scales", err) ||
			cuda_error(cudaMemsetAsync(memory + scales * dtype_bits(f->dtype) / 8, 0,
				(size_t)zeros, s), "the zero points", err) ? -1 : 0;
}

void cuda_own_scales_add(const struct cuda_own *o, const struct cuda_kept *kept, struct cuda_pointers *at)
{
	const void *key[CUDA_KEPT_KEYS] = { at->weights };
	char *memory = cuda_kept_find(kept, key);
	at->scale = memory;
	at->shift = memory + o->few.columns * blocks_of(&o->few) * dtype_bits(o->few.dtype) / 8;
}
