/* The real execution in the details of a layer. */
#include "config.h"

#include "ui/model/real.h"
#include "ui/model/say.h"
#include "ui/views/detail.h"

#define INDENT "          "

/* Lists the other layers that the framework runs in the same rows of its profile. */
static void add_fused_with(struct app *app, struct page *d, const struct reality_group *g)
{
	struct str names = { 0 };
	for (int i = 0; i < g->layer_count; i++)
		if (g->layers[i] != app->layer)
			str_addf(&names, "%s%s", names.n ? ", " : "with ", app_name(app, g->layers[i]));
	if (names.n)
		detail_wrapped(d, STYLE_NORMAL, INDENT, arena_strndup(&d->arena, names.p, names.n));
	str_free(&names);
}

/* Explains why the execution is faster, or cannot be compared. */
static void add_faster(struct page *d, const struct reality *y, const struct reality_group *g)
{
	if (reality_contradicts(y, g))
		detail_wrapped(d, STYLE_BAD, INDENT,
			arena_printf(&d->arena,
				"contradicted: the framework is faster than the bound, in the same data "
				"type. An algorithm is missing from the measurements, or one of the two "
				"times is wrong%s%s%s", g->in_turn ? "" : ". Not measured again yet: ",
				g->in_turn ? "" : key_named("agent"),
				g->in_turn ? "" : " measures both again"));
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
	struct app *app, struct page *d, const struct reality *y, const struct reality_group *g)
{
	char text[SAY_INTERVAL], cost[STR_QUANTITY];
	ADD(d, reality_contradicts(y, g) ? STYLE_BAD : STYLE_BOLD, -1, " real     %s  %s",
		say_interval(text, g->real_ns, g->real_lo, g->real_hi, 0),
		app_real_of(app, y->execution));
	add_fused_with(app, d, g);
	detail_wrapped(d, STYLE_NORMAL, INDENT,
		arena_printf(&d->arena, "%s%s%s", g->kernel, *g->provider ? ", " : "", g->provider));
	if (!y->pending && g->cost_ns > 0 && g->real_ns > 0 && !(y->prevents & USE_RATIO))
		ADD(d, STYLE_NORMAL, -1, " ratio    %s%s: %s%s in the bound", g->estimated ? "~" : "",
			str_ratio(text, g->cost_ns / g->real_ns), g->estimated ? "~" : "",
			str_duration(cost, g->cost_ns));
	if (!y->pending)
		add_faster(d, y, g);
}

/* The newest execution, then the one that contradicts the bound at this layer, if it is another. */
void detail_real(struct app *app, struct page *d)
{
	const struct reality *y = app_reality(app);
	const struct reality_group *g = session_reality_group(y, app->layer);
	const struct layer_cost *c = app_cost(app, app->layer);
	if (!y || app_is_body(app, app->layer) || !c)
		return;
	if (g)
		add_group(app, d, y, g);
	else if (c->ns > 0)
		detail_wrapped(d, STYLE_DIM, " ",
			arena_printf(&d->arena, "real     %s's profile has no separate time for it",
				app_real_framework(app)));
	const struct reality *other = session_contradicting(app->session, app->layer);
	if (other && other != y)
		add_group(app, d, other, session_reality_group(other, app->layer));
}
