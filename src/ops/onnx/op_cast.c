/* Cast, CastLike, BitCast. */
#include "config.h"

#include "ops/rules/op_rules.h"

#include "model/tensor.h"

#include <math.h>
#include <string.h>

static struct dim cast_to_int(struct arena *a, struct dim v, enum dtype to)
{
	if (to == DTYPE_BOOL)
		return v.kind == DIM_KNOWN ? dim_known(v.value != 0) :
			dim_nonnegative(dim_sub(a, v, dim_known(1)))
			? dim_known(1) : dim_unknown();
	if (v.kind == DIM_KNOWN && !op_int_fits(to, v.value))
		return dim_unknown();
	return v;
}

static struct dim cast_of_float(double v, enum dtype to)
{
	if (isnan(v))
		return dim_unknown();
	if (to == DTYPE_BOOL)
		return dim_known(v != 0);
	double whole = trunc(v);
	if (!(fabs(whole) < 0x1p62) || !op_int_fits(to, (int64_t)whole))
		return dim_unknown();
	return dim_known((int64_t)whole);
}

/* Values too large for the type become its largest number if `saturate` is set or there is no infinity. */
static double cast_to_float(const struct op_call *c, double v, enum dtype to)
{
	double rounded = op_float_round(to, v);
	int bits = dtype_bits(to);
	if (!isnan(rounded) || isnan(v) || to == DTYPE_F8E8M0)
		return rounded;
	if (bits == 16)
		return copysign((double)INFINITY, v);
	return bits < 8 || node_int(c->node, "saturate", 1) ? copysign(op_float_most(to), v) : NAN;
}

static const struct elements *cast_elements(
	const struct op_call *c, const struct elements *from, enum dtype to)
{
	struct elements *e = op_elements_new(c->arena, from->count, dtype_is_float(to));
	for (int i = 0; i < from->count; i++) {
		if (e->f && from->f)
			e->f[i] = cast_to_float(c, from->f[i], to);
		else if (e->f)
			e->f[i] = from->i[i].kind == DIM_KNOWN ?
				cast_to_float(c, (double)from->i[i].value, to)
							       : NAN;
		else
			e->i[i] = from->f ? cast_of_float(from->f[i], to) :
				cast_to_int(c->arena, from->i[i], to);
	}
	return e;
}

static int cast_apply(struct op_call *c, enum dtype to, struct error *err)
{
	c->outputs[0].dtype = to;
	if (c->inputs[0].elements && to != DTYPE_UNKNOWN && to != DTYPE_STRING)
		c->outputs[0].elements = cast_elements(c, c->inputs[0].elements, to);
	return op_shape_as_input(c, err);
}

/* Opsets 1 to 5 have the type's name. */
static enum dtype cast_named(struct text name)
{
	static const struct {
		const char *name;
		enum dtype dtype;
	} types[] = { { "FLOAT", DTYPE_F32 }, { "UINT8", DTYPE_U8 }, { "INT8", DTYPE_S8 },
		{ "UINT16", DTYPE_U16 }, { "INT16", DTYPE_S16 }, { "INT32", DTYPE_S32 },
		{ "INT64", DTYPE_S64 }, { "STRING", DTYPE_STRING }, { "BOOL", DTYPE_BOOL },
		{ "FLOAT16", DTYPE_F16 }, { "DOUBLE", DTYPE_F64 }, { "UINT32", DTYPE_U32 },
		{ "UINT64", DTYPE_U64 }, { "COMPLEX64", DTYPE_C64 }, { "COMPLEX128", DTYPE_C128 } };
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (text_is(name, types[i].name))
			return types[i].dtype;
	}
	return DTYPE_UNKNOWN;
}

static int cast_shape(struct op_call *c, struct error *err)
{
	const struct attribute *to = node_attribute(c->node, "to");
	if (!to)
		return op_fail(c, err, "attribute \"to\" is missing");
	if (to->kind == ATTRIBUTE_STRING)
		return cast_apply(c, cast_named(node_string(c->node, "to", "")), err);
	return cast_apply(c, to->kind == ATTRIBUTE_INT ? tensor_dtype(to->i) : DTYPE_UNKNOWN, err);
}

static int cast_like_shape(struct op_call *c, struct error *err)
{
	return cast_apply(c, c->inputs[1].dtype, err);
}

static void cast_cost(const struct op_call *c, struct op_cost *cost)
{
	cost->flops = 0;
	cost->bytes = op_bytes(&c->inputs[0]) + op_bytes(&c->outputs[0]);
}

static bool cast_free(const struct op_call *c)
{
	return c->inputs[0].dtype != DTYPE_UNKNOWN && c->inputs[0].dtype == c->outputs[0].dtype;
}

/* Types that deep-learning libraries convert are measured as a cast, others as a copy of equal bytes. */
static void cast_problem(const struct op_call *c, struct op_problem *out)
{
	const struct op_value *from = &c->inputs[0], *to = &c->outputs[0];
	if (!op_problem_value(c, from, out) || !op_problem_value(c, to, out))
		return;
	if (!op_is_library_type(from->dtype) || !op_is_library_type(to->dtype)) {
		op_problem_mover(c, out);
		return;
	}
	op_problem_map(out, KERNEL_CAST, MODE_NONE, from, to);
}

/* ---- BitCast */

/* The element's bits; false if unknown. */
static bool bits_of(enum dtype t, const struct elements *e, int i, uint64_t *bits)
{
	if (e->i) {
		*bits = (uint64_t)e->i[i].value;
		return e->i[i].kind == DIM_KNOWN;
	}
	float single = (float)e->f[i];
	uint32_t word;
	memcpy(&word, &single, sizeof(word));
	memcpy(bits, &e->f[i], sizeof(*bits));
	if (t == DTYPE_F32)
		*bits = word;
	return !isnan(e->f[i]) && (t == DTYPE_F32 || t == DTYPE_F64);
}

static void bits_to(enum dtype t, uint64_t bits, struct elements *e, int i)
{
	int width = dtype_bits(t);
	if (e->f && t == DTYPE_F32) {
		uint32_t word = (uint32_t)bits;
		float single;
		memcpy(&single, &word, sizeof(single));
		e->f[i] = (double)single;
	} else if (e->f && t == DTYPE_F64) {
		memcpy(&e->f[i], &bits, sizeof(bits));
	} else if (e->i) {
		uint64_t low = width < 64 ? bits & (((uint64_t)1 << width) - 1) : bits;
		int64_t value = (int64_t)low;
		if (width < 64 && !op_int_fits(t, value))
			value -= (int64_t)1 << width;
		if (op_int_fits(t, value))
			e->i[i] = dim_known(value);
	}
}

static RULE_SHAPE(bit_cast)
{
	const struct op_value *in = &c->inputs[0];
	struct op_value *v = &c->outputs[0];
	if (!node_attribute(c->node, "to"))
		return op_fail(c, err, "attribute \"to\" is missing");
	v->dtype = op_dtype_get(c, "to", DTYPE_UNKNOWN);
	int from = dtype_bits(in->dtype), to = dtype_bits(v->dtype);
	if (from && to && from != to)
		return op_fail(c, err, "elements of %d bits as %d bits", from, to);
	if (in->elements && from && from == to && from <= 64) {
		struct elements *e = op_elements_new(c->arena, in->elements->count, dtype_is_float(v->dtype));
		for (int i = 0; i < e->count; i++) {
			uint64_t bits;
			if (bits_of(in->dtype, in->elements, i, &bits))
				bits_to(v->dtype, bits, e, i);
		}
		v->elements = e;
	}
	return op_shape_as_input(c, err);
}

static const struct op rows[] = {
	{ "Cast", "", 1, 0, 1, 1, CLASS_MOVE, cast_shape, cast_cost, cast_problem, cast_free,
		"64-bit and other rare types: a copy of equal bytes",
		.flags = OP_ANY_LAYOUT | OP_EPILOGUE | OP_MOVES_WEIGHTS },
	{ "CastLike", "", 15, 0, 2, 2, CLASS_MOVE, cast_like_shape, cast_cost, cast_problem, cast_free,
		NULL },
	OP_SHAPE_ROW("BitCast", 26, 0, 1, 1, bit_cast_shape, 0),
};
const struct op_rows op_cast_rows = OP_ROWS(rows);
