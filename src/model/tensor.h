/* Constant tensors: ONNX's type codes, counting elements, and reading elements that are in memory. */
#ifndef MODEL_TENSOR_H
#define MODEL_TENSOR_H

#include "model/graph.h"

/* ONNX's TensorProto.DataType code, as also the attribute `to` of Cast has it. DTYPE_UNKNOWN for codes from the
 * future and for undefined ones. */
enum dtype tensor_dtype(int64_t onnx_code);
/* The other way; 0 (undefined) where ONNX has no such type (tf32). */
int tensor_onnx_code(enum dtype t);

/* Product of dims; 1 for rank 0. -1: a negative dimension, or the bytes of such a tensor cannot fit int64. */
int64_t tensor_elements(int rank, const int64_t *dims);
/* Bytes of so many elements, those of less than 8 bits packed; -1 when the type has no fixed size. */
int64_t tensor_bytes(enum dtype t, int64_t elements);

/* Its dimensions as a shape made in a. */
struct shape tensor_shape(struct arena *a, const struct tensor *t);

/* Element i as an integer: integer types and bool, and float types where the value is whole. False when it is
 * not known: i out of range, payload not in memory, no such type, or the value does not fit. */
bool tensor_int(const struct tensor *t, int64_t i, int64_t *value);
/* Element i as a double, every numeric type but complex. NaN when it is not known. */
double tensor_double(const struct tensor *t, int64_t i);

#endif
