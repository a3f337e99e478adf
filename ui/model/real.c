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

const char *app_real_of(struct app *app, const struct execution *e)
{
	return framework_text(app, e, 1);
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
	say_real(text, y, session_analysis(app->session), layers, form > REAL_ALONE);
	*style = y->contradicted ? STYLE_BAD : say_real_noisy(y) || layers ? STYLE_WARN : STYLE_BOLD;
	return form >= REAL_ALONE ? arena_printf(&app->scratch, "%s", text)
				  : arena_printf(&app->scratch, "%s  %s", text,
					    framework_text(app, y->execution, form));
}

/* ---- trust ---- */

const char *app_trust_text(struct app *app, int columns, enum trust_verdict *verdict)
{
	const struct session *s = app->session;
	bool idle = session_queue(s) && queue_status(session_queue(s)).idle;
	const char *bench = arena_printf(&app->scratch, "press %s", key_named("measure")),
		   *run = arena_printf(&app->scratch, "press %s", key_named("agent"));
	const char *const steps[TRUST_NEXT_COUNT] = { [TRUST_NEXT_BENCH] = idle ? bench : NULL,
		[TRUST_NEXT_SHAKY] = bench,
		[TRUST_NEXT_AGAIN] = trust_commands[TRUST_NEXT_AGAIN],
		[TRUST_NEXT_COMPARE] = "filter &contradicted",
		[TRUST_NEXT_RUN] =
			app_agent_can_run(app) ? run : trust_commands[TRUST_NEXT_RUN] };
	struct str line = { 0 };
	*verdict = TRUST_UNKNOWN;
	if (!session_analysis(s) || session_reality_pending(app->session))
		return session_analysis(s) ? "pending" : "";
	struct trust t = session_trust(app->session);
	*verdict = t.verdict;
	t.counted = true;
	trust_describe(&t, columns, steps, &line);
	const char *kept = arena_strndup(&app->scratch, line.p, line.n);
	str_free(&line);
	return kept;
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
