/* Types and shapes that the file declares for values. */
#include "config.h"

#include "model/load.h"

#include "model/tensor.h"

#include <inttypes.h>

static struct dim load_dim(
	struct loader *l, const Onnx__TensorShapeProto__Dimension *p, const struct value *v)
{
	if (p->has_dim_value && p->dim_value >= 0)
		return dim_known(p->dim_value);
	if (p->has_dim_value) {
		load_warn(l, "tensor \"%s\" declares a dimension of %" PRId64 "; it is treated as unknown",
			load_shown(l, v->name), p->dim_value);
		return dim_unknown();
	}
	struct text symbol = load_view(p->dim_param);
	/* Some exporters write these for "unknown"; as symbols they would mean that all such dimensions are
	 * equal. */
	if (text_is(symbol, "?") || text_is(symbol, "-1"))
		return dim_unknown();
	return symbol.n ? dim_symbol(l->arena, symbol) : dim_unknown();
}

static void load_tensor_type(struct loader *l, const Onnx__TypeProto__Tensor *t, struct value *v)
{
	v->dtype = tensor_dtype(t->elem_type);
	if (!t->shape)
		return;
	if (t->shape->n_dim > LOAD_RANK_MOST) {
		load_warn(l, "tensor \"%s\" declares %zu dimensions; its shape is treated as unknown",
			load_shown(l, v->name), t->shape->n_dim);
		return;
	}
	v->shape = shape_make(l->arena, (int)t->shape->n_dim);
	for (int i = 0; i < v->shape.rank; i++)
		v->shape.dims[i] = load_dim(l, t->shape->dim[i], v);
}

static const Onnx__TypeProto__Tensor *tensor_of(const Onnx__TypeProto *p)
{
	return p->tensor_type ? p->tensor_type : p->sparse_tensor_type;
}

/* The kind, and the innermost tensor type that all values of it have, if any. Missing element types mean
 * tensors. */
static enum value_kind kind_of(const Onnx__TypeProto *p, const Onnx__TypeProto__Tensor **tensor)
{
	*tensor = tensor_of(p);
	if (*tensor)
		return VALUE_TENSOR;
	if (p->map_type) {
		if (p->map_type->value_type)
			*tensor = tensor_of(p->map_type->value_type);
		return VALUE_MAP;
	}
	bool sequence = p->sequence_type != NULL, optional = !sequence && p->optional_type;
	if (!sequence && !optional)
		return p->opaque_type ? VALUE_OPAQUE : VALUE_TENSOR;
	const Onnx__TypeProto *inner = sequence ? p->sequence_type->elem_type : p->optional_type->elem_type;
	if (!inner)
		return sequence ? VALUE_SEQUENCE : VALUE_OPTIONAL;
	switch (kind_of(inner, tensor)) {
	case VALUE_TENSOR: return sequence ? VALUE_SEQUENCE : VALUE_OPTIONAL;
	case VALUE_SEQUENCE: return sequence ? VALUE_OPAQUE : VALUE_OPTIONAL_SEQUENCE;
	case VALUE_MAP: return sequence ? VALUE_MAPS : VALUE_OPAQUE;
	default: return VALUE_OPAQUE;
	}
}

void load_type(struct loader *l, const Onnx__TypeProto *p, struct value *v)
{
	const Onnx__TypeProto__Tensor *tensor = NULL;
	if (!p)
		return;
	v->kind = kind_of(p, &tensor);
	if (tensor && v->kind != VALUE_OPAQUE)
		load_tensor_type(l, tensor, v);
	if (v->kind == VALUE_MAP || v->kind == VALUE_MAPS)
		v->shape = SHAPE_UNKNOWN;
	bool many = v->kind == VALUE_SEQUENCE || v->kind == VALUE_OPTIONAL_SEQUENCE;
	for (int i = 0; many && i < v->shape.rank; i++) {
		if (v->shape.dims[i].kind == DIM_SYMBOLIC) /* a named dimension of a sequence's tensors may
							      differ between them */
			v->shape.dims[i] = dim_unknown();
	}
}
