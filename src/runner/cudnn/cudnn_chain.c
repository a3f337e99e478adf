/* Pointwise modes and epilogues as steps of a cuDNN graph. */
#include "config.h"

#include "runner/cudnn/cudnn_graph.h"

#include <assert.h>

static cudnnBackendDescriptor_t pointwise_make(struct cudnn_graph *g, const struct cudnn_pointwise *how)
{
	struct cudnn_bag *b = &g->bag;
	cudnnDataType_t math = CUDNN_DATA_FLOAT;
	if (how->math && !cudnn_data_type(g, how->math, &math))
		return NULL;
	cudnnBackendDescriptor_t d = CUDNN_NEW(b, POINTWISE);
	double alpha = how->alpha, lower = how->lower, upper = how->upper, slope = how->slope;
	int64_t axis = how->axis;
	CUDNN_PUT(b, d, POINTWISE_MODE, POINTWISE_MODE, how->mode);
	CUDNN_PUT(b, d, POINTWISE_MATH_PREC, DATA_TYPE, math);
	if (how->has_lower)
		CUDNN_PUT(b, d, POINTWISE_RELU_LOWER_CLIP, DOUBLE, lower);
	if (how->has_upper)
		CUDNN_PUT(b, d, POINTWISE_RELU_UPPER_CLIP, DOUBLE, upper);
	if (how->has_slope)
		CUDNN_PUT(b, d, POINTWISE_RELU_LOWER_CLIP_SLOPE, DOUBLE, slope);
	if (how->mode == CUDNN_POINTWISE_ELU_FWD)
		CUDNN_PUT(b, d, POINTWISE_ELU_ALPHA, DOUBLE, alpha);
	if (how->mode == CUDNN_POINTWISE_SOFTPLUS_FWD)
		CUDNN_PUT(b, d, POINTWISE_SOFTPLUS_BETA, DOUBLE, alpha);
	if (how->mode == CUDNN_POINTWISE_SWISH_FWD)
		CUDNN_PUT(b, d, POINTWISE_SWISH_BETA, DOUBLE, alpha);
	if (how->mode == CUDNN_POINTWISE_GEN_INDEX)
		CUDNN_PUT(b, d, POINTWISE_AXIS, INT64, axis);
	cudnn_desc_finish(b, d, "pointwise");
	return d;
}

void cudnn_pointwise(struct cudnn_graph *g, const struct cudnn_pointwise *how, const struct cudnn_tensor *x,
	const struct cudnn_tensor *b, const struct cudnn_tensor *t, const struct cudnn_tensor *y)
{
	struct cudnn_bag *bag = &g->bag;
	cudnnBackendDescriptor_t d = pointwise_make(g, how), op = CUDNN_NEW(bag, OPERATION_POINTWISE);
	CUDNN_PUT(bag, op, OPERATION_POINTWISE_PW_DESCRIPTOR, BACKEND_DESCRIPTOR, d);
	CUDNN_PUT(bag, op, OPERATION_POINTWISE_XDESC, BACKEND_DESCRIPTOR, x->d);
	if (b)
		CUDNN_PUT(bag, op, OPERATION_POINTWISE_BDESC, BACKEND_DESCRIPTOR, b->d);
	if (t)
		CUDNN_PUT(bag, op, OPERATION_POINTWISE_TDESC, BACKEND_DESCRIPTOR, t->d);
	CUDNN_PUT(bag, op, OPERATION_POINTWISE_YDESC, BACKEND_DESCRIPTOR, y->d);
	cudnn_operation_add(g, op, "pointwise operation");
}

void cudnn_reduction(struct cudnn_graph *g, cudnnReduceTensorOp_t how, const struct cudnn_tensor *x,
	const struct cudnn_tensor *y)
{
	struct cudnn_bag *b = &g->bag;
	cudnnDataType_t type = CUDNN_DATA_FLOAT;
	cudnnBackendDescriptor_t d = CUDNN_NEW(b, REDUCTION);
	CUDNN_PUT(b, d, REDUCTION_OPERATOR, REDUCTION_OPERATOR_TYPE, how);
	CUDNN_PUT(b, d, REDUCTION_COMP_TYPE, DATA_TYPE, type);
	cudnn_desc_finish(b, d, "reduction");
	cudnnBackendDescriptor_t op = CUDNN_NEW(b, OPERATION_REDUCTION);
	CUDNN_PUT(b, op, OPERATION_REDUCTION_DESC, BACKEND_DESCRIPTOR, d);
	CUDNN_PUT(b, op, OPERATION_REDUCTION_XDESC, BACKEND_DESCRIPTOR, x->d);
	CUDNN_PUT(b, op, OPERATION_REDUCTION_YDESC, BACKEND_DESCRIPTOR, y->d);
	cudnn_operation_add(g, op, "reduction operation");
}

/* --- eltwise modes as steps --- */

static struct cudnn_step *step_add(struct cudnn_chain *c, cudnnPointwiseMode_t mode)
{
	assert(c->count < CUDNN_OPERATIONS);
	struct cudnn_step *s = &c->step[c->count++];
	*s = (struct cudnn_step){ .how = { .mode = mode }, .second = CUDNN_STEP_UNARY };
	return s;
}

static void step_value(struct cudnn_chain *c, cudnnPointwiseMode_t mode, float value)
{
	struct cudnn_step *s = step_add(c, mode);
	s->second = CUDNN_STEP_VALUE;
	s->value = value;
}

/* How a mode is composed of operations. PARAMETER: one operation with the mode's alpha as parameter. */
enum shape { NONE, UNARY, PARAMETER, LEAKY, CLIP, HARD_SIGMOID, HARD_SWISH, MISH, SQUARE, POWER, AFFINE };
static const struct {
	enum shape shape;
	cudnnPointwiseMode_t mode;
} modes[MODE_COUNT] = {
	[MODE_RELU] = { UNARY, CUDNN_POINTWISE_RELU_FWD },
	[MODE_LEAKY_RELU] = { LEAKY, CUDNN_POINTWISE_RELU_FWD },
	[MODE_CLIP] = { CLIP, CUDNN_POINTWISE_RELU_FWD },
	[MODE_SIGMOID] = { UNARY, CUDNN_POINTWISE_SIGMOID_FWD },
	[MODE_TANH] = { UNARY, CUDNN_POINTWISE_TANH_FWD },
	[MODE_GELU_ERF] = { UNARY, CUDNN_POINTWISE_GELU_FWD },
	[MODE_GELU_TANH] = { UNARY, CUDNN_POINTWISE_GELU_APPROX_TANH_FWD },
	[MODE_SWISH] = { PARAMETER, CUDNN_POINTWISE_SWISH_FWD },
	[MODE_HARD_SIGMOID] = { HARD_SIGMOID, CUDNN_POINTWISE_RELU_FWD },
	[MODE_HARD_SWISH] = { HARD_SWISH, CUDNN_POINTWISE_RELU_FWD },
	[MODE_ELU] = { PARAMETER, CUDNN_POINTWISE_ELU_FWD },
	[MODE_SOFTPLUS] = { PARAMETER, CUDNN_POINTWISE_SOFTPLUS_FWD },
	[MODE_MISH] = { MISH, CUDNN_POINTWISE_SOFTPLUS_FWD },
	[MODE_EXP] = { UNARY, CUDNN_POINTWISE_EXP },
	[MODE_LOG] = { UNARY, CUDNN_POINTWISE_LOG },
	[MODE_SQRT] = { UNARY, CUDNN_POINTWISE_SQRT },
	[MODE_ABS] = { UNARY, CUDNN_POINTWISE_ABS },
	[MODE_SQUARE] = { SQUARE, CUDNN_POINTWISE_MUL },
	[MODE_POW] = { POWER, CUDNN_POINTWISE_POW },
	[MODE_LINEAR_MAP] = { AFFINE, CUDNN_POINTWISE_MUL },
};

static void clip_add(struct cudnn_chain *c, float lower, float upper, bool in_steps)
{
	if (lower == 0) {
		struct cudnn_step *s = step_add(c, CUDNN_POINTWISE_RELU_FWD);
		s->how.has_upper = !in_steps;
		s->how.upper = upper;
	} else {
		step_value(c, CUDNN_POINTWISE_MAX, lower);
	}
	if (lower != 0 || in_steps)
		step_value(c, CUDNN_POINTWISE_MIN, upper);
}

static void affine_add(struct cudnn_chain *c, float alpha, float beta)
{
	if (alpha != 1 || beta == 0)
		step_value(c, CUDNN_POINTWISE_MUL, alpha);
	if (beta != 0)
		step_value(c, CUDNN_POINTWISE_ADD, beta);
}

/* Multiplies by the chain's input at step `first`, which keeps it: x * f(x). */
static void times_kept(struct cudnn_chain *c, int first)
{
	step_add(c, CUDNN_POINTWISE_MUL)->second = CUDNN_STEP_KEPT;
	c->step[first].keeps = true;
}

static void mish_add(struct cudnn_chain *c)
{
	int first = c->count;
	step_add(c, CUDNN_POINTWISE_SOFTPLUS_FWD)->how.alpha = 1;
	step_add(c, CUDNN_POINTWISE_TANH_FWD);
	times_kept(c, first);
}

static void hard_swish_add(struct cudnn_chain *c)
{
	int first = c->count;
	affine_add(c, 1.0f / 6, 0.5f);
	clip_add(c, 0, 1, false);
	times_kept(c, first);
}

int cudnn_chain_mode(struct cudnn_graph *g, struct cudnn_chain *c, enum mode m, float alpha, float beta)
{
	struct cudnn_step *s;
	switch (modes[m].shape) {
	case UNARY:
		step_add(c, modes[m].mode);
		return 0;
	case PARAMETER:
		step_add(c, modes[m].mode)->how.alpha = m == MODE_SOFTPLUS ? 1 : alpha;
		return 0;
	case LEAKY:
		s = step_add(c, modes[m].mode);
		s->how.has_slope = true;
		s->how.slope = alpha;
		return 0;
	case CLIP:
		clip_add(c, alpha, beta, g->in_steps);
		return 0;
	case HARD_SIGMOID:
		affine_add(c, alpha, beta);
		clip_add(c, 0, 1, false);
		return 0;
	case HARD_SWISH:
		hard_swish_add(c);
		return 0;
	case MISH:
		mish_add(c);
		return 0;
	case SQUARE:
		times_kept(c, c->count);
		return 0;
	case POWER:
		step_value(c, modes[m].mode, beta);
		if (alpha != 1)
			step_value(c, CUDNN_POINTWISE_MUL, alpha);
		return 0;
	case AFFINE:
		affine_add(c, alpha, beta);
		return 0;
	default:
		return cudnn_bag_refuse(&g->bag, "cuDNN has no pointwise operation for %s", mode_name(m));
	}
}

cudnnPointwiseMode_t cudnn_binary_mode(enum mode m)
{
	static const cudnnPointwiseMode_t of[MODE_COUNT] = {
		[MODE_ADD] = CUDNN_POINTWISE_ADD,
		[MODE_SUB] = CUDNN_POINTWISE_SUB,
		[MODE_MUL] = CUDNN_POINTWISE_MUL,
		[MODE_DIV] = CUDNN_POINTWISE_DIV,
		[MODE_MAXIMUM] = CUDNN_POINTWISE_MAX,
		[MODE_MINIMUM] = CUDNN_POINTWISE_MIN,
		[MODE_GREATER] = CUDNN_POINTWISE_CMP_GT,
		[MODE_GREATER_EQ] = CUDNN_POINTWISE_CMP_GE,
		[MODE_LESS] = CUDNN_POINTWISE_CMP_LT,
		[MODE_LESS_EQ] = CUDNN_POINTWISE_CMP_LE,
		[MODE_EQUAL] = CUDNN_POINTWISE_CMP_EQ,
	};
	return of[m];
}

void cudnn_chain_operand(struct cudnn_chain *c, cudnnPointwiseMode_t mode, enum cudnn_role role, int index,
	const struct cudnn_tensor *shape)
{
	struct cudnn_step *s = step_add(c, mode);
	s->second = CUDNN_STEP_TENSOR;
	s->role = role;
	s->index = index;
	s->tensor = *shape;
}

static struct cudnn_tensor residual_shape(struct cudnn_graph *g, const struct cuda_layout *l,
	const struct cudnn_tensor *destination, cudnn_shape *shape)
{
	struct cuda_layout to = cuda_operand_layout(g->p, problem_operand_count(g->p) - 1, 0);
	struct cudnn_tensor like = *destination;
	like.dtype = l->dtype;
	if (cudnn_layouts_equal(&to, l))
		return like;
	if (shape)
		return shape(l, destination->rank);
	cudnn_bag_refuse(&g->bag, "cuDNN needs a residual with the destination's layout");
	return like;
}

static void epilogue_add(struct cudnn_graph *g, struct cudnn_chain *c, int i,
	const struct cudnn_tensor *destination, int channel, cudnn_shape *shape_of)
{
	const struct epilogue *e = &g->p->epilogue[i];
	if (e->kind == EPILOGUE_ELTWISE) {
		cudnn_chain_mode(g, c, e->mode, e->alpha, e->beta);
		return;
	}
	bool channels = e->kind == EPILOGUE_BIAS || e->kind == EPILOGUE_SCALE;
	cudnnPointwiseMode_t mode = e->kind == EPILOGUE_BIAS ? CUDNN_POINTWISE_ADD
		: e->kind == EPILOGUE_SCALE		     ? CUDNN_POINTWISE_MUL
							     : cudnn_binary_mode(e->mode);
	struct cuda_layout l = cuda_epilogue_layout(g->p, i);
	struct cudnn_tensor shape = channels ? cudnn_shape_along(destination, channel, l.dtype) :
		residual_shape(g, &l, destination, shape_of);
	cudnn_chain_operand(c, mode, CUDNN_EPILOGUE, i, &shape);
}

/* A residual that follows the bias is added before it: the sum is the same, and cuDNN's ready-made fusions
 * have this order. */
void cudnn_chain_epilogues(struct cudnn_graph *g, struct cudnn_chain *c,
	const struct cudnn_tensor *destination, int channel, cudnn_shape *shape_of)
{
	const struct epilogue *e = g->p->epilogue;
	int count = g->p->epilogue_count;
	for (int i = 0; i < count && !g->bag.bad; i++) {
		bool swap = e[i].kind == EPILOGUE_BIAS && i + 1 < count && e[i + 1].kind == EPILOGUE_BINARY &&
			e[i + 1].mode == MODE_ADD;
		epilogue_add(g, c, swap ? i + 1 : i, destination, channel, shape_of);
		if (swap)
			epilogue_add(g, c, i++, destination, channel, shape_of);
	}
}

static struct cudnn_tensor second_operand(struct cudnn_graph *g, const struct cudnn_step *s, int rank,
	const struct cudnn_tensor *kept)
{
	return s->second == CUDNN_STEP_VALUE ? cudnn_tensor_value(g, rank, s->value) :
		s->second == CUDNN_STEP_KEPT ? *kept : cudnn_tensor_bound(g, &s->tensor, s->role, s->index);
}

void cudnn_chain_add(struct cudnn_graph *g, const struct cudnn_chain *c, const struct cudnn_tensor *x,
	const struct cudnn_tensor *destination)
{
	struct cudnn_tensor at = *x, kept = *x;
	for (int i = 0; i < c->count && !g->bag.bad; i++) {
		const struct cudnn_step *s = &c->step[i];
		struct cudnn_tensor b = { 0 };
		if (s->keeps)
			kept = at;
		if (s->second != CUDNN_STEP_UNARY)
			b = second_operand(g, s, at.rank, &kept);
		struct cudnn_tensor y =
			i == c->count - 1 ? *destination : cudnn_tensor_virtual(g, destination, DTYPE_F32);
		cudnn_pointwise(g, &s->how, &at, s->second == CUDNN_STEP_UNARY ? NULL : &b, NULL, &y);
		at = y;
	}
}

struct cudnn_tensor cudnn_chain_input(struct cudnn_graph *g, const struct cudnn_chain *c,
	const struct cudnn_tensor *destination, enum dtype dtype)
{
	return c->count ? cudnn_tensor_virtual(g, destination, dtype) : *destination;
}
