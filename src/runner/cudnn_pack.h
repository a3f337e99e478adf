/* Variant packs: the addresses that one execution of a cuDNN plan works on. Operands rotate through copies, so there are
 * several, each made once: what is enqueued must cost no more than what a framework enqueues. */
#ifndef RUNNER_CUDNN_PACK_H
#define RUNNER_CUDNN_PACK_H

#include "runner/cudnn_graph.h"

struct cudnn_pack {
	void **address;                /* in the order of the graph's bindings, the workspace last */
	cudnnBackendDescriptor_t d;
};

/* Zeroed is empty. A hash table, open addressing. */
struct cudnn_packs {
	struct cudnn_pack *slot;
	int count, capacity;           /* capacity: 0 or a power of two */
};

/* The pack for these addresses; owned by the table. NULL: err says why. */
cudnnBackendDescriptor_t cudnn_pack_of(struct cudnn_packs *packs, const struct cudnn_graph *g,
	const struct cuda_pointers *at, struct error *err);
void cudnn_packs_free(struct cudnn_packs *packs, const struct cudnn_api *api);

/* Pure: where a binding's tensor is. A scalar is in the binding itself. */
void *cudnn_binding_address(const struct cudnn_binding *b, const struct cuda_pointers *at);

#endif
