/* Another model in place of this one, and completion of its path. */
#include "config.h"

#include "ui/stage/stage.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Forgets what belongs to the previous model: panes, selection, what is open. */
static void stage_reset(struct app *app)
{
	struct stage *s = app->stage;
	for (int i = 0; i < views_count(); i++)
		pane_close(app, &s->panes[i]);
	s->depth = 0;
	s->trail_count = 0;
	s->search[0] = s->standing[0] = '\0';
	app->layer = -1;
	s->asked = false;
	app->lanes_plan = NULL; /* so that app_renew lists the layers again */
	if (app->unfolded)
		memset(app->unfolded, 0, (size_t)app->place_count + 1);
	if (app->picked)
		memset(app->picked, 0, (size_t)app->place_count + 1);
	app->picked_count = 0;
	s->jumps.count = 0;
	memset(s->marks, 0, sizeof(s->marks));
	app->unfold_changes++;
	app->generation++;
	app_refresh(app);
	pane_open(app, &s->panes[0]);
	pane_enter(app);
}

bool app_open_model(struct app *app, const char *path)
{
	struct session *s = app->session;
	struct error err = ERROR_NONE;
	const char *home = getenv("HOME");
	char *full = path[0] == '~' && path[1] == '/' && home ?
		arena_printf(&app->scratch, "%s%s", home, path + 1) : arena_printf(&app->scratch, "%s", path);
	struct stat st;
	if (strcmp(full, "-") == 0)
		full = arena_printf(&app->scratch, "./-");
	if (stat(full, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		app_note(app, true, "%s: not a file", path);
		return false;
	}
	if (app_agent_is_busy(app)) {
		app_note(app, false, "the model is running: open another when it has ended, or %s cancels it",
			key_named("agent"));
		return false;
	}
	if (app->stage->keeps && keep_save(app, &err))
		err = (struct error)ERROR_NONE;
	int64_t batch = session_config(s) && session_config(s)->batch_count ? session_config(s)->batch[0] : 0;
	bool own = !app_plan(app) || app_plan(app)->own_types;
	if (session_replace(s, full, batch, own ? DTYPE_UNKNOWN : session_dtype(s), &err)) {
		app_note(app, true, "%s", err.text);
		return false;
	}
	app_agent_cancel(app); /* a run that waits was for the other model */
	stage_reset(app);
	app->note[0] = '\0';
	if (app->stage->keeps && !app->stage->fresh)
		keep_load(app, !app->stage->what_ifs_given, true);
	prompt_close(app);
	if (!app->note[0] && app_plan(app) && app_plan(app)->unbound_count)
		app_note(app, false, "opened %s; %s sets its dimensions", path, key_named("dimensions"));
	else if (!app->note[0])
		app_note(app, false, "opened %s", path);
	return true;
}

/* ---- the prompt for a path ---- */

bool path_is_model(const char *name)
{
	size_t n = strlen(name);
	return n > 5 && strcmp(name + n - 5, ".onnx") == 0;
}

/* Shortens `common` to what it shares with `name`; at first takes it whole. */
static void share(char *common, size_t size, const char *name, int found)
{
	size_t n = 0;
	if (!found)
		snprintf(common, size, "%s", name);
	while (common[n] && common[n] == name[n])
		n++;
	while (n > 0 && (common[n] & 0xc0) == 0x80) /* not within a character */
		n--;
	common[n] = '\0';
}

/* Directories and models whose name continues the text; the part that all share is added, and the first are
 * listed. */
static void path_complete(struct app *app)
{
	struct prompt *q = &app->stage->prompt;
	const char *slash = strrchr(q->text, '/'), *home = getenv("HOME");
	size_t start = slash ? (size_t)(slash - q->text) + 1 : 0, typed = strlen(q->text + start);
	const char *folder = !start ? "." : strncmp(q->text, "~/", 2) == 0 && home ?
		arena_printf(&app->scratch, "%s%.*s", home, (int)start - 1, q->text + 1) :
		arena_printf(&app->scratch, "%.*s", (int)start, q->text);
	DIR *d = opendir(folder);
	char common[PROMPT_SIZE];
	struct str list = { 0 };
	int found = 0;
	for (struct dirent *e; d && (e = readdir(d));) {
		struct stat st;
		char name[sizeof(e->d_name) + 1];
		if (!text_is_clean(text_of(e->d_name)) ||
			strncmp(e->d_name, q->text + start, typed) != 0 || (e->d_name[0] == '.' && !typed) ||
			stat(arena_printf(&app->scratch, "%s/%s", folder, e->d_name), &st) ||
			!(S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && path_is_model(e->d_name))))
			continue;
		snprintf(name, sizeof(name), "%s%s", e->d_name, S_ISDIR(st.st_mode) ? "/" : "");
		share(common, sizeof(common), name, found++);
		if (list.n < 200)
			str_addf(&list, "%s%s", list.n ? "  " : "", name);
	}
	if (d)
		closedir(d);
	if (found && start + strlen(common) < sizeof(q->text))
		memcpy(q->text + start, common, strlen(common) + 1);
	if (found != 1)
		app_note(app, false, "%s",
			found ? list.p : "no directory or .onnx file begins with this text");
	str_free(&list);
}

static void path_accept(struct app *app)
{
	char path[PROMPT_SIZE];
	snprintf(path, sizeof(path), "%s", app->stage->prompt.text);
	if (!path[0])
		prompt_close(app);
	else
		app_open_model(app, path); /* closes the prompt */
}

static bool path_key(struct app *app, uint32_t key)
{
	if (key != KEY_CODE_TAB)
		return false;
	path_complete(app);
	return true;
}

const struct prompt_use prompt_path = { .label = "open ", .help = "Tab completes, Esc cancels",
	.accept = path_accept, .key = path_key };

void app_ask_path(struct app *app)
{
	prompt_open(app, &prompt_path);
}
