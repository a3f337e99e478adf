#include "config.h"

#include "runner/gpu/cuda_signed.h"

#include <stdlib.h>

#include "base/arena.h"

static struct cuda_signed_sum sum_of(const struct cuda_signed *c, const struct cuda_pointers *at)
{
	return (struct cuda_signed_sum){ .weights = at->weights,
		.scale = c->sum.whole ? NULL : at->epilogue[0],
		.bias = c->added ? NULL : at->epilogue[c->bias] };
}

static void *sum_find(const struct cuda_signed_sums *sums, const struct cuda_signed_sum *s)
{
	for (int i = 0; i < sums->count; i++)
		if (sums->at[i].weights == s->weights && sums->at[i].scale == s->scale &&
			sums->at[i].bias == s->bias)
			return sums->at[i].corrected;
	return NULL;
}

int cuda_signed_ready(const struct cuda_signed *c, struct cuda_signed_sums *sums,
	const struct cuda_pointers *at, struct error *err)
{
	struct cuda_signed_sum s = sum_of(c, at);
	if (sum_find(sums, &s))
		return 0;
	if (cuda_error(cudaMalloc(&s.corrected, (size_t)c->sum.channels * 4), "cudaMalloc", err))
		return -1;
	if (cuda_error(cuda_shift_sum(&c->sum, s.weights, s.scale, s.bias, s.corrected,
		cuda_context()->stream), "the corrected bias", err)) {
		cudaFree(s.corrected);
		return -1;
	}
	VEC_GROW(sums->at, sums->count, sums->capacity);
	sums->at[sums->count++] = s;
	return 0;
}

struct cuda_pointers cuda_signed_pointers(const struct cuda_signed *c, const struct cuda_signed_sums *sums,
	const struct cuda_pointers *at, void *room)
{
	struct cuda_pointers inner = *at;
	struct cuda_signed_sum s = sum_of(c, at);
	inner.source[0] = room;
	for (int i = c->bias + 1; c->added && i < c->inner.epilogue_count; i++)
		inner.epilogue[i] = at->epilogue[i - 1];
	inner.epilogue[c->bias] = sum_find(sums, &s);
	return inner;
}

int cuda_signed_enqueue(const struct cuda_signed *c, struct cuda_signed_sums *sums,
	const struct cuda_pointers *at, void *room, struct cuda_pointers *inner, cudaStream_t stream,
	struct error *err)
{
	if (cuda_signed_ready(c, sums, at, err) ||
		cuda_error(cuda_shift(&c->shift, at->source[0], room, stream), "u8 as s8", err))
		return -1;
	*inner = cuda_signed_pointers(c, sums, at, room);
	return 0;
}

void cuda_signed_free(struct cuda_signed_sums *sums)
{
	for (int i = 0; i < sums->count; i++)
		cudaFree(sums->at[i].corrected);
	free(sums->at);
	*sums = (struct cuda_signed_sums){ 0 };
}
