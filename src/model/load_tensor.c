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

uint64_t load_skipped_bytes(Onnx__Skipped *const *marks, size_t n, unsigned field)
{
	for (size_t i = 0; i < n; i++)
		if (marks[i]->field == field)
			return marks[i]->bytes;
	return 0;
}

/* The field in which elements of a type lie when they are not raw. */
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

/* Bytes of one entry of the typed field: parts of complex numbers and pairs of 4-bit ones are entries. */
static size_t typed_entry_bytes(enum dtype t)
{
	int bits = dtype_bits(t);
	return t == DTYPE_C64 ? 4 : t == DTYPE_C128 ? 8 : bits < 8 ? 1 : (size_t)bits / 8;
}

static void load_typed(struct loader *l, const Onnx__TensorProto *p, struct tensor *t, size_t bytes)
{
	unsigned field = typed_field(t->dtype);
	size_t entry = typed_entry_bytes(t->dtype), count = typed_count(p, field);
	assert(bytes <= TENSOR_PAYLOAD_KEPT);
	if (count != bytes / entry) {
		load_warn(l,
			"constant \"%s\": %zu elements are given, its shape has %" PRId64
			"; its content is ignored",
			load_shown(l, t->name), count, t->elements);
		return;
	}
	unsigned char *out = arena_alloc(l->arena, bytes);
	for (size_t i = 0; i < count; i++) {
		uint64_t bits = typed_bits(p, field, i);
		for (size_t byte = 0; byte < entry; byte++, bits >>= 8)
			out[i * entry + byte] = (unsigned char)bits;
	}
	t->data = out;
	t->data_bytes = bytes;
}

/* Brings a small payload into memory. Whatever does not fit the shape is ignored with a warning: shapes are
 * what counts here, and they are known without it. */
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
			"constant \"%s\": %" PRIu64 " bytes are given, its shape has %" PRId64
			"; its content is ignored",
			load_shown(l, t->name), raw, bytes);
	} else if (bytes == 0) {
		t->data = "";
	} else if (raw_skipped || (!raw && skipped)) {
		return; /* stays in the file */
	} else if (!raw && typed_count(p, field) == 0) {
		load_warn(l, "constant \"%s\" has no content", load_shown(l, t->name));
	} else if (bytes > TENSOR_PAYLOAD_KEPT) {
		return;
	} else if (raw) {
		t->data = arena_strndup(l->arena, (const char *)p->raw_data.data, raw);
		t->data_bytes = raw;
	} else {
		load_typed(l, p, t, (size_t)bytes);
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
		return error_set(l->err, "constant \"%s\" has more elements than can be counted",
			load_shown(l, t->name));
	return 0;
}

static void load_element_type(struct loader *l, const Onnx__TensorProto *p, struct tensor *t)
{
	t->dtype = tensor_dtype(p->data_type);
	if (t->dtype == DTYPE_UNKNOWN)
		load_warn(l, "constant \"%s\" has an element type that is not known here (code %" PRId32 ")",
			load_shown(l, t->name), p->data_type);
}

int load_tensor(struct loader *l, const Onnx__TensorProto *p, struct tensor *t)
{
	t->name = load_text(l, p->name);
	load_element_type(l, p, t);
	if (load_dims(l, p->n_dims, p->dims, t) != 0)
		return -1;
	t->external = p->data_location == LOCATION_EXTERNAL;
	if (!t->external)
		load_payload(l, p, t);
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

static struct dim load_dim(
	struct loader *l, const Onnx__TensorShapeProto__Dimension *p, const struct value *v)
{
	if (p->has_dim_value && p->dim_value >= 0)
		return dim_known(p->dim_value);
	if (p->has_dim_value) {
		load_warn(l, "tensor \"%s\" declares a dimension of %" PRId64 ", taken as unknown",
			load_shown(l, v->name), p->dim_value);
		return dim_unknown();
	}
	struct text symbol = load_view(p->dim_param);
	/* Some exporters write these for "unknown"; as symbols they would claim that all such dimensions are
	 * equal. */
	if (text_is(symbol, "?") || text_is(symbol, "-1"))
		return dim_unknown();
	return symbol.n ? dim_symbol(l->arena, symbol) : dim_unknown();
}

void load_type(struct loader *l, const Onnx__TypeProto *p, struct value *v)
{
	if (!p)
		return;
	const Onnx__TypeProto__Tensor *t = p->tensor_type ? p->tensor_type : p->sparse_tensor_type;
	if (!t && (p->sequence_type || p->map_type || p->optional_type))
		v->kind = p->sequence_type ? VALUE_SEQUENCE : p->map_type ? VALUE_MAP : VALUE_OPTIONAL;
	if (!t)
		return;
	v->dtype = tensor_dtype(t->elem_type);
	if (!t->shape)
		return;
	if (t->shape->n_dim > LOAD_RANK_MOST) {
		load_warn(l, "tensor \"%s\" declares %zu dimensions, taken as unknown",
			load_shown(l, v->name), t->shape->n_dim);
		return;
	}
	v->shape = shape_make(l->arena, (int)t->shape->n_dim);
	for (int i = 0; i < v->shape.rank; i++)
		v->shape.dims[i] = load_dim(l, t->shape->dim[i], v);
}
