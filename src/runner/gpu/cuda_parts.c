/* Lists the parts of a problem's operands in device memory: bytes, contents, and whether a part is
 * constant. */
#include "config.h"

#include "problem/kernel.h"
#include "runner/gpu/cuda_buffers.h"

#include <math.h>

#include "runner/verify/domain.h"
#include "runner/verify/integers.h"

#define MOST_BYTES 1e15 /* maximum bytes of one operand: strides in a problem text are otherwise unlimited */

struct listing {
	const struct problem *problem;
	struct cuda_part *parts;
	int count;
};

static bool is_unsigned(enum dtype t)
{
	return t == DTYPE_U8 || t == DTYPE_U16 || t == DTYPE_U32 || t == DTYPE_U64 || t == DTYPE_BOOL;
}

static struct cuda_part *part_add(struct listing *l, struct cuda_layout layout, bool constant)
{
	struct cuda_part *part = &l->parts[l->count++];
	*part = (struct cuda_part){ .layout = layout, .constant = constant, .fill = FILL_SIGNED };
	return part;
}

static struct cuda_part *input_add(
	struct listing *l, enum check_role role, int number, int operand, int source)
{
	const struct problem *p = l->problem;
	struct cuda_part *part =
		part_add(l, cuda_operand_layout(p, operand, source), p->operand[operand].constant);
	part->role = role;
	part->number = number;
	return part;
}

static void sources_add(struct listing *l)
{
	const struct problem *p = l->problem;
	int inputs = problem_operand_count(p) - 1;
	const struct kernel_row *row = kernel_row(p->kernel);
	if (row->source_list) {
		for (int i = 0; i < p->shape_count; i++)
			input_add(l, CHECK_SOURCE, i, 0, i);
		return;
	}
	for (int i = 0; i < inputs; i++) {
		bool weights = row->weights && i == 1;
		struct cuda_part *part =
			input_add(l, weights ? CHECK_WEIGHTS : CHECK_SOURCE, weights ? 0 : i, i, 0);
		/* only the divisor of a division must be positive */
		if (fill_mode_positive(p->mode) && (p->mode != MODE_DIV || i == 1))
			part->fill = FILL_POSITIVE;
		if (p->kernel == KERNEL_CAST && is_unsigned(p->operand[1].dtype))
			part->fill = FILL_POSITIVE;
	}
	if (problem_mask(p)) {
		struct cuda_part *part = part_add(l, cuda_mask_layout(p), false);
		part->role = CHECK_SOURCE;
		part->number = inputs;
	}
	if (p->kernel == KERNEL_RNN) {
		l->parts[l->count - 1].fill = FILL_SMALL;
		l->parts[l->count - 1].limit = integer_small_limit(p);
	}
	if (row->index_operand) {
		l->parts[l->count - 1].fill = FILL_INDEX;
		l->parts[l->count - 1].limit = p->shape[0].dim[p->axis];
	}
}

static void epilogues_add(struct listing *l)
{
	const struct problem *p = l->problem;
	for (int e = 0; e < p->epilogue_count; e++) {
		const struct epilogue *x = &p->epilogue[e];
		if (x->kind == EPILOGUE_ELTWISE)
			continue;
		struct cuda_part *part = part_add(l, cuda_epilogue_layout(p, e), x->operand.constant);
		part->role = CHECK_EPILOGUE;
		part->number = e;
		part->fill = x->kind == EPILOGUE_SCALE				    ? FILL_FACTOR
			: x->kind == EPILOGUE_BINARY && fill_mode_positive(x->mode) ? FILL_POSITIVE
										    : FILL_SIGNED;
		part->limit = x->kind == EPILOGUE_SCALE ? integer_factor_limit(p) : 0;
	}
}

/* Adds a scale, shift, mean or variance: f32 and always constant, since the problem text has no operand for
 * them. */
static void parameter_add(struct listing *l, enum check_role role, int64_t count, enum fill_kind fill)
{
	struct cuda_layout layout = {
		.dtype = DTYPE_F32, .shape = { .rank = 1, .dim = { count } }, .stride = { 1 }
	};
	struct cuda_part *part = part_add(l, layout, true);
	part->role = role;
	part->fill = fill;
}

static void parameters_add(struct listing *l)
{
	const struct problem *p = l->problem;
	const struct kernel_row *row = kernel_row(p->kernel);
	static const struct {
		enum check_role role;
		enum fill_kind fill;
	} arrays[] = { { CHECK_SCALE, FILL_SIGNED }, { CHECK_SHIFT, FILL_SIGNED },
		{ CHECK_MEAN, FILL_SIGNED }, { CHECK_VARIANCE, FILL_POSITIVE } };
	for (int i = 0; i < row->parameters; i++)
		parameter_add(l, arrays[i].role, problem_parameter_count(p),
			row->quantizer ? FILL_FACTOR : arrays[i].fill);
	if (row->quantizer)
		l->parts[l->count - 1].limit = integer_factor_limit(p);
}

static void outputs_add(struct listing *l)
{
	const struct problem *p = l->problem;
	int last = problem_operand_count(p) - 1;
	struct cuda_part *part = part_add(l, cuda_operand_layout(p, last, 0), false);
	part->kind = CUDA_PART_DESTINATION;
	if (!kernel_row(p->kernel)->second_output)
		return;
	struct operand indices = { .dtype = DTYPE_S64 };
	struct problem twin = *p;
	twin.operand[last] = indices;
	part = part_add(l, cuda_operand_layout(&twin, last, 0), false);
	part->kind = CUDA_PART_INDICES;
}

/* Sufficient for no two elements to have the same offset: in order of stride, each stride is beyond the span
 * of the smaller ones. */
static bool is_disjoint(const struct cuda_layout *l)
{
	for (int i = 0; i < l->shape.rank; i++) {
		double span = 0; /* of the dimensions with a smaller stride */
		for (int j = 0; j < l->shape.rank; j++)
			if (l->stride[j] < l->stride[i] || (l->stride[j] == l->stride[i] && j < i))
				span += (double)(l->shape.dim[j] - 1) * (double)l->stride[j];
		if (l->shape.dim[i] > 1 && (double)l->stride[i] <= span)
			return false;
	}
	return true;
}

/* Returns the span of the strides in bytes; NaN if a stride is negative or elements overlap. */
static double span_bytes(const struct cuda_layout *l)
{
	double last = 0;
	for (int i = 0; i < l->shape.rank; i++) {
		if (l->stride[i] < 0)
			return NAN;
		last += (double)(l->shape.dim[i] - 1) * (double)l->stride[i];
	}
	return is_disjoint(l) ? ceil((last + 1) * dtype_bits(l->dtype) / 8) : NAN;
}

static int part_place(struct cuda_part *part, double bytes[2], struct error *err)
{
	/* weights of 4 bits are packed, two to a byte */
	bool packed = dtype_bits(part->layout.dtype) == 4 && !dtype_is_float(part->layout.dtype) &&
		part->kind == CUDA_PART_INPUT && part->role == CHECK_WEIGHTS;
	if (!fill_handles(part->layout.dtype) && !packed)
		return error_set(err, "operands of type %s are not measured on a GPU yet",
			dtype_name(part->layout.dtype));
	part->bytes = span_bytes(&part->layout);
	if (!(part->bytes <= MOST_BYTES))
		return error_set(err, "an operand's strides overlap or do not fit its shape");
	double *block = &bytes[part->constant];
	part->at = (size_t)*block + CUDA_GUARD;
	double end = (double)part->at + part->bytes + CUDA_GUARD;
	*block = ceil(end / CUDA_GUARD) * CUDA_GUARD;
	return 0;
}

static void fills_choose(struct listing *l)
{
	struct fill_range range[2];
	bool positive = fill_chain_positive(l->problem), chosen = fill_domain(l->problem, range);
	for (int i = 0; i < l->count; i++) {
		struct cuda_part *part = &l->parts[i];
		bool second = part->role == CHECK_EPILOGUE ||
			(l->problem->kernel == KERNEL_BINARY && part->role == CHECK_SOURCE &&
				part->number == 1);
		if (part->fill != FILL_SIGNED && part->fill != FILL_POSITIVE)
			continue;
		if (chosen) {
			part->fill = range[second].kind;
			part->limit = range[second].limit;
		} else if (positive) {
			part->fill = FILL_POSITIVE;
		}
	}
}

int cuda_parts_list(
	const struct problem *p, struct cuda_part *parts, int *count, double bytes[2], struct error *err)
{
	struct listing l = { .problem = p, .parts = parts };
	sources_add(&l);
	epilogues_add(&l);
	parameters_add(&l);
	fills_choose(&l);
	outputs_add(&l);
	bytes[0] = bytes[1] = 0;
	for (int i = 0; i < problem_operand_count(p); i++) {
		const struct operand *o = &p->operand[i];
		int rank = problem_operand_shape(p, i).rank;
		if (o->layout == LAYOUT_STRIDES && o->stride_rank != rank)
			return error_set(
				err, "operand %d has %d strides for %d dimensions", i, o->stride_rank, rank);
	}
	for (int i = 0; i < l.count; i++)
		if (part_place(&parts[i], bytes, err))
			return -1;
	*count = l.count;
	return 0;
}

/* Differs per operand, so that operands of equal shape have different values. */
uint64_t cuda_part_seed(const struct cuda_part *part)
{
	return 0x62656e616e7a61u + (uint64_t)part->role * 1024 + (uint64_t)part->number;
}
