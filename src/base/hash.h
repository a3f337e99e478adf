/* A map from text to an integer (an index into the caller's own array). Keys are not copied. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

struct hash {
	struct hash_slot *slots;
	size_t count, capacity;
};

/* The place of key's value, made with *value = -1 when the key is new. Valid until the next hash_at. */
int64_t *hash_at(struct hash *h, struct text key);
/* The value of key, or -1. */
int64_t hash_find(const struct hash *h, struct text key);
/* The key as it was given to hash_at, or "" when there is none: equal bytes that live as long as the map. */
struct text hash_key(const struct hash *h, struct text key);
void hash_free(struct hash *h);

/* Four bytes a step, with a final mix. A step takes in half the width of the state, so that what it did is not undone by the
 * next; the seed makes collision attacks from file contents impractical. Never 0. */
uint64_t hash_bytes(const void *bytes, size_t n);

#endif
