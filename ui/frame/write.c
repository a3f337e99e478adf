/* `:write FILE`: what is shown, in the form that the end of the name says. The screen itself is written here;
 * files made from the analysis come from the session's table of exports. */
#include "config.h"

#include "ui/frame/frame.h"

#include "base/output.h"

#include <stdlib.h>
#include <string.h>

static void print_text(const struct app *app, struct str *out)
{
	canvas_print(&app->stage->canvas, out);
}

static void print_svg(const struct app *app, struct str *out)
{
	canvas_print_svg(&app->stage->canvas, &app->frame->theme, out);
}

static const struct {
	const char *suffix;
	void (*print)(const struct app *app, struct str *out);
} screens[] = { { "txt", print_text }, { "svg", print_svg } };

#define SCREENS ((int)(sizeof(screens) / sizeof(*screens)))

/* Suffix number n of those that it takes; NULL beyond the last. */
static const char *screen_write_suffix(const struct app *app, int n)
{
	const struct session_export *e = session_exports(app->session);
	if (n < SCREENS)
		return screens[n].suffix;
	for (n -= SCREENS; e && e->suffix && n; n--)
		e++;
	return e ? e->suffix : NULL;
}

/* The layers of the model's own graph that the list has, in its order; those of closed scopes are among them,
 * those that the filter hides are not. malloc'd. */
static int *layers_shown(struct app *app, int *count)
{
	struct pane *p = &app->stage->panes[0]; /* its rows are app->listed */
	*count = 0;
	pane_sync(app, p, app_list_width(app));
	int total = app_plan(app)->layer_count;
	int *layers = base_calloc((size_t)p->all_count + 1, sizeof(*layers));
	for (int i = 0; i < p->all_count; i++)
		if (app->listed[p->all[i]] < total)
			layers[(*count)++] = app->listed[p->all[i]];
	return layers;
}

/* Makes the contents. -1: the name has no known end, or there is nothing yet. */
static int contents(struct app *app, const char *suffix, struct str *out)
{
	const struct session_export *e = session_exports(app->session);
	for (int i = 0; i < SCREENS; i++)
		if (strcmp(suffix, screens[i].suffix) == 0) {
			app->note[0] = '\0';
			app_refresh(app);
			app_draw(app);
			screens[i].print(app, out);
			return 0;
		}
	while (e && e->suffix && strcmp(suffix, e->suffix) != 0)
		e++;
	if (!e || !e->suffix)
		return -1;
	char *text;
	size_t n;
	while (session_effects_step(app->session, 1000))
		;
	int count, *layers = layers_shown(app, &count);
	FILE *f = open_memstream(&text, &n);
	if (!f)
		abort();
	e->print(app->session, layers, count, f);
	fclose(f);
	str_add(out, text, n);
	free(text);
	free(layers);
	return 0;
}

#define PATH_SHOWN 200 /* columns of a path in a message: what is said of it has room, too */

static void unknown_suffix(struct app *app, const char *path)
{
	struct str all = { 0 };
	const char *known;
	for (int i = 0; (known = screen_write_suffix(app, i)); i++)
		str_addf(&all, " .%s", known);
	app_note(app, true, "%s: end it in%s", path, all.p);
	str_free(&all);
}

void screen_write(struct app *app, const char *path, bool force)
{
	const char *home = getenv("HOME"), *name = strrchr(path, '/');
	name = name ? name + 1 : path;
	const char *dot = strrchr(name, '.'), *suffix = dot && dot > name ? dot + 1 : "";
	struct str text = { 0 }, whole = { 0 };
	char size[STR_QUANTITY], shown[PROMPT_SIZE]; /* drawing empties the arena */
	snprintf(shown, sizeof(shown), "%s",
		text_cut_path(&app->scratch, app_clean(app, text_of(path)), PATH_SHOWN, ".."));
	str_addf(&whole, "%s%s", path[0] == '~' && path[1] == '/' && home ? home : "",
		path[0] == '~' && path[1] == '/' && home ? path + 1 : path);
	if (!session_analysis(app->session) || (app_plan(app) && app_plan(app)->unbound_count)) {
		app_note(app, true, "%s: nothing to write: set the model's dimensions first", shown);
	} else if (contents(app, suffix, &text)) {
		unknown_suffix(app, shown);
	} else {
		/* a pipe or a terminal could hold up the explorer */
		const struct output_rules rules = { .refusal = force ? NULL : ":write! replaces it",
			.files_only = true,
			.reads = session_reads(app->session, NULL, 0, &app->scratch) };
		struct error why = ERROR_NONE;
		if (output_put(whole.p, &rules, text.p, text.n, &why))
			app_note(app, true, "%s: %s", shown, why.text);
		else
			app_note(app, false, "wrote %s, %s", shown, str_bytes(size, (double)text.n));
	}
	str_free(&text);
	str_free(&whole);
}
