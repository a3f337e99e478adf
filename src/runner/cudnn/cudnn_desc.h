/* A bag owns a set of cuDNN backend descriptors, which are freed together. The first failure is kept in the
 * bag, and all later calls on the bag do nothing: builders need no error handling after each call. */
#ifndef RUNNER_CUDNN_DESC_H
#define RUNNER_CUDNN_DESC_H

#include <stdint.h>

#include "runner/cudnn/cudnn_library.h"

struct cudnn_bag {
	const struct cudnn_api *api;
	cudnnBackendDescriptor_t *item;
	int count, capacity;
	bool bad;                 /* something failed; `why` has the reason */
	cudnnStatus_t status;     /* of the failed call; CUDNN_STATUS_SUCCESS if no call of cuDNN failed */
	struct error why;
	uint64_t print;           /* fingerprint of what was made and put: kinds, attributes and values,
				     without addresses */
};

/* Makes the bag empty. */
void cudnn_bag_open(struct cudnn_bag *b, const struct cudnn_api *api);
void cudnn_bag_free(struct cudnn_bag *b);
/* Frees all descriptors after the first `count` and clears the failure. */
void cudnn_bag_cut(struct cudnn_bag *b, int count);
/* Marks the bag as failed for a reason of our own. Always returns -1. */
int cudnn_bag_refuse(struct cudnn_bag *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Creates a descriptor that the bag owns; returns NULL if the bag has failed. `name` is for errors. */
cudnnBackendDescriptor_t cudnn_desc_make(
	struct cudnn_bag *b, cudnnBackendDescriptorType_t type, const char *name);
void cudnn_desc_put(struct cudnn_bag *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t attribute,
	const char *name, cudnnBackendAttributeType_t type, int64_t count, const void *values);
/* Finalizes a descriptor. `object` names it in errors, since cuDNN's reasons do not always do so. */
void cudnn_desc_finish(struct cudnn_bag *b, cudnnBackendDescriptor_t d, const char *object);
/* Reads up to `count` values and returns how many the attribute has; 0 if it cannot be read, which is no
 * failure of the bag. */
int64_t cudnn_desc_get(struct cudnn_bag *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t attribute,
	cudnnBackendAttributeType_t type, int64_t count, void *values);

/* CUDNN_NEW(b, TENSOR) etc.: shortened forms of cuDNN's constant names. */
#define CUDNN_NEW(bag, kind) cudnn_desc_make((bag), CUDNN_BACKEND_##kind##_DESCRIPTOR, #kind)
#define CUDNN_PUT_ARRAY(bag, d, attribute, type, count, values) \
	cudnn_desc_put((bag), (d), CUDNN_ATTR_##attribute, #attribute, CUDNN_TYPE_##type, (count), (values))
/* Puts one value: an lvalue or a compound literal of the attribute's exact C type. */
#define CUDNN_PUT(bag, d, attribute, type, value) CUDNN_PUT_ARRAY(bag, d, attribute, type, 1, &(value))

#endif
