/* Contents of small constants; those of large ones stay in the file. */
#include "config.h"

#include "model/load.h"

#include "model/tensor.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* TensorProto fields that hold elements. */
enum { FIELD_FLOAT = 4, FIELD_INT32 = 5, FIELD_INT64 = 7, FIELD_RAW = 9 };
enum { FIELD_DOUBLE = 10, FIELD_UINT64 = 11 };
#define LOCATION_EXTERNAL 1

uint64_t load_skipped_bytes(const uint64_t *marks, size_t n, unsigned field)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		if (marks[i] == field)
			return marks[i + 1];
	return 0;
}

/* The field that holds elements of a type if they are not raw. */
static unsigned typed_field(enum dtype t)
{
	switch (t) {
	case DTYPE_F32:
	case DTYPE_C64:
		return FIELD_FLOAT;
	case DTYPE_F64:
	case DTYPE_C128:
		return FIELD_DOUBLE;
	case DTYPE_S64:
		return FIELD_INT64;
	case DTYPE_U32:
	case DTYPE_U64:
		return FIELD_UINT64;
	default:
		return FIELD_INT32;
	}
}

static size_t typed_count(const Onnx__TensorProto *p, unsigned field)
{
	switch (field) {
	case FIELD_FLOAT:
		return p->n_float_data;
	case FIELD_DOUBLE:
		return p->n_double_data;
	case FIELD_INT64:
		return p->n_int64_data;
	case FIELD_UINT64:
		return p->n_uint64_data;
	default:
		return p->n_int32_data;
	}
}

static uint64_t typed_bits(const Onnx__TensorProto *p, unsigned field, size_t i)
{
	uint64_t bits = 0;
	uint32_t low;
	switch (field) {
	case FIELD_FLOAT:
		memcpy(&low, &p->float_data[i], sizeof(low));
		return low;
	case FIELD_DOUBLE:
		memcpy(&bits, &p->double_data[i], sizeof(bits));
		return bits;
	case FIELD_INT64:
		return (uint64_t)p->int64_data[i];
	case FIELD_UINT64:
		return p->uint64_data[i];
	default:
		return (uint32_t)p->int32_data[i];
	}
}

/* Bits of one entry of a typed field: a part of a complex number, a byte of packed 4-bit or 2-bit elements,
 * or a 6-bit element (not packed there). */
static int typed_entry_bits(enum dtype t)
{
	int bits = dtype_bits(t);
	return t == DTYPE_C64 || t == DTYPE_C128 ? bits / 2 : bits < 6 ? 8 : bits;
}

/* Appends an entry's bits, lowest first. */
static void typed_put(unsigned char *to, size_t at_bit, uint64_t value, int bits)
{
	for (int done = 0; done < bits;) {
		int shift = (int)((at_bit + (size_t)done) % 8),
			n = 8 - shift < bits - done ? 8 - shift : bits - done;
		to[(at_bit + (size_t)done) / 8] |=
			(unsigned char)((value >> done & ((1u << n) - 1)) << shift);
		done += n;
	}
}

static void load_typed(struct loader *l, const Onnx__TensorProto *p, struct tensor *t, size_t bytes)
{
	unsigned field = typed_field(t->dtype);
	int entry_bits = typed_entry_bits(t->dtype);
	size_t count = typed_count(p, field), bits_most = bytes * 8;
	assert(bytes <= TENSOR_PAYLOAD_KEPT);
	if (count != (entry_bits < 8 ? (size_t)t->elements : bits_most / (size_t)entry_bits)) {
		load_warn(l,
			"constant \"%s\": %zu elements are given, but its shape has %" PRId64
			"; its contents are ignored",
			load_shown(l, t->name), count, t->elements);
		return;
	}
	unsigned char *out = arena_alloc(l->arena, bytes);
	for (size_t i = 0; i < count; i++)
		typed_put(out, i * (size_t)entry_bits, typed_bits(p, field, i), entry_bits);
	t->data = out;
	t->data_bytes = bytes;
}

static double element(const void *from, int64_t i)
{
	return tensor_double(from, i);
}

static void find_triangle(struct tensor *t, const void *data, size_t bytes)
{
	struct tensor whole = *t;
	whole.data = data;
	whole.data_bytes = bytes;
	if (t->rank >= 2 && data)
		t->triangle = triangle_find(t->dims[t->rank - 2], t->dims[t->rank - 1], t->elements, element,
			&whole);
}

/* Loads a small payload. One that does not fit the shape is ignored with a warning, because shapes are what
 * matters and they are known. */
static void load_payload(struct loader *l, const Onnx__TensorProto *p, struct tensor *t)
{
	int64_t bytes = tensor_bytes(t->dtype, t->elements);
	unsigned field = typed_field(t->dtype);
	uint64_t raw_skipped = load_skipped_bytes(p->skipped, p->n_skipped, FIELD_RAW);
	uint64_t skipped = load_skipped_bytes(p->skipped, p->n_skipped, field);
	uint64_t raw = raw_skipped ? raw_skipped : p->has_raw_data ? p->raw_data.len : 0;
	if (bytes < 0)
		return;
	if (raw && raw != (uint64_t)bytes) {
		load_warn(l,
			"constant \"%s\": %" PRIu64 " bytes are given, but its shape needs %" PRId64
			"; its contents are ignored",
			load_shown(l, t->name), raw, bytes);
	} else if (bytes == 0) {
		t->data = "";
	} else if (raw_skipped || (!raw && skipped)) {
		return; /* stays in the file */
	} else if (!raw && typed_count(p, field) == 0) {
		load_warn(l, "constant \"%s\" has no data", load_shown(l, t->name));
	} else if (raw && bytes > TENSOR_PAYLOAD_KEPT) { /* may be a mask: read for this only */
		find_triangle(t, p->raw_data.data, raw);
	} else if (bytes > TENSOR_PAYLOAD_KEPT) {
		return;
	} else {
		if (raw) {
			t->data = arena_strndup(l->arena, (const char *)p->raw_data.data, raw);
			t->data_bytes = raw;
		} else {
			load_typed(l, p, t, (size_t)bytes);
		}
		find_triangle(t, t->data, t->data_bytes);
	}
}

static int load_dims(struct loader *l, size_t n, const int64_t *dims, struct tensor *t)
{
	if (n > LOAD_RANK_MOST)
		return error_set(l->err, "constant \"%s\" has %zu dimensions, more than %d",
			load_shown(l, t->name), n, LOAD_RANK_MOST);
	t->rank = (int)n;
	t->dims = ARENA_ARRAY(l->arena, int64_t, n);
	for (size_t i = 0; i < n; i++) {
		if (dims[i] < 0)
			return error_set(l->err, "constant \"%s\" has a negative dimension (%" PRId64 ")",
				load_shown(l, t->name), dims[i]);
		t->dims[i] = dims[i];
	}
	t->elements = tensor_elements(t->rank, t->dims);
	if (t->elements < 0)
		return error_set(l->err, "constant \"%s\" has too many elements: more than 2^63 bytes",
			load_shown(l, t->name));
	return 0;
}

static void load_element_type(struct loader *l, const Onnx__TensorProto *p, struct tensor *t)
{
	t->dtype = tensor_dtype(p->data_type);
	if (t->dtype == DTYPE_UNKNOWN)
		load_warn(l, "constant \"%s\" has an unknown element type (code %" PRId32 ")",
			load_shown(l, t->name), p->data_type);
}

int load_tensor(struct loader *l, const Onnx__TensorProto *p, struct tensor *t)
{
	t->name = load_text(l, p->name);
	load_element_type(l, p, t);
	if (load_dims(l, p->n_dims, p->dims, t) != 0)
		return -1;
	t->external = p->data_location == LOCATION_EXTERNAL;
	if (t->external) {
		load_external(l, p, t);
		find_triangle(t, t->data, t->data_bytes);
	} else {
		load_payload(l, p, t);
	}
	return 0;
}

int load_sparse_tensor(struct loader *l, const Onnx__SparseTensorProto *p, struct tensor *t)
{
	if (!p->values)
		return error_set(l->err, "a sparse constant without values");
	t->name = load_text(l, p->values->name);
	load_element_type(l, p->values, t);
	return load_dims(l, p->n_dims, p->dims, t);
}
