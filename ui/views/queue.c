/* The jobs of the queue, what they gave, and the lines of the log beneath. A row is a job, by its number. */
#include "config.h"

#include "ui/model/page.h"
#include "ui/views/view.h"

#include "base/hash.h"
#include "base/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct queue_view {
	bool made;
	uint64_t version;     /* queue_version of the ranks */
	int count, *rank;     /* per job: its place among the rows */
	const struct plan_layer *layers; /* of the plan that `layer_of` is of */
	int group_count;
	struct hash layer_of; /* per problem: its first layer */
};

#define STATE_AT 1
#define STATE_COLUMNS 8
#define NAME_AT (STATE_AT + STATE_COLUMNS + 1)
#define NAME_LEAST 12
#define NAME_MOST 28
#define TIME_COLUMNS 8
#define RESULT_COLUMNS 10
#define FOOT_MOST 9
#define FOOT_BELOW 9 /* rows that a lower area keeps for jobs */
#define COUNTS_LEAST 4 /* rows of an area that has the counts of jobs beneath */

static const struct queue *queue_of(const struct app *app)
{
	return session_queue(app->session);
}

/* ---- the layer of a problem ---- */

static void layer_put(struct queue_view *s, const char *text, int layer)
{
	int64_t *at = text ? hash_at(&s->layer_of, text_of(text)) : NULL;
	if (at && *at < 0)
		*at = layer;
}

static void layers_renew(struct app *app, struct queue_view *s)
{
	const struct plan *p = app_plan(app);
	const struct fusion *f = p ? session_fusion(app->session) : NULL;
	if (s->layers == (p ? p->layers : NULL) && s->group_count == (f ? f->group_count : 0))
		return;
	hash_free(&s->layer_of);
	s->layer_of = (struct hash){ 0 };
	s->layers = p ? p->layers : NULL;
	s->group_count = f ? f->group_count : 0;
	for (int i = 0; p && i < plan_problem_total(p); i++)
		if (app_first_layer(app, i) >= 0)
			layer_put(s, p->problems[i].text, app_first_layer(app, i));
	for (int i = 0; f && i < f->group_count; i++) {
		layer_put(s, f->groups[i].text, f->groups[i].layers[0]);
		layer_put(s, f->groups[i].text_nxc, f->groups[i].layers[0]);
	}
}

/* -1: no layer of this plan has it. */
static int layer_at(const struct app *app, const struct queue_view *s, const char *problem)
{
	int64_t layer = hash_find(&s->layer_of, text_of(problem));
	return layer < app->place_count ? (int)layer : -1;
}

/* ---- the order of the rows: running, waiting, ended (the last one first), removed ---- */

static int64_t rank_of(const struct queue_job *j, int count)
{
	if (j->state == JOB_RUNNING)
		return 0;
	if (j->state == JOB_PENDING)
		return j->position;
	return j->state == JOB_NONE ? INT64_MAX : count + 1 + (INT64_MAX / 2 - j->ended);
}

struct ranked {
	int64_t rank;
	int job;
};

static int by_rank(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;
	return a->rank != b->rank ? (a->rank < b->rank ? -1 : 1) : a->job - b->job;
}

static void ranks_renew(struct queue_view *s, const struct queue *q)
{
	int count = queue_job_count(q);
	struct ranked *all = base_malloc(((size_t)count + 1) * sizeof(*all));
	for (int i = 0; i < count; i++) {
		struct queue_job j = queue_job(q, i);
		all[i] = (struct ranked){ rank_of(&j, count), i };
	}
	qsort(all, (size_t)count, sizeof(*all), by_rank);
	s->rank = base_realloc(s->rank, ((size_t)count + 1) * sizeof(*s->rank));
	for (int i = 0; i < count; i++)
		s->rank[all[i].job] = i;
	free(all);
	s->count = count;
}

static int queue_rows(struct app *app, void *state, int width)
{
	struct queue_view *s = state;
	const struct queue *q = queue_of(app);
	(void)width;
	layers_renew(app, s);
	if (!q || !queue_job_count(q))
		return 1; /* what to do */
	if (!s->made || s->version != queue_version(q)) {
		ranks_renew(s, q);
		app->generation++;
	}
	s->made = true;
	s->version = queue_version(q);
	return s->count;
}

static int queue_compare(struct app *app, void *state, int order, int a, int b)
{
	const struct queue_view *s = state;
	const struct queue *q = queue_of(app);
	if (!q || a >= s->count || b >= s->count)
		return a - b;
	if (order == 1)
		return app_compare_numbers(queue_job(q, a).seconds, queue_job(q, b).seconds);
	return s->rank[a] - s->rank[b];
}

static bool is_job(const struct app *app, int row)
{
	return queue_of(app) && row >= 0 && row < queue_job_count(queue_of(app));
}

static void queue_close(struct app *app, void *state)
{
	struct queue_view *s = state;
	(void)app;
	free(s->rank);
	hash_free(&s->layer_of);
}

/* ---- drawing ---- */

static int name_columns(int width)
{
	int n = width / 4;
	return n < NAME_LEAST ? NAME_LEAST : n > NAME_MOST ? NAME_MOST : n;
}

static void queue_heading(struct app *app, void *state, struct area line)
{
	int x = NAME_AT, name = name_columns(line.width);
	(void)state;
	if (!queue_of(app) || !queue_job_count(queue_of(app)))
		return;
	canvas_fit(line, STATE_AT, 0, STATE_COLUMNS, STYLE_DIM, "state");
	canvas_fit(line, x, 0, name, STYLE_DIM, "layer");
	x += name + 1;
	canvas_fit_right(line, x, 0, TIME_COLUMNS, STYLE_DIM, "took");
	x += TIME_COLUMNS + 1;
	if (x + RESULT_COLUMNS <= line.width)
		canvas_fit_right(line, x, 0, RESULT_COLUMNS, STYLE_DIM, "result");
	x += RESULT_COLUMNS + 2;
	canvas_fit(line, x, 0, line.width - x, STYLE_DIM, "job, or why it failed");
}

/* How many jobs there are in each state. */
static void counts_draw(struct app *app, struct area line)
{
	char left[STR_QUANTITY];
	struct queue_status now = queue_status(queue_of(app));
	const struct {
		int n;
		const char *word;
		enum style style;
	} parts[] = { { now.running, "running", STYLE_ACCENT }, { now.pending, "waiting", STYLE_NORMAL },
		{ now.quick, "quick", STYLE_ACCENT }, { now.done, "done", STYLE_GOOD },
		{ now.failed, "failed", STYLE_BAD }, { now.unsupported, "n/a", STYLE_WARN } };
	int x = 1;
	canvas_fill(line, 0, 0, line.width, STYLE_DIM, 0x2500);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if (parts[i].n || i < 2)
			x += canvas_fit(line, x, 0, line.width - x,
				parts[i].n ? parts[i].style : STYLE_DIM,
				arena_printf(&app->scratch, " %d %s ", parts[i].n, parts[i].word));
	if (now.eta_s > 0 && !now.idle)
		canvas_fit(line, x, 0, line.width - x, STYLE_NORMAL,
			arena_printf(&app->scratch, " about %s left ", str_duration(left, now.eta_s * 1e9)));
}

static const char *state_words(struct app *app, const struct queue_job *j, enum style *style)
{
	static const struct {
		const char *word;
		enum style style;
	} rows[] = { [JOB_NONE] = { "removed", STYLE_DIM }, [JOB_PENDING] = { "", STYLE_NORMAL },
		[JOB_RUNNING] = { "running", STYLE_ACCENT }, [JOB_DONE] = { "done", STYLE_GOOD },
		[JOB_FAILED] = { "failed", STYLE_BAD }, [JOB_UNSUPPORTED] = { "n/a", STYLE_WARN } };
	*style = rows[j->state].style;
	return j->state == JOB_PENDING ? arena_printf(&app->scratch, "queue %d", j->position)
				       : rows[j->state].word;
}

/* The measured time; "" without one. */
static const char *result_text(struct app *app, const struct queue_job *j)
{
	const struct result *rough = strcmp(j->kind, JOB_QUICK) == 0
		? results_rough(session_results(app->session), j->payload)
		: NULL;
	const struct result *r = rough ? rough : app_pick(app, j->payload);
	if (j->state != JOB_DONE || !r || isnan(stats_cost(&r->stats)))
		return "";
	return app_duration(app, stats_cost(&r->stats), rough);
}

/* What the job is for: a layer, or "peak", "conversion", "other scenario" (app_needed_for). */
static const char *name_of(struct app *app, const struct queue_view *s, const struct queue_job *j)
{
	int layer = layer_at(app, s, j->payload);
	const char *what = layer < 0 ? app_needed_for(app, j->payload) : "";
	return layer >= 0 ? app_name(app, layer) : *what ? what : "other";
}

/* What is done, why it failed, or the job itself. */
static const char *job_text(struct app *app, const struct queue_job *j)
{
	const char *quick = strcmp(j->kind, JOB_PROBLEM) == 0 ? "" : j->kind;
	const char *what = *j->what ? app_clean(app, text_of(j->what)) : "";
	return arena_printf(&app->scratch, "%s%s%s%s%s", what, *what ? "  " : "", quick, *quick ? " " : "",
		app_clean(app, text_of(j->payload)));
}

static const char *nothing_text(struct app *app)
{
	const struct session *s = app->session;
	const char *why = session_described(s) ? "a described device measures nothing"
		: app_is_recorded(app) ? "a recorded device measures nothing"
		: !session_queue(s) ? "no runner answers, so nothing can be measured" : NULL;
	return why ? arena_printf(&app->scratch, "%s: %s selects another device", why, key_named("devices"))
		: arena_printf(&app->scratch,
			"no jobs yet: %s measures missing problems, %s the selected layer",
			key_named("measure"), key_named("measure-layer"));
}

static void queue_draw_row(struct app *app, void *state, int row, int above, struct area line)
{
	struct queue_view *s = state;
	enum style style;
	char text[STR_QUANTITY];
	(void)above;
	if (!is_job(app, row)) {
		canvas_fit(line, 1, 0, line.width - 1, STYLE_DIM, nothing_text(app));
		return;
	}
	struct queue_job j = queue_job(queue_of(app), row);
	int layer = layer_at(app, s, j.payload), x = NAME_AT, name = name_columns(line.width);
	const char *word = state_words(app, &j, &style);
	canvas_fit(line, STATE_AT, 0, STATE_COLUMNS, style, word);
	canvas_fit_tail(line, x, 0, name, layer < 0 ? STYLE_DIM : STYLE_NORMAL,
		name_of(app, s, &j));
	x += name + 1;
	canvas_fit_right(line, x, 0, TIME_COLUMNS, STYLE_DIM,
		isnan(j.seconds) ? "" : str_duration(text, j.seconds * 1e9));
	x += TIME_COLUMNS + 1;
	canvas_fit_right(line, x, 0, RESULT_COLUMNS, STYLE_BOLD, result_text(app, &j));
	x += RESULT_COLUMNS + 2;
	bool bad = j.state == JOB_FAILED || j.state == JOB_UNSUPPORTED;
	canvas_fit(line, x, 0, line.width - x, bad ? style : STYLE_DIM, job_text(app, &j));
}

static const char *queue_row_text(struct app *app, void *state, int row)
{
	const struct queue_view *s = state;
	enum style style;
	if (!is_job(app, row))
		return nothing_text(app);
	struct queue_job j = queue_job(queue_of(app), row);
	return arena_printf(&app->scratch, "%s %s %s", state_words(app, &j, &style), name_of(app, s, &j),
		job_text(app, &j));
}

static struct subject queue_subject(struct app *app, void *state, int row)
{
	const struct queue_view *s = state;
	if (!is_job(app, row))
		return (struct subject){ .layer = -1, .ns = NAN };
	struct queue_job j = queue_job(queue_of(app), row);
	const struct result *r = app_pick(app, j.payload);
	return (struct subject){ .layer = layer_at(app, s, j.payload), .problem = j.payload,
		.is_problem = true, .ns = r ? stats_cost(&r->stats) : NAN, .uses = 1 };
}

/* ---- the log beneath ---- */

/* Below the jobs: how many there are, and the log. */
static int queue_foot(struct app *app, void *state, int height)
{
	(void)state;
	int rows = height - FOOT_BELOW < height / 3 ? height - FOOT_BELOW : height / 3;
	rows = rows < 2 ? 0 : rows > FOOT_MOST ? FOOT_MOST : rows;
	return rows ? rows : height >= COUNTS_LEAST && queue_of(app) && queue_job_count(queue_of(app));
}

/* The last lines of the log, broken at blanks; the first of them without its beginning where it must be. */
static void log_draw(struct app *app, struct area a)
{
	int y = a.height;
	for (uint64_t i = log_count(); i > log_first() && y > 0; i--) {
		const char *line = log_kept(i - 1);
		line = line ? app_clean(app, text_of(line)) : "";
		y -= *line ? page_parts(line, a.width - 2) : 1;
		int at = y;
		for (struct text part; page_part(&line, a.width - 2, &part); at++)
			if (at >= 0)
				canvas_fit(a, 1, at, a.width - 1, STYLE_DIM,
					arena_strndup(&app->scratch, part.p, part.n));
	}
}

static void queue_draw_foot(struct app *app, void *state, struct area a)
{
	(void)state;
	if (a.height < 1)
		return;
	struct area head = canvas_part(a, 0, 0, a.width, 1);
	if (queue_of(app))
		counts_draw(app, head);
	else
		canvas_fill(head, 0, 0, a.width, STYLE_DIM, 0x2500);
	const char *title = arena_printf(&app->scratch, " log (%s all of it) ", key_named("queue.log"));
	int columns = canvas_columns(title);
	if (columns + 1 < a.width / 2 && a.height > 1)
		canvas_text(a, a.width - columns - 1, 0, STYLE_DIM, title);
	if (log_count() == log_first())
		canvas_fit(a, 1, 1, a.width - 1, STYLE_DIM, "nothing is logged yet");
	log_draw(app, canvas_part(a, 0, 1, a.width, a.height - 1));
}

/* ---- keys ---- */

enum { OWN_DROP, OWN_FIRST, OWN_CLEAR, OWN_LOG };

static const struct key_row queue_keys[] = {
	{ "X", REQUEST_OWN, OWN_DROP, KEYS_MEASURE, "remove this job from the queue, or cancel it",
		.hint = "cancel this", .name = "cancel" },
	{ "T", REQUEST_OWN, OWN_FIRST, KEYS_MEASURE,
		"measure this job next; a job that has ended: again", .hint = "first", .name = "put-first" },
	{ "C", REQUEST_OWN, OWN_CLEAR, KEYS_MEASURE,
		"remove all waiting jobs; the running one continues ({stop} stops it too)", .hint = "clear",
		.name = "clear" },
	{ ".", REQUEST_OWN, OWN_LOG, KEYS_VIEWS, "the whole log (view messages)", .name = "log" },
	{ 0 }
};

/* A job at the head, or queued again there. */
static void job_first(struct app *app, struct queue *q, int row)
{
	struct queue_job j = queue_job(q, row);
	bool again = j.state != JOB_PENDING && j.state != JOB_RUNNING &&
		strcmp(j.kind, JOB_PROBLEM) == 0 && session_measure_problem(app->session, j.payload);
	if (again)
		app_note(app, false, "queued again, as the next job");
	else if (queue_put_first(q, row))
		app_note(app, false, "it is the next job");
	else
		app_note(app, false, j.state == JOB_RUNNING ? "it is being measured"
				: j.state == JOB_PENDING ? "it is the next job already"
							 : "it cannot be measured again by itself");
}

static bool job_request(struct app *app, int request, int row)
{
	struct queue *q = session_queue(app->session);
	if (request == OWN_CLEAR) {
		int count = session_queue_clear(app->session);
		app_note(app, false, count ? "%d job%s removed; the running one continues" : "no job waits",
			count, count == 1 ? "" : "s");
	} else if (!is_job(app, row)) {
		return false;
	} else if (request == OWN_FIRST) {
		job_first(app, q, row);
	} else {
		bool running = queue_job(q, row).state == JOB_RUNNING;
		app_note(app, false, !queue_drop(q, row) ? "it has ended already, or is being cancelled"
				: running ? "cancelled; its results so far are kept" : "removed");
	}
	app->generation++;
	return true;
}

static bool queue_request(struct app *app, void *state, const struct key_row *key, int row)
{
	struct queue_view *s = state;
	if (key->request == REQUEST_OWN && key->argument == OWN_LOG) {
		app_show(app, &view_messages, -1);
		return true;
	}
	if (key->request == REQUEST_OWN)
		return job_request(app, key->argument, row);
	int layer = is_job(app, row) ? layer_at(app, s, queue_job(queue_of(app), row).payload) : -1;
	if (key->request != REQUEST_OPEN || layer < 0)
		return false;
	app_show(app, views_details(), layer);
	return true;
}

static bool queue_can(const struct app *app, const void *state, const struct key_row *key, int row)
{
	const struct queue *q = queue_of(app);
	if (!is_job(app, row))
		return key->request == REQUEST_OWN && key->argument == OWN_LOG;
	struct queue_job j = queue_job(q, row);
	bool waits = j.state == JOB_PENDING;
	if (key->request != REQUEST_OWN)
		return layer_at(app, state, j.payload) >= 0;
	return key->argument == OWN_DROP ? waits || j.state == JOB_RUNNING
		: key->argument == OWN_FIRST ? j.state != JOB_RUNNING && (j.position != 1 || !waits)
		: key->argument == OWN_CLEAR ? queue_status(q).pending > 0 : true;
}

static void queue_select(struct app *app, void *state, int row)
{
	const struct queue_view *s = state;
	int layer = is_job(app, row) ? layer_at(app, s, queue_job(queue_of(app), row).payload) : -1;
	app->layer = layer >= 0 ? layer : app->layer;
}

static const char *const queue_orders[] = { "queue", "time", NULL };

static const struct list queue_list = {
	.rows = queue_rows,
	.heading = queue_heading,
	.draw_row = queue_draw_row,
	.row_text = queue_row_text,
	.subject = queue_subject,
	.orders = queue_orders,
	.ranked = true,
	.compare = queue_compare,
	.select = queue_select,
	.foot = queue_foot,
	.draw_foot = queue_draw_foot,
};

const struct view view_queue = {
	.name = "queue",
	.help = "jobs that run, wait or have ended, with time and result; below, the log of this session",
	.keys = "gq",
	.group = KEYS_MEASURE,
	.own = queue_keys,
	.state_size = sizeof(struct queue_view),
	.close = queue_close,
	.list = &queue_list,
	.request = queue_request,
	.can = queue_can,
};
