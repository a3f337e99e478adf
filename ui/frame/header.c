/* The header: model and device; the bound; the gain of each toggle. */
#include "config.h"

#include "ui/frame/frame.h"
#include "ui/model/real.h"
#include "ui/model/say.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TOGGLES_MAX 16

/* ---- the title ---- */

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return strcmp(path, "-") == 0 ? "standard input" : slash && slash[1] ? slash + 1 : path;
}

/* "EPYC 7B13" out of "AMD EPYC 7B13 64-Core Processor", without trademark signs and filler words. */
static const char *device_brief(struct app *app, const char *model, bool cores)
{
	static const char *const noise[] = { "(R)", "(TM)", "(r)", "(tm)", " CPU", " Processor", "Intel ",
		"AMD ", "NVIDIA " };
	char *s = text_clean(&app->scratch, text_of(model));
	char *at = strstr(s, " @ ");
	if (at)
		*at = '\0';
	for (size_t i = 0; i < sizeof(noise) / sizeof(*noise); i++)
		while ((at = strstr(s, noise[i])))
			memmove(at, at + strlen(noise[i]), strlen(at + strlen(noise[i])) + 1);
	at = strstr(s, "-Core");
	if (at && !cores) {
		char *from = at;
		while (from > s && from[-1] != ' ')
			from--;
		memmove(from > s ? from - 1 : from, at + 5, strlen(at + 5) + 1);
	}
	return s;
}

static const char *joined(struct app *app, const char *a, const char *b)
{
	return !a[0] ? b : !b[0] ? a : arena_printf(&app->scratch, "%s, %s", a, b);
}

#define ALL_PARTS 100

/* Finds the next comma outside parentheses. */
static size_t part_length(const char *s)
{
	size_t n = 0;
	for (int depth = 0; s[n] && (s[n] != ',' || depth > 0); n++)
		depth += s[n] == '(' ? 1 : s[n] == ')' && depth > 0 ? -1 : 0;
	return n;
}

/* The first parts of the stack, without the threads, which the title shows separately. */
static const char *stack_brief(struct app *app, int parts)
{
	const struct session *s = app->session;
	const char *stack = session_device(s)->stack ? app_clean(app, text_of(session_device(s)->stack)) : "",
		   *out = "";
	for (int taken = 0; *stack && taken < parts;) {
		size_t n = part_length(stack), kept = n;
		const char *more = memchr(stack, '(', n);
		/* shorten "oneDNN 2.6.3 (OpenMP, avx2)" to the name */
		if (more && more > stack && parts < ALL_PARTS)
			kept = (size_t)(more - stack) - (more[-1] == ' ');
		const char *part = arena_strndup(&app->scratch, stack, kept);
		if (session_device(s)->threads <= 0 || !strstr(part, " thread")) {
			out = joined(app, out, part);
			taken++;
		}
		stack += n + strspn(stack + n, ", ");
	}
	return out;
}

/* From long to short. */
static const struct {
	bool model, cores, threads;
	int stack;        /* parts of it */
} device_forms[] = {
	{ true, true, true, ALL_PARTS },
	{ true, true, true, 1 },
	{ true, false, true, 1 },
	{ true, false, true, 0 },
	{ false, false, true, 1 },
	{ false, false, true, 0 },
};

#define DEVICE_FORMS ((int)(sizeof(device_forms) / sizeof(*device_forms)))

static const char *device_text(struct app *app, int form)
{
	const struct session *s = app->session;
	const struct device *d = session_device(s);
	const char *threads = d->threads > 0 ? arena_printf(&app->scratch, "%d thread%s", d->threads,
		d->threads == 1 ? "" : "s") : "";
	if (!d->name && !d->model)
		return session_queue(s) ? "starting the runner" : "no device";
	const char *out = !device_forms[form].model ? ""
		: d->model ? device_brief(app, d->model, device_forms[form].cores) : d->name;
	if (device_forms[form].threads)
		out = joined(app, out, threads);
	return joined(app, out, stack_brief(app, device_forms[form].stack));
}

/* The model's own batch: the first dimension of the first input. 0: unknown. */
static int64_t model_batch(const struct plan *p)
{
	for (int i = 0; i < p->value_count; i++)
		if (p->values[i].is_input && p->values[i].shape.rank > 1)
			return p->values[i].shape.dims[0].kind == DIM_KNOWN ? p->values[i].shape.dims[0].value
									    : 0;
	return 0;
}

static void draw_title(struct app *app, struct area line)
{
	const struct session *s = app->session;
	const char *filter = pane_filter_text(app, app_pane(app), line.width / 4);
	const struct view *v = app_pane(app)->view;
	struct text key = keys_shown(v->keys);
	const char *view = arena_printf(&app->scratch, "%s%s%s%.*s%s%c%s", filter, filter[0] ? "  " : "",
		key.n ? "[" : "", (int)key.n, key.p, key.n ? "] " : "", upper(v->name[0]), v->name + 1);
	int view_columns = canvas_columns(view), right = line.width - view_columns - 1;
	const char *name = app_clean(app, text_of(base_name(session_model(s)->path)));
	int x = 1 + canvas_fit_tail(line, 1, 0, line.width / 3, STYLE_BOLD, name);
	const struct plan *plan = session_plan(s);
	if (plan) {
		/* Not the requested batch: an explicit input shape overrides it. */
		int64_t n = plan->batch > 0 ? plan->batch : model_batch(plan);
		const char *batch = n > 0 ? arena_printf(&app->scratch, "batch %lld  ", (long long)n) : "";
		char types[PLAN_TYPES_SIZE];
		x += 2 + canvas_text(line, x + 2, 0, STYLE_NORMAL, arena_printf(&app->scratch, "%s%s", batch,
			plan_types_text(plan, types)));
	}
	canvas_fit(line, right, 0, view_columns, STYLE_HEADER, view);
	spot_add(app, line, right, view_columns, &(struct key_row){ .keys = "Tab",
		.request = REQUEST_NEXT_VIEW, .text = "" });
	int room = right - x - 4;
	for (int form = 0; form < DEVICE_FORMS; form++) {
		const char *device = device_text(app, form);
		if (canvas_columns_on(line, device) > room)
			continue;
		canvas_fit_right(line, x + 2, 0, room, STYLE_DIM, device);
		break;
	}
}

/* ---- the bound ---- */

/* The totals and the casts, from long to short: both totals, the one that is not the bound, none. */
static const char *totals_text(struct app *app, const struct bound_says *b, int form)
{
	char one[STR_QUANTITY], two[STR_QUANTITY], three[STR_QUANTITY];
	const bool is_parallel = session_scenario(app->session)->parallel;
	const char *sequential = arena_printf(&app->scratch, "sequential %s%s",
		is_parallel ? b->other : b->least, str_duration(one, b->sequential_ns));
	const char *parallel = arena_printf(&app->scratch, "parallel %s%s",
		is_parallel ? b->least : b->other, str_duration(two, b->parallel_ns));
	const char *other = is_parallel ? sequential : parallel;
	const char *casts = !(b->casts_ns > 0) ? "" : arena_printf(&app->scratch, " \u00b7 %s %s%s",
		b->conversions ? "conversions" : "casts", b->casts_estimated ? "~" : "",
		str_duration(three, b->casts_ns));
	switch (b->known == KNOWN_NONE ? 4 : form) {
	case 0: return arena_printf(&app->scratch, "%s \u00b7 %s%s", sequential, parallel, casts);
	case 1: return arena_printf(&app->scratch, "%s%s", other, casts);
	case 2: return casts[0] ? casts + 4 : other;
	case 3: return other;
	default: return "";
	}
}

#define TOTALS_FORMS 5

#define REAL_ROW_BELOW 100 /* narrower screens have a row of their own for the real latency, */
#define REAL_ROW_HEIGHT 16  /* unless they are lower than this */

static bool real_has_row(const struct app *app)
{
	return app->stage->canvas.width < REAL_ROW_BELOW && app->stage->canvas.height >= REAL_ROW_HEIGHT &&
		app_reality(app) != NULL;
}

#define TRUST_ROW_HEIGHT 20 /* lower screens have the line only in the view what-if, */
#define TRUST_ROW_TOUR 16   /* but above the box of the tour, which speaks of it */

static bool trust_has_row(const struct app *app)
{
	return app->stage->canvas.height >= (app->frame->tour.on ? TRUST_ROW_TOUR : TRUST_ROW_HEIGHT);
}

bool app_header_has_left(const struct app *app)
{
	return trust_has_row(app) && session_analysis(app->session);
}

static const char *clock_text(struct app *app, double seconds)
{
	if (isnan(seconds))
		return "";
	int s = seconds < 0 ? 0 : seconds > 359999 ? 359999 : (int)lround(seconds);
	return s < 3600 ? arena_printf(&app->scratch, "%d:%02d left", s / 60, s % 60)
			: arena_printf(&app->scratch, "%d:%02d:%02d left", s / 3600, s / 60 % 60, s % 60);
}

/* "load 7.2" where other work runs on the machine, besides the threads that measure. */
static const char *load_text(struct app *app)
{
	const struct device *d = session_device(app->session);
	bool busy = d && app->load > d->threads + 0.5;
	return busy ? arena_printf(&app->scratch, "load %.1f", app->load) : "";
}

const char *app_left_text(struct app *app, const struct queue_status *q)
{
	const char *clock = clock_text(app, q->eta_s), *load = load_text(app);
	return arena_printf(&app->scratch, "%s%s%s", load, *load && *clock ? "  " : "", clock);
}

/* How far the bound can be trusted; while the device measures, the load and the time left. */
static void draw_trust(struct app *app, struct area line)
{
	static const enum style styles[TRUST_VERDICT_COUNT] = { [TRUST_UNKNOWN] = STYLE_DIM,
		[TRUST_PARTIAL] = STYLE_WARN, [TRUST_LOW] = STYLE_BAD, [TRUST_ESTIMATE] = STYLE_WARN,
		[TRUST_FAIR] = STYLE_WARN, [TRUST_GOOD] = STYLE_GOOD };
	enum trust_verdict verdict;
	int x = 1 + canvas_text(line, 1, 0, STYLE_DIM, "trust ");
	struct queue_status q = app_queue_status(app);
	const char *left = q.idle ? "" : app_left_text(app, &q);
	int to = line.width - (*left ? canvas_columns(left) + 2 : 0);
	const char *text = app_trust_text(app, to - x, &verdict);
	canvas_text(line, to + 2, 0, STYLE_NORMAL, left);
	int word = (int)strcspn(text, ":");
	canvas_text(line, x, 0, STYLE_NORMAL, text);
	canvas_text(line, x, 0, styles[verdict], arena_strndup(&app->scratch, text, (size_t)word));
}

/* Returns the longest form, from `form` on, that ends before column `to`. */
static void draw_real(struct app *app, struct area line, int x, int to, int form)
{
	enum style style;
	for (const char *text; form < REAL_FORMS; form++)
		if (x + canvas_columns_on(line, text = app_real_text(app, form, &style)) <= to) {
			canvas_text(line, x, 0, style, text);
			return;
		}
}

/* The texts after the bound, and their forms; `last` is the narrowest of all. */
struct bound_line {
	const char *totals;
	int real, gap;     /* forms */
	bool last;
};

/* Draws them if they fit. */
static bool draw_behind(
	struct app *app, struct area line, int x, const struct bound_says *b, const struct bound_line *f)
{
	char gap[SAY_GAP];
	enum style style;
	int columns = canvas_columns_on(line, f->totals), rest = canvas_columns(say_gap(gap, b, f->gap));
	int real = canvas_columns_on(line, app_real_text(app, f->real, &style));
	int at = x + (columns ? 3 + columns : 0), end = at + (real ? 3 + real : 0);
	int to = line.width - 1 - rest;
	/* the shortest form only if nothing longer fits */
	if ((to < end + 2 && !f->last) || (columns && f->gap == SAY_FORMS - 1))
		return false;
	canvas_text(line, x + 3, 0, STYLE_NORMAL, f->totals);
	if (real)
		draw_real(app, line, at + 3, to - 2, f->real == REAL_ALONE ? 0 : f->real);
	if (to + 1 > end)
		canvas_text(line, to > end ? to : to + 1, 0,
			b->known != KNOWN_ALL || b->noisy || b->suspect ? STYLE_WARN
				: !b->estimated ? STYLE_GOOD
				: b->described ? STYLE_NORMAL : STYLE_WARN,
			gap);
	return true;
}

/* "bound 313 us, estimate " before an estimate, which is no bound; else "bound ". */
static const char *floor_text(struct arena *a, const struct bound_says *b)
{
	char least[STR_QUANTITY];
	return isnan(b->floor_ns) ? "bound " :
		arena_printf(a, "bound %s, estimate ", str_duration(least, b->floor_ns));
}

static void draw_bound(struct app *app, struct area line)
{
	const struct analysis *a = session_analysis(app->session);
	char bound[STR_QUANTITY];
	if (!a) {
		canvas_fit(line, 1, 0, line.width - 1, STYLE_BAD,
			"no plan: these dimensions do not fit the model");
		return;
	}
	struct bound_says b = say_bound(a, app->folded_count);
	b.described = session_described(app->session) != NULL;
	b.failed = app->failed_count;
	b.suspect += app->suspect_count;
	int unbound = app_plan(app) ? app_plan(app)->unbound_count : 0;
	const char *text = b.known == KNOWN_NONE
		? unbound ? arena_printf(&app->scratch, "bound unknown: %s sets %d dimension%s",
				    key_named("dimensions"), unbound, unbound == 1 ? "" : "s")
			: b.missing ? "bound unknown yet" : "bound unknown"
		: arena_printf(&app->scratch, "%s%s%s", floor_text(&app->scratch, &b), b.least,
			  str_duration(bound, b.bound_ns));
	int x = 1 + canvas_text(line, 1, 0, STYLE_BOLD, text), all = TOTALS_FORMS * SAY_FORMS;
	bool shown = app_reality(app) && !real_has_row(app), done = false;
	for (int real = shown ? REAL_ALONE : REAL_FORMS - 1; real < REAL_FORMS && !done; real++)
		for (int i = 0; i < all && !done; i++) {
			struct bound_line f = { totals_text(app, &b, i / SAY_FORMS), real, i % SAY_FORMS,
				real + 1 == REAL_FORMS && i + 1 == all };
			done = draw_behind(app, line, x, &b, &f);
		}
}

/* ---- the toggles ---- */

/* From wide to narrow: the first style in which all toggles fit is used. */
struct toggle_style {
	const char *between, *before_unit;
	int label;        /* most characters of a label; 0: only the key, a capital if on */
	bool last_word;   /* only the label's last word */
	bool common_unit; /* shown once, at the start of the line */
	bool idle_bare;   /* no label for those without an effect */
};

static const struct toggle_style toggle_styles[] = {
	{ "   ", " ", 16, false, false, false },
	{ "  ", " ", 16, false, false, false },
	{ "  ", "", 16, false, false, false },
	{ " ", "", 16, true, false, false },
	{ "  ", "", 16, false, true, false },
	{ " ", "", 16, false, true, false },
	{ " ", "", 16, true, true, false },
	{ "  ", "", 16, true, true, true },
	{ " ", "", 16, true, true, true },
	{ " ", "", 8, true, true, true },
	{ " ", "", 6, true, true, true },
	{ " ", "", 6, true, true, false },
	{ " ", "", 4, true, true, false },
	{ " ", "", 3, true, true, false },
	{ "  ", "", 0, true, true, false },
	{ " ", "", 0, true, true, false },
};

#define TOGGLE_STYLE_COUNT ((int)(sizeof(toggle_styles) / sizeof(*toggle_styles)))

struct toggle_piece {
	const char *key, *label, *gain;
	enum style style;
	int row;          /* of what_if_table */
	bool on, sized;   /* sized: the gain is in the common unit */
};

static const struct {
	const char *name;
	double ns;
} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };

/* The unit shared by the numbers of the line: that of the bound. */
static int unit_of(double ns)
{
	int i = 0;
	while (i < 3 && !(ns >= units[i].ns))
		i++;
	return isnan(ns) ? 1 : i;
}

/* A size without its sign, in its own unit or in the one given (-1: own). */
static const char *size_text(struct app *app, double ns, int unit, const char *before_unit)
{
	char text[STR_QUANTITY];
	if (ns == 0)
		return "0";
	if (unit >= 0) {
		double v = ns / units[unit].ns;
		return v < 0.005 ? "0"
				 : arena_printf(&app->scratch,
					   v >= 100 ? "%.0f"
					   : v >= 1 ? "%.1f"
						    : "%.2f",
					   v);
	}
	str_duration(text, ns);
	char *blank = strchr(text, ' ');
	if (!blank)
		return arena_printf(&app->scratch, "%s", text);
	*blank = '\0';
	return arena_printf(&app->scratch, "%s%s%s", text, before_unit, blank + 1);
}

static void piece_gain(struct app *app, struct toggle_piece *p, const struct toggle_says *t,
	const struct toggle_style *style, int unit)
{
	static const enum style styles[] = { [GAIN_ABSENT] = STYLE_DIM, [GAIN_NEVER] = STYLE_DIM,
		[GAIN_UNKNOWN] = STYLE_WARN, [GAIN_PENDING] = STYLE_DIM, [GAIN_ROUGH] = STYLE_WARN,
		[GAIN_PARTLY] = STYLE_WARN,
		[GAIN_KNOWN] = STYLE_NORMAL };
	p->style = t->gain == GAIN_KNOWN && t->noisy ? STYLE_WARN :
		t->gain == GAIN_KNOWN && t->saves_ns > 0 ? STYLE_GOOD : styles[t->gain];
	p->gain = t->gain == GAIN_ABSENT ? "n/a" : t->gain == GAIN_NEVER ? "-"
		: t->gain == GAIN_PENDING ? "..."
		: arena_printf(&app->scratch, "?%d", t->wanted);
	if (t->gain < GAIN_ROUGH)
		return;
	const char *size =
		size_text(app, fabs(t->saves_ns), style->common_unit ? unit : -1, style->before_unit);
	bool zero = size[0] == '0' && !size[1];
	p->sized = !zero;
	p->gain = arena_printf(&app->scratch, "%s%s%s", t->gain == GAIN_KNOWN ? "" : "~",
		zero ? "" : t->saves_ns > 0 ? "-" : "+", size);
}

/* True if the key does something else in this view. */
static bool is_taken(struct app *app, struct text key)
{
	const struct key_row *row = keys_find(app_pane(app)->view, keys_parse(key));
	return row && row->view;
}

static void piece_make(struct app *app, struct toggle_piece *p, const struct what_if_effect *e,
	const struct toggle_style *style, int unit)
{
	struct toggle_says says = say_toggle(e, app_can_measure(app));
	const char *blank = style->last_word ? strrchr(e->row->label, ' ') : NULL;
	char *label = arena_printf(&app->scratch, "%.*s", style->label, blank ? blank + 1 : e->row->label);
	for (char *c = label; e->on && *c; c++)
		*c = upper(*c);
	int count, number = (int)(e->row - what_if_table(&count));
	struct text keys = keys_of_what_if(number);
	char *key = arena_strndup(&app->scratch, keys.p, keys.n);
	*p = (struct toggle_piece){ .key = label[0] && is_taken(app, keys) ? " " : key, .label = label,
		.on = e->on, .row = number };
	piece_gain(app, p, &says, style, unit);
	bool idle = says.gain == GAIN_ABSENT || says.gain == GAIN_NEVER ||
		(says.gain >= GAIN_ROUGH && !p->sized);
	if (style->idle_bare && idle) {
		p->label = "";
		p->key = key;
	}
	if (!p->label[0] && e->on)
		key[0] = upper(key[0]);
}

struct toggle_line {
	const struct toggle_style *style;
	int count, unit;
	struct toggle_piece pieces[TOGGLES_MAX];
};

/* Hides toggles that few models and devices support and that are not in use, to leave room for the others. */
static bool is_shown(const struct app *app, const struct what_if_effect *e)
{
	if (session_described(app->session) && !e->available)
		return false;
	return e->on || e->row->show == SHOW_ALWAYS ||
		(e->row->show == SHOW_KNOWN && e->available && !e->unmeasured_problems);
}

static void toggles_make(struct app *app, struct toggle_line *t, const struct toggle_style *style)
{
	const struct session *s = app->session;
	double most = session_analysis(s) ? session_analysis(s)->total_ns : NAN;
	t->style = style;
	t->unit = unit_of(most > 0 ? most : NAN);
	t->count = 0;
	int count;
	const struct what_if_effect *effects = session_effects(s, &count);
	for (int i = 0; i < count && t->count < TOGGLES_MAX; i++)
		if (is_shown(app, &effects[i]))
			piece_make(app, &t->pieces[t->count++], &effects[i], style, t->unit);
}

/* The unit at the start of the line, if a number needs it. */
static const char *toggles_unit(struct app *app, const struct toggle_line *t)
{
	bool used = false;
	for (int i = 0; i < t->count; i++)
		used |= t->pieces[i].sized;
	return used && t->style->common_unit ? arena_printf(&app->scratch, "%s: ", units[t->unit].name) : "";
}

static int piece_columns(struct area line, const struct toggle_piece *p)
{
	int label = canvas_columns(p->label), gain = canvas_columns_on(line, p->gain);
	return canvas_columns(p->key) + (label ? 1 + label : 0) + (gain ? 1 + gain : 0);
}

static int toggles_columns(struct app *app, struct area line, const struct toggle_line *t)
{
	int columns = 1 + canvas_columns(toggles_unit(app, t));
	for (int i = 0; i < t->count; i++)
		columns += (i ? canvas_columns(t->style->between) : 0) + piece_columns(line, &t->pieces[i]);
	return columns;
}

/* The narrowest style does not fit either: omits numbers from the end; never cuts one. */
static void toggles_shorten(struct app *app, struct area line, struct toggle_line *t)
{
	static const char *const less[] = { "\u2026", "" };
	for (size_t k = 0; k < sizeof(less) / sizeof(*less); k++)
		for (int i = t->count - 1; i >= 0 && toggles_columns(app, line, t) > line.width; i--) {
			t->pieces[i].gain = less[k];
			t->pieces[i].sized = false;
		}
}

static void draw_toggles(struct app *app, struct area line)
{
	struct toggle_line t;
	for (int i = 0; i < TOGGLE_STYLE_COUNT; i++) {
		toggles_make(app, &t, &toggle_styles[i]);
		if (toggles_columns(app, line, &t) <= line.width)
			break;
	}
	toggles_shorten(app, line, &t);
	int x = 1 + canvas_text(line, 1, 0, STYLE_DIM, toggles_unit(app, &t));
	for (int i = 0; i < t.count; i++) {
		const struct toggle_piece *p = &t.pieces[i];
		bool bare = !p->label[0];
		x += i ? canvas_columns(t.style->between) : 0;
		canvas_text(line, x, 0, bare && p->on ? STYLE_REVERSE : STYLE_ACCENT, p->key);
		int after = x + canvas_columns(p->key) + 1;
		canvas_text(line, after, 0, p->on ? STYLE_REVERSE : STYLE_NORMAL, p->label);
		canvas_text(line, after + (bare ? 0 : 1 + canvas_columns(p->label)), 0, p->style, p->gain);
		spot_add(app, line, x, piece_columns(line, p), &(struct key_row){ .keys = p->key,
			.request = REQUEST_WHAT_IF, .argument = p->row, .text = "" });
		x += piece_columns(line, p);
	}
}

/* ---- the dimensions ---- */

/* True if the title shows this dimension: the batch. */
static bool is_title_dim(const struct plan *p, struct text name)
{
	return text_is(name, "batch") && (p->batch > 0 || model_batch(p) > 0);
}

#define DIM_NAME_COLUMNS 24

/* A very long name leaves room for its value, and for other names. */
static const char *dim_name(struct app *app, struct area line, struct text name)
{
	int most = line.width / 3 > DIM_NAME_COLUMNS ? line.width / 3 : DIM_NAME_COLUMNS;
	return text_cut(&app->scratch, app_clean(app, name), most, true);
}

/* "sequence 64 (remembered), past_sequence 128, total_sequence 129 (sidecar)": a source follows the last
 * dimension that has it. "" if the title shows them all. sources false: values only. Stops once the text is
 * wider than the line, so thousands of symbols cost no more than the visible ones. */
static const char *dims_text(struct app *app, struct area line, bool sources)
{
	const struct plan *p = app_plan(app);
	struct str out = { 0 };
	const char *before = "";
	str_puts(&out, "");
	for (int i = 0; p && i < p->unbound_count && canvas_columns_on(line, out.p) < line.width; i++) {
		str_puts(&out, out.n ? ", " : "");
		str_addf(&out, "%s ?", dim_name(app, line, p->unbound[i]));
	}
	for (int i = 0; p && i < p->binding_count && canvas_columns_on(line, out.p) < line.width; i++) {
		if (is_title_dim(p, p->bindings[i].name))
			continue;
		const char *source = sources ? session_dim_origin(app->session, p->bindings[i].name) : "";
		if (*before && strcmp(before, source) != 0)
			str_addf(&out, " (%s)", before);
		str_puts(&out, out.n ? ", " : "");
		str_addf(&out, "%s %lld", dim_name(app, line, p->bindings[i].name),
			(long long)p->bindings[i].value);
		before = source;
	}
	if (*before)
		str_addf(&out, " (%s)", before);
	const char *text = arena_strndup(&app->scratch, out.p, out.n);
	str_free(&out);
	return text;
}

int app_header_rows(const struct app *app)
{
	const struct plan *p = app_plan(app);
	int shown = p ? p->unbound_count : 0;
	for (int i = 0; p && i < p->binding_count; i++)
		shown += !is_title_dim(p, p->bindings[i].name);
	return 3 + (shown && app->stage->canvas.height >= APP_DIM_ROWS_MIN) + trust_has_row(app) +
		real_has_row(app);
}

static void draw_dims(struct app *app, struct area line)
{
	const char *text = dims_text(app, line, true);
	if (canvas_columns_on(line, text) >= line.width)
		text = dims_text(app, line, false);
	canvas_fit(line, 1, 0, line.width - 1, STYLE_NORMAL, text);
}

void app_draw_header(struct app *app, struct area area)
{
	bool real = real_has_row(app), trust = trust_has_row(app);
	int bound = area.height - 2 - real - trust;
	draw_title(app, canvas_part(area, 0, 0, area.width, 1));
	if (bound > 1)
		draw_dims(app, canvas_part(area, 0, 1, area.width, 1));
	draw_bound(app, canvas_part(area, 0, bound, area.width, 1));
	if (app_header_has_left(app))
		draw_trust(app, canvas_part(area, 0, bound + 1, area.width, 1));
	if (real)
		draw_real(app, canvas_part(area, 0, area.height - 2, area.width, 1), 1, area.width, 0);
	draw_toggles(app, canvas_part(area, 0, area.height - 1, area.width, 1));
}
