/* Every view at three sizes, beside tests/screens/views_*.screen, and what must hold at any size.
 *
 *   GENERATE=1: writes those files again; read the difference before committing
 *   ALL_SIZES=1: every size from 1x1 to 300x100 instead of some (20 minutes) */
#include "config.h"

#include "ui/frame/frame.h"

#include "tap.h"
#include "ui_fixture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define FOLDER "/tmp/t_frames.XXXXXX"

static struct app app;
static struct session *session;
static char folder[] = FOLDER; /* of models */

static void begin(const struct fixture_options *o, int columns, int rows, bool ascii)
{
	session = fixture_open(o);
	app_init(&app, session, columns, rows, ascii);
	app.is_still = true;
	app_draw(&app);
}

static void end(void)
{
	app_free(&app);
	fixture_close(session);
}

/* Draws, with what the view computes beside. */
static void draw(void)
{
	const struct pane *p = app_pane(&app);
	app_refresh(&app);
	app_draw(&app);
	while (p->view->work && p->view->work(&app, p->state, 0))
		while (p->view->work(&app, p->state, 100))
			;
	app_draw(&app);
}

/* ---- files of frames ---- */

enum form { TEXT_FORM, STYLES_FORM, DIGEST_FORM };

static const struct fixture_options measured = { .queue = true, .measured = true, .peaks = true, .real = true,
	.scenarios = true, .sweep = true };
static const struct fixture_options nothing = { .queue = true, .nothing = true };

/* A digest is one line for a frame's text in ASCII and one for its styles. */
static const struct sheet {
	const char *name;
	int columns, rows;
	bool ascii;
	enum form form;
	const struct fixture_options *options;
} sheets[] = {
	{ "views_80x24", 80, 24, false, TEXT_FORM, &measured },
	{ "views_80x24_ascii", 80, 24, true, TEXT_FORM, &measured },
	{ "views_80x24_styles", 80, 24, false, STYLES_FORM, &measured },
	{ "views_120x40", 120, 40, false, TEXT_FORM, &measured },
	{ "views_200x60", 200, 60, false, TEXT_FORM, &measured },
	{ "views_120x40_digests", 120, 40, false, DIGEST_FORM, &measured },
	{ "views_200x60_digests", 200, 60, false, DIGEST_FORM, &measured },
	{ "views_unmeasured_80x24", 80, 24, false, TEXT_FORM, &nothing },
};

/* FNV-1a */
static uint64_t digest(const char *s)
{
	uint64_t h = 14695981039346656037u;
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return h;
}

/* The folder has another name in every run. */
static const char *same_folder(struct str *text)
{
	for (char *at = text->p; (at = strstr(at, folder));)
		memcpy(at, FOLDER, sizeof(FOLDER) - 1);
	return text->p;
}

/* Adds the frame of a view in the sheet's form. */
static void frame_add(struct str *out, const struct sheet *c, const struct view *view)
{
	struct str text = { 0 };
	begin(c->options, c->columns, c->rows, c->ascii);
	app_show(&app, view, -1);
	draw();
	if (c->form == DIGEST_FORM) {
		canvas_print_styles(&app.stage->canvas, &text);
		str_addf(out, "%s styles %016" PRIx64 "\n", view->name, digest(text.p));
		str_clear(&text);
		app.stage->canvas.ascii = true;
		app_draw(&app);
		canvas_print(&app.stage->canvas, &text);
		str_addf(out, "%s ascii %016" PRIx64 "\n", view->name, digest(same_folder(&text)));
	} else {
		str_addf(out, "==== %s\n", view->name);
		(c->form == STYLES_FORM ? canvas_print_styles : canvas_print)(&app.stage->canvas, out);
		same_folder(out);
	}
	str_free(&text);
	end();
}

static void write_whole(const char *path, const struct str *text)
{
	FILE *f = fopen(path, "wb");
	if (f) {
		fputs(text->n ? text->p : "", f);
		fclose(f);
	}
}

static void check_sheet(const struct sheet *c)
{
	const char *top = getenv("abs_srcdir") ? getenv("abs_srcdir") : ".";
	char path[512];
	struct str all = { 0 }, one = { 0 };
	snprintf(path, sizeof(path), "%s/tests/screens/%s.screen", top, c->name);
	char *want = getenv("GENERATE") ? NULL : fixture_read(path);
	for (int v = 0; v < views_count(); v++) {
		str_clear(&one);
		frame_add(&one, c, views_at(v));
		str_add(&all, one.p, one.n);
		if (want && !ok(strstr(want, one.p) != NULL, "%s: %s as in the file", c->name,
				    views_at(v)->name))
			printf("# got\n%s", one.p);
	}
	if (getenv("GENERATE"))
		write_whole(path, &all);
	else
		ok(want && strlen(want) == all.n, "%s: nothing else is in %s; GENERATE=1 writes it", c->name,
			path);
	free(want);
	str_free(&all);
	str_free(&one);
}

/* ---- at any size ---- */

static const struct fixture_options models[] = {
	{ .queue = true, .measured = true, .peaks = true, .real = true, .scenarios = true, .sweep = true },
	{ .queue = true, .busy = true },
	{ .measured = true, .control = true },
	{ .queue = true, .unbound = true, .nothing = true },
	{ .described = true, .chain = 300, .scopes = true },
};

static struct {
	int wide, torn, unseen, hidden, mute, bare, many;
	char where[100]; /* of the first thing that is wrong */
} wrong;

static void note_wrong(int *count, bool bad)
{
	const struct canvas *c = &app.stage->canvas;
	if (bad && !wrong.where[0])
		snprintf(wrong.where, sizeof(wrong.where), "%s at %dx%d", app_pane(&app)->view->name,
			c->width, c->height);
	*count += bad;
}

static const struct cell *row_cells(int y)
{
	return app.stage->canvas.cells + (size_t)y * (size_t)app.stage->canvas.width;
}

/* Both halves of each wide character are there; no control character. */
static bool row_is_torn(int y)
{
	const struct cell *cells = row_cells(y);
	int width = app.stage->canvas.width;
	for (int x = 0; x < width; x++)
		if ((cells[x].columns == 2 && (x + 1 == width || cells[x + 1].columns)) ||
			(!cells[x].columns && (x == 0 || cells[x - 1].columns != 2)) ||
			(cells[x].columns && (cells[x].code < ' ' || cells[x].code == 127)))
			return true;
	return false;
}

static int selected_cells(int y)
{
	int count = 0;
	for (int x = 0; x < app.stage->canvas.width; x++)
		count += row_cells(y)[x].selected;
	return count;
}

static void check_cells(void)
{
	static struct str text;
	for (int y = 0; y < app.stage->canvas.height; y++)
		note_wrong(&wrong.torn, row_is_torn(y));
	str_clear(&text);
	canvas_print(&app.stage->canvas, &text);
	for (char *line = text.p, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		*next++ = '\0';
		note_wrong(&wrong.wide, canvas_columns(line) > app.stage->canvas.width);
	}
}

/* The row under the cursor, and no other, is marked. */
static bool went_to_end; /* by G */

/* True if the rows behind the last one that can be selected are read, which may hide it. */
static bool end_is_read(const struct pane *p)
{
	bool last = went_to_end && p->list->passes;
	for (int i = p->cursor + 1; last && i < p->shown_count; i++)
		last = p->list->passes(&app, p->state, p->shown[i]);
	return last && p->top > p->cursor;
}

static void check_selected(void)
{
	const struct pane *p = app_pane(&app);
	int heading = p->list->heading != NULL, first = app_header_rows(&app) + heading;
	if (p->view->draw || p->list->text || !p->shown_count || app.stage->page < 1)
		return;
	int y = first + p->cursor - p->top, others = 0;
	bool inside = p->cursor >= p->top && p->cursor - p->top < app.stage->page;
	for (int k = first; inside && k < first + app.stage->page; k++)
		others += k != y && selected_cells(k) > 0;
	note_wrong(&wrong.unseen, !(inside && selected_cells(y)) && !end_is_read(p));
	note_wrong(&wrong.many, others > 0);
}

static bool row_has(int y, const char *word)
{
	const struct cell *cells = row_cells(y);
	int n = (int)strlen(word);
	for (int x = 0; x + n <= app.stage->canvas.width; x++) {
		int i = 0;
		while (i < n && (cells[x + i].code | 32) == (uint32_t)(word[i] | 32))
			i++;
		if (i == n)
			return true;
	}
	return false;
}

/* From 80x24 up the total and the what-ifs are in sight. */
static void check_header(void)
{
	const struct canvas *c = &app.stage->canvas;
	if (c->width < 80 || c->height < 24)
		return;
	int rows = app_header_rows(&app);
	bool bound = false, trust = false, what_ifs = false;
	for (int y = 1; y < rows; y++) {
		bound |= row_has(y, " bound ");
		trust |= row_has(y, " trust ");
		what_ifs |= row_has(y, "parallel") && row_has(y, "fusion");
	}
	note_wrong(&wrong.bare, !bound || !what_ifs);
	note_wrong(&wrong.mute, !trust);
}

/* The block that stands for the cursor of a text that is typed. */
static bool cursor_is_shown(int from, int to)
{
	for (int y = from; y < to; y++)
		for (int x = 0; x < app.stage->canvas.width; x++)
			if (row_cells(y)[x].style == STYLE_REVERSE && row_cells(y)[x].code == ' ')
				return true;
	return false;
}

static void check_prompts(void)
{
	static const char keys[] = "/:=d";
	int height = app.stage->canvas.height;
	for (const char *k = keys; *k; k++) {
		app_key(&app, (uint32_t)*k);
		for (int i = 0; i < 3 && app.stage->prompt.use; i++)
			app_key(&app, '1');
		app_draw(&app);
		check_cells();
		if (app.stage->prompt.use && !app_is_too_small(&app))
			note_wrong(&wrong.hidden,
				!cursor_is_shown(*k == 'd' ? 0 : height - 1, height));
		prompt_close(&app);
	}
}

static void check_size(int columns, int rows, bool prompts)
{
	canvas_resize(&app.stage->canvas, columns, rows);
	app_draw(&app);
	check_cells();
	if (app_is_too_small(&app))
		return;
	check_selected();
	check_header();
	if (prompts)
		check_prompts();
}

static uint32_t random_below(uint32_t below)
{
	static uint32_t seed = 20;
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

#define SOME_SIZES 40 /* besides those of the table */

static void check_sizes(void)
{
	static const int sizes[][2] = { { 1, 1 }, { 39, 10 }, { 40, 9 }, { 40, 10 }, { 41, 11 }, { 79, 24 },
		{ 80, 23 }, { 80, 24 }, { 81, 25 }, { 120, 40 }, { 300, 10 }, { 40, 100 }, { 300, 100 } };
	int table = (int)(sizeof(sizes) / sizeof(*sizes));
	if (getenv("ALL_SIZES"))
		for (int columns = 1; columns <= 300; columns++)
			for (int rows = 1; rows <= 100; rows++)
				check_size(columns, rows, columns % 10 == 0 && rows % 10 == 0);
	for (int i = 0; i < table + SOME_SIZES; i++) {
		bool listed = i < table;
		check_size(listed ? sizes[i][0] : 1 + (int)random_below(300),
			listed ? sizes[i][1] : 1 + (int)random_below(100), listed);
	}
}

static void check_model(const struct fixture_options *o, int number)
{
	begin(o, 80, 24, number % 2);
	memset(&wrong, 0, sizeof(wrong));
	for (int v = 0; v < views_count(); v++)
		for (int turn = 0; turn < 2; turn++) { /* the first row, the last one */
			app_show(&app, views_at(v), -1);
			draw();
			app_key(&app, turn ? 'G' : 'g');
			went_to_end = turn;
			check_sizes();
			canvas_resize(&app.stage->canvas, 80, 24);
		}
	const char *where = wrong.where;
	is_int(wrong.torn, 0, "model %d: no half of a wide character, no control character %s", number,
		where);
	is_int(wrong.wide, 0, "model %d: no line is wider than the screen %s", number, where);
	is_int(wrong.unseen, 0, "model %d: the selected row is in sight %s", number, where);
	is_int(wrong.many, 0, "model %d: no other row is marked %s", number, where);
	is_int(wrong.hidden, 0, "model %d: the cursor is where one types %s", number, where);
	is_int(wrong.bare, 0, "model %d: total and what-ifs are in sight from 80x24 up %s", number, where);
	is_int(wrong.mute, 0, "model %d: and how far to trust them %s", number, where);
	end();
}

static void models_write(bool there)
{
	static const char *const names[] = { "resnet50.onnx",
		"a_name_that_is_longer_than_its_column.onnx", "yolov8n.onnx" };
	char path[128];
	snprintf(path, sizeof(path), "%s/models", folder);
	if (there)
		mkdir(path, 0700);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/models/%s", folder, names[i]);
		if (there)
			write_whole(path, &(struct str){ 0 });
		else
			unlink(path);
	}
	snprintf(path, sizeof(path), "%s/models", folder);
	if (!there && (rmdir(path) || rmdir(folder)))
		perror(folder);
}

int main(void)
{
	views_register();
	if (!mkdtemp(folder))
		skip_all("no temporary directory");
	setenv("BENANZA_DATA", folder, 1);
	models_write(true);
	for (size_t i = 0; i < sizeof(sheets) / sizeof(*sheets); i++)
		check_sheet(&sheets[i]);
	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++)
		check_model(&models[i], (int)i);
	models_write(false);
	return done_testing();
}
