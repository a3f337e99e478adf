/* Arguments of a oneDNN primitive, for all that build one. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/onednn/onednn_case_private.h"

#include <string.h>

#include "runner/verify/domain.h"

static bool type_of(enum dtype t, dnnl_data_type_t *type)
{
	static const struct {
		enum dtype ours;
		dnnl_data_type_t theirs;
	} types[] = {
		{ DTYPE_F32, dnnl_f32 },
		{ DTYPE_F16, dnnl_f16 },
		{ DTYPE_BF16, dnnl_bf16 },
		{ DTYPE_S8, dnnl_s8 },
		{ DTYPE_U8, dnnl_u8 },
		{ DTYPE_S32, dnnl_s32 },
		{ DTYPE_BOOL, dnnl_u8 },
	};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].ours == t) {
			*type = types[i].theirs;
			return true;
		}
	return false;
}

const char *onednn_letters(int rank)
{
	return rank == 3 ? "ncw" : rank == 4 ? "nchw" : rank == 5 ? "ncdhw" : "abcdefghijkl";
}

static int refuse_type(const struct operand *o, struct error *err)
{
	return error_set(err, "oneDNN has no type %s", dtype_name(o->dtype));
}

struct onednn_arg *onednn_arg_add(struct onednn_case *c, int arg, const char *role, const struct operand *o,
	struct problem_shape s, enum onednn_choice choice, struct error *err)
{
	dnnl_data_type_t type;
	struct onednn_arg *a = &c->arg[c->arg_count];
	if (!type_of(o->dtype, &type)) {
		refuse_type(o, err);
		return NULL;
	}
	*a = (struct onednn_arg){ .arg = arg, .role = role, .dtype = o->dtype, .constant = o->constant,
		 .rank = s.rank ? s.rank : 1 };
	a->dims[0] = 1;
	memcpy(a->dims, s.dim, (size_t)s.rank * sizeof(s.dim[0]));
	a->letters = onednn_letters(a->rank);
	a->any = o->layout == LAYOUT_ANY;
	a->output = arg == DNNL_ARG_DST;
	a->md = onednn_layout_md(o, a->rank, a->dims, type, choice);
	if (!a->md) {
		error_set(err, "oneDNN cannot describe the %s operand's layout", role);
		return NULL;
	}
	c->arg_count++;
	return a;
}

struct onednn_arg *onednn_arg_add_strided(struct onednn_case *c, int arg, const char *role,
	const struct operand *o, struct problem_shape s, const int64_t *strides, struct error *err)
{
	struct operand fixed = *o;
	fixed.layout = LAYOUT_STRIDES;
	fixed.stride_rank = s.rank;
	memcpy(fixed.stride, strides, (size_t)s.rank * sizeof(strides[0]));
	struct onednn_arg *a = onednn_arg_add(c, arg, role, &fixed, s, CHOICE_NCX, err);
	if (a)
		a->any = o->layout == LAYOUT_ANY;
	return a;
}
