#include "config.h"

#include "ui/views/view.h"

#include <stdlib.h>
#include <string.h>

/* The findings of benanza doctor: first what distorts measurements, then what is unknown, then the rest. The
 * load is computed from two readings, the second half a second after the view was opened; Enter refreshes. */
struct doctor_line {
	const char *text;
	enum style style;
	bool heading;
};

struct doctor_page {
	struct doctor *doctor;
	struct arena arena;
	struct doctor_line *lines;
	int count, capacity, width;
	bool looked;
};

#define TEXT_AT 3

static void add(struct doctor_page *p, const char *text, enum style style)
{
	VEC_GROW(p->lines, p->count, p->capacity);
	p->lines[p->count++] = (struct doctor_line){ text, style, false };
}

static void add_wrapped(struct doctor_page *p, const char *text, enum style style)
{
	int room = p->width - TEXT_AT > 20 ? p->width - TEXT_AT : 20;
	for (size_t n; *text && text[n = app_break(text, room)];) {
		add(p, arena_strndup(&p->arena, text, n), style);
		text += n;
		text += strspn(text, " ");
	}
	if (*text)
		add(p, arena_strndup(&p->arena, text, strlen(text)), style);
}

static void add_group(struct doctor_page *p, const struct doctor_finding *f, int count,
	enum doctor_outcome outcome)
{
	static const char *const titles[] = { [DOCTOR_OK] = "OK", [DOCTOR_BENDS] = "Distorts measurements",
		[DOCTOR_UNKNOWN] = "Unknown here" };
	static const enum style styles[] = { [DOCTOR_OK] = STYLE_NORMAL, [DOCTOR_BENDS] = STYLE_BAD,
		[DOCTOR_UNKNOWN] = STYLE_WARN };
	int begin = p->count;
	for (int i = 0; i < count; i++) {
		if (f[i].outcome != outcome)
			continue;
		if (p->count == begin) {
			if (begin)
				add(p, "", STYLE_NORMAL);
			add(p, titles[outcome], STYLE_HEADER);
			p->lines[p->count - 1].heading = true;
		}
		add_wrapped(p, arena_printf(&p->arena, "%s%s%s: %s", f[i].check, *f[i].subject ? ", " : "",
			f[i].subject, f[i].what), styles[outcome]);
		if (*f[i].cure)
			add_wrapped(p, arena_printf(&p->arena, "  -> %s", f[i].cure), STYLE_DIM);
	}
}

static void page_make(struct doctor_page *p)
{
	int count;
	const struct doctor_finding *f = doctor_look(p->doctor, &count);
	arena_free(&p->arena);
	p->count = 0;
	add_group(p, f, count, DOCTOR_BENDS);
	add_group(p, f, count, DOCTOR_UNKNOWN);
	add_group(p, f, count, DOCTOR_OK);
}

static void doctor_view_open(struct app *app, void *state)
{
	struct doctor_page *p = state;
	p->doctor = session_doctor(app->session);
}

static void doctor_view_close(struct app *app, void *state)
{
	struct doctor_page *p = state;
	(void)app;
	doctor_close(p->doctor);
	arena_free(&p->arena);
	free(p->lines);
}

static int doctor_view_due_ms(struct app *app, void *state)
{
	const struct doctor_page *p = state;
	(void)app;
	return p->looked ? -1 : doctor_due_ms(p->doctor);
}

static int doctor_view_rows(struct app *app, void *state, int width)
{
	struct doctor_page *p = state;
	(void)app;
	bool due = !p->looked && doctor_due_ms(p->doctor) == 0;
	if (!due && !p->looked) {
		p->count = 0;
		add(p, "measuring the load of this machine for half a second ...", STYLE_DIM);
	} else if (due || p->width != width) {
		p->width = width;
		p->looked = true;
		page_make(p);
	}
	return p->count;
}

static void doctor_view_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	const struct doctor_line *l = &((struct doctor_page *)state)->lines[row];
	int x = l->heading ? 1 : TEXT_AT;
	(void)app;
	(void)above;
	canvas_fit(line, x, 0, line.width - x, l->style, l->text);
}

static const char *doctor_view_row_text(struct app *app, void *state, int row)
{
	(void)app;
	return ((struct doctor_page *)state)->lines[row].text;
}

static bool doctor_view_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct doctor_page *p = state;
	(void)row;
	if (key->request != REQUEST_OPEN)
		return false;
	doctor_close(p->doctor);
	p->doctor = session_doctor(app->session);
	p->looked = false;
	return true;
}

const struct view view_doctor = {
	.name = "doctor",
	.help = "what distorts measurements on this machine, and the fix; {open} refreshes",
	.keys = "6",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct doctor_page),
	.open = doctor_view_open,
	.close = doctor_view_close,
	.rows = doctor_view_rows,
	.draw_row = doctor_view_draw_row,
	.row_text = doctor_view_row_text,
	.request = doctor_view_request,
	.due_ms = doctor_view_due_ms,
	.opens = "refresh",
	.text = true,
	.own_footer = true,
};
