/* Whole analyses of bundled models, in numbers that no other test spells out: groups and clusters of the
 * fusion, totals, layers, limits and what-ifs of scenarios, executions beside the bound and their tables,
 * with results and peaks that are made up from the problems' texts. The expected lines are in
 * tests/analyze/recorded.txt; `t_recorded print` writes them, for review after a change that was meant. A
 * "sum" weighs each item with its place, so that it has all of them.
 */
#include "config.h"

#include "analyze/bound/limit.h"
#include "analyze/real/tree.h"
#include "analyze/tables/xsp.h"
#include "make_plan.h"
#include "recorded.h"

static const struct {
	const char *name;
	enum dtype dtype;
	int bindings;
	bool gaps; /* some problems have no time */
} models[] = { { "googlenet", DTYPE_F32, 0, true }, { "mobilenet_v2", DTYPE_BF16, 0, false },
	{ "yolov8n", DTYPE_F32, 0, false }, { "bert_base", DTYPE_F32, 2, false },
	{ "gpt2_small", DTYPE_F16, 4, true } };

static const char *const scenarios[] = { "", "parallel", "fusion", "fusion,parallel", "matrix", "math",
	"matrix,math", "algorithm=preferred", "launch=isolated", "layout", "layout,fusion,parallel",
	"fusion,matrix,math,layout,launch=isolated,algorithm=preferred" };

/* FNV-1a */
static unsigned hash_of(const char *text)
{
	unsigned h = 2166136261u;
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h ^ h >> 15;
}

static double weighted(double sum, double value, int place)
{
	return isnan(value) ? sum + 0.001 * place : sum + value * (1 + place % 97);
}

static double list_sum(const int *list, int count)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum = weighted(sum, list[i], i);
	return sum;
}

/* ---- made-up measurements */

/* sure: every scenario allows it */
static void add_result(struct results *all, const char *text, unsigned h, int rank, bool sure)
{
	static const char *const names[] = { "first", "second", "third" };
	struct problem p;
	problem_parse(text_of(text), &p, NULL);
	double ns = problem_bytes(&p) / 10 + problem_flops(&p) / 200 + 500;
	for (int i = 0; i < 8; i++) {
		enum cache c = i & 1 ? CACHE_WARM : CACHE_NET;
		unsigned bits = h >> (4 * rank) ^ (unsigned)i * 7;
		if (i & 4 || (c == CACHE_WARM && bits % 3 == 0))
			continue;
		struct result r = make_result(text, ns * (1 + (double)(bits % 64) / 50));
		if (bits % 17 == 0) /* too fast to be true */
			r.stats.median = r.stats.lo = ns / 100;
		r.algorithm.name = names[rank];
		r.algorithm.rank = rank;
		r.algorithm.matrix = sure ? MATRIX_NO : (enum matrix)(bits % 3);
		r.algorithm.math = bits % 5 == 0 && !sure ? "tf32" : "strict";
		r.cache = c;
		r.launch = i & 2 ? LAUNCH_ISOLATED : LAUNCH_AMORTIZED;
		r.enqueue_ns = r.launch == LAUNCH_ISOLATED ? 3000 + bits % 4000 : NAN;
		r.stats.stop = bits % 11 == 0 ? STOP_DISTURBED
			: bits % 7 == 0	      ? STOP_SHORTLIST
					      : STOP_CONVERGED;
		r.stats.lo = bits % 13 == 0 ? NAN : r.stats.lo;
		r.stats.hi = bits % 13 == 0 ? NAN : r.stats.hi;
		r.stats.n = 2 + bits % 9;
		results_add(all, &r);
	}
}

/* With gaps, of 16 problems one is unsupported, one failed, and one was not measured. */
static void add_results(struct results *all, const char *text, bool gaps)
{
	unsigned h = hash_of(text);
	if (!gaps && h % 16 <= 2)
		h += 3;
	if (h % 16 == 0)
		return;
	if (h % 16 <= 2) {
		struct result r = make_result(text, NAN);
		r.algorithm.name = "";
		r.status = h % 16 == 1 ? STATUS_UNSUPPORTED : STATUS_CRASHED;
		r.why = "made up";
		results_add(all, &r);
	}
	for (int rank = 0; h % 16 > 2 && rank < 1 + (int)(h >> 8) % 3; rank++)
		add_result(all, text, h, rank, !gaps && rank == 0);
	results_finish(all, text);
}

static struct peaks made_up_peaks(void)
{
	struct peaks k = peaks_unknown();
	k.bandwidth_bytes_s = 2e10;
	k.level_count = 2;
	k.level[0] = (struct peak_level){ 1, 1 << 17, NAN, false };
	k.level[1] = (struct peak_level){ 2, 1 << 22, 8e10, true };
	peaks_set(&k, TEXT("f32"), false, 3e11);
	peaks_set(&k, TEXT("tf32"), true, 2e12);
	peaks_set(&k, TEXT("bf16"), true, 4e12);
	return k;
}

/* ---- what is recorded */

static void add_fusion(struct str *out, const struct fusion *f, const struct plan *p)
{
	double groups = 0, clusters = 0;
	int place = 0;
	for (int i = 0; i < f->group_count; i++) {
		const struct fusion_group *g = &f->groups[i];
		groups = weighted(groups, g->residual + 7 * g->distinct + 3 * g->distinct_nxc, place++);
		groups = weighted(groups, hash_of(g->text) % 1000 + hash_of(g->pattern) % 1000, place++);
		for (int k = 0; k < g->layer_count; k++)
			groups = weighted(groups, g->layers[k], place++);
	}
	for (int i = 0; i < f->cluster_count; i++) {
		const struct fusion_cluster *c = &f->clusters[i];
		clusters = weighted(clusters, c->anchor_count + 10 * c->layer_count, place++);
		for (int u = 0; u < c->unit_count; u++) {
			const struct fusion_unit *unit = &c->units[u];
			for (int k = 0; k < unit->layer_count; k++)
				clusters = weighted(clusters, unit->layers[k], place++);
			for (int k = 0; k < unit->child_count; k++)
				clusters = weighted(clusters, unit->children[k], place++);
			for (int k = 0; k < unit->ending_count; k++)
				clusters = weighted(clusters, unit->ending[k], place++);
		}
	}
	for (int i = 0; i < p->layer_count; i++)
		clusters = weighted(clusters, f->cluster_of[i] + 5 * f->first_group[i], place++);
	for (int i = 0; i < f->text_count; i++)
		clusters = weighted(clusters, f->text_is_nxc[i] + hash_of(f->texts[i]) % 1000, place++);
	str_addf(out, "\tfusion: %d groups (sum %.0f), %d texts, %d clusters (sum %.0f)\n", f->group_count,
		groups, f->text_count, f->cluster_count, clusters);
}

static void add_texts(struct str *out, const struct plan *p, const struct fusion *f)
{
	struct arena a = { 0 };
	for (int i = 0; i < 4; i++) {
		int count;
		double sum = 0;
		const char **list = analyze_problems_in(&a, p, f, i & 1, i & 2 ? PROBLEMS_NXC : 0, &count);
		for (int k = 0; k < count; k++)
			sum = weighted(sum, hash_of(list[k]) % 1000, k);
		str_addf(out, "\tproblems%s%s: %d (sum %.0f)\n", i & 1 ? ", fused" : "",
			i & 2 ? ", channels last" : "", count, sum);
	}
	arena_free(&a);
}

static void add_layers(struct str *out, const struct analysis *a, const struct plan *p, const struct peaks *k)
{
	double sums[8] = { 0 };
	int critical = 0, by[4] = { 0 }, over = 0;
	for (int i = 0; i < a->layer_count; i++) {
		const struct layer_cost *c = &a->layers[i];
		struct limit l = limit_of_layer(a, p, k, i);
		struct str text = { 0 };
		double own[] = { c->ns, c->lo + c->hi, c->preferred_ns, c->slack_ns, c->start_ns,
			c->roofline_ns, l.share + l.intensity + l.peak_per_s / 1e9, 0 };
		limit_describe(&l, &text);
		own[7] = hash_of(text.n ? text.p : "") % 100 + hash_of(l.why) % 100 + c->origin +
			20 * c->mistrusted;
		str_free(&text);
		for (int s = 0; s < 8; s++)
			sums[s] = weighted(sums[s], own[s], i);
		critical += c->critical;
		by[l.by]++;
		over += limit_is_over(&l);
	}
	str_addf(out, "\t\tlayers: sums");
	for (int s = 0; s < 8; s++)
		str_addf(out, " %.7g", sums[s]);
	str_addf(out, "; %d critical, limits %d %d %d %d, %d over\n", critical, by[0], by[1], by[2], by[3],
		over);
}

static void add_analysis(struct str *out, const struct analysis *a)
{
	const struct coverage *c = &a->coverage;
	str_addf(out, "\t\t%s%.7g [%.7g, %.7g], sum %.7g, path %.7g, casts %.7g, host %.7g, resource %.7g, "
		"roofline %.7g\n", analysis_mark(a), a->total_ns, a->lo_ns, a->hi_ns, a->sequential_ns,
		a->parallel_ns, a->border_ns, a->enqueue_ns, a->resource_ns, a->roofline_ns);
	str_addf(out, "\t\t%d layers: %d measured, %d proxy, %d free, %d fused, %d estimated, %d missing, %d "
		"unsupported, %d suspect; shares %.5g %.5g %.5g %.5g\n", c->layers, c->measured, c->proxy,
		c->free, c->fused, c->estimated, c->missing, c->unsupported, c->mistrusted,
		c->flops_measured_share, c->cost_proxy_share, c->cost_estimated_share,
		c->cost_mistrusted_share);
	str_addf(out, "\t\t%d without interval, %d ranges, %d conversions, %d unmeasured, cache %d%s%s%s\n",
		a->without_interval, a->range_intervals, a->conversions, a->unmeasured_problems,
		(int)a->cache, a->complete ? ", complete" : "", a->estimated ? ", estimated" : "",
		a->host_bound ? ", host" : "");
}

static void add_effects(
	struct str *out, struct arena *arena, const struct ground *g, const struct scenario *s)
{
	int count;
	const struct what_if_effect *e = analyze_what_ifs(arena, g, s, &count);
	for (int i = 0; i < count; i++)
		str_addf(out,
			"\t\t%s: %s%s, %.7g, saves %.7g, %d unmeasured, %d noisy, %d unavailable%s%s%s\n",
			e[i].row->name, e[i].on ? "on" : "off", e[i].available ? "" : ", not available",
			e[i].total_ns, e[i].saves_ns, e[i].unmeasured_problems, e[i].noisy_problems,
			e[i].unavailable_problems, e[i].bound_complete ? ", complete" : "",
			e[i].complete ? ", both" : "", e[i].estimated ? ", estimated" : "");
}

static void add_scenarios(struct str *out, const struct plan *p, const struct fusion *f,
	const struct results *results)
{
	const struct device d = { .name = "made up", .model = "", .stack = "", .runner = "", .version = "",
		.host = "", .attributes = "{}", .llc_bytes = 1 << 22, .has_matrix = true };
	struct peaks k = made_up_peaks();
	for (size_t i = 0; i < 2 * sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		struct arena a = { 0 };
		struct scenario s = scenario_default();
		struct ground g = { .plan = p, .fusion = f, .results = results, .device = &d, .peaks = &k,
			.estimate = i % 2 };
		if (*scenarios[i / 2])
			scenario_parse(&s, scenarios[i / 2], NULL);
		str_addf(out, "\t%s%s\n", *scenarios[i / 2] ? scenarios[i / 2] : "default",
			g.estimate ? ", estimates" : "");
		struct analysis *x = analyze(&a, &g, &s);
		add_analysis(out, x);
		add_layers(out, x, p, &k);
		if (i % 4 < 2)
			add_effects(out, &a, &g, &s);
		arena_free(&a);
	}
}

/* ---- made-up executions */

static struct execution_row *add_row(struct execution *e, struct arena *a, int *room,
	enum execution_level level, int parent, const char *name, double ns)
{
	struct execution_row *r = execution_add(a, e, room);
	r->level = level;
	r->parent = parent;
	r->name = name;
	r->ns = ns;
	r->calls = 1;
	return r;
}

static void add_kernels(struct execution *e, struct arena *a, int *room, int parent, const char *name,
	unsigned h, double ns)
{
	static const char *const names[] = { "gemm", "conv", "copy" };
	for (unsigned i = 0; i < h % 3; i++) {
		struct execution_row *k = add_row(e, a, room, LEVEL_KERNEL, parent, names[(h + i) % 3],
			ns * 0.4);
		k->kernel = h % 5 ? k->name : name;
		k->flops = h % 7 ? ns * 50 : NAN;
		k->read_bytes = ns * (1 + h % 4);
		k->write_bytes = ns;
		k->occupancy = 0.1 * (1 + h % 9);
	}
}

/* A row for each layer that has a cost, now and then for it and the next one; some copies between them, some
 * rows that no layer has. About as fast as the bound, some faster; every fourth without an interval. */
static struct execution made_up(struct arena *a, const struct plan *p, const struct analysis *bound,
	unsigned seed)
{
	static const char *const added[] = { "Reorder", "Cast", "Pad", "MemcpyToHost", "Mystery" };
	struct execution e = execution_new();
	int room = 0;
	double sum = 0;
	e.source = "agent", e.framework = "made up", e.version = "1", e.provider = "CPUExecutionProvider";
	e.device = "made up", e.threads = 1 + (int)seed % 3, e.dtype = dtype_name(p->dtype),
	e.math = "strict";
	e.batch = p->batch;
	e.profiler_row_ns = 200;
	for (int i = 0; i < p->layer_count; i++) {
		char *name = text_clean(a, p->layers[i].name);
		unsigned h = hash_of(name) ^ seed * 7919;
		double ns = bound->layers[i].ns, real = ns * (0.7 + (double)(h % 100) / 80) + 300;
		if (!(ns > 0) && h % 8)
			continue;
		real = ns > 0 ? real : 500;
		struct execution_row *r = add_row(&e, a, &room, LEVEL_LAYER, -1, name, real);
		int at = e.row_count - 1;
		r->nodes = name;
		if (h % 6 == 0 && i + 1 < p->layer_count)
			r->nodes = arena_printf(a, "%s\n%s", name, text_clean(a, p->layers[++i].name));
		r->op = p->layers[i].op ? p->layers[i].op->name : "";
		r->provider = h % 10 ? e.provider : "CUDAExecutionProvider";
		r->kernel = h % 3 ? "jit" : "";
		r->dtype = e.dtype;
		r->output_bytes = h % 9 ? 4096 + h % 1000 : NAN;
		r->lo_ns = h % 4 ? real * 0.98 : NAN;
		r->hi_ns = h % 4 ? real * 1.02 : NAN;
		r->start_ns = sum;
		sum += real;
		add_kernels(&e, a, &room, at, "own kernel", h, real);
		if (h % 11 == 0) {
			r = add_row(&e, a, &room, LEVEL_LAYER, -1, arena_printf(a, "%s_extra", name), 700);
			r->op = added[h % 5];
			r->provider = e.provider;
		}
	}
	e.stats = (struct sample_stats){ .n = 20,
		.executions = 1,
		.min = sum,
		.q1 = sum,
		.median = sum * 1.03,
		.q3 = sum * 1.05,
		.mean = sum * 1.04,
		.stdev = 10,
		.lo = sum * 1.02,
		.hi = sum * 1.04 };
	e.profiled_ns = sum * 1.1;
	return e;
}

/* Without what rounding leaves of a difference. */
static double tidy(double ns)
{
	return fabs(ns) < 1e-3 ? 0 : ns;
}

static void add_gaps(struct str *out, const struct reality *y)
{
	double groups = 0;
	for (int i = 0; i < y->group_count; i++) {
		const struct reality_group *g = &y->groups[i];
		double own[] = { g->real_ns, g->real_lo + g->real_hi, g->cost_ns, g->cost_lo + g->cost_hi,
			(double)g->kind * 10 + g->estimated + 2 * reality_contradicts(y, g),
			list_sum(g->rows, g->row_count), list_sum(g->layers, g->layer_count),
			hash_of(g->kernel) % 100 + hash_of(g->provider) % 100,
			g->better ? g->better->stats.median : 0 };
		for (int k = 0; k < 9; k++)
			groups = weighted(groups, own[k], 9 * i + k);
	}
	str_addf(out,
		"\t\treal %.7g [%.7g, %.7g] (%d), bound %.7g [%.7g, %.7g], ratio %.6g, layers %.7g, "
		"profiler %.7g, %d rows\n",
		y->measured_ns, y->lo, y->hi, (int)y->from, y->bound_ns, y->bound_lo, y->bound_hi, y->ratio,
		y->layers_ns, y->profiler_ns, y->row_count);
	str_addf(out, "\t\t%d groups (sum %.7g), %d faster, %d contradict%s; %s\n", y->group_count, groups,
		y->faster_count, y->contradicted_count, y->contradicted ? ", the whole too" : "",
		y->not_comparable ? y->not_comparable : "comparable");
	for (int i = 0; i < GAP_COUNT; i++) {
		const struct gap *g = &y->gaps[i];
		if (g->ns != 0 || g->rows || g->layer_count)
			str_addf(out, "\t\t\t%s %.7g [%.7g, %.7g], %d rows, %d layers (sum %.0f)\n",
				gap_name((enum gap_kind)i), tidy(g->ns), tidy(g->lo), tidy(g->hi), g->rows,
				g->layer_count, list_sum(g->layers, g->layer_count));
	}
}

static void add_tree(struct str *out, struct arena *a, const struct reality *y, const struct plan *p,
	const struct analysis *bound)
{
	const struct tree *t = tree_of(a, y, p, bound);
	double sum = 0;
	for (int i = 0; i < t->count; i++) {
		const struct tree_node *n = &t->nodes[i];
		double own[] = { (double)n->kind + 10 * n->depth + 20 * n->estimated, n->parent, n->end,
			n->group, n->row, n->layer + 7 * n->layer_count, n->real_ns, n->bound_ns, n->ratio,
			n->gap_ns, hash_of(n->name) % 100 + hash_of(n->op) % 100 };
		for (int k = 0; k < 11; k++)
			sum = weighted(sum, own[k], 11 * i + k);
	}
	str_addf(out, "\t\ttree of %d (sum %.7g)\n", t->count, sum);
}

static void add_tables(struct str *out, struct arena *a, const struct xsp_input *in)
{
	int count;
	const struct xsp_analysis *all = xsp_analyses(&count);
	for (int i = 0; i < count; i++) {
		const struct xsp_table *t = xsp_analyze(a, &all[i], in);
		double sum = 0;
		for (int k = 0; k < t->row_count * all[i].column_count; k++)
			sum = weighted(sum, t->cells[k].text ? hash_of(t->cells[k].text) % 100 :
				t->cells[k].number + t->cells[k].estimated, k);
		str_addf(out, "\t\t%s: %d rows (sum %.7g); %s%s\n", all[i].id, t->row_count, sum,
			t->note ? t->note : "", t->missing ? t->missing : "");
	}
}

static void add_against(struct str *out, const struct against *x)
{
	double sum = 0;
	for (int i = 0; i < x->group_count; i++) {
		const struct against_group *g = &x->groups[i];
		double own[] = { list_sum(g->layers, g->layer_count), g->a_ns, g->a_lo + g->a_hi, g->b_ns,
			g->b_lo + g->b_hi, g->significant,
			hash_of(g->a_kernel) % 100 + hash_of(g->b_kernel) % 100 };
		for (int k = 0; k < 7; k++)
			sum = weighted(sum, own[k], 7 * i + k);
	}
	str_addf(out, "\t\tagainst: %.7g %.7g%s, %d groups (sum %.7g), others %.7g %.7g\n", x->a_ns, x->b_ns,
		x->significant ? ", significant" : "", x->group_count, sum, x->a_other_ns, x->b_other_ns);
}

static void add_realities(struct str *out, const struct plan *p, const struct fusion *f,
	const struct results *results)
{
	static const char *const wanted[] = { "", "fusion,matrix,math,layout,parallel" };
	struct peaks k = made_up_peaks();
	const struct device d = { .name = "made up",
		.model = "made up",
		.stack = "",
		.runner = "",
		.version = "",
		.host = "",
		.attributes = "{}",
		.llc_bytes = 1 << 22,
		.has_matrix = true,
		.threads = 2 };
	for (int i = 0; i < 2; i++) {
		struct arena a = { 0 };
		struct scenario s = scenario_default();
		const struct ground g = {
			.plan = p, .fusion = f, .results = results, .device = &d, .peaks = &k, .estimate = i
		};
		if (i)
			scenario_parse(&s, wanted[i], NULL);
		struct analysis *bound = analyze(&a, &g, &s);
		struct execution e[2];
		struct reality *y[2];
		struct xsp_execution both[2];
		str_addf(out, "\texecutions, %s\n", i ? wanted[i] : "default");
		for (int n = 0; n < 2; n++) {
			e[n] = made_up(&a, p, bound, (unsigned)(3 * i + n + 1));
			both[n] = (struct xsp_execution){ &e[n], match_execution(&a, &e[n], p) };
			y[n] = reality_of(&a, &g, &s, bound, &e[n], both[n].match);
			add_gaps(out, y[n]);
			add_tree(out, &a, y[n], p, bound);
		}
		add_against(out, reality_against(&a, y[0], y[1]));
		add_tables(out, &a, &(struct xsp_input){ p, bound, &k, NULL, "made up", both, 2 });
		add_tables(out, &a, &(struct xsp_input){ p, bound, &k, NULL, "made up", NULL, 0 });
		arena_free(&a);
	}
}

static void add_model(struct str *out, int which)
{
	char path[1024];
	struct error err = ERROR_NONE;
	const struct dim_binding dims[] = { { TEXT("batch"), 1 }, { TEXT("sequence"), 128 },
		{ TEXT("past_sequence"), 8 }, { TEXT("total_sequence"), 136 } };
	struct plan_options options = { .dtype = models[which].dtype, .bindings = dims,
		.binding_count = models[which].bindings };
	snprintf(path, sizeof(path), "%s/data/models/%s.onnx", getenv("srcdir") ? getenv("srcdir") : "..",
		models[which].name);
	struct model *m = model_load(path, &err);
	struct plan *p = m ? plan_build(m, &options, &err) : NULL;
	str_addf(out, "%s in %s: %d layers %s\n", models[which].name, dtype_name(models[which].dtype),
		p ? p->layer_count : 0, err.text);
	if (p) {
		struct fusion *f = fusion_find(p);
		struct results *results = results_new();
		for (int i = 0; i < plan_problem_total(p); i++)
			add_results(results, p->problems[i].text, models[which].gaps);
		for (int i = 0; i < f->text_count; i++)
			add_results(results, f->texts[i], models[which].gaps);
		add_fusion(out, f, p);
		add_texts(out, p, f);
		add_scenarios(out, p, f, results);
		add_realities(out, p, f, results);
		results_free(results);
		fusion_free(f);
		plan_free(p);
	}
	model_free(m);
}

int main(int argc, char **argv)
{
	struct str all = { 0 };
	for (int i = 0; i < (int)(sizeof(models) / sizeof(models[0])); i++)
		add_model(&all, i);
	if (argc > 1 && strcmp(argv[1], "print") == 0) {
		fputs(all.p, stdout);
		str_free(&all);
		return 0;
	}
	recorded_lines(all.p, "tests/analyze/recorded.txt", 500);
	str_free(&all);
	return done_testing();
}
