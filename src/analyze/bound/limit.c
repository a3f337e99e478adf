/* The longer of both parts of the roofline limits a layer; a calibrated estimate may be limited by what it
 * takes without any work. */
#include "config.h"

#include "analyze/bound/limit.h"

#include "analyze/bound/bound_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *limit_name(enum limit_by by)
{
	static const char *const names[LIMIT_COUNT] = { NULL, "compute", "memory", "overhead" };
	return names[by];
}

static void unknown(
	struct limit *l, const char *what, const char *unit, bool described, const struct peaks *k)
{
	snprintf(l->why, sizeof(l->why), "%s%s peak %s", what, unit,
		described                      ? "unknown" :
		k->noisy || peaks_have_gaps(k) ? "unmeasured: run benanza bench --shaky MODEL on a quiet "
						 "machine" :
						 "unmeasured: run benanza bench MODEL");
}

static void by_compute(struct limit *l, const struct roof_parts *r, double ns)
{
	l->by = LIMIT_COMPUTE;
	l->peak_per_s = r->unit.peak;
	l->share = r->ops_ns / ns;
	l->is_own = r->is_own;
	l->is_estimate |= r->is_own; /* without its transforms */
	snprintf(l->peak, sizeof(l->peak), "%s%s", dtype_name(r->unit.type), r->unit.matrix ? " matrix" : "");
}

static void by_memory(struct limit *l, const struct roof_parts *r, double ns)
{
	l->by = LIMIT_MEMORY;
	l->is_rate = true;
	l->peak_per_s = r->bytes_per_s;
	l->share = r->bytes_ns / ns;
	if (r->level)
		snprintf(l->peak, sizeof(l->peak), "L%d", r->level);
	else
		snprintf(l->peak, sizeof(l->peak), "memory");
}

static void by_overhead(struct limit *l, double overhead, double ns, const char *what)
{
	l->by = LIMIT_OVERHEAD;
	l->share = fmin(1, overhead / ns);
	snprintf(l->peak, sizeof(l->peak), "%s", what);
}

/* The longest part of an estimate limits: what it takes without any work, or one of the two parts by the
 * shares of the peaks that its row reaches. */
static void by_estimate(struct limit *l, const struct roof_parts *r, const struct layer_cost *c)
{
	l->is_estimate = true;
	if (c->overhead_ns >= c->ns - c->overhead_ns)
		by_overhead(l, c->overhead_ns, c->ns, "fixed time");
	else if (c->computes)
		by_compute(l, r, c->ns);
	else
		by_memory(l, r, c->ns);
	if (l->by == LIMIT_COMPUTE && c->row->kind == CALIBRATION_CONV_WINOGRAD)
		l->share = NAN; /* it does fewer multiplications than the layer counts */
}

/* The longer part limits. If one part is unknown, the other proves nothing, except operations that outlast
 * the bytes at the bandwidth of the next slower level. */
static void by_roofline(
	struct limit *l, const struct roof_parts *r, const struct peaks *k, double ns, bool measured)
{
	char level[16] = "memory";
	if (r->unknown_level)
		snprintf(level, sizeof(level), "L%d", r->unknown_level);
	if (r->counts_its_own)
		snprintf(l->why, sizeof(l->why),
			"the algorithm does fewer multiplications than the layer counts (Winograd, FFT)");
	else if (r->unit_unknown)
		snprintf(
			l->why, sizeof(l->why), "the library does not report which units the algorithm uses");
	else if (isnan(r->bytes_ns))
		unknown(l, "memory", "", !measured, k);
	else if (isnan(r->ops_ns))
		unknown(l, dtype_name(r->unit.type), r->unit.matrix ? " matrix" : "", !measured, k);
	else if (r->ops_ns >= r->bytes_ns && r->ops_ns > 0)
		by_compute(l, r, ns);
	else if (r->unknown_level && measured)
		unknown(l, level, "", false, k);
	else if (r->bytes_ns > 0)
		by_memory(l, r, ns);
	else
		snprintf(l->why, sizeof(l->why), "the layer moves no bytes");
}

struct limit limit_of_parsed(const struct layer_cost *c, const struct problem *problem, const struct peaks *k,
	const struct scenario *s, enum cache cache)
{
	static const char *const none[ORIGIN_COUNT] = { [ORIGIN_FREE] = "the layer costs nothing",
		[ORIGIN_FUSED] = "it is part of a fused kernel: see the first layer" };
	struct limit l = { .intensity = NAN, .peak_per_s = NAN, .share = NAN };
	if (c->bodies || none[c->origin]) {
		snprintf(l.why, sizeof(l.why), "%s",
			c->bodies ? "it runs the layers of a subgraph: see these layers" : none[c->origin]);
		return l;
	}
	if (!problem) {
		snprintf(l.why, sizeof(l.why), "the layer has no problem to measure");
		return l;
	}
	struct scenario units = *s;
	if (c->origin == ORIGIN_ESTIMATED) {
		units.matrix = c->matrix;
		units.relaxed = c->relaxed;
	}
	struct roof_parts parts =
		roofline_parts(problem, k, &units, c->result ? c->result->cache : cache, c->result);
	double bytes = problem_bytes(problem);
	l.intensity = bytes > 0 ? problem_flops(problem) / bytes : NAN;
	double ns = c->origin == ORIGIN_MEASURED || c->origin == ORIGIN_PROXY ||
			c->origin == ORIGIN_ROUGH ?
		c->ns : NAN;
	if (!s->amortized && c->result && c->result->enqueue_ns >= ns)
		by_overhead(&l, c->result->enqueue_ns, ns, "enqueueing");
	else if (c->origin == ORIGIN_ESTIMATED && c->row)
		by_estimate(&l, &parts, c);
	else if (ns > 0 && c->overhead_ns > parts.ops_ns && c->overhead_ns > parts.bytes_ns &&
		!parts.counts_its_own && !parts.unit_unknown) /* NaN compares false */
		by_overhead(&l, c->overhead_ns, ns, s->amortized ? "shortest kernel" : "launch");
	else if (k->sm > 0 && c->origin == ORIGIN_MISSING && c->why)
		snprintf(l.why, sizeof(l.why), "%s", c->why);
	else
		by_roofline(&l, &parts, k, ns > 0 ? ns : NAN, k->sm == 0 && c->origin != ORIGIN_ESTIMATED);
	return l;
}

struct limit limit_of(const struct layer_cost *c, const char *problem, const struct peaks *k,
	const struct scenario *s, enum cache cache)
{
	struct problem p;
	bool valid = problem && problem_parse(text_of(problem), &p, NULL) == 0;
	return limit_of_parsed(c, valid ? &p : NULL, k, s, cache);
}

const char *limit_problem(const struct analysis *a, const struct plan *p, int i)
{
	const struct layer_cost *c = &a->layers[i];
	int own = plan_layer_problem_index(p, &p->layers[i], a->scenario.layouts == LAYOUTS_NXC);
	const char *text = own >= 0 ? p->problems[own].text : NULL;
	if (c->group && c->group->layers[0] == i)
		text = a->scenario.layouts == LAYOUTS_NXC && p->nxc ? c->group->text_nxc : c->group->text;
	return c->result ? c->result->problem : text;
}

struct limit limit_of_layer(const struct analysis *a, const struct plan *p, const struct peaks *k, int i)
{
	return limit_of(&a->layers[i], limit_problem(a, p, i), k, &a->scenario, a->cache);
}

struct limit_totals limit_totals_of(const struct analysis *a, const struct plan *p, const struct peaks *k)
{
	struct limit_totals t = { .known_ns = 0 };
	for (int i = 0; i < a->layer_count; i++) {
		double ns = a->layers[i].ns;
		if (!(ns > 0))
			continue;
		enum limit_by by = limit_of_layer(a, p, k, i).by;
		t.ns[by] += ns;
		t.layers[by]++;
		t.known_ns += by == LIMIT_UNKNOWN ? 0 : ns;
		t.all_ns += ns;
	}
	return t;
}

bool limit_is_over(const struct limit *l)
{
	return l->share >= 1.005;
}

void limit_describe(const struct limit *l, struct str *out)
{
	const char *name = limit_name(l->by);
	str_puts(out, name ? name : "-");
	if (!isnan(l->share))
		str_addf(out, " %s%.*f%%%s", l->is_estimate ? "~" : "", l->share < 0.1 ? 1 : 0,
			100 * l->share, limit_is_over(l) ? "?" : "");
	if (name && l->peak[0] && strcmp(l->peak, name) != 0)
		str_addf(out, " (%s)", l->peak);
}
