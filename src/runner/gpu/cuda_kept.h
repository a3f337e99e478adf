/* Device memory that a plan computes once for each buffer set from the set's constants, untimed: what a
 * library's weights need besides the problem's operands. */
#ifndef RUNNER_CUDA_KEPT_H
#define RUNNER_CUDA_KEPT_H

#include <stddef.h>

#include "base/error.h"

#define CUDA_KEPT_KEYS 3

/* All zero is empty. */
struct cuda_kept {
	int count, capacity;
	struct cuda_kept_item {
		const void *key[CUDA_KEPT_KEYS]; /* addresses of the constants */
		void *memory;
	} *at;
};

/* Returns the memory kept for these addresses, or NULL. */
void *cuda_kept_find(const struct cuda_kept *kept, const void *const *key);
/* Allocates memory for these addresses. Returns NULL and sets err on failure. */
void *cuda_kept_add(struct cuda_kept *kept, const void *const *key, size_t bytes, struct error *err);
void cuda_kept_free(struct cuda_kept *kept);

#endif
