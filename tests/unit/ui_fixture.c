#include "config.h"

#include "ui_fixture.h"

#include "session/scenarios.h"
#include "session/session_agent.h"
#include "session/session_private.h"

#include "execution_sum.h"
#include "make_plan.h"
#include "store/executions.h"

#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture_calls fixture_calls;
const struct queue_status *fixture_status;
int fixture_answer;
const char *fixture_refusal;
int fixture_agent;

struct queue {
	struct fixture_options options;
	const struct plan *plan;
};

/* Nothing is saved in the user's directories. */
__attribute__((constructor)) static void no_home(void)
{
	setenv("XDG_DATA_HOME", "/nonexistent", 1);
	setenv("XDG_STATE_HOME", "/nonexistent", 1);
}

static struct fixture_options options;
static struct maker *maker;
static struct maker *inner[8]; /* of bodies */
static int inner_count;
static const struct results *held; /* by the analysis */

static void named(int value, const char *name, size_t n)
{
	struct plan_layer *l = &maker->plan.layers[maker->plan.values[value].producer];
	l->name = (struct text){ arena_strndup(&maker->plan.arena, name, n), n };
	maker->plan.values[value].name = l->name;
}

#define NAMED(value, name) named((value), (name), sizeof(name) - 1)

static int conv(const char *name, const char *problem, const char *weights, const char *shape, int x)
{
	int w = make_constant(maker, weights);
	maker->plan.values[w].name = text_of(arena_printf(&maker->plan.arena, "%s.weight", name));
	int y = make_layer(maker, "Conv", problem, shape, x, w);
	named(y, name, strlen(name));
	return y;
}

static int relu(const char *name, const char *shape, int x)
{
	char problem[96];
	snprintf(problem, sizeof(problem), "eltwise:f32,f32:relu:%s", shape);
	int y = make_layer(maker, "Relu", problem, shape, x, -1);
	named(y, name, strlen(name));
	return y;
}

#define CONV3 "conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"
#define CONV1 "conv:f32,f32.c,f32/f32:n1c64h56w56k64r1s1:ph0pw0qh0qw0:sh1sw1:dh1dw1:g1"
#define STEM "conv:f32,f32.c,f32/f32:n1c3h224w224k64r7s7:ph3pw3qh3qw3:sh2sw2:dh1dw1:g1"
#define SMALL "1x64x56x56"

static int block(const char *stem, bool downsample, int x)
{
	char name[64];
	snprintf(name, sizeof(name), "%s.conv1", stem);
	int y = conv(name, CONV3, "64x64x3x3", SMALL, x);
	snprintf(name, sizeof(name), "%s.relu1", stem);
	y = relu(name, SMALL, y);
	snprintf(name, sizeof(name), "%s.conv2", stem);
	y = conv(name, CONV3, "64x64x3x3", SMALL, y);
	snprintf(name, sizeof(name), "%s.downsample", stem);
	int side = downsample ? conv(name, CONV1, "64x64x1x1", SMALL, x) : x;
	snprintf(name, sizeof(name), "%s.add", stem);
	y = make_layer(maker, "Add", "binary:f32,f32,f32:add:" SMALL ":" SMALL, SMALL, y, side);
	named(y, name, strlen(name));
	snprintf(name, sizeof(name), "%s.relu2", stem);
	return relu(name, SMALL, y);
}

static void build_net(void)
{
	int x = make_input(maker, "1x3x224x224");
	maker->plan.values[x].name = TEXT("image");
	int folded = make_layer(maker, "Identity", NULL, "64x3x7x7", make_constant(maker, "64x3x7x7"), -1);
	maker->plan.values[folded].constant = true;
	NAMED(folded, "conv1.weight.made");
	x = conv("conv1", STEM, "64x3x7x7", "1x64x112x112", x);
	x = make_batchnorm(maker, "1x64x112x112", 64, x);
	NAMED(x, "bn1");
	x = relu("relu", "1x64x112x112", x);
	x = make_layer(maker, "MaxPool", "pool:f32,f32:max:n1c64h112w112r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1",
		SMALL, x, -1);
	NAMED(x, "maxpool");
	x = block("layer1.0", true, x);
	x = block("layer1.1", false, x);
	int red = make_layer(maker, "Sigmoid", "eltwise:f32,f32:sigmoid:" SMALL, SMALL, x, -1);
	NAMED(red, "\033[31mred\033[0m\xff\0end");
	int wide = make_layer(maker, "Tanh", "eltwise:f32,f32:tanh:" SMALL, SMALL, x, -1);
	NAMED(wide, "\u5c42.\u5f52\u4e00\u5316/\u00e9te\u0301");
	x = make_layer(maker, "Mul", "binary:f32,f32,f32:mul:" SMALL ":" SMALL, SMALL, red, wide);
	NAMED(x, "gate");
	x = make_layer(maker, "Fancy", NULL, SMALL, x, -1);
	NAMED(x, "fancy");
	maker->plan.layers[maker->plan.layer_count - 1].why = "operator Fancy is not in the table";
	x = make_layer(
		maker, "GlobalAveragePool", "reduce:f32,f32:mean:" SMALL ":1x64x1x1", "1x64x1x1", x, -1);
	NAMED(x, "avgpool");
	x = make_layer(maker, "Reshape", NULL, "1x64", x, -1);
	NAMED(x, "flatten");
	int w = make_constant(maker, "64x1000");
	x = make_layer(maker, "MatMul", "matmul:f32,f32.c,f32/f32:ba1bb1m1n1000k64:ta0tb0", "1x1000", x, w);
	NAMED(x, "fc");
	maker->plan.values[x].is_output = true;
}

/* ---- layers in layers */

/* From here on layers are made in a body. */
static struct maker *body_begin(void)
{
	struct maker *outer = maker;
	maker = inner[inner_count++] = make_begin();
	return outer;
}

static struct plan body_end(struct maker *outer, const char *role, double times)
{
	struct plan *body = make_finish(maker);
	body->role = text_of(role);
	body->times = times;
	for (int i = 0; i < body->layer_count; i++) { /* problems are the whole plan's */
		struct plan_layer *l = &body->layers[i];
		l->flops = l->bytes = l->class == CLASS_FREE ? 0 : 1e6;
		l->class = text_is(l->node->op, "Conv") ? CLASS_COMPUTE : l->class;
		l->problem = l->problem < 0 || times == 0
			? -1
			: make_problem(outer, body->problems[l->problem].text);
		l->problem_nxc = l->problem;
	}
	maker = outer;
	return *body;
}

static struct plan body_make(const char *role, double times, const char *stem, int relus)
{
	char name[64];
	struct maker *outer = body_begin();
	int x = make_input(maker, SMALL);
	int made = make_layer(maker, "Identity", NULL, "64", make_constant(maker, "64"), -1);
	maker->plan.values[made].constant = true;
	snprintf(name, sizeof(name), "%s.conv", stem);
	x = relus ? conv(name, CONV3, "64x64x3x3", SMALL, x) : x;
	for (int i = 0; i < relus; i++) {
		snprintf(name, sizeof(name), "%s.relu%d", stem, i);
		x = relu(name, SMALL, x);
	}
	x = make_layer(maker, "Identity", NULL, SMALL, x, -1);
	maker->plan.values[x].is_output = true;
	return body_end(outer, role, times);
}

static int control(const char *op, const char *name, int count, const struct plan *bodies, int x)
{
	int y = make_layer(maker, op, NULL, SMALL, x, -1);
	struct plan_layer *l = &maker->plan.layers[maker->plan.layer_count - 1];
	named(y, name, strlen(name));
	l->class = CLASS_HOST;
	l->body_count = count;
	l->bodies = ARENA_ARRAY(&maker->plan.arena, struct plan, count);
	memcpy(l->bodies, bodies, (size_t)count * sizeof(*bodies));
	return y;
}

static int absorbed(const char *op, const char *name, int into, int x)
{
	int y = make_layer(maker, op, NULL, SMALL, x, -1);
	struct plan_layer *l = &maker->plan.layers[maker->plan.layer_count - 1];
	named(y, name, strlen(name));
	l->class = CLASS_FREE;
	l->absorbed_by = into;
	l->why = "part of the quantized exact";
	return y;
}

static void build_control(void)
{
	int x = conv("stem", STEM, "64x3x7x7", SMALL, make_input(maker, "1x3x224x224"));
	x = make_layer(maker, "QuantizeLinear", "quantize:f32,u8:tensor:" SMALL, SMALL, x, -1);
	NAMED(x, "stem_output_QuantizeLinear");
	x = absorbed("DequantizeLinear", "stem_output_DequantizeLinear", 3, x);
	x = conv("exact", "conv:u8,s8.c,f32/s32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1",
		"64x64x3x3", SMALL, x);
	maker->plan.layers[3].quantized = true;
	struct plan rounds = body_make("body", 12, "step", 2);
	struct plan known[] = { body_make("else_branch", 0, "slow", 3),
		body_make("then_branch", 1, "quick", 1) };
	x = control("Loop", "steps", 1, &rounds, x);
	x = control("If", "choose", 2, known, x);
	struct plan open[] = { body_make("then_branch", NAN, "skip", 0),
		body_make("else_branch", NAN, "refine", 1) };
	x = control("If", "maybe", 2, open, x);
	struct plan_layer *maybe = &maker->plan.layers[maker->plan.layer_count - 1];
	maybe->at_least = true;
	maybe->why = "the condition is not known: the cheaper branch is counted";
	x = relu("last", SMALL, x);
	maker->plan.values[x].is_output = true;
}

/* What runs in layers has the plan's problems, too. */
static void finish_bodies(struct plan *p, struct plan_layer *l)
{
	for (int i = 0; i < l->body_count; i++)
		for (int k = 0; k < l->bodies[i].layer_count; k++) {
			struct plan_layer *one = &l->bodies[i].layers[k];
			l->bodies[i].problems = p->problems;
			l->bodies[i].problem_count = p->problem_count;
			if (one->problem >= 0)
				p->problems[one->problem].use_count++;
		}
	if (l->body_count)
		l->flops = l->bytes = 2e6;
}

static void build_chain(int count)
{
	int x = make_input(maker, SMALL);
	for (int i = 0; i < count; i++) {
		char name[64];
		if (options.scopes)
			snprintf(name, sizeof(name), "/stage%d/stage%d.%d/Relu", i / 100, i / 100, i % 100);
		else
			snprintf(name, sizeof(name), "chain.%d", i);
		x = relu(name, SMALL, x);
	}
}

/* make_plan leaves out what analysis does not read. */
static void finish(struct plan *p)
{
	static struct attribute attributes[3];
	static int64_t pads[] = { 3, 3, 3, 3 };
	attributes[0] =
		(struct attribute){ .name = TEXT("pads"), .kind = ATTRIBUTE_INTS, .count = 4, .ints = pads };
	attributes[1] = (struct attribute){ .name = TEXT("group"), .kind = ATTRIBUTE_INT, .i = 1 };
	attributes[2] = (struct attribute){
		.name = TEXT("auto\033_pad"), .kind = ATTRIBUTE_STRING, .s = TEXT("NOT\033[2JSET")
	};
	for (int i = 0; i < p->problem_count; i++) {
		p->problems[i].first_layer = -1;
		p->problems[i].use_count = 0;
	}
	for (int i = 0; i < p->layer_count; i++) {
		struct plan_layer *l = &p->layers[i];
		l->flops = l->bytes = l->class == CLASS_FREE ? 0 : NAN;
		if (l->problem < 0)
			continue;
		struct plan_problem *q = &p->problems[l->problem];
		struct problem own;
		problem_restore(q->problem, &own);
		q->first_layer = q->first_layer < 0 ? i : q->first_layer;
		q->use_count++;
		l->flops = problem_flops(&own);
		l->bytes = problem_bytes(&own);
		p->flops += l->flops;
		p->bytes += l->bytes;
		if (text_is(l->node->op, "Conv")) {
			l->class = CLASS_COMPUTE;
			struct node *n = (struct node *)l->node;
			n->attribute_count = 3;
			n->attributes = attributes;
		}
	}
	for (int i = 0; i < p->layer_count; i++)
		finish_bodies(p, &p->layers[i]);
	p->weight_bytes = 524288;
	p->peak_live_bytes = NAN;
}

/* A figure from the text alone: work at some plausible rate. */
static double figure_ns(const char *text)
{
	struct problem q;
	struct error err;
	if (problem_parse(text_of(text), &q, &err))
		return 1000;
	return problem_flops(&q) / 90 + problem_bytes(&q) / 11 + 900;
}

static void measured(struct results *r, const char *text, bool several)
{
	double ns = figure_ns(text);
	struct result one = make_result(text, ns);
	one.algorithm.name = "brgconv:avx512_core";
	one.algorithm.layouts = "src=nChw16c dst=nChw16c";
	one.algorithm.rank = 1;
	one.stats.n = 24;
	one.stats.lo = ns * 0.996;
	one.stats.hi = ns * 1.004;
	one.stats.stop = options.disturbed ? STOP_DISTURBED : one.stats.stop;
	one.times = options.several_times ? 3 : 0;
	one.least_ns = ns;
	one.most_ns = ns * 1.4;
	one.stats.min = ns * 0.97;
	one.stats.q1 = ns * 0.99;
	one.stats.q3 = ns * 1.03;
	results_put(r, &one);
	one.launch = LAUNCH_ISOLATED;
	one.stats.median = ns + 700;
	one.stats.discarded = 3;
	results_put(r, &one);
	if (!several)
		return;
	one = make_result(text, ns * 1.2);
	one.algorithm.name = "jit:avx512_core";
	results_put(r, &one);
	one = (struct result){ .problem = text,
		.algorithm = { .api = "test",
			.name = "jit:avx2",
			.layouts = "",
			.math = "strict",
			.rank = 2 },
		.status = STATUS_FAILED,
		.why = "could not create a primitive\033[1m",
		.runner_version = "test" };
	results_put(r, &one);
}

static void results_fill(struct session *s)
{
	const struct plan *p = s->current->plan;
	const struct fusion *f = s->current->fusion;
	for (int i = 0; i < p->problem_count; i++) {
		const char *text = p->problems[i].text;
		if (options.unsupported || strncmp(text, "reduce", 6) == 0) {
			struct result no = make_result(text, NAN);
			no.algorithm.name = "";
			no.status = STATUS_UNSUPPORTED;
			no.why = "no implementation";
			results_put(s->seat->results, &no);
		} else if (options.measured || strstr(text, "relu") || strncmp(text, "conv", 4) == 0 ||
			strncmp(text, "pool", 4) == 0) {
			measured(s->seat->results, text, strncmp(text, "conv", 4) == 0);
		}
	}
	for (int i = 0; options.proxies && i < p->layer_count; i++)
		p->layers[i].proxy = p->layers[i].problem >= 0;
	for (int i = 0; f && !options.unsupported && i < f->group_count; i++)
		if (options.measured || f->groups[i].layer_count < 3)
			measured(s->seat->results, f->groups[i].text, false);
}

static const struct described *h100(void)
{
	static struct described d = { .id = "h100",
		.path = "h100.json",
		.name = "NVIDIA H100",
		.arch = "Hopper",
		.caveat = "",
		.sm = 90 };
	d.peaks = peaks_unknown();
	d.peaks.sm = d.sm;
	d.peaks.bandwidth_bytes_s = 3.35e12;
	d.peaks.flops[DTYPE_F32] = 66.9e12;
	d.peaks.matrix_flops[DTYPE_F16] = 989e12;
	return &d;
}

/* Of the processor that "measured" the results. */
static struct peaks cpu_peaks(void)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 20e9;
	k.level_count = 2;
	k.level[0] = (struct peak_level){ 2, 1e6, 200e9, true };
	k.level[1] = (struct peak_level){ 3, 16e6, 90e9, false };
	k.flops[DTYPE_F32] = 220e9;
	return k;
}

static void describe(struct session *s)
{
	static const char *const nobody[] = { "nobody", NULL };
	s->seat->described = h100();
	s->seat->planner = planner_new(nobody);
	s->seat->device = (struct device){ .name = "h100",
		.model = h100()->name,
		.stack = "planned by cuDNN 9.19.0",
		.version = "",
		.llc_bytes = 50e6,
		.has_matrix = true };
	s->device_changes++;
}

/* ---- a real execution in a database of its own ---- */

static const char *scratch_db(void)
{
	static char path[128];
	const char *dir = getenv("TMPDIR");
	snprintf(path, sizeof(path), "%s/ui_fixture.%ld.db", dir ? dir : "/tmp", (long)getpid());
	return path;
}

/* A row for each layer with a kernel; the framework fuses a batch normalization and a Relu into the layer
 * before, takes 1.5 times our figure and, for the pooling and the third Relu of a chain, less. */
static void rows_add(struct arena *a, const struct plan *p, struct execution *e)
{
	int capacity = 0, index = 0;
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		bool less = text_is(l->node->op, "MaxPool") || text_is(l->name, "chain.2");
		const char *name = arena_strndup(a, l->name.p, l->name.n);
		if (l->problem < 0)
			continue;
		double ns = figure_ns(p->problems[l->problem].text) * (less ? 0.7 : 1.5);
		if (!options.chain && index && (text_is(l->node->op, "Relu") ||
				text_is(l->node->op, "BatchNormalization"))) {
			struct execution_row *before = &e->rows[index - 1];
			before->nodes = arena_printf(a, "%s\n%s", before->nodes, name);
			before->ns += ns / 9;
			continue;
		}
		struct execution_row *r = execution_add(a, e, &capacity);
		index++;
		r->level = LEVEL_LAYER;
		r->name = r->nodes = name;
		r->op = arena_strndup(a, l->node->op.p, l->node->op.n);
		r->provider = e->provider;
		r->kernel = "jit_avx512_core\033[31m_f32";
		r->ns = ns;
	}
	for (int i = 0; i < e->row_count; i++) {
		e->rows[i].lo_ns = e->rows[i].ns * 0.99;
		e->rows[i].hi_ns = e->rows[i].ns * 1.01;
	}
}

static void execution_store(struct session *s)
{
	struct arena a = { 0 };
	struct error err = ERROR_NONE;
	struct execution e = execution_new();
	memset(s->subject->hash.text, 'a', DIGEST_SIZE - 1);
	s->subject->hash.state = SESSION_HASH_KNOWN;
	e.source = "agent";
	e.framework = "onnxruntime";
	e.version = "1.32.0";
	e.provider = "CPUExecutionProvider";
	e.device = s->seat->device.model;
	e.threads = s->seat->device.threads;
	e.dtype = "f32";
	e.math = "strict";
	e.model_hash = s->subject->hash.text;
	e.inputs = options.chain ? "" : "image:f32:1x3x224x224";
	e.batch = 1;
	e.measured_at = 1700000000;
	rows_add(&a, s->current->plan, &e);
	double sum = execution_sum_ns(&e, LEVEL_LAYER) * (options.real_slow ? 0.8 : 1);
	e.profiled_ns = options.real_slow ? sum * 1.5 : NAN;
	e.stats = (struct sample_stats){ .n = 50,
		.executions = 1,
		.min = sum,
		.q1 = sum,
		.median = sum * 1.05,
		.q3 = sum * 1.06,
		.mean = sum * 1.05,
		.stdev = 0,
		.lo = sum * 1.04,
		.hi = sum * 1.06,
		.stop = options.real_noisy ? STOP_DISTURBED : STOP_CONVERGED };
	unlink(scratch_db());
	s->store = store_open(scratch_db(), false, &err);
	if (!s->store || store_execution_add(s->store, &e, &err))
		printf("Bail out! %s\n", err.text);
	if (options.real_two) {
		int capacity = e.row_count;
		e.framework = "openvino";
		e.version = "2025.3";
		e.load_ns = 310e6;
		e.p99_ns = sum * 1.4;
		e.settings = "{\"import_ns\":812e6,"
			     "\"options\":{\"NUM_STREAMS\":\"2\",\"x\":\"\\u001b[31m\"}}";
		e.measured_at -= 1000;
		struct execution_row *r = execution_add(&a, &e, &capacity);
		r->level = LEVEL_LAYER;
		r->name = "reorder_a_to_b";
		r->op = "Reorder";
		r->ns = sum * 0.2;
		r->lo_ns = sum * 0.19;
		r->hi_ns = sum * 0.21;
		e.stats.q1 = e.stats.median = e.stats.mean = sum * 1.3;
		e.stats.q3 = e.stats.hi = sum * 1.31;
		e.stats.lo = sum * 1.29;
		if (store_execution_add(s->store, &e, &err))
			printf("Bail out! %s\n", err.text);
	}
	arena_free(&a);
}

static void execution_drop(struct session *s)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char path[160];
	arena_free(&s->current->real_arena);
	session_hash_drop(s);
	session_digests_free(s);
	if (!s->store)
		return;
	store_close(s->store);
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(path, sizeof(path), "%s%s", scratch_db(), ends[i]);
		unlink(path);
	}
}

struct session *fixture_open(const struct fixture_options *o)
{
	static struct config_runner agents[] = { { .name = "near" }, { .name = "far" } };
	static struct config config;
	options = *o;
	config.agents = agents;
	config.batch_count = 0;
	config.agent_count = o->agents ? 2 : 0;
	fixture_agent = AGENT_WORKS;
	fixture_calls = (struct fixture_calls){ 0 };
	fixture_answer = 0;
	session_choose_leave(NULL);
	maker = make_begin();
	if (o->chain)
		build_chain(o->chain);
	else if (o->control)
		build_control();
	else
		build_net();
	struct plan *p = make_finish(maker);
	finish(p);
	struct model *m = base_calloc(1, sizeof(*m));
	struct graph *g = base_calloc(1, sizeof(*g));
	g->name = TEXT("tiny");
	*m = (struct model){ .path = "/models/tiny\033]0;x\007.onnx",
		.producer = TEXT("hand"),
		.producer_version = TEXT("1"),
		.file_bytes = 4321,
		.graph = g };
	p->model = m;
	struct session *s = base_calloc(1, sizeof(*s));
	s->subject = base_calloc(1, sizeof(*s->subject));
	s->seat = base_calloc(1, sizeof(*s->seat));
	s->seat->peaks = peaks_unknown();
	s->seat->config = &config;
	static struct config swept = {
		.batch_count = 2, .batch = { 1, 8 }, .dtype_count = 2, .dtype = { DTYPE_F32, DTYPE_BF16 }
	};
	s->given = o->sweep ? &swept : &config;
	static struct config_scenario named[CONFIG_SCENARIOS_MAX] = {
		{ .name = "fused", .what_if = "fusion,parallel" },
		{ .name = "eight", .what_if = "matrix", .batch = 8, .has_dtype = true, .dtype = DTYPE_F32 },
		{ .name = "away", .device = "h100" },
		{ .name = "wrong", .what_if = "telepathy" },
	};
	s->given->scenarios = o->scenarios ? named : NULL;
	s->given->scenario_count = o->scenarios ? 4 : 0;
	s->subject->model = m;
	s->seat->results = results_new();
	s->scenario = scenario_default();
	s->seat->device = (struct device){ .name = "cpu",
		.model = "AMD EPYC 7B13 64-Core Processor",
		.stack = "oneDNN 2.6.3, 2 threads",
		.version = "test",
		.threads = 2,
		.llc_bytes = NAN };
	s->current = base_calloc(1, sizeof(*s->current));
	*s->current =
		(struct session_plan){ .batch = 1, .dtype = DTYPE_F32, .plan = p, .fusion = fusion_find(p) };
	if (o->unbound) {
		static struct text symbols[2];
		symbols[0] = TEXT("sequence");
		symbols[1] = TEXT("past\033[2Jlength");
		p->unbound = symbols;
		p->unbound_count = 2;
	}
	if (o->described) /* nothing was ever measured there */
		describe(s);
	else if (!o->nothing)
		results_fill(s);
	if (o->real)
		execution_store(s);
	if (o->queue) {
		s->seat->queue = base_calloc(1, sizeof(*s->seat->queue));
		*s->seat->queue = (struct queue){ *o, p };
	}
	return s;
}

void fixture_close(struct session *s)
{
	execution_drop(s);
	session_reality_drop(s);
	arena_free(&s->analysis_arena);
	arena_free(&s->seat->arena);
	fusion_free(s->current->fusion);
	held = NULL;
	results_free(s->seat->results);
	free(s->seat->queue);
	planner_free(s->seat->planner);
	free(s->current);
	free(s->subject->model->graph);
	free(s->subject->model);
	free(s->subject);
	free(s->seat);
	free(s);
	make_end(maker);
	while (inner_count > 0)
		make_end(inner[--inner_count]);
}

/* ---- a described device: matrix products have engines, a convolution has none, the rest is not answered yet
 * ---- */

static const struct algorithm engines[] = {
	{ .api = "cuDNN",
		.name = "eng1{k2=4,k24=12}",
		.layouts = "src=ncx wei=ncx dst=ncx",
		.math = "tf32",
		.matrix = MATRIX_YES,
		.workspace_bytes = 1 << 20,
		.notes = "tensor_core" },
	{ .api = "cuDNN",
		.name = "eng0",
		.layouts = "src=ncx wei=ncx dst=ncx",
		.math = "strict",
		.rank = 1,
		.matrix = MATRIX_NO,
		.workspace_bytes = NAN,
		.notes = "" },
};

static const struct planned *fixture_planned(const char *problem)
{
	static const struct planned yes = { PLANNED_YES, 2, engines, "" },
				    asked = { .state = PLANNED_ASKED, .why = "" },
				    no = { .state = PLANNED_NO,
					    .why = "CUDNN_STATUS_NOT_SUPPORTED_\x1b[31mSHAPE" };
	return strncmp(problem, "conv:", 5) == 0 ? &yes : strncmp(problem, "matmul:", 7) == 0 ? &no : &asked;
}

/* ---- what session.c does, without files and runners ---- */

void session_plans_trim(struct session *s)
{
	(void)s;
}

bool session_is_analyzed(const struct session *s)
{
	return s->analysis && !s->stale;
}

bool session_refresh(struct session *s)
{
	uint64_t version = results_version(s->seat->results);
	if (s->analysis && !s->stale && version == s->seen_version)
		return false;
	arena_free(&s->analysis_arena);
	session_reality_drop(s);
	seat_renew_peaks(s->seat);
	const struct session_plan *c = s->current;
	struct ground ground = { .plan = c->plan,
		.fusion = c->fusion,
		.results = s->seat->results,
		.device = &s->seat->device,
		.peaks = s->seat->described ? &s->seat->described->peaks : NULL,
		.estimate = s->seat->described != NULL,
		.assumed = c->assumed_count ? c->assumed : NULL };
	s->analysis = analyze(&s->analysis_arena, &ground, &s->scenario);
	if (held)
		results_release(held);
	held = s->seat->results;
	results_hold(held);
	s->effects = analyze_what_ifs(&s->analysis_arena, &ground, &s->scenario, &s->effect_count);
	s->seen_version = version;
	s->stale = false;
	fixture_calls.refresh++;
	return true;
}

void session_assume(struct session *s, int layer, const struct assumption *cost)
{
	struct session_plan *c = s->current;
	if (!c->assumed)
		c->assumed = ARENA_ARRAY(&s->seat->arena, struct assumption, c->plan->layer_count);
	c->assumed_count += (cost->kind != ASSUME_NOTHING) - (c->assumed[layer].kind != ASSUME_NOTHING);
	c->assumed[layer] = *cost;
	s->scenario.assume = c->assumed_count > 0;
	s->stale = true;
}

int session_assume_item(struct session *s, const struct assume_item *item, struct error *err)
{
	const struct plan *p = s->current->plan;
	for (int i = 0; i < p->layer_count; i++)
		if (text_equal(p->layers[i].name, item->layer)) {
			session_assume(s, i, &item->cost);
			return 1;
		}
	return error_set(err, "no layer %.*s", (int)item->layer.n, item->layer.p);
}

void session_choose_matrix(struct session *s) { (void)s; }
bool session_matrix_chosen(const struct session *s) { (void)s; return true; }

void session_reset_what_ifs(struct session *s)
{
	s->scenario = scenario_default();
	s->stale = true;
}

void session_use(struct session *s, const struct scenario *scenario)
{
	s->scenario = *scenario;
	s->stale = true;
}

void session_effects_within(struct session *s, int ms)
{
	s->effects_ms = ms;
}

bool session_effects_step(struct session *s, int ms)
{
	(void)s;
	(void)ms;
	return false;
}

int session_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err)
{
	fixture_calls.select++;
	if (batch > 8)
		return error_set(err, "Reshape flatten has the batch 1 baked in");
	s->current->batch = fixture_calls.batch = batch;
	s->current->dtype = fixture_calls.dtype = dtype;
	s->stale = true;
	return 0;
}

/* The same plan at all batches up to 8. */
struct session_plan *plan_get(struct session *s, struct session_subject *u, const struct seat *seat,
	const struct variant *v, struct error *err)
{
	(void)u;
	(void)seat;
	if (v->batch <= 8)
		return s->current;
	error_set(err, "Reshape flatten has the batch 1 baked in");
	return NULL;
}

int plan_check_bound(const struct session *s, const struct plan *p, struct error *err)
{
	(void)s;
	return p->unbound_count ? error_set(err, "a dimension is not bound") : 0;
}

struct seat *seat_compared(struct session *s, const struct session_device *d)
{
	(void)d;
	return s->seat;
}

void seat_renew_peaks(struct seat *seat)
{
	seat->peaks = seat->described ? seat->described->peaks :
		options.peaks ? cpu_peaks() : peaks_unknown();
}

/* An h100 has estimates, other recorded and described devices gaps. */
struct scenario_total session_beside_total(
	struct session *s, const struct session_device *d, struct arena *a)
{
	struct scenario_total t = { .point = SWEEP_POINT_UNKNOWN };
	(void)s;
	(void)a;
	t.point.batch = 1;
	t.point.estimated = d->kind == SESSION_DESCRIBED;
	t.point.complete = t.point.estimated;
	t.point.total_ns = strcmp(d->key, "h100") == 0 ? 1e6 : 2e6;
	t.unmeasured = t.point.complete ? 0 : 3;
	t.why = d->kind == SESSION_RUNNER ? "its runner is not started" : NULL;
	t.elsewhere = d->kind == SESSION_RUNNER;
	return t;
}

bool session_beside_step(struct session *s)
{
	(void)s;
	return false;
}

bool session_beside_waits(const struct session *s)
{
	(void)s;
	return false;
}

int session_check_bound(const struct session *s, struct error *err)
{
	return plan_check_bound(s, s->current->plan, err);
}

int session_bind(struct session *s, const struct dim_binding *dims, int count, struct error *err)
{
	struct plan *p = s->current->plan;
	for (int i = 0; i < count; i++) {
		fixture_calls.bind++;
		fixture_calls.value = dims[i].value;
		snprintf(fixture_calls.name, sizeof(fixture_calls.name), "%.*s", (int)dims[i].name.n,
			dims[i].name.p);
		if (dims[i].value > 100000)
			return error_set(err, "too long");
	}
	for (int i = 0; i < count && p->unbound_count; i++) {
		p->unbound++;
		p->unbound_count--;
	}
	s->stale = true;
	return 0;
}

int session_replace(struct session *s, const char *model_path, int64_t batch, enum dtype dtype,
	struct error *err)
{
	(void)batch;
	snprintf(fixture_calls.opened, sizeof(fixture_calls.opened), "%s", model_path);
	if (strstr(model_path, "bad"))
		return error_set(err, "%s: not an ONNX model", model_path);
	s->current->dtype = dtype;
	s->stale = true;
	return 0;
}

int session_set(struct session *s, int64_t batch, enum dtype dtype, const struct dim_binding *dims, int count,
	struct error *err)
{
	if (fixture_refusal)
		return error_set(err, "%s", fixture_refusal);
	if (count && session_bind(s, dims, count, err))
		return -1;
	return session_select(s, batch, dtype, err);
}

const char *session_dim_source(const struct session *s, struct text name)
{
	(void)s;
	return text_is(name, "sequence") ? "remembered" : "";
}

int fixture_sweep_open;

int session_measure_sweep(struct session *s, struct error *err)
{
	(void)err;
	static struct session_sweep_point points[] = { { .batch = 1, .dtype = DTYPE_F32 },
		{ .batch = 8, .dtype = DTYPE_F32 }, { .batch = 1, .dtype = DTYPE_BF16 },
		{ .batch = 8, .dtype = DTYPE_BF16 } };
	fixture_calls.sweep++;
	s->sweep = (struct session_sweep){ .count = 4, .points = points };
	s->stale = true;
	return fixture_sweep_open;
}

struct session_sweep_progress session_sweep_progress(const struct session *s, int i)
{
	(void)s;
	return (struct session_sweep_progress){ .problems = 3, .open = i < 2 ? 0 : fixture_sweep_open };
}

int session_sweep_running(const struct session *s)
{
	(void)s;
	return 2;
}

char *session_sweep_text(
	const struct session *s, char *buf, size_t size, int64_t batch, enum dtype dtype)
{
	(void)s;
	snprintf(buf, size, "batch %d %s", (int)batch, dtype_name(dtype));
	return buf;
}

/* The conversions and peaks that are missing too. */
int fixture_extra;

struct session_missing session_missing(struct session *s, struct arena *a)
{
	struct session_missing m = { 0 };
	int count = 0;
	m.texts = s->seat->queue ? analyze_problems_in(a, s->current->plan, s->current->fusion, true,
		scenario_variants(&s->scenario), &count) : NULL;
	for (int i = 0; i < count; i++)
		m.own += !results_is_finished(s->seat->results, m.texts[i]);
	m.conversions = m.peaks = fixture_extra;
	return m;
}

bool session_is_measuring(const struct session *s)
{
	return s->seat->queue && !queue_status(s->seat->queue).idle;
}

int session_measure_shaky(struct session *s)
{
	(void)s;
	return 0;
}

const char **session_conversions(struct session *s, struct arena *a, int *count)
{
	(void)s;
	*count = 0;
	return ARENA_ARRAY(a, const char *, 1);
}

const char **session_peak_problems(struct session *s, struct arena *a, int *count)
{
	const char **list = ARENA_ARRAY(a, const char *, 1);
	(void)s;
	list[0] = "read:f32:n1024";
	*count = 1;
	return list;
}

int session_measure_missing(struct session *s)
{
	(void)s;
	return ++fixture_calls.missing;
}

/* A doctor with a few checks of its own, so that one more check changes no screen. */
struct doctor {
	int unused;
};

struct doctor *session_doctor(const struct session *s)
{
	(void)s;
	return base_calloc(1, sizeof(struct doctor));
}

void doctor_close(struct doctor *d)
{
	free(d);
}

int doctor_due_ms(const struct doctor *d)
{
	(void)d;
	return 0;
}

const char *doctor_outcome_name(enum doctor_outcome o)
{
	static const char *const names[] = { "ok", "bends", "unknown" };
	return names[o];
}

const struct doctor_finding *doctor_look(struct doctor *d, int *count)
{
	static const struct doctor_finding findings[] = {
		{ "governor", "", DOCTOR_UNKNOWN, "the governor is unknown", "" },
		{ "frequency", "", DOCTOR_UNKNOWN, "the clock frequency is unknown", "" },
		{ "cores", "", DOCTOR_UNKNOWN, "the processors that this process may use are unknown", "" },
		{ "clock", "", DOCTOR_UNKNOWN, "the clock source is unknown", "" },
		{ "load", "", DOCTOR_UNKNOWN, "other load is unknown (/proc/stat)", "" },
		{ "variables", "OMP_WAIT_POLICY", DOCTOR_BENDS,
			"passive: whether threads spin or sleep between layers: waking them is slow",
			"unset OMP_WAIT_POLICY" },
		{ "variables", "OMP_NUM_THREADS", DOCTOR_OK, "2", "" },
		{ "swap", "", DOCTOR_OK, "nothing was swapped", "" },
	};
	(void)d;
	*count = sizeof(findings) / sizeof(*findings);
	return findings;
}

int session_measure_problem(struct session *s, const char *problem)
{
	(void)s;
	(void)problem;
	fixture_calls.problem++;
	return 1;
}

int session_measure_layer(struct session *s, int layer)
{
	(void)s;
	fixture_calls.layer = layer;
	fixture_calls.layers++;
	return 1;
}

int session_measure_layers(struct session *s, const bool *marked)
{
	fixture_calls.again = 0;
	for (int i = 0; i < s->current->plan->layer_count; i++)
		fixture_calls.again += marked[i];
	return fixture_calls.again;
}

static bool is_problem(const char *text, const char *start)
{
	return options.busy && strncmp(text, start, strlen(start)) == 0;
}

enum job_state queue_state(const struct queue *q, const char *problem)
{
	(void)q;
	if (is_problem(problem, "matmul"))
		return JOB_RUNNING;
	return is_problem(problem, "eltwise:f32,f32:sigmoid") || is_problem(problem, "eltwise:f32,f32:tanh")
		       ? JOB_PENDING
		       : JOB_NONE;
}

int queue_position(const struct queue *q, const char *problem)
{
	(void)q;
	return is_problem(problem, "eltwise:f32,f32:sigmoid") ? 1
	       : is_problem(problem, "eltwise:f32,f32:tanh")  ? 2
							      : 0;
}

const char *queue_why(const struct queue *q, const char *problem)
{
	(void)q;
	(void)problem;
	return "";
}

void queue_cancel(struct queue *q)
{
	(void)q;
	fixture_calls.cancel++;
}

void session_queue_cancel(struct session *s)
{
	queue_cancel(session_queue(s));
}

/* The problems of the plan in the states of queue_state; of those that have none, the convolutions are done
 * and the reductions failed. After them a peak. */
int queue_job_count(const struct queue *q)
{
	return q->options.busy ? q->plan->problem_count + 1 : 0;
}

uint64_t queue_version(const struct queue *q)
{
	(void)q;
	return 1 + (uint64_t)fixture_calls.dropped + (uint64_t)fixture_calls.put_first;
}

struct queue_job queue_job(const struct queue *q, int number)
{
	bool peak = number == q->plan->problem_count;
	const char *text = peak ? "read:f32:n1024" : q->plan->problems[number].text;
	enum job_state state = peak ? JOB_NONE : queue_state(q, text);
	bool conv = strncmp(text, "conv", 4) == 0, reduce = strncmp(text, "reduce", 6) == 0;
	state = state != JOB_NONE ? state : conv ? JOB_DONE : reduce ? JOB_FAILED : JOB_NONE;
	return (struct queue_job){ .kind = JOB_PROBLEM, .payload = text, .state = state,
		.position = queue_position(q, text), .ended = conv || reduce ? 1 + number : 0,
		.seconds = state == JOB_RUNNING ? 1.5 : conv ? 0.8 + 0.1 * number : NAN,
		.what = state == JOB_RUNNING ? "gemm:jit" : reduce ? "out of\033[2J memory" : "" };
}

bool queue_drop(struct queue *q, int number)
{
	enum job_state state = queue_job(q, number).state;
	fixture_calls.dropped += state == JOB_PENDING || state == JOB_RUNNING;
	return state == JOB_PENDING || state == JOB_RUNNING;
}

bool queue_put_first(struct queue *q, int number)
{
	fixture_calls.put_first += queue_job(q, number).position > 1;
	return queue_job(q, number).position > 1;
}

int queue_clear(struct queue *q)
{
	fixture_calls.cleared++;
	return q->options.busy ? 2 : 0;
}

int session_queue_clear(struct session *s)
{
	return session_queue(s) ? queue_clear(session_queue(s)) : 0;
}

int queue_step(struct queue *q, int timeout_ms, struct error *err)
{
	(void)q;
	(void)timeout_ms;
	(void)err;
	return 0;
}

int queue_connect(struct queue *q, int timeout_ms, struct error *err)
{
	(void)q;
	(void)timeout_ms;
	(void)err;
	return 0;
}

const struct device *queue_device(const struct queue *q)
{
	(void)q;
	return NULL;
}

int session_give_up_runner(struct session *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

int queue_fd(const struct queue *q)
{
	(void)q;
	return -1;
}

struct queue_status queue_status(const struct queue *q)
{
	struct queue_status s = {
		.current = "", .current_what = "", .trouble = "", .eta_s = NAN, .idle = true
	};
	if (fixture_status)
		return *fixture_status;
	if (!q->options.busy)
		return s;
	s = (struct queue_status){ .pending = 2,
		.running = 1,
		.done = 20,
		.unsupported = 1,
		.batch_done = 8,
		.batch_unsupported = 1,
		.current_what = "gemm:jit",
		.trouble = "",
		.eta_s = 7.2,
		.elapsed_s = 3 };
	return s;
}

struct queue_worker queue_worker(const struct queue *q, int i)
{
	(void)q;
	struct queue_worker w = { .label = i ? "gpu7 #2" : "gpu7 #1",
		.up = true,
		.what = "",
		.waiting = "",
		.out = "",
		.note = "",
		.problem = i ? "matmul:f32,f32.c,f32/f32:x" : "conv:f32,f32.c,f32/f32:x",
		.silence_s = i ? 0 : 9 };
	return w;
}

/* ---- agents ---- */

struct session_agent {
	struct session *session;
	const char *name;
	struct execution execution;
};

int session_agents_again(struct session *s, struct error *err)
{
	(void)s;
	return fixture_calls.unreadable ? error_set(err, "config.yaml:3: unknown key") : 0;
}

int session_agent_prepare(struct session *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

struct session_agent *session_agent_start(
	struct session *s, const char *name, bool again, bool *bad, struct error *err)
{
	static struct session_agent agent;
	*bad = !again;
	if (fixture_agent == AGENT_READY) {
		error_set(err, "near: cannot be started");
		return NULL;
	}
	fixture_calls.agent_starts++;
	snprintf(fixture_calls.agent, sizeof(fixture_calls.agent), "%s", name);
	agent = (struct session_agent){ s, name, execution_new() };
	agent.execution.framework = name;
	agent.execution.model_hash = "0";
	agent.execution.device = s->seat->device.model;
	agent.execution.threads = s->seat->device.threads;
	agent.execution.dtype = "f32";
	agent.execution.batch = 1;
	agent.execution.measured_at = 1900000000;
	agent.execution.stats = (struct sample_stats){ .n = 9, .median = 2e6, .lo = 2e6, .hi = 2e6,
		.stop = STOP_CONVERGED };
	return &agent;
}

enum agent_state session_agent_step(struct session_agent *a, int timeout_ms, struct error *err)
{
	(void)a;
	(void)timeout_ms;
	if (fixture_agent == AGENT_FAILED)
		error_set(err, "boom");
	return (enum agent_state)fixture_agent;
}

void session_agent_cancel(struct session_agent *a)
{
	(void)a;
	fixture_calls.agent_cancels++;
}

void session_agent_free(struct session_agent *a)
{
	(void)a;
	fixture_calls.agent_frees++;
}

const char *session_agent_name(const struct session_agent *a)
{
	return a->name;
}

const struct execution *session_agent_execution(const struct session_agent *a)
{
	return &a->execution;
}

struct agent_progress session_agent_progress(const struct session_agent *a)
{
	(void)a;
	return (struct agent_progress){ .what = "12 of 50 samples", .waits = "", .elapsed_s = 7.3 };
}

int session_agent_fd(const struct session_agent *a)
{
	(void)a;
	return -1;
}

/* ---- other devices ---- */

const char *session_awaited_waits(const struct session *s)
{
	(void)s;
	return "";
}

static char awaited[16];

int session_devices(const struct session *s, struct arena *a, struct session_device **list, struct error *err)
{
	const struct session_device all[] = {
		{ SESSION_RUNNER, "cpu", s->seat->queue ? s->seat->device.model : "",
			s->seat->queue ? s->seat->device.stack : "",
			.command = "/usr/libexec/benanza/benanza-runner-cpu", .path = "",
			.in_use = s->seat->queue != NULL },
		{ SESSION_RUNNER, "far", "", "",
			.command = "ssh -x far\033[2J away benanza-runner-cuda --device cuda:1", .path = "" },
		{ SESSION_RECORDED, "3", "AMD EPYC 7B13 64-Core Processor", "oneDNN 2.6.3, 2 threads",
			.command = "", .path = "", .id = 3,
			.in_use = !s->seat->queue && !s->seat->described },
		{ SESSION_RECORDED, "NVIDIA H200", "NVIDIA H200",
			"driver 580.95.05, CUDA 13.0, cuDNN 9.19.0, cuBLASLt 13.1.0, strict f32, clocks as "
			"they come",
			.command = "", .path = "data/recorded/h200.jsonl.gz" },
		{ SESSION_DESCRIBED, "h100", "NVIDIA H100", "", .command = "", .path = "h100.json",
			.described = *h100(), .in_use = s->seat->described != NULL },
		{ SESSION_DESCRIBED, "v100", "Tesla V100-SXM2-32GB", "", .command = "", .path = "v100.json",
			.described = { .id = "v100",
				.name = "Tesla V100-SXM2-32GB",
				.arch = "Volta",
				.sm = 70,
				.caveat = "cuDNN can plan for it; this build has no kernels for it",
				.peaks = peaks_unknown() } },
	};
	int count = sizeof(all) / sizeof(*all);
	*list = ARENA_ARRAY(a, struct session_device, count);
	memcpy(*list, all, sizeof(all));
	error_set(err, "/data/devices/broken.json:1: '}' expected");
	return count;
}

/* The described device and the runner "far" can be chosen, the recorded one cannot. */
int session_choose(struct session *s, const struct session_device *d, struct error *err)
{
	snprintf(fixture_calls.chosen, sizeof(fixture_calls.chosen), "%s", d->key);
	session_choose_leave(s);
	if (d->kind == SESSION_RUNNER) {
		snprintf(awaited, sizeof(awaited), "%s", d->key);
		return SESSION_AWAITED;
	}
	if (d->kind == SESSION_RECORDED)
		return error_set(err, "%s cannot be read any more", d->path);
	free(s->seat->queue);
	s->seat->queue = NULL;
	planner_free(s->seat->planner);
	describe(s);
	held = NULL;
	results_free(s->seat->results);
	s->seat->results = results_new();
	s->stale = true;
	return 0;
}

int session_choose_step(struct session *s, int timeout_ms, struct error *err)
{
	(void)timeout_ms;
	if (!awaited[0] || fixture_answer == 0)
		return 0;
	awaited[0] = '\0';
	if (fixture_answer < 0)
		return error_set(err, "far: the runner ssh says no hello");
	s->seat->described = NULL;
	planner_free(s->seat->planner);
	s->seat->planner = NULL;
	s->seat->device = (struct device){ .name = "cuda:1",
		.model = "NVIDIA A100",
		.stack = "CUDA 13.0",
		.version = "test",
		.llc_bytes = NAN };
	s->seat->queue = base_calloc(1, sizeof(*s->seat->queue));
	*s->seat->queue = (struct queue){ options, s->current->plan };
	s->device_changes++;
	s->stale = true;
	return 1;
}

const char *session_awaited(const struct session *s)
{
	(void)s;
	return awaited[0] ? awaited : NULL;
}

int session_awaited_fd(const struct session *s)
{
	(void)s;
	return -1;
}

void session_choose_leave(struct session *s)
{
	(void)s;
	awaited[0] = '\0';
}

bool session_plan_step(struct session *s, int timeout_ms)
{
	(void)s;
	(void)timeout_ms;
	return false;
}

const struct planned *session_planned(const struct session *s, const char *problem)
{
	return s->seat->described && problem ? fixture_planned(problem) : NULL;
}

char *fixture_read(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct str s = { 0 };
	char part[4096];
	size_t n;
	if (!f)
		return NULL;
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		str_add(&s, part, n);
	fclose(f);
	str_add(&s, "", 0);
	return s.p;
}
