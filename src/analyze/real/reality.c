/* Assigns the difference between an execution and the bound to gaps, group by group. What is left is
 * `unexplained`, so that the gaps always add up to the difference. */
#include "config.h"

#include "analyze/real/reality_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *name, *label, *text; } gap_rows[GAP_COUNT] = {
#define GAP_ROW(id, name, label, text) { name, label, text },
	GAP_LIST(GAP_ROW)
#undef GAP_ROW
};

const char *gap_name(enum gap_kind k)
{
	return gap_rows[k].name;
}

const char *gap_label(enum gap_kind k)
{
	return gap_rows[k].label;
}

const char *gap_text(enum gap_kind k)
{
	return gap_rows[k].text;
}

const char *reality_label(const struct reality *y, enum gap_kind k)
{
	const struct gap *p = &y->gaps[k];
	if (k == GAP_FUSION && p->ns < 0)
		return "fused more than bound";
	if (k == GAP_CAST && p->ns < 0 && !p->rows)
		return "casts of the bound";
	bool estimate = p->estimated_ns > p->ns / 2;
	if (k == GAP_ALGORITHM && y->slower_doubt && !estimate)
		return "slower algorithms?";
	return k == GAP_ALGORITHM && estimate ? "above the estimate" : gap_label(k);
}

bool reality_gap_estimated(const struct reality *y, enum gap_kind k)
{
	bool of_bound = k != GAP_REORDER && k != GAP_PAD && k != GAP_COPY && k != GAP_OTHER;
	return fabs(y->gaps[k].estimated_ns) > 0 || (y->bound_estimated && of_bound);
}

const char *faster_doubt_text(enum faster_doubt d)
{
	static const char *const texts[DOUBT_COUNT] = { [DOUBT_NONE] = "",
		[DOUBT_INTERVAL] = "without intervals",
		[DOUBT_MATCH] = "matched with low confidence",
		[DOUBT_TURN] = "not confirmed when measured again" };
	return texts[d];
}

double row_corrected(const struct reality *y, int row, double ns)
{
	const struct execution *e = y->execution;
	return execution_corrected_ns(e, &e->rows[row], ns) / y->match->runs;
}

double calls_of(const struct execution_row *r)
{
	return isnan(r->calls) ? 1 : r->calls;
}

/* ---- measured ---- */

static void measured_find(struct reality *y, const bool *traced)
{
	const struct execution *e = y->execution;
	double sum = 0, calls = 0;
	for (int i = 0; i < e->row_count; i++) {
		if (!traced[i] || isnan(e->rows[i].ns))
			continue;
		calls += calls_of(&e->rows[i]);
		y->layers_ns = isnan(y->layers_ns) ? e->rows[i].ns : y->layers_ns + e->rows[i].ns;
		sum += row_corrected(y, i, e->rows[i].ns);
		y->row_count++;
	}
	y->layers_ns /= y->match->runs;
	y->profiler_ns = e->profiler_row_ns * calls / y->match->runs;
	y->measured_ns = y->lo = y->hi = NAN;
	if (!isnan(e->stats.median)) {
		y->from = MEASURED_LATENCY;
		y->measured_ns = stats_cost(&e->stats);
		y->lo = stats_cost_lo(&e->stats);
		y->hi = stats_cost_hi(&e->stats);
	} else if (!isnan(e->profiled_ns)) {
		y->from = MEASURED_PROFILED;
		y->measured_ns =
			e->profiled_ns / y->match->runs - (isnan(y->profiler_ns) ? 0 : y->profiler_ns);
	} else if (y->row_count) {
		y->from = MEASURED_SUM;
		y->measured_ns = sum;
	}
}

/* ---- what can be compared ---- */

/* The last-level cache: as far as reads are faster than from memory (peaks), else its nominal size. */
static double cache_bytes(const struct ground *g)
{
	double nominal = g->device ? g->device->llc_bytes : NAN;
	bool measured = g->peaks && g->peaks->level_count && peaks_known(g->peaks);
	return measured ? fmin(nominal, g->peaks->level[g->peaks->level_count - 1].bytes) : nominal;
}

/* Returns why this execution cannot contradict the bound; NULL if it can. The bound's cache state `net` reads
 * weights from memory. Reality does so if weights and activations exceed the last-level cache. */
static const char *cache_differs(const struct ground *g, const struct analysis *bound)
{
	double llc = cache_bytes(g);
	double size =
		g->plan->weight_bytes + (isnan(g->plan->peak_live_bytes) ? 0 : g->plan->peak_live_bytes);
	return cache_plain(bound->cache) == CACHE_NET && llc > size ?
		"the model fits in the last-level cache; the bound reads its weights from memory" : NULL;
}

/* ---- gaps ---- */

static double known(double x)
{
	return isnan(x) ? 0 : x;
}

void gap_add(struct gap *p, double ns, double lo, double hi)
{
	p->lo = (isnan(p->lo) ? 0 : p->lo) + (isnan(lo) ? ns : lo);
	p->hi = (isnan(p->hi) ? 0 : p->hi) + (isnan(hi) ? ns : hi);
	p->ns = (isnan(p->ns) ? 0 : p->ns) + ns;
}

/* Words in the names of kernels that use matrix units, and of kernels that use plain units. A kernel with a
 * word of neither list is unknown. */
static const char *const matrix_words[] = { "884", "1688", "16816", "hmma", "imma", "gmma", "tensorop", "amx",
	"_mma", "xmma" };
static const char *const plain_words[] = { "sgemm", "ffma", "simt", "avx", "sse", "scudnn", "winograd" };

static bool has_word(const char *text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_contains(text_of(text), text_of(words[i])))
			return true;
	return false;
}

static bool runs_on_plain_units(const char *kernel)
{
	return !has_word(kernel, matrix_words, sizeof(matrix_words) / sizeof(matrix_words[0])) &&
		has_word(kernel, plain_words, sizeof(plain_words) / sizeof(plain_words[0]));
}

/* Returns the largest share of its time that an execution could save with the threads of the bound's device.
 */
static double threads_share(const struct device *d, const struct execution *e)
{
	return d && e->threads > 0 && d->threads > e->threads ? 1 - (double)e->threads / d->threads : 0;
}

/* Returns the provider that runs the model: the requested one; else that of the rows with the most time, and
 * the CPU's only if no other provider has rows. */
static const char *main_provider(const struct execution *e, const bool *traced)
{
	const char *found = e->provider;
	double longest = -1;
	if (*found)
		return found;
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		bool cpu = text_contains(text_of(r->provider), TEXT("cpu"));
		double rank = (isnan(r->ns) ? 0 : r->ns) + (cpu ? 0 : 1e18);
		if (traced[i] && *r->provider && rank > longest) {
			longest = rank;
			found = r->provider;
		}
	}
	return found;
}

static bool elsewhere(const char *main, const char *provider)
{
	return *main && *provider && !text_contains(text_of(main), text_of(provider)) &&
		!text_contains(text_of(provider), text_of(main));
}

/* Returns the time that matrix units save in the group; 0 if the bound does not use them. */
static double matrix_saves(const struct reality_group *g, const struct analysis *plain)
{
	double without = 0;
	if (!plain || !g->better || g->better->algorithm.matrix != MATRIX_YES)
		return 0;
	for (int i = 0; i < g->layer_count; i++)
		without += plain->layers[g->layers[i]].ns;
	return without > g->cost_ns ? without - g->cost_ns : 0;
}

struct sorting {
	struct reality *y;
	const struct plan *plan;
	const struct analysis *bound;
	const char *provider;
	bool cache_differs;
	double threads_share;         /* of a layer's time that the bound's threads would save at most */
	const struct analysis *plain; /* without matrix units and fusion; NULL: not needed */
};

#define RESOLVABLE_NS 2000.0 /* a shorter row is not compared with a faster bound's */
#define SURE 0.7             /* confidence of a match, below which it contradicts nothing */

/* Returns false if a call of the group's rows is shorter than 2 us or twice the profiler's cost: such a group
 * is never counted as faster. */
static bool resolvable(const struct reality *y, const struct reality_group *g)
{
	const struct execution *e = y->execution;
	double sum = 0, calls = 0;
	for (int i = 0; i < g->row_count; i++) {
		const struct execution_row *r = &e->rows[g->rows[i]];
		sum += isnan(r->ns) ? 0 : r->ns;
		calls += calls_of(r);
	}
	return sum >= calls * fmax(RESOLVABLE_NS, isnan(e->profiler_row_ns) ? 0 : 2 * e->profiler_row_ns);
}

static enum faster_doubt doubt_of(const struct reality *y, const struct reality_group *g)
{
	for (int i = 0; i < g->row_count; i++)
		if (y->match->rows[g->rows[i]].confidence < SURE)
			return DOUBT_MATCH;
	return g->single || isnan(g->real_lo) || isnan(g->real_hi) ? DOUBT_INTERVAL : DOUBT_NONE;
}

/* True if a layer of the group reads constant operands: only these differ between cache states. */
static bool reads_constants(const struct plan *p, const struct reality_group *g)
{
	for (int i = 0; i < g->layer_count; i++) {
		int index = p->layers[g->layers[i]].problem;
		struct problem problem;
		if (index < 0)
			continue;
		problem_restore(p->problems[index].problem, &problem);
		if (problem_constant_bytes(&problem) > 0)
			return true;
	}
	return false;
}

static enum gap_kind kind_of(const struct sorting *x, const struct reality_group *g)
{
	double real_lo = reality_low(g->real_ns, g->real_lo), real_hi = reality_high(g->real_ns, g->real_hi);
	if (elsewhere(x->provider, g->provider))
		return GAP_PLACEMENT;
	if (isnan(g->cost_ns))
		return GAP_UNMEASURED;
	if (g->cost_ns == 0)
		return GAP_FREE;
	if (real_hi < reality_low(g->cost_ns, g->cost_lo) && !resolvable(x->y, g))
		return GAP_UNEXPLAINED;
	if (real_hi < reality_low(g->cost_ns, g->cost_lo))
		return x->cache_differs && reads_constants(x->plan, g) ? GAP_CACHE : GAP_FASTER;
	if (real_lo <= reality_high(g->cost_ns, g->cost_hi))
		return GAP_UNEXPLAINED;
	return runs_on_plain_units(g->kernel) && matrix_saves(g, x->plain) > 0 ? GAP_MATRIX : GAP_ALGORITHM;
}

/* Returns the cost of a layer in the bound; 0 if it is unknown. */
static double bound_cost(const struct analysis *bound, int layer)
{
	return isnan(bound->layers[layer].ns) ? 0 : bound->layers[layer].ns;
}

/* Returns a group's cost; if a layer has no cost, the sum that the bound counts for the others. */
static double counted_cost(const struct reality_group *g, const struct analysis *bound)
{
	double sum = 0;
	for (int i = 0; i < g->layer_count; i++)
		sum += bound_cost(bound, g->layers[i]);
	return isnan(g->cost_ns) ? sum : g->cost_ns;
}

/* Splits the time by which a group is slower: what framework and profiler add to its layers; what matrix
 * units save; what the bound's threads save, at most in proportion to their number; the rest is the
 * algorithm's. The interval is divided alike. The group's kind is that of the largest part. */
static void slower_sort(const struct sorting *x, struct reality_group *g, struct gap whole)
{
	static const enum gap_kind kinds[] = { GAP_OVERHEAD, GAP_MATRIX, GAP_THREADS, GAP_ALGORITHM };
	double added = overhead_ns(x->y, g, whole.ns), rest = whole.ns - added, most = 0;
	double matrix = g->kind == GAP_MATRIX ? fmin(rest, matrix_saves(g, x->plain)) : 0;
	double threads = fmin(rest - matrix, (g->real_ns - added) * x->threads_share);
	const double parts[] = { added, matrix, threads, rest - matrix - threads };
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		double share = parts[i] / whole.ns;
		if (!(parts[i] > 0))
			continue;
		gap_add(&x->y->gaps[kinds[i]], parts[i], whole.lo * share, whole.hi * share);
		g->kind = parts[i] > most ? kinds[i] : g->kind;
		most = fmax(most, parts[i]);
	}
}

static void group_sort(const struct sorting *x, struct reality_group *g)
{
	double cost = counted_cost(g, x->bound);
	double lo = isnan(g->cost_lo) ? cost : g->cost_lo, hi = isnan(g->cost_hi) ? cost : g->cost_hi;
	struct gap whole = { .ns = g->real_ns - cost,
		.lo = (isnan(g->real_lo) ? g->real_ns : g->real_lo) - hi,
		.hi = (isnan(g->real_hi) ? g->real_ns : g->real_hi) - lo };
	g->kind = kind_of(x, g);
	g->doubt = g->kind == GAP_FASTER ? doubt_of(x->y, g) : DOUBT_NONE;
	x->y->doubt_count[g->doubt] += g->kind == GAP_FASTER;
	x->y->faster_count += g->kind == GAP_FASTER || g->kind == GAP_CACHE;
	if (g->kind == GAP_MATRIX || g->kind == GAP_ALGORITHM)
		slower_sort(x, g, whole);
	else
		gap_add(&x->y->gaps[g->kind], whole.ns, whole.lo, whole.hi);
	x->y->gaps[g->kind].rows += g->row_count;
	x->y->gaps[g->kind].estimated_ns += g->estimated ? whole.ns : 0;
}

static const enum gap_kind gap_of_added[ADDED_COUNT] = { [ADDED_REORDER] = GAP_REORDER,
	[ADDED_CAST] = GAP_CAST,
	[ADDED_PAD] = GAP_PAD,
	[ADDED_COPY] = GAP_COPY,
	[ADDED_OTHER] = GAP_OTHER };

static void rows_sort(const struct sorting *x, const bool *traced)
{
	struct reality *y = x->y;
	const struct execution *e = y->execution;
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		const struct match_row *m = &y->match->rows[i];
		if (!traced[i] || isnan(r->ns) || y->group_of_row[i] >= 0)
			continue;
		bool moved = m->how == MATCH_ADDED &&
			(elsewhere(x->provider, r->provider) ||
				text_contains(text_of(r->op), TEXT("memcpy")));
		enum gap_kind k = moved ? GAP_PLACEMENT :
			m->how == MATCH_ADDED ? gap_of_added[m->added] : GAP_UNMATCHED;
		gap_add(&y->gaps[k], row_corrected(y, i, r->ns), row_corrected(y, i, r->lo_ns),
			row_corrected(y, i, r->hi_ns));
		y->gaps[k].rows++;
		y->gap_of_row[i] = (int)k;
	}
}

/* Adds the gaps that need the bound: the parts of its total that are not in the costs of layers that reality
 * ran. */
static void totals_sort(struct reality *y, const struct analysis *bound)
{
	double groups = 0, matched = 0, merged = 0, alone = 0;
	for (int i = 0; i < y->group_count; i++)
		groups += counted_cost(&y->groups[i], bound);
	for (int i = 0; i < bound->layer_count; i++) {
		int row = y->match->row_of_layer[i];
		double *part = row >= 0 && y->group_of_row[row] >= 0 ? &matched :
			y->match->merged[i] ? &merged : &alone;
		*part += bound_cost(bound, i);
	}
	double border = isnan(bound->border_ns) ? 0 : bound->border_ns;
	if (fabs(groups - matched) > 0)
		gap_add(&y->gaps[GAP_FUSION], groups - matched, NAN, NAN);
	if (merged > 0)
		gap_add(&y->gaps[GAP_MERGED], -merged, NAN, NAN);
	if (alone > 0)
		gap_add(&y->gaps[GAP_UNMATCHED], -alone, NAN, NAN);
	if (border > 0)
		gap_add(&y->gaps[GAP_CAST], -border, NAN, NAN);
	double rest = matched + merged + alone + border - bound->total_ns;
	if (fabs(rest) > 1e-9 * bound->total_ns)
		gap_add(&y->gaps[bound->host_bound ? GAP_LAUNCH : GAP_PARALLEL], rest, NAN, NAN);
}

/* The kinds to which a layer counts: that of its group, or of one without; and GAP_FUSION if the bound fuses
 * it in a group that reality does not have. Returns their number. */
static int kinds_of(const struct reality *y, const struct analysis *bound, int layer, enum gap_kind kinds[2])
{
	int row = y->match->row_of_layer[layer], group = row >= 0 ? y->group_of_row[row] : -1, count = 0;
	const struct fusion_group *f = bound->layers[layer].group;
	bool apart = false;
	if (group >= 0 || bound_cost(bound, layer) > 0)
		kinds[count++] = group >= 0 ? y->groups[group].kind :
			y->match->merged[layer] ? GAP_MERGED : GAP_UNMATCHED;
	for (int n = 0; f && n < f->layer_count; n++) {
		int other = y->match->row_of_layer[f->layers[n]];
		apart |= group >= 0 && other >= 0 && y->group_of_row[other] != group;
	}
	if (apart)
		kinds[count++] = GAP_FUSION;
	return count;
}

/* Collects the layers of each kind. */
static void layers_list(struct arena *a, struct reality *y, const struct analysis *bound)
{
	enum gap_kind kinds[2];
	int counts[GAP_COUNT] = { 0 };
	for (int i = 0; i < y->match->layer_count; i++)
		for (int n = kinds_of(y, bound, i, kinds); n > 0; n--)
			counts[kinds[n - 1]]++;
	for (int k = 0; k < GAP_COUNT; k++)
		y->gaps[k].layers = ARENA_ARRAY(a, int, counts[k]);
	for (int i = 0; i < y->match->layer_count; i++)
		for (int n = kinds_of(y, bound, i, kinds); n > 0; n--) {
			struct gap *p = &y->gaps[kinds[n - 1]];
			p->layers[p->layer_count++] = i;
		}
}

/* Sets the gap `unexplained` to measured - bound - the other gaps, so that the gaps add up exactly. Bound and
 * costs cancel in it, so its interval comes from the measured latency, the launch and the rows. */
static void close_sum(struct reality *y, const bool *traced)
{
	const struct execution *e = y->execution;
	const struct gap *launch = &y->gaps[GAP_LAUNCH];
	double sum = 0, rest_lo = 0, rest_hi = 0;
	for (int k = 0; k < GAP_COUNT; k++)
		sum += isnan(y->gaps[k].ns) ? 0 : y->gaps[k].ns;
	double rest = y->measured_ns - y->bound_ns - sum;
	if (isnan(rest))
		rest = 0;
	for (int i = 0; i < e->row_count; i++) {
		double ns = row_corrected(y, i, e->rows[i].ns);
		if (!traced[i] || isnan(ns))
			continue;
		rest_lo += known(row_corrected(y, i, e->rows[i].hi_ns) - ns);
		rest_hi += known(ns - row_corrected(y, i, e->rows[i].lo_ns));
	}
	rest_lo += known(y->measured_ns - y->lo) + known(launch->hi - launch->ns);
	rest_hi += known(y->hi - y->measured_ns) + known(launch->ns - launch->lo);
	gap_add(&y->gaps[GAP_UNEXPLAINED], rest, rest - rest_lo, rest + rest_hi);
}

static void contradictions(struct reality *y, const struct analysis *bound)
{
	for (int i = 0; i < y->group_count; i++)
		y->contradicted_count += reality_contradicts(y, &y->groups[i]);
	for (int i = 0; i < bound->layer_count; i++)
		dates_add(&y->dates, bound->layers[i].result);
	bool faster = !y->not_comparable && !y->bound_estimated && y->from == MEASURED_LATENCY &&
		y->measured_ns < y->bound_ns;
	y->contradicted =
		faster && reality_high(y->measured_ns, y->hi) < reality_low(y->bound_ns, y->bound_lo);
	y->unclear = faster && !y->contradicted;
}

/* ---- in steps ---- */

#define STEP_GROUPS 10000 /* whose costs a step finds */

struct reality_work {
	struct arena *arena, scratch;
	struct reality *y;
	struct ground ground;
	struct scenario scenario;
	const struct analysis *bound;
	bool *inside;                 /* per layer, for group_cost */
	struct sorting sorting;
	struct pricing pricing;
	struct study own;             /* without a shared analyzer */
	int next;                     /* group */
};

struct reality *reality_measured(struct arena *a, const struct execution *e, const struct match *m)
{
	struct reality *y = ARENA_NEW(a, struct reality);
	y->pending = true;
	y->execution = e;
	y->match = m;
	y->layers_ns = NAN;
	for (int k = 0; k < GAP_COUNT; k++)
		y->gaps[k].ns = y->gaps[k].lo = y->gaps[k].hi = NAN;
	y->traced = rows_traced(a, e);
	measured_find(y, y->traced);
	launch_sort(y);
	overhead_find(y);
	groups_find(a, y, y->traced);
	return y;
}

struct reality_work *reality_begin(struct arena *a, const struct ground *g, const struct scenario *s,
	const struct analysis *bound, const struct reality *measured)
{
	struct reality_work *w = base_calloc(1, sizeof(*w));
	struct reality *y = ARENA_NEW(a, struct reality);
	*w = (struct reality_work){ .arena = a, .y = y, .ground = *g, .scenario = *s, .bound = bound };
	*y = *measured;
	y->bound_ns = bound->total_ns;
	y->least_ns = bound->estimated ? bound->bound_ns : NAN;
	y->bound_lo = bound->lo_ns;
	y->bound_hi = bound->hi_ns;
	y->bound_complete = bound->complete;
	y->bound_estimated = bound->estimated || bound->rough;
	struct comparable c = comparable_find(a, g, s, y->execution, y->match, USE_CONTRADICTION);
	y->not_comparable = c.why;
	y->prevents = c.prevents;
	y->ratio = y->prevents & USE_RATIO ? NAN : y->bound_ns / y->measured_ns;
	return w;
}

/* The analyses beside the bound, one a step. Returns false if it has them. */
static bool analyses_step(struct reality_work *w)
{
	const struct ground *g = &w->ground;
	struct scenario other = w->scenario;
	other.fusion = FUSION_OFF;
	if (w->scenario.fusion && !w->pricing.alone) {
		w->pricing.alone = analyze(&w->scratch, g, &other);
		return true;
	}
	w->pricing.alone = w->pricing.alone ? w->pricing.alone : w->bound;
	if (w->scenario.matrix && !w->sorting.plain) {
		other.matrix = false;
		w->sorting.plain = analyze(&w->scratch, g, &other);
		return true;
	}
	return false;
}

static void groups_begin(struct reality_work *w)
{
	const struct ground *g = &w->ground;
	w->inside = ARENA_ARRAY(&w->scratch, bool, g->plan->layer_count + 1);
	w->pricing.scenario = &w->scenario;
	w->sorting.y = w->y;
	w->sorting.plan = g->plan;
	w->sorting.bound = w->bound;
	w->sorting.provider = main_provider(w->y->execution, w->y->traced);
	w->sorting.cache_differs = cache_differs(g, w->bound) != NULL;
	w->sorting.threads_share = threads_share(g->device, w->y->execution);
	if (!g->shared)
		study_open(&w->own, g, w->scenario.layouts, true);
	w->pricing.study = g->shared ? analyzer_study(g->shared, g, w->scenario.layouts) : &w->own;
}

static void groups_step(struct reality_work *w)
{
	struct reality *y = w->y;
	if (!w->inside)
		groups_begin(w);
	for (int end = w->next + STEP_GROUPS; w->next < y->group_count && w->next < end; w->next++) {
		group_cost(&y->groups[w->next], &w->pricing, w->inside);
		group_sort(&w->sorting, &y->groups[w->next]);
	}
}

static void finish(struct reality_work *w)
{
	struct reality *y = w->y;
	rows_sort(&w->sorting, y->traced);
	if (!isnan(y->bound_ns) && !isnan(y->measured_ns)) {
		if (y->row_count)
			totals_sort(y, w->bound);
		close_sum(y, y->traced);
	}
	if (y->row_count)
		layers_list(w->arena, y, w->bound);
	doubt_find(w->arena, y, &w->ground);
	y->pending = false;
	contradictions(y, w->bound);
}

bool reality_step(struct reality_work *w)
{
	if (!w->y->pending)
		return false;
	if (analyses_step(w))
		return true;
	groups_step(w);
	if (w->next < w->y->group_count)
		return true;
	finish(w);
	return false;
}

struct reality *reality_of_work(const struct reality_work *w)
{
	return w->y;
}

void reality_end(struct reality_work *w)
{
	if (w && w->inside && !w->ground.shared)
		study_close(&w->own);
	if (w)
		arena_free(&w->scratch);
	free(w);
}

struct reality *reality_of(struct arena *a, const struct ground *g, const struct scenario *s,
	const struct analysis *bound, const struct execution *e, const struct match *m)
{
	struct reality_work *w = reality_begin(a, g, s, bound, reality_measured(a, e, m));
	struct reality *y = w->y;
	while (reality_step(w))
		;
	reality_end(w);
	return y;
}
