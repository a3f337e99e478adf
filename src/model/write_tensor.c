/* Types, tensors and weights of a model that is written. */
#include "config.h"

#include "model/write_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "model/tensor.h"

ProtobufCBinaryData write_bytes(struct text t)
{
	return (ProtobufCBinaryData){ t.n, (uint8_t *)(uintptr_t)t.p };
}

/* --- contents --- */

/* splitmix64, Steele et al., "Fast splittable pseudorandom number generators", 2014. */
static uint64_t random_next(struct writer *w)
{
	uint64_t z = w->random += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* How a random element is made: the bits of the largest one, from which a random number below `span` is
 * subtracted, so that the exponent varies, too. 0: any bits. */
static const struct random_row {
	enum dtype type;
	uint64_t most, span;
} random_rows[] = {
	{ DTYPE_F32, 0x3f7fffff, 0x2000000 }, /* 2^-4 to 1 */
	{ DTYPE_F64, 0x3fefffffffffffff, 0x40000000000000 },
	{ DTYPE_F16, 0x3bff, 0x1000 },
	{ DTYPE_BF16, 0x3f7f, 0x200 },
	{ DTYPE_F8E4M3, 0x38, 0x20 },
	{ DTYPE_F8E5M2, 0x3c, 0x10 },
	{ DTYPE_F8E4M3FNUZ, 0x40, 0x20 },
	{ DTYPE_F8E5M2FNUZ, 0x40, 0x10 },
	{ DTYPE_F8E8M0, 0x7f, 0x04 },
	{ DTYPE_BOOL, 1, 2 },
	{ DTYPE_S8, 0, 0 },
	{ DTYPE_U8, 0, 0 },
	{ DTYPE_S4, 0, 0 },
	{ DTYPE_U4, 0, 0 },
	{ DTYPE_S2, 0, 0 },
	{ DTYPE_U2, 0, 0 },
};

/* Little-endian, as ONNX's raw data. Other types stay 0. */
static void fill_random(struct writer *w, enum dtype t, unsigned char *p, int64_t bytes)
{
	const struct random_row *row = NULL;
	for (size_t i = 0; i < sizeof(random_rows) / sizeof(random_rows[0]); i++)
		if (random_rows[i].type == t)
			row = &random_rows[i];
	int size = dtype_bits(t) < 8 ? 1 : dtype_bits(t) / 8;
	for (int64_t at = 0; row && at + size <= bytes; at += size) {
		uint64_t bits = random_next(w) >> 8;
		if (row->span)
			bits = row->most - bits % row->span;
		for (int i = 0; i < size; i++)
			p[at + i] = (unsigned char)(bits >> 8 * i);
	}
}

Onnx__TensorProto *write_tensor(struct writer *w, struct text name, const struct tensor *t)
{
	int64_t bytes = tensor_bytes(t->dtype, t->elements);
	int code = tensor_onnx_code(t->dtype);
	if (bytes < 0 || code == 0) {
		error_set(w->err, "a constant of type %s cannot be written", dtype_name(t->dtype));
		return NULL;
	}
	if ((w->bytes += bytes) > WRITE_BYTES_MAX) {
		error_set(w->err, "more than 2000 MiB of constants: the ONNX format has no room for them");
		return NULL;
	}
	Onnx__TensorProto *p = ARENA_NEW(&w->arena, Onnx__TensorProto);
	onnx__tensor_proto__init(p);
	p->has_name = name.n > 0;
	p->name = write_bytes(name);
	p->has_data_type = p->has_raw_data = true;
	p->data_type = code;
	p->n_dims = (size_t)t->rank;
	p->dims = t->dims;
	unsigned char *raw = (unsigned char *)(uintptr_t)t->data;
	if (!raw)
		fill_random(w, t->dtype, raw = arena_alloc(&w->arena, (size_t)bytes), bytes);
	p->raw_data = (ProtobufCBinaryData){ (size_t)bytes, raw };
	return p;
}

int write_initializer(struct writer *w, struct written *g, struct text name, const struct tensor *t)
{
	Onnx__TensorProto *p = write_tensor(w, name, t);
	if (!p)
		return -1;
	ProtobufCBinaryData *packed = ARENA_NEW(&w->arena, ProtobufCBinaryData);
	packed->len = onnx__tensor_proto__get_packed_size(p);
	packed->data = arena_alloc(&w->arena, packed->len);
	onnx__tensor_proto__pack(p, packed->data);
	VEC_GROW(g->initializers.items, g->initializers.count, g->initializers.capacity);
	g->initializers.items[g->initializers.count++] = packed;
	return 0;
}

/* --- ConstantOfShape --- */

/* The bits of 1/64, which all float types have; integers are 0. Types that every version of the operator
 * allows. */
static const struct {
	enum dtype type;
	uint64_t bits;
} fillable[] = { { DTYPE_F32, 0x3c800000 }, { DTYPE_F64, 0x3f90000000000000 }, { DTYPE_F16, 0x2400 },
	{ DTYPE_S8, 0 }, { DTYPE_U8, 0 }, { DTYPE_S16, 0 }, { DTYPE_U16, 0 }, { DTYPE_S32, 0 },
	{ DTYPE_U32, 0 }, { DTYPE_S64, 0 }, { DTYPE_U64, 0 }, { DTYPE_BOOL, 0 } };

/* Adds the node, and an initializer with the shape. `bits` is one element, little-endian. */
static int fill_node(struct writer *w, struct written *g, struct text name, enum dtype t, int rank,
	const int64_t *dims, uint64_t bits)
{
	unsigned char *value = arena_alloc(&w->arena, 8);
	int64_t one = 1, length = rank;
	for (int i = 0; i < 8; i++)
		value[i] = (unsigned char)(bits >> 8 * i);
	const struct tensor shape = {
		.dtype = DTYPE_S64, .rank = 1, .dims = &length, .elements = rank, .data = dims
	};
	const struct tensor single = { .dtype = t, .rank = 1, .dims = &one, .elements = 1, .data = value };
	char *shape_name = arena_printf(&w->arena, "%.*s_shape", (int)name.n, name.p);
	struct text of_shape = write_name(w, text_of(shape_name));
	if (write_initializer(w, g, of_shape, &shape))
		return -1;
	Onnx__NodeProto *n = ARENA_NEW(&w->arena, Onnx__NodeProto);
	Onnx__AttributeProto *a = ARENA_NEW(&w->arena, Onnx__AttributeProto);
	ProtobufCBinaryData *ends = ARENA_ARRAY(&w->arena, ProtobufCBinaryData, 2);
	onnx__node_proto__init(n);
	onnx__attribute_proto__init(a);
	ends[0] = write_bytes(of_shape);
	ends[1] = write_bytes(name);
	n->has_op_type = true;
	n->op_type = write_bytes(TEXT("ConstantOfShape"));
	n->n_input = n->n_output = n->n_attribute = 1;
	n->input = &ends[0];
	n->output = &ends[1];
	n->attribute = ARENA_ARRAY(&w->arena, Onnx__AttributeProto *, 1);
	n->attribute[0] = a;
	a->has_name = a->has_type = true;
	a->name = write_bytes(TEXT("value"));
	a->type = 4;
	a->t = write_tensor(w, (struct text){ 0 }, &single);
	a->t->dims = ARENA_NEW(&w->arena, int64_t);
	a->t->dims[0] = 1;
	VEC_GROW(g->nodes.items, g->nodes.count, g->nodes.capacity);
	g->nodes.items[g->nodes.count++] = n;
	return 0;
}

int write_weight(
	struct writer *w, struct written *g, struct text name, enum dtype t, int rank, const int64_t *dims)
{
	for (size_t i = 0; i < sizeof(fillable) / sizeof(fillable[0]); i++)
		if (w->r->weights == WRITE_FILLED && fillable[i].type == t && w->opset >= 9)
			return fill_node(w, g, name, t, rank, dims, fillable[i].bits);
	const struct tensor random = { .dtype = t,
		.rank = rank,
		.dims = (int64_t *)(uintptr_t)dims,
		.elements = tensor_elements(rank, dims) };
	if (random.elements < 0)
		return error_set(w->err, "a constant is too large");
	return write_initializer(w, g, name, &random);
}

/* --- types --- */

static Onnx__TypeProto *tensor_type(struct writer *w, enum dtype dtype, struct shape shape)
{
	Onnx__TypeProto *p = ARENA_NEW(&w->arena, Onnx__TypeProto);
	onnx__type_proto__init(p);
	p->tensor_type = ARENA_NEW(&w->arena, Onnx__TypeProto__Tensor);
	onnx__type_proto__tensor__init(p->tensor_type);
	p->tensor_type->has_elem_type = true;
	p->tensor_type->elem_type = tensor_onnx_code(dtype);
	if (shape.rank < 0)
		return p;
	Onnx__TensorShapeProto *s = p->tensor_type->shape = ARENA_NEW(&w->arena, Onnx__TensorShapeProto);
	onnx__tensor_shape_proto__init(s);
	s->n_dim = (size_t)shape.rank;
	s->dim = ARENA_ARRAY(&w->arena, Onnx__TensorShapeProto__Dimension *, shape.rank);
	for (int i = 0; i < shape.rank; i++) {
		const struct dim *d = &shape.dims[i];
		s->dim[i] = ARENA_NEW(&w->arena, Onnx__TensorShapeProto__Dimension);
		onnx__tensor_shape_proto__dimension__init(s->dim[i]);
		s->dim[i]->has_dim_value = d->kind == DIM_KNOWN;
		s->dim[i]->dim_value = d->value;
		s->dim[i]->has_dim_param = d->kind == DIM_SYMBOLIC;
		if (d->kind == DIM_SYMBOLIC)
			s->dim[i]->dim_param =
				write_bytes(text_of(text_clean(&w->arena, dim_expression(*d))));
	}
	return p;
}

static Onnx__TypeProto *type_around(struct writer *w, Onnx__TypeProto *element, bool optional)
{
	Onnx__TypeProto *p = ARENA_NEW(&w->arena, Onnx__TypeProto);
	Onnx__TypeProto__Element *e = ARENA_NEW(&w->arena, Onnx__TypeProto__Element);
	onnx__type_proto__init(p);
	onnx__type_proto__element__init(e);
	e->elem_type = element;
	*(optional ? &p->optional_type : &p->sequence_type) = e;
	return p;
}

Onnx__TypeProto *write_type(struct writer *w, enum value_kind kind, enum dtype dtype, struct shape shape)
{
	if (tensor_onnx_code(dtype) == 0)
		return NULL;
	Onnx__TypeProto *tensor = tensor_type(w, dtype, shape);
	switch (kind) {
	case VALUE_TENSOR:
		return tensor;
	case VALUE_SEQUENCE:
		return type_around(w, tensor, false);
	case VALUE_OPTIONAL:
		return type_around(w, tensor, true);
	case VALUE_OPTIONAL_SEQUENCE:
		return type_around(w, type_around(w, tensor, false), true);
	default:
		return NULL;
	}
}
