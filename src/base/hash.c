/* Open addressing with linear probing; keys are hashed by FNV-1a with a random start, so that hostile
 * names cannot collide on purpose. Expected O(1). */
#include "config.h"

#include "base/hash.h"

#include "base/arena.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct hash_slot {
	uint32_t hash;  /* the lower half */
	uint32_t entry; /* its number plus 1; 0: the slot is free */
};

struct hash_entry {
	struct text key;
	int64_t value;
};

static uint64_t hash_seed(void)
{
	static uint64_t seed;
	if (!seed && (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed) || !seed))
		seed = 0x9e3779b97f4a7c15u;
	return seed;
}

/* FNV-1a (Fowler, Noll, Vo) with four bytes per step, a random start value and another odd multiplier (the
 * golden ratio). The input of a step is half as wide as the state, so that no step can cancel the one before.
 * Ends with xor-shift and multiply rounds, as the finalizers of MurmurHash3 and SplitMix64 do, so that all
 * bits depend on all input. */
uint64_t hash_bytes(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = 0xcbf29ce484222325u ^ hash_seed();
	uint32_t word;
	for (; n >= sizeof(word); p += sizeof(word), n -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15u;
	}
	for (; n; p++, n--)
		h = (h ^ *p) * 0x9e3779b97f4a7c15u;
	h ^= h >> 32;
	h *= 0xd6e8feb86659fd93u;
	h ^= h >> 32;
	return h ? h : 1;
}

/* Open addressing with linear probing: the key's slot, or the free slot where it belongs. Slots are small,
 * and entries are in the order of their keys' first use, which later passes often repeat: a look-up in a
 * large map then misses the cache once. */
static struct hash_slot *hash_slot(const struct hash *h, struct text key, uint32_t hash)
{
	size_t i = hash & (h->capacity - 1);
	while (h->slots[i].entry && (h->slots[i].hash != hash ||
					    !text_equal(h->entries[h->slots[i].entry - 1].key, key)))
		i = (i + 1) & (h->capacity - 1);
	return &h->slots[i];
}

void hash_reserve(struct hash *h, size_t count)
{
	size_t before = h->capacity, capacity = before ? before : 64;
	struct hash_slot *old = h->slots;
	while (count * 4 > capacity * 3)
		capacity *= 2;
	if (capacity == before)
		return;
	h->capacity = capacity;
	h->slots = base_calloc(capacity, sizeof(*h->slots));
	h->entries = base_realloc(h->entries, capacity / 4 * 3 * sizeof(*h->entries));
	for (size_t i = 0; i < before; i++) {
		size_t to = old[i].hash & (capacity - 1);
		while (old[i].entry && h->slots[to].entry)
			to = (to + 1) & (capacity - 1);
		if (old[i].entry)
			h->slots[to] = old[i];
	}
	free(old);
}

int64_t *hash_at(struct hash *h, struct text key)
{
	hash_reserve(h, h->count + 1);
	uint32_t hash = (uint32_t)hash_bytes(key.p, key.n);
	struct hash_slot *slot = hash_slot(h, key, hash);
	if (!slot->entry) {
		assert(h->count < UINT32_MAX);
		h->entries[h->count] = (struct hash_entry){ .key = key, .value = -1 };
		*slot = (struct hash_slot){ hash, (uint32_t)++h->count };
	}
	return &h->entries[slot->entry - 1].value;
}

static const struct hash_entry *hash_look(const struct hash *h, struct text key)
{
	if (!h->capacity)
		return NULL;
	const struct hash_slot *slot = hash_slot(h, key, (uint32_t)hash_bytes(key.p, key.n));
	return slot->entry ? &h->entries[slot->entry - 1] : NULL;
}

void hash_fetch(const struct hash *h, struct text key)
{
	if (h->capacity)
		__builtin_prefetch(&h->slots[hash_bytes(key.p, key.n) & (h->capacity - 1)]);
}

int64_t hash_find(const struct hash *h, struct text key)
{
	const struct hash_entry *e = hash_look(h, key);
	return e ? e->value : -1;
}

struct text hash_key(const struct hash *h, struct text key)
{
	const struct hash_entry *e = hash_look(h, key);
	return e ? e->key : TEXT("");
}

void hash_free(struct hash *h)
{
	free(h->slots);
	free(h->entries);
	*h = (struct hash){ 0 };
}
