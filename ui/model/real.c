/* Shows the newest real execution of the model beside the bound: in the header, the list and the details. */
#include "config.h"

#include "ui/model/real.h"

#include "ui/model/agent.h"
#include "ui/model/say.h"

#include <math.h>
#include <string.h>

const struct reality *app_reality(const struct app *app)
{
	const struct reality *y = session_reality(app->session);
	return y && !isnan(y->measured_ns) ? y : NULL;
}

const struct reality_group *app_real_group(const struct app *app, int layer)
{
	return session_reality_group(app_reality(app), layer);
}

double app_real_ns(const struct app *app, int layer)
{
	const struct reality_group *g = app_real_group(app, layer);
	return g && g->layers[0] == layer ? g->real_ns : NAN;
}

bool app_is_contradicted(const struct app *app, int layer)
{
	return app_reality(app) && session_contradicting(app->session, layer);
}

/* Returns "onnxruntime 1.32.0 CPUExecutionProvider"; later forms have fewer words. */
static const char *framework_text(struct app *app, const struct execution *e, int form)
{
	const char *name = *e->framework ? e->framework : *e->source ? e->source : "execution";
	return arena_printf(&app->scratch, "%s%s%s%s%s", name, *e->version && form < 2 ? " " : "",
		form < 2 ? e->version : "", *e->provider && form < 1 ? " " : "", form < 1 ? e->provider : "");
}

const char *app_real_framework(struct app *app)
{
	const struct reality *y = app_reality(app);
	return y ? framework_text(app, y->execution, 1) : "";
}

const char *app_real_text(struct app *app, int form, enum style *style)
{
	const struct reality *y = app_reality(app);
	char text[SAY_REAL];
	*style = STYLE_NORMAL;
	if (!y || form + 1 == REAL_FORMS)
		return "";
	int layers = session_contradicted(app->session).layers;
	say_real(text, y, app->session->analysis, layers, form > REAL_ALONE);
	*style = y->contradicted ? STYLE_BAD : say_real_noisy(y) || layers ? STYLE_WARN : STYLE_BOLD;
	return form >= REAL_ALONE ? arena_printf(&app->scratch, "%s", text)
				  : arena_printf(&app->scratch, "%s  %s", text,
					    framework_text(app, y->execution, form));
}

/* ---- trust ---- */

const char *app_trust_text(struct app *app, int columns, enum trust_verdict *verdict)
{
	const struct session *s = app->session;
	bool idle = s->queue && queue_status(s->queue).idle;
	const char *const steps[TRUST_NEXT_COUNT] = { [TRUST_NEXT_BENCH] = idle ? "press b" : NULL,
		[TRUST_NEXT_SHAKY] = trust_commands[TRUST_NEXT_SHAKY],
		[TRUST_NEXT_AGAIN] = trust_commands[TRUST_NEXT_AGAIN],
		[TRUST_NEXT_COMPARE] = "filter &contradicted",
		[TRUST_NEXT_RUN] =
			app_agent_can_run(app) ? "press e" : trust_commands[TRUST_NEXT_RUN] };
	struct str line = { 0 };
	*verdict = TRUST_UNKNOWN;
	if (!s->analysis)
		return "";
	struct trust t = session_trust(app->session);
	*verdict = t.verdict;
	trust_describe(&t, columns, steps, &line);
	const char *kept = arena_strndup(&app->scratch, line.p, line.n);
	str_free(&line);
	return kept;
}

/* ---- the details of a layer ---- */

#define INDENT "          "

/* Lists the other layers that the framework runs in the same rows of its profile. */
static void add_fused_with(struct app *app, struct detail *d, const struct reality_group *g)
{
	struct str names = { 0 };
	for (int i = 0; i < g->layer_count; i++)
		if (g->layers[i] != d->layer)
			str_addf(&names, "%s%s", names.n ? ", " : "with ", app_name(app, g->layers[i]));
	if (names.n)
		detail_wrapped(d, STYLE_NORMAL, INDENT, arena_strndup(&d->arena, names.p, names.n));
	str_free(&names);
}

/* Explains why the execution is faster, or cannot be compared. */
static void add_faster(struct detail *d, const struct reality *y, const struct reality_group *g)
{
	if (reality_contradicts(y, g))
		detail_wrapped(d, STYLE_BAD, INDENT,
			arena_printf(&d->arena,
				"contradicted: the framework is faster than the bound, in the same data "
				"type. An algorithm is missing from the measurements, or one of the two "
				"times is wrong%s",
				g->in_turn ? "" : ". Not measured again yet: e measures both again"));
	else if (g->doubt == DOUBT_TURN)
		detail_wrapped(d, STYLE_WARN, INDENT,
			arena_printf(&d->arena, "faster than the bound in one of two runs: %s",
				faster_doubt_text(g->doubt)));
	else if (g->kind == GAP_FASTER && y->not_comparable)
		detail_wrapped(d, STYLE_WARN, INDENT,
			arena_printf(
				&d->arena, "faster than the bound; not comparable: %s", y->not_comparable));
	else if (g->kind == GAP_CACHE)
		detail_wrapped(d, STYLE_DIM, INDENT,
			"faster than the bound: its weights stay in the cache, the bound reads them from "
			"memory");
}

static void add_group(
	struct app *app, struct detail *d, const struct reality *y, const struct reality_group *g)
{
	char text[SAY_INTERVAL], cost[STR_QUANTITY];
	ADD(d, reality_contradicts(y, g) ? STYLE_BAD : STYLE_BOLD, -1, " real     %s  %s",
		say_interval(text, g->real_ns, g->real_lo, g->real_hi, 0),
		framework_text(app, y->execution, 1));
	add_fused_with(app, d, g);
	detail_wrapped(d, STYLE_NORMAL, INDENT,
		arena_printf(&d->arena, "%s%s%s", g->kernel, *g->provider ? ", " : "", g->provider));
	if (g->cost_ns > 0 && g->real_ns > 0 && !(y->prevents & USE_RATIO))
		ADD(d, STYLE_NORMAL, -1, " ratio    %s%s: %s%s in the bound", g->estimated ? "~" : "",
			say_ratio(text, g->cost_ns / g->real_ns), g->estimated ? "~" : "",
			str_duration(cost, g->cost_ns));
	add_faster(d, y, g);
}

/* The newest execution, then the one that contradicts the bound at this layer, if it is another. */
void app_real_details(struct app *app, struct detail *d)
{
	const struct reality *y = app_reality(app);
	const struct reality_group *g = session_reality_group(y, d->layer);
	const struct layer_cost *c = app_cost(app, d->layer);
	if (!y || app_is_body(app, d->layer) || !c)
		return;
	if (g)
		add_group(app, d, y, g);
	else if (c->ns > 0)
		detail_wrapped(d, STYLE_DIM, " ",
			arena_printf(&d->arena, "real     no time of its own in %s's profile",
				app_real_framework(app)));
	const struct reality *other = session_contradicting(app->session, d->layer);
	if (other && other != y)
		add_group(app, d, other, session_reality_group(other, d->layer));
}

/* ---- the model's own figures ---- */

const char *app_real_figure(struct app *app)
{
	const struct reality *y = app_reality(app);
	char text[SAY_INTERVAL], layers[STR_QUANTITY];
	if (!y)
		return "";
	const struct execution *e = y->execution;
	static const char *const from[] = { [MEASURED_NONE] = "",
		[MEASURED_LATENCY] = "",
		[MEASURED_PROFILED] = " (profiled runs less the profiler's predicted cost)",
		[MEASURED_SUM] = " (sum of the layers)" };
	const char *sum = !y->row_count ? "" : arena_printf(&app->scratch, "; %d rows of %s, %.0f%% matched",
			y->row_count, str_duration(layers, y->layers_ns),
			100 * (y->match->total_ns > 0 ? y->match->matched_ns / y->match->total_ns : 0));
	return arena_printf(&app->scratch, " real       %s%s, %s%s%s%s%s",
		say_interval(text, y->measured_ns, y->lo, y->hi, e->stats.n), from[y->from],
		framework_text(app, e, 0), sum, say_real_noisy(y) ? "; noisy" : "",
		y->not_comparable ? "; cannot contradict the bound: " : "",
		y->not_comparable ? y->not_comparable : "");
}
