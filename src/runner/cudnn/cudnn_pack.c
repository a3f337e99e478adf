/* A table of variant packs by their addresses, so that an execution makes none. */
#include "config.h"

#include "runner/cudnn/cudnn_pack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define FIRST_CAPACITY 16

/* Returns the address of a binding's tensor; a scalar is in the binding itself. Pure. */
static void *cudnn_binding_address(const struct cudnn_binding *b, const struct cuda_pointers *at)
{
	const void *p = NULL;
	switch (b->role) {
	case CUDNN_SOURCE: p = at->source[b->index]; break;
	case CUDNN_WEIGHTS: p = at->weights; break;
	case CUDNN_EPILOGUE: p = at->epilogue[b->index]; break;
	case CUDNN_SCALE: p = at->scale; break;
	case CUDNN_SHIFT: p = at->shift; break;
	case CUDNN_MEAN: p = at->mean; break;
	case CUDNN_VARIANCE: p = at->variance; break;
	case CUDNN_DESTINATION: p = at->destination; break;
	case CUDNN_VALUE: p = &b->value; break;
	}
	return (void *)(uintptr_t)p; /* cuDNN takes them all as void * and writes only outputs */
}

static uint64_t addresses_hash(void *const *address, int count)
{
	uint64_t h = 0x9e3779b97f4a7c15u;
	for (int i = 0; i < count; i++) {
		h ^= (uint64_t)(uintptr_t)address[i];
		h *= 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h;
}

/* Returns the slot with these addresses, or the empty slot to put them in. */
static struct cudnn_pack *slot_find(struct cudnn_pack *slot, int capacity, void *const *address, int count)
{
	size_t at = (size_t)addresses_hash(address, count) & (size_t)(capacity - 1);
	while (slot[at].d && memcmp(slot[at].address, address, (size_t)count * sizeof(*address)) != 0)
		at = (at + 1) & (size_t)(capacity - 1);
	return &slot[at];
}

static void packs_grow(struct cudnn_packs *packs, int count)
{
	int capacity = packs->capacity ? packs->capacity * 2 : FIRST_CAPACITY;
	struct cudnn_pack *slot = base_calloc((size_t)capacity, sizeof(*slot));
	for (int i = 0; i < packs->capacity; i++)
		if (packs->slot[i].d)
			*slot_find(slot, capacity, packs->slot[i].address, count) = packs->slot[i];
	free(packs->slot);
	packs->slot = slot;
	packs->capacity = capacity;
}

static cudnnBackendDescriptor_t pack_make(const struct cudnn_graph *g, void **address, struct error *err)
{
	struct cudnn_bag bag;
	int64_t uid[CUDNN_BINDINGS];
	for (int i = 0; i < g->binding_count; i++)
		uid[i] = g->binding[i].uid;
	cudnn_bag_open(&bag, g->bag.api);
	cudnnBackendDescriptor_t d = CUDNN_NEW(&bag, VARIANT_PACK);
	CUDNN_PUT_ARRAY(&bag, d, VARIANT_PACK_UNIQUE_IDS, INT64, g->binding_count, uid);
	CUDNN_PUT_ARRAY(&bag, d, VARIANT_PACK_DATA_POINTERS, VOID_PTR, g->binding_count, address);
	CUDNN_PUT(&bag, d, VARIANT_PACK_WORKSPACE, VOID_PTR, address[g->binding_count]);
	cudnn_desc_finish(&bag, d, "variant pack");
	if (bag.bad) {
		error_set(err, "%s", bag.why.text);
		cudnn_bag_free(&bag);
		return NULL;
	}
	bag.count = 0; /* the table owns it now */
	cudnn_bag_free(&bag);
	return d;
}

cudnnBackendDescriptor_t cudnn_pack_of(struct cudnn_packs *packs, const struct cudnn_graph *g,
	const struct cuda_pointers *at, struct error *err)
{
	void *address[CUDNN_BINDINGS + 1];
	int count = g->binding_count + 1;
	for (int i = 0; i < g->binding_count; i++)
		address[i] = cudnn_binding_address(&g->binding[i], at);
	address[g->binding_count] = at->workspace;
	if (packs->count * 2 >= packs->capacity)
		packs_grow(packs, count);
	struct cudnn_pack *p = slot_find(packs->slot, packs->capacity, address, count);
	if (p->d)
		return p->d;
	cudnnBackendDescriptor_t d = pack_make(g, address, err);
	if (!d)
		return NULL;
	p->d = d;
	p->address = base_malloc((size_t)count * sizeof(*address));
	memcpy(p->address, address, (size_t)count * sizeof(*address));
	packs->count++;
	return d;
}

void cudnn_packs_free(struct cudnn_packs *packs, const struct cudnn_api *api)
{
	for (int i = 0; i < packs->capacity; i++)
		if (packs->slot[i].d) {
			api->cudnnBackendDestroyDescriptor(packs->slot[i].d);
			free(packs->slot[i].address);
		}
	free(packs->slot);
	*packs = (struct cudnn_packs){ 0 };
}
