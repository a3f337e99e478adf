/* If, Loop, Scan and SequenceMap: what their graphs give, how often these run, what they cost. */
#include "config.h"

#include "plan/plan.h"

#include "net.h"
#include "tap.h"

#include <math.h>

static void is_value(const struct plan *p, const char *name, const char *want)
{
	struct arena a = { 0 };
	const struct plan_value *v = net_planned(p, name);
	is_str(v ? plan_value_text(&a, v) : "no such value", want, "%s", name);
	arena_free(&a);
}

static void is_number(double got, double want, const char *name)
{
	if (!ok(got == want || (isnan(got) && isnan(want)), "%s", name))
		printf("# got %.17g want %.17g\n", got, want);
}

/* The contents of a whole value, "1 2 3". */
static void is_contents(const struct plan *p, const char *name, const char *want)
{
	const struct plan_value *v = net_planned(p, name);
	char text[512] = "";
	for (int i = 0; v && v->elements && v->elements->i && i < v->elements->count; i++) {
		struct dim d = v->elements->i[i];
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			d.kind == DIM_KNOWN ? "%s%lld" : "%s?", i ? " " : "", (long long)d.value);
	}
	is_str(text, want, "contents of %s", name);
}

/* A model with one Loop. Its body is called with these names for what is carried. */
struct looped {
	struct net *n, *body;
	struct plan *p;
};

/* trips: a number, "" an input, NULL none. */
static struct looped loop_begin(const char *trips, const char *carried)
{
	struct looped l = { .n = net_begin(17) };
	if (trips && *trips)
		net_ints(l.n, "trips", trips);
	else if (trips)
		net_input(l.n, "trips", DTYPE_S64, "");
	net_input(l.n, "x", DTYPE_F32, "8,16");
	net_ints(l.n, "zero", "0");
	net_ints(l.n, "one", "1");
	net_weight(l.n, "w", "16,16");
	l.body = net_body(l.n);
	net_input(l.body, "i", DTYPE_S64, "");
	net_input(l.body, "go", DTYPE_BOOL, "");
	char copy[64];
	snprintf(copy, sizeof(copy), "%s", carried);
	for (char *save, *d = strtok_r(copy, ",", &save); d; d = strtok_r(NULL, ",", &save))
		net_input(l.body, d, DTYPE_UNKNOWN, NULL);
	return l;
}

/* condition: an input, or ""; inputs: behind trips and condition; results: of the body, in order. */
static void loop_end_if(struct looped *l, bool has_trips, const char *condition, const char *inputs,
	const char *outputs, const char *results)
{
	char all[128], copy[128];
	snprintf(all, sizeof(all), "%s,%s,%s", has_trips ? "trips" : "", condition, inputs);
	struct node *loop = net_node(l->n, "Loop", all, outputs, NULL);
	snprintf(copy, sizeof(copy), "%s", results);
	for (char *save, *d = strtok_r(copy, ",", &save); d; d = strtok_r(NULL, ",", &save))
		net_output(l->body, d, NULL);
	net_node_body(loop, "body", l->body);
	net_output(l->n, "y", NULL);
	l->p = net_plan(l->n, (struct plan_options){ 0 });
	ok(l->p != NULL, "a loop of %s", inputs);
}

static void loop_end(
	struct looped *l, bool has_trips, const char *inputs, const char *outputs, const char *results)
{
	loop_end_if(l, has_trips, "", inputs, outputs, results);
}

static void loop_free(struct looped *l)
{
	plan_free(l->p);
	net_free(l->body);
	net_free(l->n);
}

/* One product and one sum a round; stacks the sums. */
static struct looped products(const char *trips)
{
	struct looped l = loop_begin(trips, "v");
	net_node(l.body, "MatMul", "v,w", "next", NULL);
	net_node(l.body, "ReduceSum", "next,one", "sum", "keepdims=0");
	loop_end(&l, trips != NULL, "x", "y,sums", "go,next,sum");
	return l;
}

static void test_trips(void)
{
	struct looped l = products("1000");
	const struct plan_layer *layer = &l.p->layers[0];
	is_value(l.p, "y", "8x16");
	is_value(l.p, "sums", "1000x8");
	is_number(layer->bodies[0].times, 1000, "number of rounds");
	is_number(layer->flops, 1000 * (2 * 8 * 16 * 16 + 8 * 16), "cost what they cost");
	is_int(layer->class, CLASS_HOST, "on the host");
	is_int(l.p->problem_count, 2, "with the problems of the plan");
	is_number(l.p->weight_bytes, 4 * 16 * 16 + 8 + 8, "and its weights, trips and axes among them");
	loop_free(&l);
	l = products("0");
	is_value(l.p, "sums", "0x8");
	is_int(l.p->problem_count, 0, "nothing runs in no round");
	loop_free(&l);
	l = products("-3");
	is_value(l.p, "sums", "0x8");
	loop_free(&l);
	l = products("");
	is_value(l.p, "y", "8x16");
	is_value(l.p, "sums", "?x8");
	ok(isnan(l.p->layers[0].flops) && isnan(l.p->layers[0].bodies[0].times),
		"unknown rounds have no cost");
	is_number(l.p->layers[0].bodies[0].flops, 2 * 8 * 16 * 16 + 8 * 16, "but one has");
	is_int(l.p->unknown_flops_layers, 1, "one layer is not in the total");
	const char *why = l.p->layers[0].why;
	ok(why && strstr(why, "how often it runs is not known"), "with the reason");
	loop_free(&l);
	l = products("4611686018427387904");
	is_value(l.p, "sums", "?x8");
	ok(isnan(l.p->layers[0].bodies[0].times), "a limit that stands for none limits nothing");
	loop_free(&l);
	l = products(NULL);
	is_value(l.p, "y", "8x16");
	is_value(l.p, "sums", "?x8");
	loop_free(&l);
}

/* The condition before the first iteration: a constant, a model input, or absent. */
static void test_conditions(void)
{
	static const struct {
		const char *condition, *sums;
		double times;
	} rows[] = { { "zero", "0x8", 0 }, { "one", "1000x8", 1000 }, { "", "1000x8", 1000 },
		{ "open", "?<=1000x8", NAN } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct looped l = loop_begin("1000", "v");
		net_input(l.n, "open", DTYPE_BOOL, "");
		net_node(l.body, "MatMul", "v,w", "next", NULL);
		net_node(l.body, "ReduceSum", "next,one", "sum", "keepdims=0");
		loop_end_if(&l, true, rows[i].condition, "x", "y,sums", "go,next,sum");
		is_value(l.p, "sums", rows[i].sums);
		double times = l.p->layers[0].bodies[0].times;
		ok(times == rows[i].times || (isnan(times) && isnan(rows[i].times)),
			"%g iterations if the condition is '%s'", times, rows[i].condition);
		loop_free(&l);
	}
}

/* An output that the model does not use is no reason to infer iteration after iteration. */
static void test_absent_output(void)
{
	struct looped l = loop_begin("5", "v");
	net_node(l.body, "Concat", "v,x", "next", "axis=0");
	net_node(l.body, "Relu", "w", "fixed", NULL);
	loop_end(&l, true, "x", ",y", "go,next,fixed");
	is_value(l.p, "y", "5x16x16");
	is_int(l.p->layers[0].body_count, 1, "the only used output is known without unrolling");
	loop_free(&l);
}

/* What changes from round to round. */
static void test_widening(void)
{
	static const struct {
		const char *trips, *shape;
	} rows[] = { { "1000", "?x16" }, { "5", "48x16" }, { "", "?x16" }, { "65", "?x16" },
		{ "64", "520x16" } };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct looped l = loop_begin(rows[i].trips, "v");
		net_node(l.body, "Concat", "v,x", "next", "axis=0");
		net_node(l.body, "Relu", "x", "fixed", NULL);
		loop_end(&l, true, "x", "y,fixed_all", "go,next,fixed");
		is_value(l.p, "y", rows[i].shape);
		bool each = l.p->layers[0].body_count > 1;
		ok(each == (strcmp(rows[i].trips, "5") == 0 || strcmp(rows[i].trips, "64") == 0),
			"rounds are listed each by itself where they are followed");
		if (each) {
			const struct plan_layer *layer = &l.p->layers[0];
			double bytes = 0;
			for (int k = 0; k < layer->body_count; k++)
				bytes += layer->bodies[k].bytes;
			is_value(&layer->bodies[2], "next", "32x16");
			is_number(layer->bodies[0].times, 1, "each once");
			is_number(layer->bodies[1].bytes - layer->bodies[0].bytes, 2 * 4 * 8 * 16,
				"a round reads and writes eight rows more than the one before");
			is_number(layer->bytes, bytes, "together the cost of the layer");
		}
		loop_free(&l);
	}
	/* a chain of values, each one round behind the other */
	struct looped l = loop_begin("1000", "a,b,c,d,e,f,g,h,k,m");
	net_node(l.body, "Unsqueeze", "a,zero", "more", NULL);
	loop_end(&l, true, "x,x,x,x,x,x,x,x,x,x", "y,o1,o2,o3,o4,o5,o6,o7,o8,last",
		"go,more,a,b,c,d,e,f,g,h,k");
	is_value(l.p, "y", "?");
	is_value(l.p, "last", "?");
	loop_free(&l);
}

/* A symbol that only a body declares may be another number in each round: it stays unknown. One of a model
 * input is the same in all. */
static void test_body_symbols(void)
{
	struct looped l = loop_begin("1000", "v");
	net_input(l.n, "open", DTYPE_F32, "seq,4");
	net_node(l.body, "NonZero", "v", "found_at", NULL);
	net_declare(l.body, "found_at", DTYPE_S64, "2,found");
	net_node(l.body, "Relu", "open", "outer", NULL);
	net_node(l.body, "Relu", "v", "next", NULL);
	loop_end(&l, true, "x", "y", "go,next");
	struct arena a = { 0 };
	const struct plan *body = l.p ? &l.p->layers[0].bodies[0] : NULL;
	const struct plan_value *v = body ? net_planned(body, "found_at") : NULL;
	ok(v && v->shape.rank == 2 && v->shape.dims[1].kind == DIM_UNKNOWN, "of the body: %s",
		v ? shape_text(&a, v->shape) : "no such value");
	is_value(body, "outer", "seqx4");
	arena_free(&a);
	loop_free(&l);
}

/* Shapes computed by counting: a while loop, contents that are stacked. */
static void test_unrolling(void)
{
	struct looped l = loop_begin(NULL, "n");
	net_ints(l.n, "seven", "7");
	net_node(l.body, "Add", "n,one", "next", NULL);
	net_node(l.body, "Less", "next,seven", "more", NULL);
	net_node(l.body, "Mul", "n,n", "square", NULL);
	loop_end(&l, false, "zero", "count,squares", "more,next,square");
	is_contents(l.p, "count", "7");
	is_contents(l.p, "squares", "0 1 4 9 16 25 36");
	is_int(l.p->layers[0].class, CLASS_FREE, "what is known beforehand is free");
	loop_free(&l);

	l = loop_begin("3", "n");
	net_node(l.body, "Add", "n,i", "next", NULL);
	net_node(l.body, "Add", "i,one", "j", NULL);
	loop_end(&l, true, "one", "sum,all", "go,next,j");
	is_contents(l.p, "sum", "4");
	is_contents(l.p, "all", "1 2 3");
	loop_free(&l);

	l = loop_begin(NULL, "n");
	net_node(l.body, "Add", "n,one", "next", NULL);
	loop_end(&l, false, "zero", "count", "go,next");
	is_value(l.p, "count", "1");
	is_contents(l.p, "count", "");
	loop_free(&l);

	/* stops after the first round, whatever is allowed */
	l = loop_begin("9", "n");
	net_node(l.body, "Less", "one,zero", "never", NULL);
	net_node(l.body, "Add", "n,one", "next", NULL);
	loop_end(&l, true, "zero", "count", "never,next");
	is_contents(l.p, "count", "1");
	loop_free(&l);
}

static void test_sequences(void)
{
	static const char *const trips[] = { "3", "1000" },
				 *const lists[] = { "seq(f32 8x16)[3]", "seq(f32 8x16)" },
				 *const wholes[] = { "24x16", "?x16" }, *const firsts[] = { "8x16", "8x16" };
	for (int i = 0; i < 2; i++) {
		struct looped l = loop_begin(trips[i], "list");
		net_node(l.n, "SequenceEmpty", NULL, "none", NULL);
		net_node(l.body, "Relu", "x", "item", NULL);
		net_node(l.body, "SequenceInsert", "list,item", "more", NULL);
		struct node *loop = net_node(l.n, "Loop", "trips,,none", "full", NULL);
		net_output(l.body, "go", NULL);
		net_output(l.body, "more", NULL);
		net_node_body(loop, "body", l.body);
		net_node(l.n, "ConcatFromSequence", "full", "whole", "axis=0");
		net_node(l.n, "SequenceAt", "full,zero", "first", NULL);
		net_output(l.n, "whole", NULL);
		l.p = net_plan(l.n, (struct plan_options){ 0 });
		if (ok(l.p != NULL, "a loop that fills a sequence")) {
			is_value(l.p, "full", lists[i]);
			is_value(l.p, "whole", wholes[i]);
			is_value(l.p, "first", firsts[i]);
		}
		loop_free(&l);
	}
}

static struct net *branch(struct net *n, const char *op, const char *inputs)
{
	struct net *body = net_body(n);
	net_node(body, op, inputs, "result", NULL);
	net_output(body, "result", NULL);
	return body;
}

/* flag: an input, or one that is computed beforehand. */
static void test_if(const char *left, const char *right, const char *shape, double flops, int problems)
{
	struct net *n = net_begin(17);
	net_input(n, "flag", DTYPE_BOOL, "");
	net_input(n, "x", DTYPE_F32, "8,16");
	net_weight(n, "w", "16,16");
	net_ints(n, "a", left);
	net_ints(n, "b", right);
	net_node(n, "Less", "a,b", "less", NULL);
	struct node *node = net_node(n, "If", strcmp(left, right) == 0 ? "flag" : "less", "y", NULL);
	struct net *yes = branch(n, "MatMul", "x,w"), *no = branch(n, "Concat", "x,x");
	net_node_body(node, "then_branch", yes);
	net_node_body(node, "else_branch", no);
	no->g.nodes[0].attributes[no->g.nodes[0].attribute_count++] =
		(struct attribute){ .name = TEXT("axis"), .kind = ATTRIBUTE_INT, .i = 0 };
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "a choice")) {
		const struct plan_layer *l = &p->layers[1];
		is_value(p, "y", shape);
		is_number(l->flops, flops, "cost of the branch");
		is_int(p->problem_count, problems, "problems");
		ok(l->at_least == (strcmp(left, right) == 0), "said where it is not sure");
	}
	plan_free(p);
	net_free(yes);
	net_free(no);
	net_free(n);
}

/* Weights that branches turn beforehand: what they make of them is stored, not what they made it of. */
static void test_turned_weights(void)
{
	struct net *n = net_begin(17), *bodies[2];
	net_input(n, "flag", DTYPE_BOOL, "");
	net_input(n, "x", DTYPE_F32, "8,16");
	net_weight(n, "w", "16,16");
	net_weight(n, "plain", "16,4");
	struct node *node = net_node(n, "If", "flag", "y", NULL);
	for (int i = 0; i < 2; i++) {
		bodies[i] = net_body(n);
		net_node(bodies[i], "Transpose", "w", "turned", NULL);
		net_node(bodies[i], "MatMul", i ? "x,turned" : "x,plain", "result", NULL);
		net_output(bodies[i], "result", NULL);
		net_node_body(node, i ? "else_branch" : "then_branch", bodies[i]);
	}
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "branches that share weights"))
		is_number(p->weight_bytes, 4 * 16 * 16 + 4 * 16 * 4,
			"weights as the branches read them, each once");
	plan_free(p);
	net_free(bodies[0]);
	net_free(bodies[1]);
	net_free(n);
}

static void test_ifs(void)
{
	test_if("1", "2", "8x16", 2 * 8 * 16 * 16, 1);
	test_if("2", "1", "16x16", 0, 1);
	test_if("1", "1", "?<=16x16", 0, 2);
}

/* What is wrong with a branch that is not taken harms nobody. */
static void test_not_taken(void)
{
	struct net *n = net_begin(17);
	net_input(n, "x", DTYPE_F32, "8,16");
	net_ints(n, "a", "1");
	net_ints(n, "b", "2");
	net_node(n, "Less", "a,b", "less", NULL);
	struct node *node = net_node(n, "If", "less", "y", NULL);
	struct net *yes = branch(n, "Relu", "x"), *no = branch(n, "MatMul", "x,x");
	net_node(no, "NoSuchOperator", "result", "strange", NULL);
	net_node_body(node, "then_branch", yes);
	net_node_body(node, "else_branch", no);
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	ok(p && p->warning_count == 0, "nothing is said of a branch that is not taken");
	is_value(p, "y", "8x16");
	is_number(p->layers[1].bodies[1].times, 0, "it does not run");
	plan_free(p);
	net_free(yes);
	net_free(no);
	net_free(n);
}

/* x scanned along an axis, beside a state. */
static void test_scan(int64_t opset, const char *inputs, const char *attributes, const char *x,
	const char *state, const char *final, const char *all, double times)
{
	struct net *n = net_begin(opset), *body = net_body(n);
	net_input(n, "x", DTYPE_F32, x);
	net_input(n, "state", DTYPE_F32, state);
	net_input(body, "s", DTYPE_UNKNOWN, NULL);
	net_input(body, "e", DTYPE_UNKNOWN, NULL);
	net_node(body, "Add", "s,e", "sum", NULL);
	net_node(body, "Relu", "sum", "shown", NULL);
	net_output(body, "sum", NULL);
	net_output(body, "shown", NULL);
	struct node *scan = net_node(n, "Scan", inputs, "final,all", attributes);
	net_node_body(scan, "body", body);
	net_output(n, "all", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "a scan of %s", x)) {
		is_value(p, "final", final);
		is_value(p, "all", all);
		is_number(p->layers[0].bodies[0].times, times, "rounds");
	}
	plan_free(p);
	net_free(body);
	net_free(n);
}

/* All inputs are scanned, and there is no state. */
static void test_scan_without_state(void)
{
	struct net *n = net_begin(16), *body = net_body(n);
	net_input(n, "x", DTYPE_F32, "5,3");
	net_input(body, "e", DTYPE_UNKNOWN, NULL);
	net_node(body, "Relu", "e", "shown", NULL);
	net_output(body, "shown", NULL);
	struct node *scan = net_node(n, "Scan", "x", "all", "num_scan_inputs=1");
	net_node_body(scan, "body", body);
	net_output(n, "all", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "a scan without a state")) {
		is_value(p, "all", "5x3");
		is_number(p->layers[0].bodies[0].times, 5, "rounds");
	}
	plan_free(p);
	net_free(body);
	net_free(n);
}

static void test_scans(void)
{
	test_scan_without_state();
	test_scan(9, "state,x", "num_scan_inputs=1", "5,3", "3", "3", "5x3", 5);
	test_scan(16, "state,x", "num_scan_inputs=1 scan_input_axes=1 scan_output_axes=1", "3,5", "3", "3",
		"3x5", 5);
	test_scan(16, "state,x", "num_scan_inputs=1 scan_input_axes=-1 scan_output_axes=-1", "3,5", "3", "3",
		"3x5", 5);
	test_scan(16, "state,x", "num_scan_inputs=1", "steps,3", "3", "3", "stepsx3", NAN);
	test_scan(8, ",state,x", "num_scan_inputs=1", "2,5,3", "2,3", "2x3", "2x5x3", 10);
	test_scan(16, "state,x", "num_scan_inputs=1 scan_input_axes=7 scan_output_axes=9", "5,3", "3", "?",
		"?", NAN);
	test_scan(16, "state,x", "num_scan_inputs=4611686018427387904", "5,3", "3", "?", "?", NAN);
	test_scan(16, "state,x", "num_scan_inputs=-1", "5,3", "3", "?", "?", NAN);
}

static void test_map(void)
{
	struct net *n = net_begin(17), *body = net_body(n);
	net_input(n, "x", DTYPE_F32, "5,16");
	net_ints(n, "sizes", "2,3");
	net_node(n, "SplitToSequence", "x,sizes", "parts", NULL);
	net_input(body, "part", DTYPE_UNKNOWN, NULL);
	net_node(body, "Relu", "part", "shown", NULL);
	net_output(body, "shown", NULL);
	struct node *map = net_node(n, "SequenceMap", "parts", "mapped", NULL);
	net_node_body(map, "body", body);
	net_node(n, "ConcatFromSequence", "mapped", "y", "axis=0");
	net_output(n, "y", NULL);
	struct plan *p = net_plan(n, (struct plan_options){ 0 });
	if (ok(p != NULL, "a map")) {
		is_value(p, "parts", "seq(f32 ?<=3x16)[2]");
		is_value(p, "mapped", "seq(f32 ?<=3x16)[2]");
		is_value(p, "y", "5x16");
		is_number(p->layers[1].bodies[0].times, 2, "once for each");
	}
	plan_free(p);
	net_free(body);
	net_free(n);
}

/* Loops in loops: each level would multiply the rounds of the next. */
static void test_nest(int depth, const char *trips)
{
	struct net *nets[32];
	nets[0] = net_begin(17);
	net_input(nets[0], "v0", DTYPE_F32, "8,16");
	net_ints(nets[0], "trips", trips);
	for (int i = 1; i <= depth; i++) {
		char name[32];
		nets[i] = net_body(nets[i - 1]);
		net_value(nets[i], "trips");
		net_input(nets[i], "i", DTYPE_S64, "");
		net_input(nets[i], "go", DTYPE_BOOL, "");
		snprintf(name, sizeof(name), "v%d", i);
		net_input(nets[i], name, DTYPE_UNKNOWN, NULL);
	}
	for (int i = depth; i >= 0; i--) {
		char inputs[64];
		if (i == depth) {
			snprintf(inputs, sizeof(inputs), "v%d,v%d", i, i);
			net_node(nets[i], "Concat", inputs, "out", "axis=0");
		} else {
			snprintf(inputs, sizeof(inputs), "trips,,v%d", i);
			struct node *loop = net_node(nets[i], "Loop", inputs, "out", NULL);
			net_node_body(loop, "body", nets[i + 1]);
		}
		if (i)
			net_output(nets[i], "go", NULL);
		net_output(nets[i], "out", NULL);
	}
	struct plan *p = net_plan(nets[0], (struct plan_options){ 0 });
	ok(p != NULL, "%d loops, one in the other", depth);
	if (p)
		is_value(p, "out", depth == 1 ? "128x16" : depth < 16 ? "?x16" : "?");
	plan_free(p);
	for (int i = depth; i >= 0; i--)
		net_free(nets[i]);
}

/* Numbers of inputs and outputs that do not fit. */
static void test_misfits(void)
{
	struct looped l = loop_begin("3", "v");
	loop_end(&l, true, "x,x", "y,z", "go,v");
	is_value(l.p, "y", "?");
	loop_free(&l);
	l = loop_begin("3", "v");
	loop_end(&l, true, "x", "y,z,extra", "go,v");
	is_value(l.p, "y", "?");
	loop_free(&l);
}

int main(void)
{
	test_trips();
	test_conditions();
	test_absent_output();
	test_widening();
	test_body_symbols();
	test_unrolling();
	test_sequences();
	test_ifs();
	test_turned_weights();
	test_not_taken();
	test_scans();
	test_map();
	test_nest(1, "4");
	test_nest(3, "60");
	test_nest(5, "1000");
	test_nest(16, "60");
	test_nest(20, "60");
	test_misfits();
	return done_testing();
}
