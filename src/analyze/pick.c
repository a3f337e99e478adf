#include "config.h"

#include "analyze/analyze_private.h"

#include <math.h>
#include <string.h>

static bool is_kernel(const char *problem, enum kernel k)
{
	size_t n = strlen(kernel_name(k));
	return strncmp(problem, kernel_name(k), n) == 0 && problem[n] == ':';
}

bool matrix_possible(const char *problem, bool strict)
{
	if (!is_kernel(problem, KERNEL_CONV) && !is_kernel(problem, KERNEL_MATMUL))
		return false;
	return !strict || strncmp(strchr(problem, ':'), ":f32", 4) != 0;
}

/* With matrix units switched off: those known to use them are out. Where the library does not say, they are
 * out too, unless they cannot: another kernel, f32 under strict math, or a device without such units. An
 * unknown one left in could hide exactly the gain that is asked for; one left out shows as a gap. */
static bool allowed_without_matrix(const struct result *r, bool device_has_matrix)
{
	if (r->algorithm.matrix == MATRIX_NO)
		return true;
	if (r->algorithm.matrix == MATRIX_YES)
		return false;
	const char *math = r->algorithm.math;
	bool strict = !math || !*math || strcmp(math, "strict") == 0;
	return !device_has_matrix || !matrix_possible(r->problem, strict);
}

static bool usable(const struct result *r)
{
	return r->status == STATUS_OK && isfinite(r->stats.median) && r->stats.median >= 0;
}

/* Three samples of a shortlist make no measurement, and the shortlist is made for one launch mode alone: its
 * rows stand where nothing else does. */
static bool is_brief(const struct result *r)
{
	return r->stats.stop == STOP_SHORTLIST;
}

/* The best, or the first in the library's order: results come by rank. */
static const struct result *pick(const struct found *f, const struct scenario *s, enum cache c, bool best,
	bool device_has_matrix)
{
	enum launch launch = s->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED;
	const struct result *found = NULL;
	if (!f->finished)
		return NULL;
	bool any_warm = false;
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		if (r->launch != launch)
			continue;
		any_warm |= r->cache == CACHE_WARM && r->status == STATUS_OK;
		if (r->cache != c || !usable(r))
			continue;
		if (!s->matrix && !allowed_without_matrix(r, device_has_matrix))
			continue;
		if (found && is_brief(found) != is_brief(r)) {
			found = is_brief(found) ? r : found;
			continue;
		}
		if (!found || (best && r->stats.median < found->stats.median))
			found = r;
	}
	if (!found && c == CACHE_WARM && !any_warm)
		return pick(f, s, CACHE_NET, best, device_has_matrix);
	return found;
}

const struct result *analyze_pick(const struct results *r, const char *problem, const struct scenario *s,
	enum cache c)
{
	struct found f;
	f.results = results_of(r, problem, &f.count);
	f.finished = results_is_finished(r, problem);
	return pick(&f, s, c, s->best, true);
}

bool found_answered(const struct found *f, enum launch launch, enum cache c)
{
	bool any_warm = false, net = false, warm = false;
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		if (r->status != STATUS_OK && !*r->algorithm.name)
			return true; /* the problem as a whole: no launch mode or cache state will help */
		if (r->launch != launch || !f->finished)
			continue;
		any_warm |= r->cache == CACHE_WARM;
		net |= r->cache == CACHE_NET;
		warm |= r->cache == CACHE_WARM;
	}
	if (c == CACHE_NET)
		return net;
	return warm || (net && !any_warm);
}

const char *study_text(const struct study *st, int distinct)
{
	const struct plan *p = st->plan;
	return distinct < p->problem_count ? p->problems[distinct].text :
					     st->fusion->texts[distinct - p->problem_count];
}

/* What the answers say when none can be used: did the library refuse? */
static bool refused(const struct found *f, const struct scenario *s)
{
	enum launch launch = s->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED;
	bool unsupported = false, other = false, filtered = false;
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		unsupported |= r->status == STATUS_UNSUPPORTED;
		filtered |= usable(r) && r->launch == launch && !s->matrix && r->algorithm.matrix == MATRIX_YES;
		other |= r->status != STATUS_UNSUPPORTED && r->status != STATUS_OK;
	}
	return filtered || (unsupported && !other);
}

const char *study_why(const struct study *st, const struct scenario *s, int distinct)
{
	const struct found *f = &st->found[distinct];
	enum launch launch = s->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED;
	const struct result *said = NULL;
	bool barred = false;
	for (int i = 0; i < f->count; i++) {
		const struct result *r = f->results[i];
		bool whole = !*r->algorithm.name;
		if (r->status != STATUS_OK && (whole || (r->launch == launch && !said)))
			said = r;
		if (said == r && whole)
			break;
		barred |= usable(r) && r->launch == launch && !s->matrix && r->algorithm.matrix != MATRIX_NO;
	}
	if (said)
		return said->why && *said->why ? said->why : status_name(said->status);
	return barred ? "only measured with algorithms that use matrix units or may" : NULL;
}

struct price study_price(const struct study *st, const struct scenario *s, int distinct, bool best)
{
	const struct found *f = &st->found[distinct];
	struct price price = { .ns = NAN };
	price.answered = found_answered(f, s->amortized ? LAUNCH_AMORTIZED : LAUNCH_ISOLATED, st->cache);
	price.result = pick(f, s, st->cache, best, !st->device || st->device->has_matrix);
	if (price.result)
		price.ns = price.result->stats.median;
	else
		price.unsupported = price.answered && refused(f, s);
	return price;
}

/* Nodes: casts at inputs, layers, casts at outputs. */
static int border_nodes(const struct plan *p, bool inputs)
{
	int count = 0;
	for (int i = 0; i < p->border_count; i++)
		count += p->borders[i].is_input == inputs;
	return count;
}

static int edge_capacity(const struct plan *p)
{
	int edges = p->border_count; /* at outputs */
	for (int i = 0; i < p->layer_count; i++)
		edges += p->layers[i].pred_count;
	for (int i = 0; i < p->border_count; i++)
		if (p->borders[i].is_input)
			edges += p->values[p->borders[i].value].consumer_count;
	return edges;
}

/* Per layer a list of the input casts it waits for, as chains through next. */
static void link_inputs(struct study *st, int *head, int *next, int *node)
{
	const struct plan *p = st->plan;
	int links = 0, border = 0;
	for (int i = 0; i < p->layer_count; i++)
		head[i] = -1;
	for (int i = 0; i < p->border_count; i++) {
		if (!p->borders[i].is_input)
			continue;
		const struct plan_value *v = &p->values[p->borders[i].value];
		st->node_problem[border] = p->borders[i].problem;
		for (int k = 0; k < v->consumer_count; k++, links++) {
			node[links] = border;
			next[links] = head[v->consumers[k]];
			head[v->consumers[k]] = links;
		}
		border++;
	}
}

static void study_graph(struct study *st)
{
	const struct plan *p = st->plan;
	int capacity = edge_capacity(p), edges = 0, node;
	st->first_layer = border_nodes(p, true);
	st->node_count = p->layer_count + p->border_count;
	st->node_problem = ARENA_ARRAY(&st->arena, int, st->node_count);
	st->first = ARENA_ARRAY(&st->arena, int, st->node_count + 1);
	st->edges = ARENA_ARRAY(&st->arena, int, capacity);
	int *head = ARENA_ARRAY(&st->arena, int, p->layer_count);
	int *next = ARENA_ARRAY(&st->arena, int, capacity), *from = ARENA_ARRAY(&st->arena, int, capacity);
	link_inputs(st, head, next, from);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		st->first[st->first_layer + i] = edges;
		st->node_problem[st->first_layer + i] = l->class == CLASS_FREE ? -1 : l->problem;
		for (int k = head[i]; k >= 0; k = next[k])
			st->edges[edges++] = from[k];
		for (int k = 0; k < l->pred_count; k++)
			st->edges[edges++] = st->first_layer + l->preds[k];
	}
	node = st->first_layer + p->layer_count;
	for (int i = 0; i < p->border_count; i++) {
		if (p->borders[i].is_input)
			continue;
		int producer = p->values[p->borders[i].value].producer;
		st->node_problem[node] = p->borders[i].problem;
		st->first[node++] = edges;
		if (producer >= 0)
			st->edges[edges++] = st->first_layer + producer;
	}
	st->first[node] = edges;
}

/* The cache state whose results make the bound: warm where all weights and the peak of live activations fit
 * in half of the last-level cache, else (and where one of the three is not known) net. */
static enum cache cache_of(const struct plan *p, const struct device *d)
{
	double live = p->weight_bytes + p->peak_live_bytes;
	return d && live <= d->llc_bytes / 2 ? CACHE_WARM : CACHE_NET; /* NaN compares false */
}

void study_open(struct study *st, const struct plan *p, const struct fusion *f, const struct results *r,
	const struct device *d, bool fused)
{
	*st = (struct study){ .plan = p, .fusion = f, .device = d, .cache = cache_of(p, d) };
	st->groups = fused && f ? f->group_count : 0;
	st->distinct_count = p->problem_count + (st->groups ? f->text_count : 0);
	st->found = ARENA_ARRAY(&st->arena, struct found, st->distinct_count);
	for (int i = 0; i < st->distinct_count; i++) {
		const char *text = study_text(st, i);
		st->found[i].results = results_of(r, text, &st->found[i].count);
		st->found[i].finished = results_is_finished(r, text);
	}
	study_graph(st);
}

void study_close(struct study *st)
{
	arena_free(&st->arena);
}
