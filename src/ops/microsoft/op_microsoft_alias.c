/* Operators of com.microsoft that equal another operator with another name: of an opset of ai.onnx, or with
 * another order of dimensions (channels last or in blocks). The rules of the other operator are called with a
 * view of the call. Also FusedConv, and conversions between the orders. */
#include "config.h"

#include "ops/microsoft/op_microsoft.h"

#include <string.h>

/* ---- FusedConv: a convolution plus a tensor with the output's shape (input 3) and an activation */

static void fused_conv_cost(const struct op_call *c, struct op_cost *cost)
{
	op_conv_cost(c, cost);
	cost->flops += microsoft_activation_flops(c) + (op_in(c, 3) ? op_count(op_out(c, 0)) : 0);
}

static void fused_conv_problem(const struct op_call *c, struct op_problem *out)
{
	op_conv_problem(c, out);
	struct problem *p = &out->problem;
	if (out->known && op_in(c, 3))
		p->epilogue[p->epilogue_count++] = (struct epilogue){
			.kind = EPILOGUE_BINARY, .mode = MODE_ADD, .operand = op_operand(op_in(c, 3))
		};
	microsoft_activate(c, out);
}

/* ---- views */

enum view_order {
	VIEW_SAME,
	VIEW_LAST,
	VIEW_LAST_WEIGHTS
}; /* channels last: of input and output; of the weights, too */

struct alias {
	const char *core_domain, *core;
	int opset; /* opset at which the core operator is looked up */
	int most;  /* number of inputs passed to the core operator; 0: all */
	enum view_order order;
};

static const struct alias internal_conv = { "com.microsoft", "FusedConv", 1, 0, VIEW_LAST };

struct view {
	struct op_call call;
	struct node node;
	enum view_order order;
};

static struct op_value value_turned(struct arena *a, const struct op_value *v)
{
	struct op_value turned = *v;
	turned.shape = op_shape_turned(a, v->shape, true);
	turned.elements = NULL;
	return turned;
}

static bool input_turns(enum view_order order, int i)
{
	return order != VIEW_SAME && (i == 0 || i == 3 || (i == 1 && order == VIEW_LAST_WEIGHTS));
}

/* False if the table has no core operator at that opset. Known outputs are transposed, too. */
static bool view_get(const struct op_call *c, struct view *v)
{
	bool internal = text_is(text_of(c->op->domain), "com.ms.internal.nhwc");
	bool fused = internal && text_is(text_of(c->op->name), "Conv"); /* with an activation */
	struct alias own = { "", c->op->name, c->opset < 11 ? 11 : (int)c->opset, 0, VIEW_LAST };
	const struct alias *alias = fused ? &internal_conv : internal ? &own : c->op->own;
	struct op_call *to = &v->call;
	*to = *c;
	v->order = alias->order;
	v->node = *c->node;
	v->node.op = text_of(alias->core);
	to->node = &v->node;
	to->opset = alias->opset;
	to->op = op_find(text_of(alias->core_domain), text_of(alias->core), alias->opset);
	if (internal && !to->op) { /* GridSample is newer than the opset that the domain reports */
		to->opset = 20;
		to->op = op_find(TEXT(""), text_of(alias->core), to->opset);
	}
	if (alias->most && to->input_count > alias->most)
		to->input_count = alias->most;
	struct op_value *in = ARENA_ARRAY(c->arena, struct op_value, to->input_count + 1);
	struct op_value *out = ARENA_ARRAY(c->arena, struct op_value, to->output_count + 1);
	for (int i = 0; i < to->input_count; i++)
		in[i] = input_turns(v->order, i) ? value_turned(c->arena, &c->inputs[i]) : c->inputs[i];
	if (internal && text_is(text_of(c->op->name), "MaxUnpool")) { /* the order of its indices is not
								         documented */
		for (int i = 1; i < to->input_count; i++) {
			in[i].elements = NULL;
			in[i].shape = i == 1 ? in[0].shape : in[i].shape;
		}
	}
	for (int i = 0; i < to->output_count; i++)
		out[i] = v->order == VIEW_SAME ? c->outputs[i] : value_turned(c->arena, &c->outputs[i]);
	to->inputs = in;
	to->outputs = out;
	return to->op && to->input_count >= to->op->inputs_min;
}

static int view_shape(struct op_call *c, struct error *err)
{
	struct view v;
	if (!view_get(c, &v))
		return op_fail(c, err, "an input is missing");
	if (v.call.op->shape(&v.call, err))
		return -1;
	for (int i = 0; i < c->output_count; i++) {
		c->outputs[i] = v.call.outputs[i];
		if (v.order != VIEW_SAME)
			c->outputs[i].shape = op_shape_turned(c->arena, c->outputs[i].shape, false);
	}
	return 0;
}

/* com.ms.internal.nhwc's Resize: scales and sizes are in the input's order. */
static int resize_view_shape(struct op_call *c, struct error *err)
{
	struct op_call call = *c;
	call.opset = c->opset < 11 ? 11 : c->opset;
	call.op = op_find(TEXT(""), TEXT("Resize"), call.opset);
	return call.op ? call.op->shape(&call, err) :
		op_fail(c, err, "no Resize in opset %lld", (long long)c->opset);
}

/* True if there is an activation, which only the view of FusedConv counts and measures. */
static bool view_drops_function(const struct op_call *c, const struct view *v)
{
	return microsoft_activates(c) && !text_is(text_of(v->call.op->name), "FusedConv");
}

static void view_cost(const struct op_call *c, struct op_cost *cost)
{
	struct view v;
	if (!view_get(c, &v))
		return;
	v.call.op->cost(&v.call, cost);
	if (view_drops_function(c, &v))
		cost->flops += microsoft_activation_flops(c);
	for (int i = v.call.input_count; i < c->input_count; i++)
		cost->bytes += op_bytes(op_in(c, i));
}

static void view_problem(const struct op_call *c, struct op_problem *out)
{
	struct view v;
	if (!view_get(c, &v)) {
		op_problem_why(out, "an input is missing");
		return;
	}
	v.call.op->problem(&v.call, out);
	if (out->known && out->problem.kernel == KERNEL_REDUCE) { /* its problem has shapes but no layout */
		out->problem.shape[0] = op_problem_shape(c->inputs[0].shape);
		out->problem.shape[1] = op_problem_shape(c->outputs[0].shape);
	} else if (out->known && v.order != VIEW_SAME) {
		problem_set_layout(&out->problem, LAYOUT_NXC);
	}
	out->proxy |= out->known && (v.call.input_count < c->input_count || view_drops_function(c, &v));
}

/* ---- ConvTransposeWithDynamicPads: pads are input 2, the bias input 3 */

/* Passes the pads as an attribute of the view; zeros if they are unknown. */
static bool dynamic_pads(const struct op_call *c, struct view *v)
{
	struct op_list pads = op_list_get(c, NULL, 2);
	bool known = !op_in(c, 2) || op_list_all_known(&pads);
	int count = known && op_in(c, 2) ? pads.count : 0;
	v->call = *c;
	v->node = *c->node;
	struct attribute *all = ARENA_ARRAY(c->arena, struct attribute, v->node.attribute_count + 1);
	for (int i = 0; i < v->node.attribute_count; i++)
		all[i + 1] = c->node->attributes[i];
	all[0] = (struct attribute){ .name = TEXT("pads"),
		.kind = ATTRIBUTE_INTS,
		.count = (size_t)count,
		.ints = ARENA_ARRAY(c->arena, int64_t, count + 1) };
	for (int i = 0; i < count; i++)
		all[0].ints[i] = pads.at[i].value;
	v->node.attributes = count ? all : all + 1;
	v->node.attribute_count += count ? 1 : 0;
	v->call.node = &v->node;
	struct op_value *in = ARENA_ARRAY(c->arena, struct op_value, 3);
	in[0] = c->inputs[0];
	in[1] = c->inputs[1];
	if (op_in(c, 3))
		in[2] = c->inputs[3];
	v->call.inputs = in;
	v->call.input_count = op_in(c, 3) ? 3 : 2;
	return known;
}

static int dynamic_deconv_shape(struct op_call *c, struct error *err)
{
	struct view v;
	bool known = dynamic_pads(c, &v);
	if (op_deconv_shape(&v.call, err))
		return -1;
	struct shape y = c->outputs[0].shape;
	for (int i = 2; i < y.rank && !known; i++)
		y.dims[i] = dim_unknown();
	return 0;
}

static void dynamic_deconv_cost(const struct op_call *c, struct op_cost *cost)
{
	struct view v;
	dynamic_pads(c, &v);
	op_deconv_cost(&v.call, cost);
}

static void dynamic_deconv_problem(const struct op_call *c, struct op_problem *out)
{
	struct view v;
	if (dynamic_pads(c, &v))
		op_deconv_problem(&v.call, out);
	else
		op_problem_why(out, "the pads are not known");
}

/* ---- ReorderInput, ReorderOutput, Upsample of com.microsoft.nchwc */

/* Channels are padded to whole blocks of 8 or 16, the width of the machine's vectors: known only for
 * multiples of 16. */
static int reorder_input_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	if (x.rank < 0)
		return 0;
	if (x.rank < 3)
		return op_fail(c, err, "an input of %d dimensions has no space", x.rank);
	struct shape y = node_int(c->node, "channels_last", 0) ? op_shape_turned(c->arena, x, true)
							       : op_shape_copy(c->arena, x);
	struct dim channels = y.dims[1];
	int64_t whole = channels.kind == DIM_KNOWN && channels.value < INT32_MAX
				? (channels.value + 15) / 16 * 16
				: -1;
	if (!dim_same(channels, dim_known(whole)))
		y.dims[1] = whole > 0 ? dim_unknown_upto(whole) : dim_unknown();
	c->outputs[0].shape = y;
	return 0;
}

static int reorder_output_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	int64_t channels = node_int(c->node, "channels", 0);
	if (channels < 1)
		return op_fail(c, err, "channels is %lld", (long long)channels);
	if (x.rank < 0)
		return 0;
	if (x.rank < 3)
		return op_fail(c, err, "an input of %d dimensions has no space", x.rank);
	struct shape y = op_shape_copy(c->arena, x);
	y.dims[1] = dim_known(channels);
	c->outputs[0].shape = node_int(c->node, "channels_last", 0) ? op_shape_turned(c->arena, y, false) : y;
	return 0;
}

static int block_upsample_shape(struct op_call *c, struct error *err)
{
	struct shape x = c->inputs[0].shape;
	struct op_list scales = op_list_get(c, "scales", -1);
	if (x.rank < 0 || scales.state != OP_LIST_KNOWN)
		return 0;
	if (scales.count != x.rank)
		return op_fail(c, err, "%d scales for %d dimensions", scales.count, x.rank);
	struct shape y = shape_make(c->arena, x.rank);
	for (int i = 0; i < x.rank; i++) {
		if (scales.at[i].value < 1)
			return op_fail(c, err, "a scale of %lld", (long long)scales.at[i].value);
		y.dims[i] = dim_mul(c->arena, x.dims[i], scales.at[i]);
	}
	c->outputs[0].shape = y;
	return 0;
}

#define NCHWC "com.microsoft.nchwc", 1, 0
#define MS "com.microsoft", 1, 0
#define VIEW view_shape, view_cost, view_problem, NULL
#define LAST "channels last"
#define NHWC(name, fewest, most, class)                                                                      \
	{                                                                                                    \
		name, "com.ms.internal.nhwc", 1, 0, fewest, most, class, VIEW, LAST                          \
	}

static const struct op rows[] = {
	{ "FusedConv", MS, 2, 4, CLASS_COMPUTE, op_conv_shape, fused_conv_cost, fused_conv_problem, NULL,
		NULL },
	{ "NhwcConv", MS, 2, 3, CLASS_COMPUTE, VIEW, LAST,
		&(const struct alias){ "", "Conv", 13, 0, VIEW_LAST_WEIGHTS } },
	{ "NhwcFusedConv", MS, 2, 4, CLASS_COMPUTE, VIEW, LAST,
		&(const struct alias){ "com.microsoft", "FusedConv", 1, 0, VIEW_LAST } },
	{ "NhwcMaxPool", MS, 1, 1, CLASS_MEMORY, VIEW, LAST,
		&(const struct alias){ "", "MaxPool", 12, 1, VIEW_LAST } },
	{ "MaxpoolWithMask", MS, 2, 2, CLASS_MEMORY, VIEW, "the mask is not measured (proxy)",
		&(const struct alias){ "", "MaxPool", 12, 1, VIEW_SAME } },
	{ "ConvTransposeWithDynamicPads", MS, 2, 4, CLASS_COMPUTE, dynamic_deconv_shape, dynamic_deconv_cost,
		dynamic_deconv_problem, NULL, NULL },
	{ "GridSample", MS, 2, 2, CLASS_MEMORY, VIEW, NULL,
		&(const struct alias){ "", "GridSample", 16, 2, VIEW_SAME } },
	{ "GatherND", MS, 2, 2, CLASS_MOVE, VIEW, OP_COPY,
		&(const struct alias){ "", "GatherND", 13, 2, VIEW_SAME } },
	{ "Pad", MS, 2, 3, CLASS_MOVE, VIEW, OP_COPY,
		&(const struct alias){ "", "Pad", 13, 3, VIEW_SAME } },
	{ "TorchEmbedding", MS, 2, 4, CLASS_MOVE, VIEW, NULL,
		&(const struct alias){ "", "Gather", 13, 2, VIEW_SAME } },
	{ "Trilu", MS, 1, 2, CLASS_MOVE, VIEW, OP_COPY,
		&(const struct alias){ "", "Trilu", 14, 2, VIEW_SAME } },
	{ "Conv", NCHWC, 2, 4, CLASS_COMPUTE, VIEW, "channels in blocks",
		&(const struct alias){ "com.microsoft", "FusedConv", 1, 0, VIEW_SAME } },
	{ "MaxPool", NCHWC, 1, 1, CLASS_MEMORY, VIEW, "channels in blocks",
		&(const struct alias){ "", "MaxPool", 12, 1, VIEW_SAME } },
	{ "AveragePool", NCHWC, 1, 1, CLASS_MEMORY, VIEW, "channels in blocks",
		&(const struct alias){ "", "AveragePool", 19, 1, VIEW_SAME } },
	{ "GlobalAveragePool", NCHWC, 1, 1, CLASS_MEMORY, VIEW, "channels in blocks",
		&(const struct alias){ "", "GlobalAveragePool", 13, 1, VIEW_SAME } },
	{ "GlobalMaxPool", NCHWC, 1, 1, CLASS_MEMORY, VIEW, "channels in blocks",
		&(const struct alias){ "", "GlobalMaxPool", 13, 1, VIEW_SAME } },
	{ "ReorderInput", NCHWC, 1, 1, CLASS_MOVE, reorder_input_shape, op_cost_move, op_problem_mover, NULL,
		OP_COPY },
	{ "ReorderOutput", NCHWC, 1, 1, CLASS_MOVE, reorder_output_shape, op_cost_move, op_problem_mover,
		NULL, OP_COPY },
	{ "Upsample", NCHWC, 1, 1, CLASS_MEMORY, block_upsample_shape, op_cost_eltwise, op_problem_mover,
		NULL, OP_COPY },
	NHWC("Conv", 2, 3, CLASS_COMPUTE),
	NHWC("ConvTranspose", 2, 3, CLASS_COMPUTE),
	NHWC("MaxPool", 1, 1, CLASS_MEMORY),
	NHWC("AveragePool", 1, 1, CLASS_MEMORY),
	NHWC("LpPool", 1, 1, CLASS_MEMORY),
	NHWC("GlobalAveragePool", 1, 1, CLASS_MEMORY),
	NHWC("GlobalMaxPool", 1, 1, CLASS_MEMORY),
	NHWC("GlobalLpPool", 1, 1, CLASS_MEMORY),
	NHWC("MaxUnpool", 2, 3, CLASS_MOVE),
	{ "BatchNormalization", "com.ms.internal.nhwc", 1, 0, 5, 5, CLASS_MEMORY, VIEW, LAST,
		.flags = OP_EPILOGUE },
	NHWC("InstanceNormalization", 3, 3, CLASS_MEMORY),
	NHWC("LRN", 1, 1, CLASS_MEMORY),
	NHWC("GridSample", 2, 2, CLASS_MEMORY),
	{ "Resize", "com.ms.internal.nhwc", 1, 0, 1, 4, CLASS_MEMORY, resize_view_shape, view_cost,
		view_problem, NULL, LAST },
	NHWC("DepthToSpace", 1, 1, CLASS_MOVE),
	NHWC("SpaceToDepth", 1, 1, CLASS_MOVE),
};
const struct op_rows op_microsoft_alias_rows = OP_ROWS(rows);
