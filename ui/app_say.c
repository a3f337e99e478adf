#include "config.h"

#include "ui/app_say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct bound_says say_bound(const struct analysis *a, int folded)
{
	const struct coverage *c = &a->coverage;
	int open = 0;
	for (int i = 0; i < a->layer_count; i++)
		open += a->layers[i].at_least;
	return (struct bound_says){
		.known = a->complete ? KNOWN_ALL : isnan(a->bound_ns) ? KNOWN_NONE : KNOWN_PARTLY,
		.bound_ns = a->bound_ns,
		.sequential_ns = a->sequential_ns,
		.parallel_ns = a->parallel_ns,
		.casts_ns = a->border_ns > 0 ? a->border_ns : 0,
		.layers = c->layers - folded,
		.missing = c->missing,
		.open = open,
		.unsupported = c->unsupported,
		.proxies = c->proxy,
		.estimated = c->estimated,
		.least = a->complete ? (a->estimated ? "~" : "") : a->estimated ? "partial ~" : "at least ",
	};
}

struct toggle_says say_toggle(const struct what_if_effect *e)
{
	struct toggle_says t = { .saves_ns = e->saves_ns, .wanted = e->unmeasured_problems };
	bool nothing = isnan(e->saves_ns) || (!e->complete && e->saves_ns == 0);
	if (!e->available)
		t.gain = GAIN_ABSENT;
	else if (nothing || (t.wanted && e->saves_ns == 0))
		t.gain = t.wanted ? GAIN_UNKNOWN : GAIN_NEVER;
	else
		t.gain = e->complete && !e->estimated && !t.wanted ? GAIN_KNOWN : GAIN_PARTLY;
	return t;
}

static char *say_complete(char *buf, const struct bound_says *b, int form)
{
	if (b->estimated)
		snprintf(buf, SAY_GAP, form == 0 ? "%d of %d layers estimated" : form == 1 ? "%d/%d estimated" : "estimated",
			b->estimated, b->layers);
	else if (form == 0 && b->proxies)
		snprintf(buf, SAY_GAP, "all %d layers known, %d by proxy", b->layers, b->proxies);
	else if (form < 2)
		snprintf(buf, SAY_GAP, "all %d layers known", b->layers);
	else
		snprintf(buf, SAY_GAP, "all known");
	return buf;
}

char *say_gap(char *buf, const struct bound_says *b, int form)
{
	int unknown = b->missing + b->unsupported;
	const char *word = b->estimated || b->described ? (form < 2 ? "not estimated" : "missing")
		: !b->unsupported ? (form < 2 ? "not measured" : "missing")
		: !b->missing              ? "unsupported"
					   : "unknown";
	if (b->known == KNOWN_ALL)
		return say_complete(buf, b, form);
	if (unknown == 0 && b->open && form == 0)
		snprintf(buf, SAY_GAP, "%d of %d layers: branch or rounds not known", b->open, b->layers);
	else if (unknown == 0 && b->open)
		snprintf(buf, SAY_GAP, form == 1 ? "branch or rounds not known" : "branch?");
	else if (unknown == 0)
		snprintf(buf, SAY_GAP, form < 2 ? "casts not measured" : "casts?");
	else if (form == 0 && b->missing && b->unsupported)
		snprintf(buf, SAY_GAP, "%d not measured, %d unsupported of %d layers", b->missing,
			b->unsupported, b->layers);
	else if (form == 1 && b->missing && b->unsupported)
		snprintf(buf, SAY_GAP, "%d missing, %d unsupported", b->missing, b->unsupported);
	else
		snprintf(buf, SAY_GAP, form < 2 ? "%d of %d layers %s" : "%d/%d %s", unknown, b->layers, word);
	return buf;
}

/* "71.0..421 us": the unit once where both have it. */
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
	else if ((n > 0 && n < 6) || fmax(hi - ns, ns - lo) >= ns) /* plus or minus 100% would reach below 0 */
		add_range(buf, lo, hi);
	else
		snprintf(buf + strlen(buf), SAY_INTERVAL - strlen(buf), " \u00b1%.1f%%",
			100 * fmax(hi - ns, ns - lo) / ns);
	return buf;
}
