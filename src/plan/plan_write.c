/* Layers of a plan as an ONNX model. */
#include "config.h"

#include "plan/plan.h"

#include <string.h>

#include "model/tensor.h"

/* The bits of a number in an integer type, bool, f32 or f64. False for other types. */
static bool number_bits(enum dtype t, const struct elements *e, int i, uint64_t *bits)
{
	if (!dtype_is_float(t)) {
		*bits = e->i ? (uint64_t)e->i[i].value : 0;
		return e->i && dtype_bits(t) >= 8 && dtype_bits(t) <= 64;
	}
	float single = e->f ? (float)e->f[i] : 0;
	uint32_t low;
	memcpy(&low, &single, sizeof(low));
	*bits = low;
	if (e->f && t == DTYPE_F64)
		memcpy(bits, &e->f[i], sizeof(*bits));
	return e->f && (t == DTYPE_F32 || t == DTYPE_F64);
}

/* The contents that inference found, as a tensor; NULL if they are not known or not of such a type. */
static const struct tensor *contents_of(struct arena *a, const struct plan_value *v)
{
	if (!v->constant || v->given || v->kind != VALUE_TENSOR || !shape_is_known(v->shape) ||
		!op_elements_concrete(v->elements))
		return NULL;
	struct tensor *t = ARENA_NEW(a, struct tensor);
	*t = (struct tensor){
		.dtype = v->dtype, .rank = v->shape.rank, .dims = ARENA_ARRAY(a, int64_t, v->shape.rank)
	};
	for (int i = 0; i < t->rank; i++)
		t->dims[i] = v->shape.dims[i].value;
	t->elements = tensor_elements(t->rank, t->dims);
	if (t->elements != v->elements->count)
		return NULL;
	int size = dtype_bits(v->dtype) / 8;
	unsigned char *data = arena_calloc(a, (size_t)t->elements + 1, (size_t)(size ? size : 1));
	for (int i = 0; i < v->elements->count; i++) {
		uint64_t bits;
		if (!number_bits(v->dtype, v->elements, i, &bits))
			return NULL;
		for (int k = 0; k < size; k++)
			data[(size_t)i * (size_t)size + (size_t)k] = (unsigned char)(bits >> 8 * k);
	}
	t->data = data;
	return t;
}

int plan_write(const struct plan *p, const int *layers, int count, enum write_weights weights, uint64_t seed,
	struct str *out, struct error *err)
{
	struct arena a = { 0 };
	if (!p->own_types)
		return error_set(err, "a model is written in its own types, not in %s", dtype_name(p->dtype));
	struct write_value *values = ARENA_ARRAY(&a, struct write_value, p->value_count);
	for (int i = 0; i < p->value_count; i++) {
		const struct plan_value *v = &p->values[i];
		const struct tensor *t = graph_tensor(p->graph, &p->graph->values[i]);
		values[i] = (struct write_value){ v->kind, v->dtype, v->shape, v->constant && !v->given,
			t && t->data ? t : contents_of(&a, v) };
	}
	const struct write_request r = { .model = p->model,
		.graph = p->graph,
		.node_count = count,
		.nodes = layers,
		.values = values,
		.weights = weights,
		.seed = seed };
	int bad = model_write(&r, out, err);
	arena_free(&a);
	return bad;
}
