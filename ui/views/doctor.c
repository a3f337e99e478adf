/* The view of what distorts measurements; it looks again by time. */
#include "config.h"

#include "ui/model/page.h"
#include "ui/views/view.h"

/* The findings of benanza doctor: first what distorts measurements, then what is unknown, then the rest. The
 * load is computed from two readings, the second half a second after the view was opened; Enter refreshes. */
struct doctor_page {
	struct page page;
	struct doctor *doctor;
	bool looked;
};

#define TEXT_AT 3

static void add_group(struct page *p, const struct doctor_finding *f, int count,
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
				page_add(p, TEXT_AT, STYLE_NORMAL, "");
			page_add(p, 1, STYLE_HEADER, titles[outcome]);
		}
		page_wrap(p, TEXT_AT, TEXT_AT, styles[outcome], arena_printf(&p->arena, "%s%s%s: %s",
			f[i].check, *f[i].subject ? ", " : "", f[i].subject, f[i].what));
		if (*f[i].cure)
			page_wrap(p, TEXT_AT, TEXT_AT, STYLE_DIM,
				arena_printf(&p->arena, "  -> %s", f[i].cure));
	}
}

static void findings_add(struct doctor_page *p)
{
	int count;
	const struct doctor_finding *f = doctor_look(p->doctor, &count);
	add_group(&p->page, f, count, DOCTOR_BENDS);
	add_group(&p->page, f, count, DOCTOR_UNKNOWN);
	add_group(&p->page, f, count, DOCTOR_OK);
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
	page_free(&p->page);
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
	bool due = !p->looked && doctor_due_ms(p->doctor) == 0;
	if (!due && !p->looked) {
		page_begin(&p->page, app, width);
		page_add(&p->page, TEXT_AT, STYLE_DIM,
			"measuring the load of this machine for half a second ...");
	} else if (due || p->page.width != width) {
		page_begin(&p->page, app, width);
		p->looked = true;
		findings_add(p);
	}
	return p->page.count;
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

static const struct list doctor_list = {
	.rows = doctor_view_rows,
	.draw_row = page_draw_row,
	.row_text = page_row_text,
	.text = true,
};

const struct view view_doctor = {
	.name = "doctor",
	.help = "what distorts measurements on this machine, and the fix; {open} refreshes",
	.keys = "6",
	.group = KEYS_VIEWS,
	.state_size = sizeof(struct doctor_page),
	.open = doctor_view_open,
	.close = doctor_view_close,
	.list = &doctor_list,
	.request = doctor_view_request,
	.due_ms = doctor_view_due_ms,
	.opens = "refresh",
	.own_footer = true,
};
