#include "config.h"

#include "make_plan.h"
#include "profile/match/match.h"
#include "tap.h"

/* Rows of executions traced back to layers of a plan. Layers and values of the plans here have the names that
 * PyTorch's exporter gives; rows those that frameworks make of them. */

#define MANY 50000

struct net {
	struct maker *m;
	struct plan *plan;
	struct arena arena;
	struct execution e;
	int capacity;
};

static struct text kept(struct net *n, const char *name)
{
	return text_of(arena_printf(&n->arena, "%s", name));
}

/* A layer and its output: "/conv" writes "/conv_out". */
static int add(struct net *n, const char *name, const char *op, int a, int b)
{
	int v = make_layer(n->m, op, NULL, "1x8x4x4", a, b);
	n->m->plan.layers[n->m->plan.layer_count - 1].name = kept(n, name);
	n->m->plan.values[v].name = kept(n, arena_printf(&n->arena, "%s_out", name));
	return v;
}

static struct execution_row *row(struct net *n, const char *name, const char *op, double ns)
{
	struct execution_row *r = execution_add(&n->arena, &n->e, &n->capacity);
	r->name = name;
	r->op = op;
	r->ns = ns;
	return r;
}

static void tensors(struct execution_row *r, const char *inputs, const char *outputs)
{
	r->inputs = inputs;
	r->outputs = outputs;
}

/* x -> conv1 -> bn1 -> relu1 -> conv2 -> add(relu1) -> relu2 -> flatten -> gemm */
static struct net net_new(void)
{
	struct net n = { .m = make_begin(), .e = execution_new() };
	int x = make_input(n.m, "1x8x4x4");
	n.m->plan.values[x].name = TEXT("x");
	int w = make_constant(n.m, "8x8x1x1");
	n.m->plan.values[w].name = TEXT("w");
	int relu1 = add(&n, "/relu1", "Relu",
		add(&n, "/bn1", "BatchNormalization", add(&n, "/conv1", "Conv", x, w), -1), -1);
	int sum = add(&n, "/add", "Add", add(&n, "/conv2", "Conv", relu1, w), relu1);
	int flat = add(&n, "/flatten", "Reshape", add(&n, "/relu2", "Relu", sum, -1), -1);
	add(&n, "/gemm", "Gemm", flat, w);
	n.plan = make_finish(n.m);
	return n;
}

static void net_free(struct net *n)
{
	arena_free(&n->arena);
	make_end(n->m);
}

/* "tensors:0,1,2" */
static const char *text(struct net *n, const struct match *m, int i)
{
	const struct match_row *r = &m->rows[i];
	char *line = arena_printf(&n->arena, "%s", match_how_name(r->how));
	if (r->how == MATCH_ADDED)
		return arena_printf(&n->arena, "%s %s", line, added_name(r->added));
	for (int k = 0; k < r->layer_count; k++)
		line = arena_printf(&n->arena, "%s%c%d", line, k ? ',' : ':', r->layers[k]);
	return line;
}

static void by_tensors(void)
{
	struct net n = net_new();
	tensors(row(&n, "r0", "ReorderInput", 1), "x", "x_nchwc");
	tensors(row(&n, "r1", "Conv", 10), "x_nchwc\nw_1", "/relu1_out_nchwc");
	tensors(row(&n, "/relu2_out_nchwc", "Conv", 20), "/relu1_out_nchwc\nw_2", "reorder_token_3");
	tensors(row(&n, "r3", "ReorderOutput", 2), "reorder_token_3", "/relu2_out");
	tensors(row(&n, "r4", "Reshape", 0), "/relu2_out", "/flatten_out");
	tensors(row(&n, "/gemm/MatMulAddFusion/", "Gemm", 5), "/flatten_out", "/gemm_out");
	row(&n, "foreign", "Thing", 3);
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "added reorder", "a reorder of a tensor is added");
	is_str(text(&n, m, 1), "tensors:0,1,2", "all layers between input and output are fused into the row");
	is_str(text(&n, m, 2), "tensors:3,4,5", "the name of a row is that of its output");
	is_str(text(&n, m, 3), "added reorder", "a second row that writes a tensor is added");
	is_str(text(&n, m, 4), "tensors:6", "a reshape is a row of its own");
	is_str(text(&n, m, 5), "tensors:7", "the last layer");
	is_str(text(&n, m, 6), "none", "an unknown row is not matched");
	near(m->total_ns, 41, 1e-9, "total");
	near(m->matched_ns, 35, 1e-9, "matched");
	near(m->added_ns, 3, 1e-9, "added");
	near(m->added_by_ns[ADDED_REORDER], 3, 1e-9, "added: reorders");
	near(m->unmatched_ns, 3, 1e-9, "unmatched");
	is_int(m->row_of_layer[4], 2, "the row of a fused layer");
	ok(m->rows[1].confidence < 1, "the confidence of a trace is below 1");
	net_free(&n);
}

/* An f16 model that ONNX Runtime computes in f32, between casts: others are named by its tensors, too. */
static void by_tensors_of_another_type(void)
{
	struct net n = net_new();
	row(&n, "InsertedPrecisionFreeCast_x", "Cast", 1);
	tensors(row(&n, "InsertedPrecisionFreeCast_/relu1_out_nchwc", "Conv", 10),
		"InsertedPrecisionFreeCast_x\nw_1", "reorder_token_1");
	tensors(row(&n, "InsertedPrecisionFreeCast_/relu2_out_nchwc", "Conv", 20), "reorder_token_1\nw_2",
		"reorder_token_3");
	tensors(row(&n, "ReorderOutput", "ReorderOutput", 2), "reorder_token_3",
		"InsertedPrecisionFreeCast_/relu2_out");
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "added cast", "a cast is added");
	is_str(text(&n, m, 1), "tensors:0,1,2", "a convolution between casts is not");
	is_str(text(&n, m, 2), "tensors:3,4,5,6", "nor the next one");
	is_str(text(&n, m, 3), "added reorder", "a reorder is");
	net_free(&n);
}

static void by_reported_nodes(void)
{
	struct net n = net_new();
	row(&n, "Convolution_7", "Convolution", 10)->nodes = "/conv1/WithoutBiases\n/bn1\n/relu1";
	row(&n, "Convolution_9", "Convolution", 20)->nodes = "/conv2\n/add_out\n/relu2\nConstant_4";
	row(&n, "Reorder_3", "Reorder", 2)->nodes = "/relu2";
	row(&n, "MatMul_1", "FullyConnected", 5)->nodes = "/gemm";
	row(&n, "MatMul_2", "FullyConnected", 6)->nodes = "/gemm";
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "nodes:0,1,2", "nodes that the framework reports");
	is_str(text(&n, m, 1), "nodes:3,4,5,6", "a node by its tensor; a free layer is in the row before it");
	is_str(text(&n, m, 2), "added reorder", "a reorder of a layer that another row runs is added");
	is_str(text(&n, m, 4), "nodes:7", "a layer in two rows");
	is_int(m->row_of_layer[7], 3, "it belongs to the first");
	near(m->rows[0].confidence, 1, 0, "the confidence of reported names is 1");
	near(m->unmatched_ns, 0, 0, "nothing is unmatched");
	net_free(&n);
}

/* x -> q, k (equal weights) -> qt, kt -> scores: the optimizer runs q for both. */
static void merged_layers(void)
{
	struct net n = { .m = make_begin(), .e = execution_new() };
	int x = make_input(n.m, "1x8x4x4");
	int w = make_constant(n.m, "8x8x1x1");
	int q = add(&n, "/qt", "Transpose", add(&n, "/q", "Conv", x, w), -1);
	int k = add(&n, "/kt", "Transpose", add(&n, "/bias", "Add", add(&n, "/k", "Conv", x, w), -1), -1);
	add(&n, "/scores", "Conv", q, k);
	n.plan = make_finish(n.m);
	for (int i = 0; i < n.plan->layer_count; i++)
		n.plan->layers[i].class = text_is(n.plan->layers[i].node->op, "Conv") ? CLASS_COMPUTE :
			text_is(n.plan->layers[i].node->op, "Transpose") ? CLASS_MOVE : CLASS_MEMORY;
	row(&n, "r0", "Conv", 10)->nodes = "/q";
	row(&n, "r1", "Transpose", 1)->nodes = "/qt";
	row(&n, "r2", "Transpose", 1)->nodes = "/k\n/bias\n/kt";
	row(&n, "r3", "Conv", 5)->nodes = "/scores";
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "nodes:0", "the one that runs");
	is_str(text(&n, m, 2), "nodes:4", "a Transpose runs no convolution");
	is_int(m->row_of_layer[2], -1, "no row runs the other one");
	is_int(m->merged_layers, 2, "which is counted, with its bias");
	n.e.rows[2].op = "FusedTranspose";
	m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 2), "nodes:2,3,4", "a fused kernel may run them");
	net_free(&n);
}

static void by_joined_names(void)
{
	struct net n = net_new();
	row(&n, "Reformatting CopyNode for Input Tensor 0 to Conv_0 + Relu_2", "Reformat", 1);
	row(&n, "Conv_0 + PWN(BatchNormalization_1, PWN(Relu_2))", "CaskConvolution", 10);
	row(&n, "w + Conv_3 || (Unnamed Layer* 30) [Shuffle] + Add_4", "CaskConvolution", 20);
	row(&n, "{ForeignNode[/relu2.../gemm]}", "Myelin", 5);
	row(&n, "reshape_after_Gemm_7", "Shuffle", 0);
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "added reorder", "TensorRT's reformat is added");
	is_str(text(&n, m, 1), "name:0,1,2", "nodes by their numbers in topological order");
	is_str(text(&n, m, 2), "name:3,4", "names of weights and of TensorRT's own layers are passed over");
	is_str(text(&n, m, 3), "name:5,6,7", "a foreign node from its first to its last node");
	is_str(text(&n, m, 4), "added other", "a reshape that the framework added");
	near(m->rows[1].confidence, 0.8, 1e-9, "the confidence of numbers");
	net_free(&n);
}

static void by_order(void)
{
	struct net n = net_new();
	row(&n, "aten::convolution", "aten::convolution", 10)->shapes = "[[1,8,4,4],[8,8,1,1]]";
	row(&n, "aten::batch_norm", "aten::batch_norm", 2);
	row(&n, "aten::clamp_min", "aten::clamp_min", 1);
	row(&n, "aten::convolution", "aten::convolution", 20)->shapes = "[[1,9,4,4],[8,8,1,1]]";
	row(&n, "aten::convolution", "aten::convolution", 21)->shapes = "[{\"float16\":[1,8,4,4]}]";
	row(&n, "aten::_to_copy", "aten::_to_copy", 1);
	row(&n, "aten::addmm", "aten::addmm", 5);
	struct execution_row *kernel = row(&n, "sm80_gemm", "", 4);
	kernel->level = LEVEL_KERNEL;
	kernel->parent = 6;
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "order:0", "operator and shape in order");
	is_str(text(&n, m, 2), "order:2", "a clamp is a Relu");
	is_str(text(&n, m, 3), "none", "another shape does not match");
	is_str(text(&n, m, 4), "order:3",
		"the one with the same shape does; digits in the name of a type are not a shape");
	is_str(text(&n, m, 5), "added copy", "a copy that no layer stands for");
	is_str(text(&n, m, 6), "order:7", "addmm is a Gemm");
	is_str(text(&n, m, 7), "order:7", "a kernel has its layer's match");
	ok(m->rows[0].confidence > m->rows[2].confidence, "shapes add confidence");
	near(m->total_ns, 60, 1e-9, "kernels of layers are not counted again");
	net_free(&n);
}

/* Runs of kernels: no row for the free layer and for none of the Relus. */
static void repeated_kernels(void)
{
	static const char *const names[] = { "implicit_convolve_sgemm", "bn_fw_inf", "generic_kernel",
		"implicit_convolve_sgemm", "vectorized_elementwise_kernel<CUDAFunctor_add>", "gemv2T" };
	struct net n = net_new();
	for (int i = 0; i < 24; i++) {
		struct execution_row *r = row(&n, names[i % 6], "", 1 + i % 6);
		r->level = LEVEL_KERNEL;
	}
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_int(m->runs, 4, "four runs of kernels");
	near(m->total_ns, 21, 1e-9, "the time of one");
	is_str(text(&n, m, 3), "order:3", "the second convolution of the first run");
	is_str(text(&n, m, 5), "order:7", "and its gemm, not that of a later run");
	net_free(&n);
}

/* Subgraphs that a compiler took stand for what no other row runs. */
static void compiled(void)
{
	struct net n = net_new();
	row(&n, "/conv1", "Conv", 3)->provider = "CPUExecutionProvider";
	row(&n, "OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1_0", "OpenVINO-EP-subgraph_1", 5)->provider =
		"OpenVINOExecutionProvider";
	row(&n, "/gemm", "Gemm", 2)->provider = "CPUExecutionProvider";
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 1), "rest:1,2,3,4,5,6", "a subgraph has the other layers");
	is_int(m->rest_rows, 1, "one row of them");
	is_int(m->rest_layers, 6, "their number");
	near(m->matched_ns, 10, 1e-9, "all time is matched");
	ok(strstr(match_rest_hint(&n.e, m), "benchmark_app") != NULL, "a hint");
	net_free(&n);
	n = net_new();
	row(&n, "__myl_ConvRelu_myl0_1", "", 3)->provider = "TensorRT";
	row(&n, "/gemm_myl0_5", "", 4)->provider = "TensorRT";
	m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "rest:0,1,2,3,4,5,6,7", "kernels of Myelin share all layers");
	is_str(text(&n, m, 1), "rest:0,1,2,3,4,5,6,7", "also one with the name of a layer");
	ok(strstr(match_rest_hint(&n.e, m), "exportLayerInfo") != NULL, "another hint");
	n.e.rows[0].nodes = "/conv1\n/bn1\n/relu1\n/conv2\n/add\n/relu2\n/flatten\n/gemm";
	m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "nodes:0,1,2,3,4,5,6,7", "layer information decides");
	is_str(text(&n, m, 1), "added other", "what remains without a layer was added");
	ok(!match_rest_hint(&n.e, m), "no hint");
	net_free(&n);
}

/* A row of a layer that costs nothing has it, too. */
static void free_by_order(void)
{
	struct net n = net_new();
	row(&n, "Conv #1", "Conv", 3);
	row(&n, "Reshape #1", "Reshape", 1);
	row(&n, "Gemm #1", "Gemm", 2);
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 1), "order:6", "a Reshape by its operator");
	is_str(text(&n, m, 2), "order:7", "and what follows");
	net_free(&n);
}

static void repeated_runs(void)
{
	static const char *const ops[] = { "aten::conv2d", "aten::batch_norm", "aten::relu_", "aten::conv2d",
		"aten::add", "aten::relu_", "aten::flatten", "aten::linear" };
	struct net n = net_new();
	for (int run = 0; run < 3; run++)
		for (int i = 0; i < 8; i++)
			row(&n, ops[i], ops[i], 1);
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_int(m->runs, 3, "three runs in one sequence of rows");
	is_str(text(&n, m, 8), "order:0", "the second run's first row");
	is_str(text(&n, m, 23), "order:7", "the last run's last row");
	is_int(m->row_of_layer[7], 7, "a layer belongs to the row of the first run");
	near(m->total_ns, 8, 1e-9, "sums are those of one run");
	near(m->matched_ns + m->added_ns + m->unmatched_ns, 8, 1e-9, "... and they add up");
	n.e.settings = "{\"runs\":1,\"runs_left_out\":0,\"runs_unknown\":true}";
	is_int(match_execution(&n.arena, &n.e, n.plan)->runs, 3, "runs that the reader could not separate");
	n.e.settings = "{\"runs\":1,\"runs_left_out\":0}";
	m = match_execution(&n.arena, &n.e, n.plan);
	is_int(m->runs, 1, "one run if the source separates runs");
	near(m->total_ns, 24, 1e-9, "... and its rows count whole");
	n.e.settings = "";
	n.e.source = "agent";
	is_int(match_execution(&n.arena, &n.e, n.plan)->runs, 1, "one run if an agent measured it");
	net_free(&n);
}

static void parts_of_layers(void)
{
	struct net n = net_new();
	row(&n, "c1", "Convolution", 10)->nodes = "/conv1";
	tensors(row(&n, "MVN_1", "MVN", 2), "/conv1", "MVN_1_out");
	row(&n, "b1", "Subgraph", 3)->nodes = "/bn1\n/relu1";
	tensors(row(&n, "Power_1", "Eltwise", 2), "/relu1_out", "Power_1_out");
	tensors(row(&n, "Pad_1", "Pad", 2), "/relu1_out", "Pad_1_out");
	row(&n, "c2", "Convolution", 20)->nodes = "/conv2\n/add\n/relu2";
	tensors(row(&n, "Strange", "Thing", 2), "nothing", "Strange_out");
	row(&n, "g", "FullyConnected", 20)->nodes = "/gemm";
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 1), "tensors:1", "a row that reads a tensor is a part of its next reader");
	is_str(text(&n, m, 3), "tensors:3", "... of the reader whose row comes first");
	is_str(text(&n, m, 4), "added pad", "... unless the framework adds such nodes");
	is_str(text(&n, m, 6), "none", "a row that reads nothing of the model");
	near(m->rows[1].confidence, 0.5, 1e-9, "with a confidence of a half");
	net_free(&n);
}

static void named_anchors(void)
{
	struct net n = net_new();
	row(&n, "/conv1", "FusedConv", 10);
	row(&n, "/conv2", "FusedConv", 20);
	row(&n, "/gemm", "Gemm", 5);
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "name:0,1,2", "layers without a row are in the row before them");
	is_str(text(&n, m, 1), "name:3,4,5,6", "... also a sum with a shortcut");
	ok(m->rows[0].confidence < 0.9, "which lowers the confidence");
	row(&n, "Pad_1", "Pad", 5);
	row(&n, "strange", "Thing", 5);
	m = match_execution(&n.arena, &n.e, n.plan);
	is_str(text(&n, m, 0), "name:0", "not while a row is unmatched, which may be one of them");
	is_str(text(&n, m, 3), "added pad", "a Pad that the model lacks");
	net_free(&n);
}

static void hostile(void)
{
	struct net n = net_new();
	row(&n, "PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(PWN(Relu_2)))))))))))", "", 1);
	row(&n, "{ForeignNode[...]}", "", 1);
	row(&n, "{ForeignNode[", "", 1);
	row(&n, " + )) + ((( || ", "", 1);
	row(&n, "_99999999999999999999", "", NAN);
	row(&n, "", "", 1)->nodes = "\n\n";
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	for (int i = 0; i < m->row_count; i++)
		is_str(text(&n, m, i), "none", "hostile name %d", i);
	struct execution none = execution_new();
	m = match_execution(&n.arena, &none, n.plan);
	near(m->total_ns, 0, 0, "an execution without rows");
	net_free(&n);
}

/* A row of a whole network, as TensorRT reports a ForeignNode: its layers are listed once each, in order. */
static void one_row_of_all(void)
{
	struct net n = { .m = make_begin(), .e = execution_new() };
	int v = make_input(n.m, "1x8x4x4");
	n.m->plan.values[v].name = TEXT("x");
	for (int i = 0; i < MANY; i++)
		v = add(&n, arena_printf(&n.arena, "/relu%d", i), "Relu", v, -1);
	n.plan = make_finish(n.m);
	row(&n, arena_printf(&n.arena, "{ForeignNode[/relu0.../relu%d]}", MANY - 1), "", 1);
	row(&n, "second", "", 1)->nodes = "/relu5\n/relu5";
	row(&n, "third", "", 1)->nodes = "/relu5\n/relu6\n/relu5";
	struct match *m = match_execution(&n.arena, &n.e, n.plan);
	is_int(m->rows[0].layer_count, MANY - 2, "every layer but those of rows that name them, once");
	is_int(m->rows[0].layers[MANY - 3], MANY - 1, "... in order");
	is_int(m->rows[1].layer_count, 1, "a layer of another row, once");
	is_int(m->rows[2].layer_count, 2, "... and in a third row");
	net_free(&n);
}

int main(void)
{
	by_tensors();
	by_tensors_of_another_type();
	by_reported_nodes();
	merged_layers();
	by_joined_names();
	by_order();
	repeated_kernels();
	free_by_order();
	compiled();
	repeated_runs();
	parts_of_layers();
	named_anchors();
	one_row_of_all();
	hostile();
	return done_testing();
}
