#include "config.h"

#include "base/hash.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct hash_slot {
	struct text key;
	uint64_t hash; /* 0: the slot is free */
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

/* Open addressing with linear probing: the key's slot, or the free slot where it belongs. */
static struct hash_slot *hash_slot(struct hash_slot *slots, size_t capacity, struct text key, uint64_t hash)
{
	size_t i = hash & (capacity - 1);
	while (slots[i].hash && (slots[i].hash != hash || !text_equal(slots[i].key, key)))
		i = (i + 1) & (capacity - 1);
	return &slots[i];
}

static void hash_grow(struct hash *h)
{
	size_t capacity = h->capacity ? h->capacity * 2 : 64;
	struct hash_slot *slots = base_calloc(capacity, sizeof(*slots));
	for (size_t i = 0; i < h->capacity; i++)
		if (h->slots[i].hash)
			*hash_slot(slots, capacity, h->slots[i].key, h->slots[i].hash) = h->slots[i];
	free(h->slots);
	h->slots = slots;
	h->capacity = capacity;
}

int64_t *hash_at(struct hash *h, struct text key)
{
	if (h->count * 4 >= h->capacity * 3)
		hash_grow(h);
	uint64_t hash = hash_bytes(key.p, key.n);
	struct hash_slot *slot = hash_slot(h->slots, h->capacity, key, hash);
	if (!slot->hash) {
		*slot = (struct hash_slot){ .key = key, .hash = hash, .value = -1 };
		h->count++;
	}
	return &slot->value;
}

static const struct hash_slot *hash_look(const struct hash *h, struct text key)
{
	if (!h->capacity)
		return NULL;
	const struct hash_slot *slot = hash_slot(h->slots, h->capacity, key, hash_bytes(key.p, key.n));
	return slot->hash ? slot : NULL;
}

int64_t hash_find(const struct hash *h, struct text key)
{
	const struct hash_slot *slot = hash_look(h, key);
	return slot ? slot->value : -1;
}

struct text hash_key(const struct hash *h, struct text key)
{
	const struct hash_slot *slot = hash_look(h, key);
	return slot ? slot->key : TEXT("");
}

void hash_free(struct hash *h)
{
	free(h->slots);
	*h = (struct hash){ 0 };
}
