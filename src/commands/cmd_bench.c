#include "config.h"

#include "commands/command.h"
#include "commands/report.h"

#include "base/hash.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HELLO_TIMEOUT_MS 20000
#define STEP_MS 200
#define BAR_WIDTH 24

/* What a run adds up to. */
struct tally {
	int problems, already, measured, failed, unsupported;
	double wall_s, saved_by_sharing_s;
	bool interrupted;
};

/* The problems of one model over all its scenarios, and how many layers use each. */
struct wanted {
	struct arena arena;
	struct hash index;
	int count, capacity;
	const char **texts;
	int *uses;
	int uses_capacity, uses_count;
	bool *already;  /* finished before this run */
	double *wall_s; /* of measuring, NaN until done in this run */
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

static double now_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void wanted_add(struct wanted *w, const char *text, int uses)
{
	const char *kept = arena_strndup(&w->arena, text, strlen(text));
	int64_t *at = hash_at(&w->index, text_of(kept));
	if (*at < 0) {
		*at = w->count;
		VEC_GROW(w->texts, w->count, w->capacity);
		VEC_GROW(w->uses, w->uses_count, w->uses_capacity);
		w->texts[w->count++] = kept;
		w->uses[w->uses_count++] = 0;
	}
	w->uses[*at] += uses;
}

static void wanted_free(struct wanted *w)
{
	free(w->texts);
	free(w->uses);
	free(w->already);
	free(w->wall_s);
	hash_free(&w->index);
	arena_free(&w->arena);
}

/* Every problem of the selected plan, fused ones included; a problem no layer uses alone counts its groups. */
static void wanted_plan(struct wanted *w, const struct session_plan *sp)
{
	struct arena a = { 0 };
	int count;
	const char **texts = analyze_problems(&a, sp->plan, sp->fusion, true, &count);
	for (int i = 0; i < count; i++)
		wanted_add(w, texts[i], 0);
	for (int i = 0; i < sp->plan->problem_count; i++)
		wanted_add(w, sp->plan->problems[i].text, sp->plan->problems[i].use_count);
	for (int i = 0; i < sp->fusion->group_count; i++)
		wanted_add(w, sp->fusion->groups[i].text, 1);
	arena_free(&a);
}

static int wanted_gather(struct wanted *w, struct session *s, const struct options *o, struct error *err)
{
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	for (int i = 0; i < batch_count * dtype_count; i++) {
		if (session_select(s, batches[i / dtype_count], dtypes[i % dtype_count], err) ||
			session_check_bound(s, err))
			return -1;
		wanted_plan(w, s->current);
	}
	w->already = base_calloc((size_t)w->count, sizeof(*w->already));
	w->wall_s = base_calloc((size_t)w->count, sizeof(*w->wall_s));
	for (int i = 0; i < w->count; i++)
		w->wall_s[i] = NAN;
	return 0;
}

static void progress_clear(void)
{
	fputs("\r\x1b[K", stderr);
}

static void progress_draw(const struct queue_status *q, bool ascii)
{
	int total = q->pending + q->running + q->done + q->failed + q->unsupported;
	int finished = q->done + q->failed + q->unsupported;
	int filled = total ? BAR_WIDTH * finished / total : 0;
	char eta[32] = "";
	if (!isnan(q->eta_s))
		snprintf(eta, sizeof(eta), "%d:%02d left", (int)q->eta_s / 60, (int)q->eta_s % 60);
	progress_clear();
	fputc('[', stderr);
	for (int i = 0; i < BAR_WIDTH; i++)
		fputs(i < filled ? (ascii ? "#" : "\xe2\x96\x87") : " ", stderr);
	fprintf(stderr, "] %d/%d  %-12s %.30s", finished, total, q->starting ? "starting" : eta,
		q->current ? q->current : "");
	fflush(stderr);
}

/* Notes how long the problem that was running took, once another one (or none) is. */
static void wall_note(struct wanted *w, const struct queue_status *q, int64_t *running, double *since)
{
	int64_t now_running = q->current ? hash_find(&w->index, text_of(q->current)) : -1;
	if (now_running == *running)
		return;
	double now = now_s();
	if (*running >= 0)
		w->wall_s[*running] = now - *since;
	*running = now_running;
	*since = now;
}

static int queue_drain(struct session *s, struct wanted *w, const struct options *o, struct error *err)
{
	bool bar = isatty(STDERR_FILENO) && !o->quiet;
	int64_t running = -1;
	double since = now_s(), drawn = 0;
	int status = 0;
	for (;;) {
		struct queue_status q = queue_status(s->queue);
		wall_note(w, &q, &running, &since);
		if (q.idle)
			break;
		if (bar && now_s() - drawn > 0.5) {
			progress_draw(&q, o->ascii);
			drawn = now_s();
		}
		if (interrupted) {
			queue_cancel(s->queue);
			break;
		}
		if (queue_step(s->queue, STEP_MS, err) < 0) {
			status = -1;
			break;
		}
	}
	if (bar)
		progress_clear();
	return status;
}

static void tally_add(struct tally *t, struct session *s, const struct wanted *w, const struct options *o)
{
	for (int i = 0; i < w->count; i++) {
		enum job_state state = queue_state(s->queue, w->texts[i]);
		t->problems++;
		t->already += w->already[i];
		t->measured += state == JOB_DONE;
		t->failed += state == JOB_FAILED;
		t->unsupported += state == JOB_UNSUPPORTED;
		if (state == JOB_DONE && !isnan(w->wall_s[i]) && w->uses[i] > 1)
			t->saved_by_sharing_s += (w->uses[i] - 1) * w->wall_s[i];
		if (state == JOB_FAILED && !o->quiet)
			fprintf(stderr, "benanza: %s: %s\n", w->texts[i], queue_why(s->queue, w->texts[i]));
	}
}

static int bench_model(struct options *o, int index, struct tally *t, struct error *err)
{
	struct session *s = options_session(o, index, true, err);
	if (!s)
		return EXIT_BAD;
	struct wanted w = { 0 };
	int status = wanted_gather(&w, s, o, err) ? EXIT_BAD : EXIT_DONE;
	if (status == EXIT_DONE && session_connect(s, HELLO_TIMEOUT_MS, err))
		status = EXIT_NO_DEVICE;
	if (status == EXIT_DONE && !s->queue) {
		error_set(err, "%s is only recorded: nothing can be measured on it", s->device.model);
		status = EXIT_NO_DEVICE;
	}
	if (status == EXIT_DONE) {
		double start = now_s();
		for (int i = 0; i < w.count; i++)
			w.already[i] = !queue_add(s->queue, w.texts[i], false, false);
		if (queue_drain(s, &w, o, err))
			status = EXIT_NO_DEVICE;
		t->wall_s += now_s() - start;
		t->interrupted |= interrupted;
		tally_add(t, s, &w, o);
		struct queue_status q = queue_status(s->queue);
		if (q.trouble && *q.trouble && !o->quiet)
			fprintf(stderr, "benanza: %s\n", q.trouble);
	}
	wanted_free(&w);
	session_close(s);
	return status;
}

static void tally_print(const struct tally *t, const struct options *o)
{
	if (o->json) {
		report_json_line(json_pack("{s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:b}", "problems", t->problems, "already",
			t->already, "measured", t->measured, "failed", t->failed, "unsupported", t->unsupported, "wall_s",
			t->wall_s, "saved_by_sharing_s", t->saved_by_sharing_s, "interrupted", t->interrupted), stdout);
		return;
	}
	if (o->quiet)
		return;
	printf("%d problems: %d known already, %d measured, %d unsupported, %d failed; %.1f s", t->problems, t->already,
		t->measured, t->unsupported, t->failed, t->wall_s);
	if (t->saved_by_sharing_s > 0)
		printf(", about %.0f s more without sharing", t->saved_by_sharing_s);
	puts(t->interrupted ? "; interrupted, what was measured is kept" : "");
}

int cmd_bench(struct options *o, struct error *err)
{
	if (options_expect(o, 1, 10000, "bench MODEL... [-b LIST] [-t LIST] [--json]", err))
		return EXIT_BAD;
	struct tally t = { 0 };
	struct sigaction action = { .sa_handler = on_interrupt };
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	int status = EXIT_DONE;
	for (int i = 0; i < o->argc && status == EXIT_DONE && !interrupted; i++)
		status = bench_model(o, i, &t, err);
	if (status == EXIT_DONE || t.problems)
		tally_print(&t, o);
	bool gaps = t.failed || t.unsupported || t.interrupted;
	return status != EXIT_DONE ? status : gaps ? EXIT_GAPS : EXIT_DONE;
}
