/* cuDNN's backend descriptors, owned together: whoever builds a graph fills a bag and frees it whole. The first failure
 * stays in the bag and turns every later call into nothing, so that builders read as a list of what they build. */
#ifndef RUNNER_CUDNN_DESC_H
#define RUNNER_CUDNN_DESC_H

#include "runner/cudnn_library.h"

struct cudnn_bag {
	const struct cudnn_api *api;
	cudnnBackendDescriptor_t *item;
	int count, capacity;
	bool bad;                 /* something failed: why says what */
	cudnnStatus_t status;     /* of the call that failed; CUDNN_STATUS_SUCCESS when the failure was ours */
	struct error why;
};

/* Fills the bag's api. The bag is otherwise zero. */
void cudnn_bag_open(struct cudnn_bag *b, const struct cudnn_api *api);
void cudnn_bag_free(struct cudnn_bag *b);
/* Frees what was added since the bag held `count` descriptors, and clears the failure. */
void cudnn_bag_cut(struct cudnn_bag *b, int count);
/* Marks the bag bad for a reason that is not cuDNN's. Always returns -1. */
int cudnn_bag_refuse(struct cudnn_bag *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A new descriptor of the bag's; NULL once the bag is bad. `name` is for errors. */
cudnnBackendDescriptor_t cudnn_desc_make(struct cudnn_bag *b, cudnnBackendDescriptorType_t type, const char *name);
void cudnn_desc_put(struct cudnn_bag *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t attribute,
	const char *name, cudnnBackendAttributeType_t type, int64_t count, const void *values);
/* `object` names what was finalized: cuDNN's reasons do not always. */
void cudnn_desc_finish(struct cudnn_bag *b, cudnnBackendDescriptor_t d, const char *object);
/* Reads up to `count` values; how many there are. 0 when it cannot be read: the bag does not turn bad. */
int64_t cudnn_desc_get(struct cudnn_bag *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t attribute,
	cudnnBackendAttributeType_t type, int64_t count, void *values);

/* CUDNN_NEW(b, TENSOR): the part of the vendor's names that differs. */
#define CUDNN_NEW(bag, kind) cudnn_desc_make((bag), CUDNN_BACKEND_##kind##_DESCRIPTOR, #kind)
#define CUDNN_PUT_ARRAY(bag, d, attribute, type, count, values) \
	cudnn_desc_put((bag), (d), CUDNN_ATTR_##attribute, #attribute, CUDNN_TYPE_##type, (count), (values))
/* One value: an lvalue or a compound literal of the exact C type that the attribute has. */
#define CUDNN_PUT(bag, d, attribute, type, value) CUDNN_PUT_ARRAY(bag, d, attribute, type, 1, &(value))

#endif
