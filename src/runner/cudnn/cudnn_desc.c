/* Descriptors of the backend API: made, filled, finalized, and kept in a bag that frees them. */
#include "config.h"

#include "runner/cudnn/cudnn_desc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"

void cudnn_bag_open(struct cudnn_bag *b, const struct cudnn_api *api)
{
	*b = (struct cudnn_bag){ .api = api, .print = 0xcbf29ce484222325u };
}

static void print_add(struct cudnn_bag *b, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++) /* FNV-1a */
		b->print = (b->print ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
}

/* Bytes of a value; 0 for those that are addresses. Enumerations are ints. */
static size_t value_size(cudnnBackendAttributeType_t type)
{
	switch (type) {
	case CUDNN_TYPE_HANDLE:
	case CUDNN_TYPE_VOID_PTR:
	case CUDNN_TYPE_BACKEND_DESCRIPTOR: return 0;
	case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
	case CUDNN_TYPE_CHAR: return 1;
	case CUDNN_TYPE_INT64:
	case CUDNN_TYPE_DOUBLE: return 8;
	case CUDNN_TYPE_FRACTION: return sizeof(cudnnFraction_t);
	default: return 4;
	}
}

void cudnn_bag_cut(struct cudnn_bag *b, int count)
{
	while (b->count > count)
		b->api->cudnnBackendDestroyDescriptor(b->item[--b->count]);
	b->bad = false;
	b->status = CUDNN_STATUS_SUCCESS;
}

void cudnn_bag_free(struct cudnn_bag *b)
{
	if (b->api)
		cudnn_bag_cut(b, 0);
	free(b->item);
	*b = (struct cudnn_bag){ 0 };
}

int cudnn_bag_refuse(struct cudnn_bag *b, const char *fmt, ...)
{
	if (b->bad)
		return -1;
	char text[ERROR_TEXT_SIZE];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	b->bad = true;
	return error_set(&b->why, "%s", text);
}

static void check(struct cudnn_bag *b, cudnnStatus_t status, const char *what)
{
	if (status == CUDNN_STATUS_SUCCESS)
		return;
	b->bad = true;
	b->status = status;
	cudnn_error(status, what, &b->why);
}

cudnnBackendDescriptor_t cudnn_desc_make(
	struct cudnn_bag *b, cudnnBackendDescriptorType_t type, const char *name)
{
	cudnnBackendDescriptor_t d = NULL;
	if (b->bad)
		return NULL;
	check(b, b->api->cudnnBackendCreateDescriptor(type, &d), name);
	if (b->bad)
		return NULL;
	print_add(b, &type, sizeof(type));
	VEC_GROW(b->item, b->count, b->capacity);
	return b->item[b->count++] = d;
}

void cudnn_desc_put(struct cudnn_bag *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t attribute,
	const char *name, cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	if (b->bad)
		return;
	print_add(b, &attribute, sizeof(attribute));
	print_add(b, &count, sizeof(count));
	print_add(b, values, value_size(type) * (size_t)count);
	check(b, b->api->cudnnBackendSetAttribute(d, attribute, type, count, values), name);
}

void cudnn_desc_finish(struct cudnn_bag *b, cudnnBackendDescriptor_t d, const char *object)
{
	if (!b->bad)
		check(b, b->api->cudnnBackendFinalize(d), object);
}

int64_t cudnn_desc_get(struct cudnn_bag *b, cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t attribute,
	cudnnBackendAttributeType_t type, int64_t count, void *values)
{
	int64_t got = 0;
	if (b->bad ||
		b->api->cudnnBackendGetAttribute(d, attribute, type, count, &got, values) !=
			CUDNN_STATUS_SUCCESS)
		return 0;
	return got;
}
