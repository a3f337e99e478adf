/* Variant packs: the addresses for one execution of a cuDNN plan. There is one per buffer set, made once and
 * cached, so that an enqueue costs no more than in a framework. */
#ifndef RUNNER_CUDNN_PACK_H
#define RUNNER_CUDNN_PACK_H

#include "runner/cudnn/cudnn_graph.h"

struct cudnn_pack {
	void **address;                /* in order of the graph's bindings, then the workspace */
	cudnnBackendDescriptor_t d;
};

/* Hash table with open addressing; all zero is an empty table. */
struct cudnn_packs {
	struct cudnn_pack *slot;
	int count, capacity;           /* capacity: 0 or a power of two */
};

/* Returns the pack for these addresses, owned by the table. Returns NULL and sets err if it cannot be
 * made. */
cudnnBackendDescriptor_t cudnn_pack_of(struct cudnn_packs *packs, const struct cudnn_graph *g,
	const struct cuda_pointers *at, struct error *err);
void cudnn_packs_free(struct cudnn_packs *packs, const struct cudnn_api *api);

#endif
