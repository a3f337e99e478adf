/* Shares of the total by the origin of its time, and the table of findings that turns them into a verdict. */
#include "config.h"

#include "analyze/real/trust.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN 0.005 /* a smaller share is not named */

const char *const trust_commands[TRUST_NEXT_COUNT] = { NULL, "bench", "bench --shaky", "bench --again",
	"compare", "compare --run ort" };

const char *trust_part_name(enum trust_part p)
{
	static const char *const names[] = {
#define TRUST_NAME(id, name, word) name,
		TRUST_PART_LIST(TRUST_NAME)
#undef TRUST_NAME
	};
	return names[p];
}

static const char *part_word(enum trust_part p)
{
	static const char *const words[] = {
#define TRUST_WORD(id, name, word) word,
		TRUST_PART_LIST(TRUST_WORD)
#undef TRUST_WORD
	};
	return words[p];
}

const char *trust_verdict_name(enum trust_verdict v)
{
	static const char *const names[TRUST_VERDICT_COUNT] = { "unknown", "partial", "low", "estimate",
		"fair", "good" };
	return names[v];
}

/* ---- what executions say ---- */

/* What they say about a layer. */
struct layer_doubt {
	bool contradicted, again; /* again: measured again in turn */
	double less_ns;           /* what the fastest execution takes less than the bound */
};

/* Adds the groups of an execution that contradict the bound. Returns whether there are any. */
static bool groups_add(struct layer_doubt *doubts, const struct reality *y, const struct reality **first)
{
	bool any = false;
	for (int i = 0; i < y->group_count; i++) {
		const struct reality_group *g = &y->groups[i];
		double less_ns = (g->cost_ns - g->real_ns) / g->layer_count;
		if (!reality_contradicts(y, g))
			continue;
		any = true;
		for (int k = 0; k < g->layer_count; k++) {
			struct layer_doubt *d = &doubts[g->layers[k]];
			if (first && !d->contradicted)
				first[g->layers[k]] = y;
			d->contradicted = true;
			d->again |= g->in_turn;
			d->less_ns = less_ns > d->less_ns ? less_ns : d->less_ns;
		}
	}
	return any;
}

struct contradicted contradicted_of(const struct reality *const *list, int count, int layer_count,
	const struct reality **first)
{
	struct contradicted c = { .known = true, .executions = count };
	struct arena scratch = { 0 };
	struct layer_doubt *doubts = ARENA_ARRAY(&scratch, struct layer_doubt, layer_count + 1);
	double less_ns = 0;
	bool any = false;
	for (int i = 0; i < layer_count && first; i++)
		first[i] = NULL;
	for (int i = 0; i < count; i++) {
		const struct reality *y = list[i];
		const char *by = *y->execution->framework ? y->execution->framework : NULL;
		c.able += !y->not_comparable && !y->bound_estimated;
		c.whole += y->contradicted;
		c.unclear += y->unclear;
		if (y->contradicted && y->bound_ns - y->measured_ns > c.ns)
			c.ns = y->bound_ns - y->measured_ns;
		if (!groups_add(doubts, y, first) && !y->contradicted)
			continue;
		c.by = !any || (c.by && by && strcmp(by, c.by) == 0) ? by : NULL;
		any = true;
	}
	for (int i = 0; i < layer_count; i++) {
		c.layers += doubts[i].contradicted;
		c.not_again += doubts[i].contradicted && !doubts[i].again;
		less_ns += doubts[i].less_ns;
	}
	c.ns = less_ns > c.ns ? less_ns : c.ns;
	arena_free(&scratch);
	return c;
}

/* ---- the shares ---- */

/* True if a measurement in the cost is noisy, also one of a layer in a body. */
static bool is_noisy(const struct plan_layer *l, const struct layer_cost *c)
{
	bool noisy = c->noisy;
	for (int i = 0; c->bodies && i < l->body_count; i++)
		for (int k = 0; k < l->bodies[i].layer_count; k++)
			noisy |= is_noisy(&l->bodies[i].layers[k], &c->bodies[i][k]);
	return noisy;
}

static enum trust_part part_of(const struct plan_layer *l, const struct layer_cost *c)
{
	if (c->origin == ORIGIN_ESTIMATED || c->origin == ORIGIN_ROUGH)
		return TRUST_ESTIMATED;
	if (c->mistrusted)
		return TRUST_SUSPECT;
	if (is_noisy(l, c))
		return TRUST_NOISY;
	return c->origin == ORIGIN_PROXY ? TRUST_PROXY : c->origin == ORIGIN_ASSUMED ? TRUST_ASSUMED :
		TRUST_MEASURED;
}

/* Marks the layers that are in a set of branches side by side, each group by its first layer, and adds the
 * sets. Returns their sum. */
static double share_besides(struct trust *t, const struct analysis *a, bool *inside)
{
	double sum = 0;
	for (int i = 0; i < a->beside_count; i++) {
		const struct beside_cost *b = &a->besides[i];
		bool noisy = b->result && b->result->stats.stop == STOP_DISTURBED;
		for (int k = 0; b->used && k < b->layer_count; k++) {
			const struct fusion_group *g = a->layers[b->layers[k]].group;
			inside[g ? g->layers[0] : b->layers[k]] = true;
		}
		t->share[b->mistrusted ? TRUST_SUSPECT : noisy ? TRUST_NOISY : TRUST_MEASURED] +=
			b->used ? b->ns : 0;
		sum += b->used ? b->ns : 0;
	}
	return sum;
}

static void fill_shares(struct trust *t, const struct plan *p, const struct analysis *a)
{
	bool *inside = base_calloc((size_t)a->layer_count + 1, sizeof(bool));
	double sum = share_besides(t, a, inside), costs = sum;
	for (int i = 0; i < a->layer_count; i++) {
		const struct layer_cost *c = &a->layers[i];
		bool counts = c->ns > 0 && !inside[i] && (!scenario_has_path(&a->scenario) || c->critical);
		t->missing += c->origin == ORIGIN_MISSING;
		if (c->origin == ORIGIN_MISSING && c->why && !t->option)
			t->option = strstr(c->why, "-w "); /* of roofline_why */
		t->unsupported += c->origin == ORIGIN_UNSUPPORTED;
		t->open += c->at_least;
		double ns = counts ? cost_weight(c) : 0;
		costs += counts ? c->ns : 0;
		sum += ns;
		t->share[part_of(&p->layers[i], c)] += ns;
	}
	free(inside);
	if (a->total_ns > costs) { /* casts, conversions, the host */
		t->share[a->border_estimated ? TRUST_ESTIMATED : TRUST_MEASURED] += a->total_ns - costs;
		sum += a->total_ns - costs;
	}
	for (int i = 0; i < TRUST_PART_COUNT; i++)
		t->share[i] = a->total_ns > 0 ? t->share[i] / sum : NAN;
}

/* ---- the findings ---- */

/* A reason to trust a total less: its value, the verdicts from its thresholds on, and its text (brief: in
 * fewer words). A value of NaN is no finding. */
struct finding {
	double (*value)(const struct trust *t);
	double fair, bad;           /* from these values on; a value of 0 is never a finding */
	enum trust_verdict verdict; /* from `bad` on; between both FAIR */
	enum trust_next next;
	void (*write)(const struct trust *t, bool brief, struct str *out);
	unsigned parts;             /* of the total that its text names */
};

#define BIT(part) (1U << TRUST_##part)
#define HALF 0.5
#define WIDE 0.05

static double gaps(const struct trust *t)
{
	return t->missing + t->unsupported + t->open + t->border_missing;
}

/* "2 layers not measured, 1 unsupported" */
static void add_layers(struct str *out, int n, const char *what)
{
	if (n)
		str_addf(out, "%s%d%s %s", out->n ? ", " : "", n,
			out->n ? "" : n == 1 ? " layer" : " layers", what);
}

static void gaps_write(const struct trust *t, bool brief, struct str *out)
{
	int without = t->missing + t->unsupported;
	if (t->counted && without)
		str_puts(out, "layers are missing");
	else if (brief && without)
		str_addf(out, "%d missing", without);
	else {
		add_layers(out, t->missing, t->measurable ? "not measured" : "without a time");
		add_layers(out, t->unsupported, "unsupported");
		add_layers(out, t->open, "with an unknown loop or branch");
	}
	if (!out->n)
		str_puts(out, "casts or conversions not measured");
	if (t->option && !t->measurable)
		str_addf(out, " (%s)", t->option);
}

static double contradicted_share(const struct trust *t)
{
	const struct contradicted *c = &t->against;
	return !c->layers && !c->whole ? 0 : c->whole ? 1 : t->total_ns > 0 ? c->ns / t->total_ns : 0;
}

static void contradicted_write(const struct trust *t, bool brief, struct str *out)
{
	const struct contradicted *c = &t->against;
	char time[STR_QUANTITY];
	if (brief && c->whole)
		str_puts(out, "contradicted");
	else if (brief)
		str_addf(out, "%d contradicted", c->layers);
	else {
		str_addf(out, "%s ", c->by ? c->by : c->able == 1 ? "an execution" : "frameworks");
		str_puts(out, "ran ");
		if (c->whole)
			str_puts(out, "the whole model");
		else
			str_addf(out, "%d layer%s", c->layers, c->layers == 1 ? "" : "s");
		str_addf(out, " %s faster", str_duration(time, c->ns));
	}
}

static void add_percent(struct str *out, double share)
{
	str_addf(out, "%.0f%%", 100 * share);
}

#define SHARE_FINDING(id, PART)                                                \
	static double id##_share(const struct trust *t)                        \
	{                                                                      \
		return t->share[TRUST_##PART];                                 \
	}                                                                      \
	static void id##_write(const struct trust *t, bool brief, struct str *out) \
	{                                                                      \
		(void)brief;                                                   \
		add_percent(out, t->share[TRUST_##PART]);                      \
		str_addf(out, " %s", part_word(TRUST_##PART));                 \
	}
SHARE_FINDING(suspect, SUSPECT)
SHARE_FINDING(noisy, NOISY)
SHARE_FINDING(proxy, PROXY)
SHARE_FINDING(assumed, ASSUMED)
#undef SHARE_FINDING

static double estimated_share(const struct trust *t)
{
	return t->share[TRUST_ESTIMATED];
}

static void estimated_write(const struct trust *t, bool brief, struct str *out)
{
	char lo[STR_QUANTITY], hi[STR_QUANTITY];
	if (t->share[TRUST_ESTIMATED] > 1 - SHOWN)
		str_puts(out, t->verdict == TRUST_PARTIAL ? "all estimated" : "nothing measured");
	else {
		add_percent(out, t->share[TRUST_ESTIMATED]);
		str_puts(out, " estimated");
	}
	if (brief)
		return;
	if (isnan(t->hi_ns))
		str_puts(out, ", peaks of the device; spread unknown");
	else if (isnan(t->lo_ns))
		str_addf(out, "; likely at most %s", str_duration(hi, t->hi_ns));
	else
		str_addf(out, "; likely %s to %s", str_duration(lo, t->lo_ns), str_duration(hi, t->hi_ns));
}

/* The interval of measurements; an estimate states its own. */
static double wide_interval(const struct trust *t)
{
	return t->share[TRUST_ESTIMATED] >= HALF ? NAN : t->uncertainty;
}

static void wide_write(const struct trust *t, bool brief, struct str *out)
{
	char lo[STR_QUANTITY], hi[STR_QUANTITY];
	if (brief)
		str_puts(out, "wide interval");
	else
		str_addf(out, "between %s and %s%s", str_duration(lo, t->lo_ns), str_duration(hi, t->hi_ns),
			t->loaded ? ": measure at a quieter moment" : "");
}

/* The table of thresholds; benanza(1) has it too. */
static const struct finding findings[] = {
	{ gaps, 0, 0, TRUST_PARTIAL, TRUST_NEXT_BENCH, gaps_write, 0 },
	{ contradicted_share, 0, 0.05, TRUST_LOW, TRUST_NEXT_COMPARE, contradicted_write, 0 },
	{ suspect_share, 0.01, 0.1, TRUST_LOW, TRUST_NEXT_AGAIN, suspect_write, BIT(SUSPECT) },
	{ noisy_share, 0.05, 0.3, TRUST_LOW, TRUST_NEXT_SHAKY, noisy_write, BIT(NOISY) },
	{ estimated_share, 0.05, HALF, TRUST_ESTIMATE, TRUST_NEXT_NONE, estimated_write, BIT(ESTIMATED) },
	{ wide_interval, WIDE, 0.2, TRUST_LOW, TRUST_NEXT_AGAIN, wide_write, 0 },
	{ proxy_share, 0.1, HALF, TRUST_LOW, TRUST_NEXT_NONE, proxy_write, BIT(PROXY) },
	{ assumed_share, 0.1, HALF, TRUST_LOW, TRUST_NEXT_NONE, assumed_write, BIT(ASSUMED) },
};
#define FINDINGS ((int)(sizeof(findings) / sizeof(findings[0])))

static enum trust_verdict finding_verdict(const struct finding *f, const struct trust *t)
{
	double value = f->value(t); /* NaN compares false */
	return !(value > 0) ? TRUST_GOOD : value >= f->bad ? f->verdict : value >= f->fair ? TRUST_FAIR :
		TRUST_GOOD;
}

/* The findings of a verdict, in the order of the table. Returns the number. */
static int findings_of(
	const struct trust *t, enum trust_verdict v, const struct finding *list[FINDINGS])
{
	int count = 0;
	for (int i = 0; i < FINDINGS; i++)
		if (finding_verdict(&findings[i], t) == v)
			list[count++] = &findings[i];
	return count;
}

struct trust trust_of(
	const struct plan *p, const struct analysis *a, const struct contradicted *c, bool measurable)
{
	struct trust t = { .verdict = TRUST_GOOD, .total_ns = a->total_ns, .lo_ns = a->lo_ns,
		.hi_ns = a->hi_ns, .border_missing = isnan(a->border_ns), .measurable = measurable };
	t.uncertainty = a->total_ns > 0 ? (a->hi_ns - a->lo_ns) / 2 / a->total_ns : NAN;
	if (c)
		t.against = *c;
	fill_shares(&t, p, a);
	t.loaded = measurable && t.share[TRUST_NOISY] < WIDE && /* NaN compares false */
		t.uncertainty - a->load_ns / 2 / a->total_ns < WIDE;
	t.border_missing |= !a->complete && !t.missing && !t.unsupported && !t.open;
	for (int i = 0; i < FINDINGS; i++) {
		enum trust_verdict v = finding_verdict(&findings[i], &t);
		t.verdict = v < t.verdict ? v : t.verdict;
	}
	if (isnan(a->total_ns))
		t.verdict = TRUST_UNKNOWN;
	return t;
}

/* ---- the line ---- */

/* The step against a finding, if it is possible here. */
static enum trust_next finding_next(const struct finding *f, const struct trust *t)
{
	bool open = f->next == TRUST_NEXT_BENCH ? t->missing || t->border_missing :
		f->value != wide_interval || !t->loaded;
	return open && (t->measurable || f->next == TRUST_NEXT_COMPARE) ? f->next : TRUST_NEXT_NONE;
}

/* What executions say, unless they contradict the total; returns the step. */
static enum trust_next reality_write(const struct trust *t, struct str *out)
{
	const struct contradicted *c = &t->against;
	bool estimate = t->share[TRUST_ESTIMATED] >= HALF;
	if (!c->known || c->layers || c->whole)
		return TRUST_NEXT_NONE;
	if (c->executions && estimate) {
		str_puts(out, "see the real run");
		return TRUST_NEXT_COMPARE;
	}
	if (c->unclear) {
		str_puts(out, "a real run is faster, within the intervals");
		return TRUST_NEXT_COMPARE;
	}
	if (c->executions) {
		str_puts(out, c->able ? "no real run contradicts it" : "no comparable real run");
		return TRUST_NEXT_NONE;
	}
	if (estimate)
		return TRUST_NEXT_NONE;
	str_puts(out, "no real run yet");
	return t->measurable ? TRUST_NEXT_RUN : TRUST_NEXT_NONE;
}

/* The parts of the total that no finding names: "88% measured, 3% by proxy"; "" for none. */
static void rest_write(const struct trust *t, unsigned named, struct str *out)
{
	if (t->share[TRUST_MEASURED] > 1 - SHOWN)
		str_puts(out, "all measured");
	else
		for (int i = 0; i < TRUST_PART_COUNT; i++)
			if (!(named & (1U << i)) && t->share[i] >= SHOWN) {
				str_puts(out, out->n ? ", " : "");
				add_percent(out, t->share[i]);
				str_addf(out, " %s", part_word((enum trust_part)i));
			}
	if (t->total_ns == 0 && !t->missing && !t->unsupported)
		str_puts(out, "no layer needs time");
}

struct line {
	struct str *out;
	size_t start;     /* of the line in out */
	int columns;
	const char *const *steps;
	int clauses;
	bool step_given;  /* only the step of the first finding that has one is suggested */
	const char *rest; /* before the first share: "rest " if the total is partial */
};

/* Appends a clause with its step if both fit, else the clause alone. shares: it has shares of the total.
 * Returns false if neither fits. */
static bool line_add(struct line *l, const char *clause, bool shares, enum trust_next next)
{
	const char *step = l->step_given || !l->steps ? NULL : l->steps[next];
	const char *rest = shares ? l->rest : "";
	int used = text_columns(l->out->p + l->start) + 2 + text_columns(rest) + text_columns(clause);
	bool with = step && used + 3 + text_columns(step) <= l->columns;
	if (used > l->columns)
		return false;
	str_addf(l->out, "%s%s%s%s%s%s", l->clauses++ ? "; " : ": ", rest, clause, with ? " (" : "",
		with ? step : "", with ? ")" : "");
	l->step_given |= next != TRUST_NEXT_NONE;
	l->rest = shares ? "" : l->rest;
	return true;
}

/* Appends the findings of a verdict; returns the parts of the total that they name. */
static unsigned findings_add(struct line *l, const struct trust *t, enum trust_verdict v)
{
	const struct finding *list[FINDINGS];
	int count = findings_of(t, v, list);
	unsigned named = 0;
	for (int i = 0; i < count; i++) {
		bool done = false;
		for (int brief = 0; brief < 2 && !done; brief++) {
			struct str text = { 0 };
			list[i]->write(t, brief, &text);
			done = line_add(l, text.p, list[i]->parts != 0, finding_next(list[i], t));
			str_free(&text);
		}
		named |= list[i]->parts;
	}
	return named;
}

void trust_describe(const struct trust *t, int columns, const char *const steps[TRUST_NEXT_COUNT],
	struct str *out)
{
	struct line l = { .out = out, .start = out->n, .columns = columns, .steps = steps,
		.rest = t->verdict == TRUST_PARTIAL ? "rest " : "" };
	struct str rest = { 0 }, real = { 0 };
	unsigned named = 0;
	str_puts(out, trust_verdict_name(t->verdict));
	if (t->verdict == TRUST_UNKNOWN) {
		bool open = t->missing || !t->unsupported;
		line_add(&l, open ? "nothing is measured" : "nothing can be measured", false,
			trust_next(t));
		return;
	}
	for (int v = TRUST_PARTIAL; v < TRUST_GOOD; v++)
		named |= findings_add(&l, t, (enum trust_verdict)v);
	enum trust_next next = reality_write(t, &real);
	rest_write(t, named, &rest);
	if (rest.n)
		line_add(&l, rest.p, t->total_ns > 0, TRUST_NEXT_NONE);
	if (real.n)
		line_add(&l, real.p, false, next);
	str_free(&rest);
	str_free(&real);
}

enum trust_next trust_next(const struct trust *t)
{
	const struct finding *list[FINDINGS];
	if (t->verdict == TRUST_UNKNOWN)
		return t->measurable && (t->missing || !t->unsupported) ? TRUST_NEXT_BENCH : TRUST_NEXT_NONE;
	for (int v = TRUST_PARTIAL; v < TRUST_GOOD; v++) {
		int count = findings_of(t, (enum trust_verdict)v, list);
		for (int i = 0; i < count; i++)
			if (finding_next(list[i], t))
				return finding_next(list[i], t);
	}
	struct str real = { 0 };
	enum trust_next next = reality_write(t, &real);
	str_free(&real);
	return next;
}
