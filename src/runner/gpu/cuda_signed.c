/* Subtracts 128 from a source before a product, and adds the sums of the weights back to the bias. */
#include "config.h"

#include "runner/gpu/cuda_signed.h"

/* The constants that a corrected bias depends on. */
static void keys_of(const struct cuda_signed *c, const struct cuda_pointers *at, const void **key)
{
	key[0] = at->weights;
	key[1] = c->sum.whole ? NULL : at->epilogue[0];
	key[2] = c->added ? NULL : at->epilogue[c->bias];
}

int cuda_signed_ready(const struct cuda_signed *c, struct cuda_kept *sums, const struct cuda_pointers *at,
	struct error *err)
{
	const void *key[CUDA_KEPT_KEYS];
	keys_of(c, at, key);
	if (cuda_kept_find(sums, key))
		return 0;
	void *to = cuda_kept_add(sums, key, (size_t)c->sum.channels * 4, err);
	if (!to)
		return -1;
	return cuda_error(cuda_shift_sum(&c->sum, key[0], key[1], key[2], to, cuda_context()->stream),
		"the corrected bias", err);
}

struct cuda_pointers cuda_signed_pointers(const struct cuda_signed *c, const struct cuda_kept *sums,
	const struct cuda_pointers *at, void *room)
{
	struct cuda_pointers inner = *at;
	const void *key[CUDA_KEPT_KEYS];
	keys_of(c, at, key);
	inner.source[0] = room;
	for (int i = c->bias + 1; c->added && i < c->inner.epilogue_count; i++)
		inner.epilogue[i] = at->epilogue[i - 1];
	inner.epilogue[c->bias] = cuda_kept_find(sums, key);
	return inner;
}

int cuda_signed_enqueue(const struct cuda_signed *c, struct cuda_kept *sums,
	const struct cuda_pointers *at, void *room, struct cuda_pointers *inner, cudaStream_t stream,
	struct error *err)
{
	if (cuda_signed_ready(c, sums, at, err) ||
		cuda_error(cuda_shift(&c->shift, at->source[0], room, stream), "u8 as s8", err))
		return -1;
	*inner = cuda_signed_pointers(c, sums, at, room);
	return 0;
}
