/* A table of what was computed, by the constants that it was computed from. */
#include "config.h"

#include "runner/gpu/cuda_kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/gpu/cuda_context.h"

void *cuda_kept_find(const struct cuda_kept *kept, const void *const *key)
{
	for (int i = 0; i < kept->count; i++)
		if (memcmp(kept->at[i].key, key, sizeof(kept->at[i].key)) == 0)
			return kept->at[i].memory;
	return NULL;
}

void *cuda_kept_add(struct cuda_kept *kept, const void *const *key, size_t bytes, struct error *err)
{
	struct cuda_kept_item item;
	memcpy(item.key, key, sizeof(item.key));
	if (cuda_error(cudaMalloc(&item.memory, bytes), "cudaMalloc", err))
		return NULL;
	VEC_GROW(kept->at, kept->count, kept->capacity);
	kept->at[kept->count++] = item;
	return item.memory;
}

void cuda_kept_free(struct cuda_kept *kept)
{
	for (int i = 0; i < kept->count; i++)
		cudaFree(kept->at[i].memory);
	free(kept->at);
	*kept = (struct cuda_kept){ 0 };
}
