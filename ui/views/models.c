/* The view of models: those opened last, then the bundled ones. */
#include "config.h"

#include "ui/views/view.h"

#include "base/exe_path.h"
#include "session/recent.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* A row a model: those opened last, then the bundled ones. */
struct model_row {
	const char *path, *where;
	bool in_use;
};

struct models {
	struct arena arena;
	struct model_row *rows;
	int count, capacity;
};

#define NAME_LEAST 30
#define NAME_MOST 70
#define WHERE_COLUMNS 9

static void row_add(struct app *app, struct models *s, const char *path, const char *where)
{
	char *now = realpath(session_model(app->session) ? session_model(app->session)->path : "", NULL);
	char *real = realpath(path, NULL);
	bool twice = false;
	for (int i = 0; i < s->count; i++)
		twice |= strcmp(s->rows[i].path, real ? real : path) == 0;
	if (!twice) {
		VEC_GROW(s->rows, s->count, s->capacity);
		s->rows[s->count++] = (struct model_row){ arena_printf(&s->arena, "%s", real ? real : path),
			where, now && real && strcmp(now, real) == 0 };
	}
	free(now);
	free(real);
}

static int path_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_bundled(struct app *app, struct models *s)
{
	const char *folder = exe_data_path(&s->arena, "models"), *paths[64];
	DIR *d = folder ? opendir(folder) : NULL;
	int count = 0;
	for (struct dirent *e; d && count < 64 && (e = readdir(d));) {
		size_t n = strlen(e->d_name);
		if (n > 5 && strcmp(e->d_name + n - 5, ".onnx") == 0)
			paths[count++] = arena_printf(&s->arena, "%s/%s", folder, e->d_name);
	}
	if (d)
		closedir(d);
	qsort(paths, (size_t)count, sizeof(*paths), path_compare);
	for (int i = 0; i < count; i++)
		row_add(app, s, paths[i], "bundled");
}

static void models_open(struct app *app, void *state)
{
	struct models *s = state;
	struct recent *list;
	int count = recent_list(&s->arena, &list);
	for (int i = 0; i < count; i++)
		row_add(app, s, list[i].path, "recent");
	add_bundled(app, s);
}

static void models_close(struct app *app, void *state)
{
	struct models *s = state;
	(void)app;
	arena_free(&s->arena);
	free(s->rows);
}

static int models_rows(struct app *app, void *state, int width)
{
	(void)app;
	(void)width;
	return ((struct models *)state)->count;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Columns of the names, with a blank: what the longest needs, at most half of a wide screen. */
static int name_columns(struct app *app, const struct models *s, int width)
{
	int most = width / 2 < NAME_LEAST ? NAME_LEAST : width / 2 > NAME_MOST ? NAME_MOST : width / 2;
	int columns = NAME_LEAST;
	for (int i = 0; i < s->count; i++) {
		int n = 2 + canvas_columns(app_clean(app, text_of(name_of(s->rows[i].path))));
		columns = n > columns ? n : columns;
	}
	return columns < most ? columns : most;
}

static void models_heading(struct app *app, void *state, struct area line)
{
	int name = name_columns(app, state, line.width);
	canvas_fit(line, 2, 0, name, STYLE_DIM, "model");
	canvas_fit(line, 2 + name, 0, WHERE_COLUMNS, STYLE_DIM, "list");
	canvas_fit(line, 2 + name + WHERE_COLUMNS, 0, line.width, STYLE_DIM, "folder");
}

static void models_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct model_row *r = &((struct models *)state)->rows[row];
	const char *name = name_of(r->path);
	int columns = name_columns(app, state, line.width), x = 2 + columns;
	(void)above;
	canvas_fit(line, 2, 0, columns - 1, r->in_use ? STYLE_BOLD : STYLE_NORMAL,
		app_clean(app, text_of(name)));
	canvas_fit(line, x, 0, WHERE_COLUMNS - 1, STYLE_NORMAL, r->in_use ? "in use" : r->where);
	x += WHERE_COLUMNS;
	size_t n = (size_t)(name - r->path);
	canvas_fit(line, x, 0, line.width - x, STYLE_DIM,
		text_cut_path(&app->scratch, app_clean(app, (struct text){ r->path, n > 1 ? n - 1 : n }),
			line.width - x, canvas_mark(line)));
}

static const char *models_row_text(struct app *app, void *state, int row)
{
	const struct model_row *r = &((struct models *)state)->rows[row];
	return arena_printf(&app->scratch, "%s %s", app_clean(app, text_of(r->path)),
		r->in_use ? "in use" : r->where);
}

static bool models_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct models *s = state;
	if (key->request == REQUEST_OWN) {
		app_ask_path(app);
		return true;
	}
	if (key->request != REQUEST_OPEN || row < 0)
		return false;
	if (s->rows[row].in_use)
		app_show(app, views_at(0), -1);
	else /* closes this view if it can be opened */
		app_open_model(app, arena_printf(&app->scratch, "%s", s->rows[row].path));
	return true;
}

static const struct key_row models_keys[] = {
	{ "o", REQUEST_OWN, 1, KEYS_VIEWS, "type the path of a model; Tab completes",
		.name = "path" }, { 0 } };

static const struct list models_list = {
	.rows = models_rows,
	.heading = models_heading,
	.draw_row = models_draw_row,
	.row_text = models_row_text,
};

const struct view view_models = {
	.name = "models",
	.help = "the models opened last and the bundled ones; {open} opens the selected one",
	.keys = "O",
	.group = KEYS_VIEWS,
	.own = models_keys,
	.state_size = sizeof(struct models),
	.open = models_open,
	.close = models_close,
	.list = &models_list,
	.request = models_request,
	.opens = "open",
	.passing = true,
	.own_footer = true,
};
