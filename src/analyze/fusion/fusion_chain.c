/* Joins a chain of layers into one problem: an anchor with epilogues. The anchor's kernel must support each
 * epilogue; the chain ends at the first layer that it does not support. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <string.h>

/* True if the layer reads the value at run time. A free layer reads only those of its inputs that are its
 * predecessors in the dependency graph: others were folded, such as the shape of a Reshape. */
bool chain_reads(const struct plan *p, int layer, int value)
{
	const struct plan_layer *l = &p->layers[layer];
	if (l->class != CLASS_FREE)
		return true;
	int producer = p->values[value].producer;
	if (producer < 0)
		return true;
	for (int i = 0; i < l->pred_count; i++)
		if (l->preds[i] == producer)
			return true;
	return false;
}

int chain_readers(const struct plan *p, int value, int *layers, int max)
{
	const struct plan_value *v = &p->values[value];
	int count = 0;
	if (v->is_output || v->consumer_count > 4 * max)
		return -1;
	for (int i = 0; i < v->consumer_count; i++) {
		if (!chain_reads(p, v->consumers[i], value))
			continue;
		if (count == max)
			return -1;
		layers[count++] = v->consumers[i];
	}
	return count;
}

static const char *const anchor_ops[] = { "Conv", "Gemm", "MatMul", "ConvInteger", "MatMulInteger" };

static const struct operand *destination(const struct problem *q)
{
	return &q->operand[problem_operand_count(q) - 1];
}

static bool same_shape(const struct plan *p, int a, int b)
{
	return shape_same(p->values[a].shape, p->values[b].shape);
}

void chain_name(struct chain *c, const struct plan_layer *l)
{
	str_add(&c->pattern, "+", 1);
	str_puts(&c->pattern, l->op->name);
}

/* The chain now needs at least this level. */
static void raise_level(struct chain *c, enum fusion_level level)
{
	if (!fusion_allows(c->level, level))
		c->level = level;
}

/* Appends all layers of a region as one unit. */
static void take_region(struct chain *c, const struct region *r)
{
	int from = c->layer_count;
	for (int i = 0; i < r->layer_count; i++)
		chain_take(c, r->layers[i], r->value);
	for (int i = from; i < c->layer_count; i++)
		c->unit[i] = r->layers[0] | FUSION_REGION;
	raise_level(c, FUSION_PATTERN);
	str_puts(&c->pattern, from ? "+" : "");
	str_puts(&c->pattern, r->name);
}

bool chain_one_output(const struct plan *p, const struct plan_layer *l)
{
	if (l->output_count < 1 || l->outputs[0] < 0)
		return false;
	for (int i = 1; i < l->output_count; i++)
		if (l->outputs[i] >= 0 &&
			(p->values[l->outputs[i]].consumer_count || p->values[l->outputs[i]].is_output))
			return false;
	return true;
}

void chain_take(struct chain *c, int layer, int value)
{
	struct problem *q = &c->problem;
	c->unit[c->layer_count] = layer;
	c->layers[c->layer_count++] = layer;
	c->value = value;
	/* a product of few bits writes what reads its result */
	if (c->plan && plan_is_few(c->plan) && c->layer_count > 1 && kernel_row(q->kernel)->product &&
		c->plan->values[c->plan->layers[c->layers[0]].inputs[0]].few)
		q->operand[problem_operand_count(q) - 1].dtype = c->plan->values[value].dtype;
}

/* Begins a chain at a layer with a problem and a single floating-point output; false for others. */
bool chain_begin(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	const struct plan_problem *pp = plan_layer_problem(p, l);
	c->pattern = (struct str){ 0 };
	if (!pp || !plan_layer_is_onnx(l) || l->body_count || l->proxy || l->class == CLASS_FREE ||
		!chain_one_output(p, l))
		return false;
	problem_restore(pp->problem, &c->problem);
	if (!dtype_is_float(destination(&c->problem)->dtype) || p->values[l->outputs[0]].shape.rank < 1)
		return false;
	c->plan = p;
	c->foldable = c->pointwise = c->activation = c->add = c->gate = c->proxy = false;
	c->level = FUSION_EPILOGUE;
	c->channel_axis = c->residual = -1;
	c->layer_count = 0;
	chain_take(c, l->index, l->outputs[0]);
	str_puts(&c->pattern, l->op->name);
	return true;
}

bool chain_start(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	const struct plan_problem *pp = plan_layer_problem(p, l);
	bool anchor = false;
	c->pattern = (struct str){ 0 };
	if (!pp || !kernel_row(pp->problem->kernel)->takes_epilogues)
		return false;
	for (size_t i = 0; i < sizeof(anchor_ops) / sizeof(anchor_ops[0]); i++)
		anchor |= plan_layer_is(l, anchor_ops[i]);
	if (!anchor || !chain_begin(c, p, l))
		return false;
	const struct problem *q = &c->problem;
	const struct shape *shape = &p->values[c->value].shape;
	int scaled = sums_are_scaled(q);
	c->foldable = q->epilogue_count == scaled || (q->epilogue_count == scaled + 1 &&
		q->epilogue[scaled].kind == EPILOGUE_BIAS && q->epilogue[scaled].operand.constant);
	c->channel_axis = kernel_row(q->kernel)->image_like ? (shape->rank > 1 ? 1 : -1) : shape->rank - 1;
	return true;
}

/* True if all inputs of the layer but the first are there and constant. */
static bool has_constant_parameters(const struct plan *p, const struct plan_layer *l)
{
	for (int i = 1; i < l->input_count; i++)
		if (l->inputs[i] < 0 || !p->values[l->inputs[i]].constant)
			return false;
	return true;
}

bool chain_start_pointwise(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	if (!chain_begin(c, p, l))
		return false;
	c->pointwise = true;
	c->foldable = c->problem.kernel == KERNEL_BATCHNORM && has_constant_parameters(p, l);
	c->channel_axis = c->foldable ? 1 : -1;
	return !c->problem.epilogue_count && kernel_row(c->problem.kernel)->pointwise &&
		c->problem.operand[0].dtype == destination(&c->problem)->dtype;
}

/* Begins a pointwise chain at an activation that the model writes as several layers (a region): the
 * problem is one elementwise kernel over the value's shape, as a library would run it. Input and output
 * must have the same known shape and float type. */
bool chain_start_region(struct chain *c, const struct plan *p, int value, const struct region *r)
{
	const struct plan_value *v = &p->values[value];
	*c = (struct chain){ .plan = p, .level = FUSION_PATTERN, .residual = -1, .channel_axis = -1,
		.pointwise = true };
	if (!dtype_is_float(v->dtype) || v->shape.rank < 1 || v->shape.rank > PROBLEM_RANK ||
		!shape_is_known(v->shape) || !same_shape(p, value, r->value) ||
		plan_wide(p, &p->values[r->value]) != v->dtype)
		return false;
	c->problem.kernel = KERNEL_ELTWISE;
	c->problem.mode = r->mode;
	c->problem.alpha = r->alpha;
	c->problem.beta = r->beta;
	c->problem.operand[0].dtype = c->problem.operand[1].dtype = v->dtype;
	c->problem.shape_count = 1;
	c->problem.shape[0].rank = v->shape.rank;
	for (int i = 0; i < v->shape.rank; i++)
		c->problem.shape[0].dim[i] = v->shape.dims[i].value;
	take_region(c, r);
	return true;
}

/* The input of l other than c->value, or -1 when l is not an operator of two inputs that reads c->value
 * once. */
static int other_input(const struct chain *c, const struct plan_layer *l)
{
	if (l->input_count != 2 || l->inputs[0] < 0 || l->inputs[1] < 0 || l->inputs[0] == l->inputs[1])
		return -1;
	if (l->inputs[0] == c->value)
		return l->inputs[1];
	return l->inputs[1] == c->value ? l->inputs[0] : -1;
}

static int64_t channels(const struct chain *c)
{
	return c->problem.kernel == KERNEL_BATCHNORM ? c->problem.shape[0].dim[1]
		: kernel_row(c->problem.kernel)->output_channels(&c->problem);
}

/* True if the value has one element per channel: all other dimensions are 1, and it does not enlarge the
 * output. */
static bool is_channel_vector(const struct chain *c, int value)
{
	const struct plan_value *v = &c->plan->values[value];
	const struct shape *out = &c->plan->values[c->value].shape;
	if (!v->constant || c->channel_axis < 0 || v->shape.rank < 0 || v->shape.rank > out->rank)
		return false;
	for (int i = 0; i < v->shape.rank; i++) {
		int axis = out->rank - v->shape.rank + i;
		int64_t want = axis == c->channel_axis ? channels(c) : 1;
		struct dim d = v->shape.dims[i];
		if (d.kind != DIM_KNOWN || (d.value != want && d.value != 1))
			return false;
	}
	return true;
}

/* Adds a bias; true if the kernel has one already or it can be its first epilogue. A batch normalization has
 * its shift. */
static bool fold_bias(struct chain *c)
{
	struct problem *q = &c->problem;
	bool scaled = sums_are_scaled(q);
	if (q->epilogue_count > scaled || q->kernel == KERNEL_BATCHNORM)
		return true; /* two constants are folded into one */
	q->epilogue[q->epilogue_count++] = (struct epilogue){
		.kind = EPILOGUE_BIAS,
		.operand = { .dtype = scaled ? DTYPE_F32 : q->operand[2].dtype, .constant = true },
	};
	return true;
}

/* Inference-time batch normalization is a scale and shift per channel, so it is folded into constant
 * weights and the bias of the convolution before it: w' = w * g / sqrt(v + e), b' = (b - m) * g / sqrt(v
 * + e) + beta (Jacob et al., CVPR 2018, section 3.2). Only the bias costs time. */
static bool take_batchnorm(struct chain *c, const struct plan_layer *l)
{
	if (!plan_layer_is(l, "BatchNormalization") || !c->foldable || l->input_count != 5 ||
		l->inputs[0] != c->value)
		return false;
	if (!has_constant_parameters(c->plan, l))
		return false;
	if (node_int(l->node, "training_mode", 0) != 0 || node_int(l->node, "spatial", 1) != 1)
		return false;
	/* its factors are folded into the weights, which must be constant and have the same channels */
	if (!c->problem.operand[1].constant || c->channel_axis != 1)
		return false;
	raise_level(c, FUSION_FOLD);
	str_puts(&c->pattern, "+BatchNorm");
	return fold_bias(c);
}

/* A constant factor or divisor per channel, as in exports of a scale layer: folded into the constant weights,
 * or the scale of a batch normalization, and the bias before it. It costs nothing. */
static bool take_factor(struct chain *c, const struct plan_layer *l)
{
	int other = other_input(c, l);
	bool divides = plan_layer_is(l, "Div") && l->inputs[0] == c->value;
	bool weights = c->problem.kernel == KERNEL_BATCHNORM || c->problem.operand[1].constant;
	if (!(plan_layer_is(l, "Mul") || divides) || !c->foldable || !weights || other < 0 ||
		!is_channel_vector(c, other))
		return false;
	raise_level(c, FUSION_FOLD);
	str_puts(&c->pattern, "+Scale");
	return true;
}

static bool take_bias(struct chain *c, const struct plan_layer *l)
{
	int other = other_input(c, l);
	if (!plan_layer_is(l, "Add") || !c->foldable || other < 0 || !is_channel_vector(c, other))
		return false;
	str_puts(&c->pattern, "+Bias");
	return fold_bias(c);
}

/* Adds another tensor of the same type and shape, at most once, or multiplies a matmul by one, as gated
 * activations do. A sum ends folding (it is no longer linear in the weights alone) and allows another
 * activation. c->residual is the producer: the fused kernel cannot start before it has finished. */
static bool take_residual(struct chain *c, const struct plan_layer *l)
{
	int other = other_input(c, l);
	struct problem *q = &c->problem;
	bool adds = plan_layer_is(l, "Add") && !c->add;
	bool gate = plan_layer_is(l, "Mul") && !c->gate && q->kernel == KERNEL_MATMUL;
	if (!(adds || gate) || q->epilogue_count == PROBLEM_EPILOGUES || other < 0)
		return false;
	const struct plan_value *v = &c->plan->values[other];
	if (v->constant || plan_wide(c->plan, v) != destination(q)->dtype ||
		!same_shape(c->plan, other, c->value) ||
		!same_shape(c->plan, l->outputs[0], c->value))
		return false;
	q->epilogue[q->epilogue_count++] = (struct epilogue){
		.kind = EPILOGUE_BINARY,
		.mode = adds ? MODE_ADD : MODE_MUL,
		.operand = { .dtype = v->dtype },
	};
	c->foldable = false;
	c->activation = gate;
	c->add |= adds;
	c->gate |= gate;
	c->residual = v->producer > c->residual ? v->producer : c->residual;
	raise_level(c, gate ? FUSION_PATTERN : FUSION_FOLD);
	chain_name(c, l);
	return true;
}

/* In a pointwise chain: any binary operation with another tensor of the same shape. If it is not commutative,
 * the chain's value must be the left operand. */
static bool take_binary(struct chain *c, const struct plan_layer *l)
{
	const struct plan_problem *pp = plan_layer_problem(c->plan, l);
	int other = other_input(c, l);
	struct problem *q = &c->problem;
	if (!pp || l->proxy || pp->problem->kernel != KERNEL_BINARY || pp->problem->epilogue_count ||
		other < 0 || q->epilogue_count == PROBLEM_EPILOGUES)
		return false;
	const struct plan_value *v = &c->plan->values[other];
	struct problem binary;
	problem_restore(pp->problem, &binary);
	enum mode mode = binary.mode;
	bool either = mode == MODE_ADD || mode == MODE_MUL || mode == MODE_MAXIMUM || mode == MODE_MINIMUM;
	bool left = (mode == MODE_SUB || mode == MODE_DIV) && l->inputs[0] == c->value;
	enum dtype type = plan_wide(c->plan, v);
	if (!(either || left) || type != destination(q)->dtype ||
		destination(&binary)->dtype != type || !same_shape(c->plan, other, c->value) ||
		!same_shape(c->plan, l->outputs[0], c->value))
		return false;
	q->epilogue[q->epilogue_count++] = (struct epilogue){
		.kind = EPILOGUE_BINARY,
		.mode = mode,
		.operand = { .dtype = type, .constant = v->constant },
	};
	c->foldable = false;
	if (v->producer > c->residual && !v->constant)
		c->residual = v->producer;
	chain_name(c, l);
	return true;
}

static bool add_activation(struct chain *c, enum mode mode, float alpha, float beta)
{
	struct problem *q = &c->problem;
	q->epilogue[q->epilogue_count++] = (struct epilogue){
		.kind = EPILOGUE_ELTWISE, .mode = mode, .alpha = alpha, .beta = beta,
	};
	c->foldable = false;
	c->activation = true;
	return true;
}

static bool may_activate(const struct chain *c)
{
	return (c->pointwise || !c->activation) && c->problem.epilogue_count < PROBLEM_EPILOGUES;
}

/* A factor or summand for all elements, as the scale of attention: an epilogue of its own where it cannot be
 * folded into constant weights. */
static bool take_affine(struct chain *c, const struct plan_layer *l)
{
	const struct plan_problem *pp = plan_layer_problem(c->plan, l);
	if (!may_activate(c) || !pp || l->proxy || pp->problem->kernel != KERNEL_ELTWISE ||
		pp->problem->mode != MODE_LINEAR_MAP || pp->problem->epilogue_count ||
		!same_shape(c->plan, l->outputs[0], c->value))
		return false;
	chain_name(c, l);
	add_activation(c, pp->problem->mode, pp->problem->alpha, pp->problem->beta);
	c->activation = false;
	return true;
}

static bool take_activation(struct chain *c, const struct plan_layer *l)
{
	static const enum mode modes[] = { MODE_RELU, MODE_LEAKY_RELU, MODE_CLIP, MODE_SIGMOID, MODE_TANH,
		MODE_GELU_ERF, MODE_GELU_TANH, MODE_SWISH, MODE_HARD_SIGMOID, MODE_HARD_SWISH, MODE_ELU,
		MODE_SOFTPLUS, MODE_MISH };
	const struct plan_problem *pp = plan_layer_problem(c->plan, l);
	if (!may_activate(c) || !pp || l->proxy || pp->problem->kernel != KERNEL_ELTWISE ||
		pp->problem->epilogue_count || l->inputs[0] != c->value)
		return false;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (modes[i] != pp->problem->mode)
			continue;
		chain_name(c, l);
		return add_activation(c, pp->problem->mode, pp->problem->alpha, pp->problem->beta);
	}
	return false;
}

/* In a pointwise chain: any elementwise function. */
static bool take_function(struct chain *c, const struct plan_layer *l)
{
	const struct plan_problem *pp = plan_layer_problem(c->plan, l);
	if (!may_activate(c) || !pp || l->proxy || pp->problem->kernel != KERNEL_ELTWISE ||
		pp->problem->epilogue_count)
		return false;
	struct problem function;
	problem_restore(pp->problem, &function);
	if (destination(&function)->dtype != destination(&c->problem)->dtype)
		return false;
	chain_name(c, l);
	return add_activation(c, pp->problem->mode, pp->problem->alpha, pp->problem->beta);
}

bool chain_hands_on(const struct plan_layer *l)
{
	return l->class == CLASS_FREE && (plan_layer_is(l, "Identity") || plan_layer_is(l, "Dropout"));
}

/* Layers that pass the same elements on. A reshape after a matmul is one if the rows stay rows, because the
 * matrix is contiguous in memory. After a convolution it is not, because the layout may be blocked. */
static bool passes(struct chain *c, const struct plan_layer *l)
{
	/* the Cast and the scale behind raw sums are part of the anchor's own problem */
	if (l->absorbed_by >= 0 && l->absorbed_by == c->layers[0])
		return true;
	if (l->class != CLASS_FREE || l->inputs[0] != c->value)
		return false;
	if (chain_hands_on(l))
		return true;
	if (!plan_layer_has(l, OP_RESHAPES))
		return false;
	const struct shape *from = &c->plan->values[c->value].shape;
	const struct shape *to = &c->plan->values[l->outputs[0]].shape;
	if (c->problem.kernel != KERNEL_MATMUL || from->rank < 1 || to->rank < 1 ||
		c->channel_axis != from->rank - 1 || !shape_is_known(*to))
		return false;
	struct dim last = to->dims[to->rank - 1];
	if (last.value != channels(c) || !dim_same(last, from->dims[from->rank - 1]))
		return false;
	c->channel_axis = to->rank - 1;
	return true;
}

/* The value has several readers: appends them if they are one activation, else the chain ends. */
static bool step_region(struct chain *c)
{
	struct region r;
	if (!may_activate(c) || !region_match(c->plan, c->value, &r) ||
		c->layer_count + r.layer_count > FUSION_LAYERS_MAX || !same_shape(c->plan, c->value, r.value))
		return false;
	take_region(c, &r);
	if (c->pointwise)
		raise_level(c, FUSION_ALL);
	return add_activation(c, r.mode, r.alpha, r.beta);
}

/* True for an activation of one operand. */
static bool is_gating(enum kernel kernel, enum mode mode, int epilogue_count)
{
	static const enum mode modes[] = { MODE_SWISH, MODE_GELU_ERF, MODE_GELU_TANH, MODE_SIGMOID,
		MODE_RELU };
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (kernel == KERNEL_ELTWISE && !epilogue_count && mode == modes[i])
			return true;
	return false;
}

/* True for a product of the chain's value with another tensor of its shape. */
static bool is_product_with(const struct chain *c, const struct plan_layer *l)
{
	int other = plan_layer_is(l, "Mul") ? other_input(c, l) : -1;
	return other >= 0 && !c->plan->values[other].constant && same_shape(c->plan, other, c->value);
}

bool chain_is_gate(const struct plan *p, const struct plan_layer *l)
{
	const struct plan_problem *pp = plan_layer_problem(p, l);
	struct chain c = { .plan = p, .value = chain_one_output(p, l) ? l->outputs[0] : -1 };
	int reader;
	const struct problem_kept *q = pp ? pp->problem : NULL;
	return q && c.value >= 0 && is_gating(q->kernel, q->mode, q->epilogue_count) &&
		chain_readers(p, c.value, &reader, 1) == 1 && is_product_with(&c, &p->layers[reader]);
}

static bool take_any(struct chain *c, const struct plan_layer *l)
{
	if (c->pointwise) {
		bool gate = is_gating(c->problem.kernel, c->problem.mode, c->problem.epilogue_count) &&
			is_product_with(c, l);
		raise_level(c, gate ? FUSION_PATTERN : FUSION_ALL);
		return take_factor(c, l) || take_bias(c, l) || take_binary(c, l) || take_function(c, l);
	}
	return take_batchnorm(c, l) || take_factor(c, l) || take_bias(c, l) || take_residual(c, l) ||
		take_activation(c, l) || take_affine(c, l);
}

/* Extends the chain by one operation: follows the single reader of its value, past layers that only hand
 * elements on, until a rule takes a layer. A value with several readers may still be the start of one
 * activation (a region). Greedy; each layer is tested against a fixed list of rules. False: the chain
 * ends. */
bool chain_step(struct chain *c)
{
	while (c->layer_count < FUSION_LAYERS_MAX) {
		int reader;
		if (chain_readers(c->plan, c->value, &reader, 1) != 1)
			return step_region(c);
		const struct plan_layer *l = &c->plan->layers[reader];
		if (!plan_layer_is_onnx(l) || l->body_count || l->input_count < 1 ||
			!chain_one_output(c->plan, l))
			return false;
		int out = l->outputs[0];
		bool hands_on = passes(c, l), taken = !hands_on && l->class != CLASS_FREE && take_any(c, l);
		if (hands_on || taken)
			chain_take(c, reader, out);
		if (!hands_on)
			return taken;
	}
	return false;
}
