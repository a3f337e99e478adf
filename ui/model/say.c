/* Texts of totals, in the widths that the header and other lines have. */
#include "config.h"

#include "ui/model/say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct bound_says say_bound(const struct analysis *a, int folded)
{
	const struct coverage *c = &a->coverage;
	return (struct bound_says){
		.known = a->complete ? KNOWN_ALL : isnan(a->total_ns) ? KNOWN_NONE : KNOWN_PARTLY,
		.bound_ns = a->total_ns,
		.floor_ns = a->estimated ? a->bound_ns : NAN,
		.sequential_ns = a->sequential_ns,
		.parallel_ns = a->parallel_ns,
		.casts_ns = a->border_ns > 0 ? a->border_ns : 0,
		.conversions = a->conversions > 0,
		.casts_estimated = a->border_estimated,
		.layers = c->layers - folded,
		.missing = c->missing,
		.open = c->at_least,
		.noisy = c->noisy,
		.suspect = c->mistrusted + a->beside_mistrusted,
		.unsupported = c->unsupported,
		.proxies = c->proxy,
		.estimated = c->estimated,
		.free = c->free - folded + c->fused,
		.least = analysis_mark(a),
		.other = analysis_other_mark(a),
	};
}

struct toggle_says say_toggle(const struct what_if_effect *e, bool measurable)
{
	struct toggle_says t = { .saves_ns = e->saves_ns, .wanted = measurable ? e->unmeasured_problems : 0 };
	bool nothing = isnan(e->saves_ns) || (!e->complete && e->saves_ns == 0);
	t.noisy = e->noisy_problems > 0;
	if (e->available && e->pending)
		t.gain = GAIN_PENDING;
	else if (e->available && e->rough && !nothing)
		t.gain = GAIN_ROUGH;
	else if (!e->available || (e->unmeasured_problems && !measurable))
		t.gain = GAIN_ABSENT;
	else if (t.wanted)
		t.gain = GAIN_UNKNOWN;
	else if (nothing)
		t.gain = GAIN_NEVER;
	else
		t.gain = e->complete && !e->estimated ? GAIN_KNOWN : GAIN_PARTLY;
	return t;
}

/* Layers whose measurement is missing or shaky (noisy, capped or disputed): all that measuring improves. */
static int to_measure(const struct bound_says *b)
{
	return (b->described || b->estimated ? 0 : b->missing - b->failed) + b->noisy;
}

/* Appends "9 of 22 layers to measure, 1 n/a": the counts above 0, after a comma if buf is not empty. */
static void add_counts(char *buf, const struct bound_says *b, int form)
{
	static const char *const first[SAY_FORMS] = { "%d of %d layers %s", "%d/%d %s", "%d/%d %s" };
	const bool planned = b->described || b->estimated;
	const struct {
		int n;
		const char *word;
	} parts[] = {
		{ planned ? b->missing - b->failed : 0, "not estimated" }, { to_measure(b), "to measure" },
		{ b->failed, "failed" }, { b->unsupported, "n/a" }, { b->suspect, "suspect" },
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].n && !*buf)
			snprintf(buf, SAY_GAP, first[form], parts[i].n, b->layers, parts[i].word);
		else if (parts[i].n && form < 2)
			snprintf(buf + strlen(buf), SAY_GAP - strlen(buf), ", %d %s", parts[i].n,
				parts[i].word);
}

static char *say_complete(char *buf, const struct bound_says *b, int form)
{
	buf[0] = '\0';
	if (b->estimated && b->estimated + b->free >= b->layers)
		snprintf(buf, SAY_GAP,
			form == 0 && b->free > 0 ? "all %d layers estimated, %d free"
				: form == 0	 ? "all %d layers estimated"
				: form == 1	 ? "all %d estimated"
						 : "estimated",
			b->estimated, b->free);
	else if (b->estimated)
		snprintf(buf, SAY_GAP,
			form == 0	    ? "%d of %d layers estimated"
				: form == 1 ? "%d/%d estimated"
					    : "estimated",
			b->estimated, b->layers);
	else if (form < 2)
		snprintf(buf, SAY_GAP,
			b->layers == 1	    ? "1 layer known"
				: form == 0 ? "all %d layers known"
					    : "%d layers known",
			b->layers);
	else if (!to_measure(b) && !b->suspect)
		snprintf(buf, SAY_GAP, "all known");
	if (form == 0 && b->proxies && !b->estimated)
		snprintf(buf + strlen(buf), SAY_GAP - strlen(buf), ", %d by proxy", b->proxies);
	add_counts(buf, b, form);
	return buf;
}

char *say_gap(char *buf, const struct bound_says *b, int form)
{
	int unknown = b->missing + b->unsupported;
	if (b->known == KNOWN_ALL)
		return say_complete(buf, b, form);
	buf[0] = '\0';
	if (unknown == 0 && b->open && form == 0)
		snprintf(buf, SAY_GAP, "%d of %d layers: branch/loop count unknown", b->open, b->layers);
	else if (unknown == 0 && b->open)
		snprintf(buf, SAY_GAP, form == 1 ? "branch/loop count unknown" : "branch?");
	else if (unknown == 0)
		snprintf(buf, SAY_GAP, form < 2 ? "casts not measured" : "casts?");
	add_counts(buf, b, form);
	return buf;
}

bool say_real_noisy(const struct reality *y)
{
	return y->from == MEASURED_LATENCY && y->execution->stats.stop == STOP_DISTURBED;
}

char *say_real(char *buf, const struct reality *y, const struct analysis *a, int layers, bool brief)
{
	char real[STR_QUANTITY], ratio[STR_QUANTITY];
	snprintf(buf, SAY_REAL, "real %s%s%s", y->from == MEASURED_LATENCY ? "" : "~",
		str_duration(real, y->measured_ns), say_real_noisy(y) ? " noisy" : "");
	if (a->complete && !isnan(y->ratio) && !brief)
		snprintf(buf + strlen(buf), SAY_REAL - strlen(buf), "  ratio %s%s%s",
			y->bound_estimated || y->from != MEASURED_LATENCY ? "~" : "",
			str_ratio(ratio, y->ratio), y->contradicted ? " contradicted" : "");
	if (layers && !brief)
		snprintf(buf + strlen(buf), SAY_REAL - strlen(buf), "  %d contradicted", layers);
	return buf;
}

/* "71.0..421 us": the unit only once if both have the same. */
static void add_range(char *buf, double lo, double hi)
{
	char from[STR_QUANTITY], to[STR_QUANTITY];
	str_duration(from, lo);
	str_duration(to, hi);
	char *unit = strchr(from, ' '), *other = strchr(to, ' ');
	if (unit && other && strcmp(unit, other) == 0)
		*unit = '\0';
	snprintf(buf + strlen(buf), SAY_INTERVAL - strlen(buf), "  %s..%s", from, to);
}

char *say_interval(char *buf, double ns, double lo, double hi, int64_t n)
{
	str_duration(buf, ns);
	if (n == 1)
		snprintf(buf + strlen(buf), SAY_INTERVAL - strlen(buf), "  1 sample");
	else if (isnan(lo) || isnan(hi) || !(ns > 0))
		return buf;
	else if ((n > 0 && n < 6) ||
		fmax(hi - ns, ns - lo) >= ns) /* plus or minus 100% would reach below 0 */
		add_range(buf, lo, hi);
	else
		snprintf(buf + strlen(buf), SAY_INTERVAL - strlen(buf), " \u00b1%.1f%%",
			100 * fmax(hi - ns, ns - lo) / ns);
	return buf;
}
