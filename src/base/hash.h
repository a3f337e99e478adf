/* Hash map from text to an integer >= 0 (an index into the caller's own array). Keys are not copied and must
 * outlive it. */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include "base/str.h"

struct hash {
	struct hash_slot *slots;
	struct hash_entry *entries; /* count, in the order in which they were added */
	size_t count, capacity;     /* of slots; there is room for 3/4 as many entries */
};

/* Returns a pointer to the key's value; a new key is added with the value -1. Valid until the next
 * hash_at. */
int64_t *hash_at(struct hash *h, struct text key);
/* Begins to fetch the key's place in the map into the cache: for keys that are looked up soon. A look-up in a
 * large map otherwise waits for the memory. */
void hash_fetch(const struct hash *h, struct text key);
/* Makes room for `count` keys in all, so that the map need not grow. */
void hash_reserve(struct hash *h, size_t count);
/* The key's value, or -1 if the key is not in the map. */
int64_t hash_find(const struct hash *h, struct text key);
/* The equal key that was passed to hash_at (its bytes live as long as the map), or "". */
struct text hash_key(const struct hash *h, struct text key);
void hash_free(struct hash *h);

/* Seeded 64-bit hash of n bytes, never 0. The random seed of the process makes collision attacks by file
 * contents impractical; values must not be stored. */
uint64_t hash_bytes(const void *bytes, size_t n);

#endif
