/* Constant tensors: ONNX type codes, element counts, and elements in memory. */
#ifndef MODEL_TENSOR_H
#define MODEL_TENSOR_H

#include "model/graph.h"

/* Type of ONNX's TensorProto.DataType code, which Cast's attribute `to` uses, too. DTYPE_UNKNOWN for
 * undefined and newer codes. */
enum dtype tensor_dtype(int64_t onnx_code);
/* ONNX's code of a type; 0 (undefined) if ONNX has no such type (tf32). */
int tensor_onnx_code(enum dtype t);

/* Product of dims; 1 for rank 0. -1: a dimension is negative, or the bytes of such a tensor do not fit int64.
 * */
int64_t tensor_elements(int rank, const int64_t *dims);
/* Bytes of `elements` elements; those of less than 8 bits are packed. -1 if the type has no fixed size. */
int64_t tensor_bytes(enum dtype t, int64_t elements);

/* The tensor's dimensions as a shape in arena a. */
struct shape tensor_shape(struct arena *a, const struct tensor *t);

/* Element i as an integer, from an integer type, bool, or a float type with an integral value. False if it is
 * unknown: i out of range, payload not in memory, other type, or the value does not fit. */
bool tensor_int(const struct tensor *t, int64_t i, int64_t *value);
/* Element i as a double, for all numeric types but complex. NaN if it is unknown. */
double tensor_double(const struct tensor *t, int64_t i);

#endif
