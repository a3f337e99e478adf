/* Passes over all batches and types: a quick one before everything is measured, repeated measurements after
 * it, and --within, which measures until the bound's interval is narrow enough. */
#include "config.h"

#include "commands/bench.h"
#include "commands/interrupt.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AGAIN_MOST 1 /* times that a measured problem is measured once more for its wide interval */

struct points {
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count, dtype_count, count;
};

static struct points points_of(const struct options *o)
{
	struct points p = { 0 };
	p.batch_count = options_batches(o, p.batches);
	p.dtype_count = options_dtypes(o, p.dtypes);
	p.count = p.batch_count * p.dtype_count;
	return p;
}

/* Selects a batch and type with its analysis; false if it has none. */
static bool point_select(struct session *s, const struct points *p, int at)
{
	struct error err = ERROR_NONE;
	if (options_select(s, p->batches[at / p->dtype_count], p->dtypes[at % p->dtype_count], &err))
		return false;
	session_refresh(s);
	return session_analysis(s) != NULL;
}

/* "batch 8 bf16: " if there are several. */
static const char *point_text(
	const struct session *s, char *buf, size_t size, const struct points *p, int at)
{
	buf[0] = '\0';
	if (p->count > 1) {
		session_sweep_text(s, buf, size - 2, p->batches[at / p->dtype_count],
			p->dtypes[at % p->dtype_count]);
		strcat(buf, ": ");
	}
	return buf;
}

/* ---- the quick pass ---- */

int bench_quick(struct session *s, const struct options *o, struct bench_quick *q, struct error *err)
{
	struct points p = points_of(o);
	int64_t begin = clock_ms();
	char bound[STR_QUANTITY], name[64];
	for (int i = p.count - 1; i >= 0; i--) /* the last one added is measured first */
		if (point_select(s, &p, i))
			q->problems += session_measure_quick(s);
	if (!q->problems)
		return EXIT_DONE;
	int status = bench_drain(s, o, NULL, NULL, err);
	q->wall_s += (double)(clock_ms() - begin) / 1000;
	for (int i = 0; i < p.count && status == EXIT_DONE && !interrupted; i++) {
		const struct analysis *a = point_select(s, &p, i) ? session_analysis(s) : NULL;
		if (!a || !a->rough) /* the runner answers no such jobs */
			continue;
		q->bound_ns = isnan(q->bound_ns) ? a->total_ns : q->bound_ns;
		if (!o->quiet)
			fprintf(stderr, "benanza: %sfirst pass: bound %s%s after %.1f s\n",
				point_text(s, name, sizeof(name), &p, i), analysis_mark(a),
				str_duration(bound, a->total_ns), q->wall_s);
	}
	return status;
}

/* ---- repeated measurements ---- */

int bench_repeats(struct session *s, const struct options *o, struct error *err)
{
	struct points p = points_of(o);
	int status = EXIT_DONE, added = 1;
	for (int round = 0; round < REPEAT_ROUNDS && added && status == EXIT_DONE && !interrupted; round++) {
		added = 0;
		for (int i = 0; i < p.count; i++)
			added += point_select(s, &p, i) ? session_queue_repeats(s, true) : 0;
		status = bench_drain(s, o, NULL, NULL, err);
	}
	return status;
}

/* ---- --within ---- */

int bench_within_read(const struct options *o, double *percent, struct error *err)
{
	const struct bench_options *own = o->own;
	char *end;
	*percent = NAN;
	if (!own->within)
		return 0;
	*percent = strtod(own->within, &end);
	end += *end == '%';
	if (end == own->within || *end || !(*percent > 0 && *percent <= 100))
		return error_set(err, "--within takes a percentage above 0, at most 100%%, not %.60s",
			own->within);
	if (own->emit_jobs || own->again || own->shaky || own->caches || own->algorithms)
		return error_set(err, "--within excludes --emit-jobs, --again, --shaky, --caches and "
			"--algorithms, which select the problems to measure");
	return 0;
}

/* What a problem contributes to the width of the bound's interval. */
struct part {
	const char *text;
	double ns;  /* measured: half of its interval; else its cost, INFINITY: unknown */
	bool open;  /* not measured in full */
};

struct parts {
	struct arena arena;
	struct hash index;
	struct part *list;
	int count, capacity;
};

static void part_add(struct parts *p, const char *text, double ns, bool open)
{
	int64_t *at = hash_at(&p->index, text_of(text));
	if (*at < 0) {
		*at = p->count;
		VEC_GROW(p->list, p->count, p->capacity);
		p->list[p->count++] = (struct part){ .text = text };
	}
	p->list[*at].ns += ns;
	p->list[*at].open |= open;
}

static void parts_of_layers(struct parts *p, const struct session *s)
{
	const struct analysis *a = session_analysis(s);
	const struct plan *plan = session_plan(s);
	for (int i = 0; i < a->layer_count; i++) {
		const struct layer_cost *c = &a->layers[i];
		int own = plan_layer_problem_index(plan, &plan->layers[i],
			session_scenario(s)->layouts == LAYOUTS_NXC);
		bool counts = !scenario_has_path(&a->scenario) || c->critical || isnan(c->ns);
		const char *text = c->result ? c->result->problem :
			own >= 0 ? plan->problems[own].text : NULL;
		if (c->bodies || !text || !counts || c->origin == ORIGIN_FREE || c->origin == ORIGIN_FUSED)
			continue;
		if (c->origin == ORIGIN_MISSING || c->origin == ORIGIN_ROUGH)
			part_add(p, text, isnan(c->ns) ? INFINITY : c->ns, true);
		else if (c->result)
			part_add(p, text, isnan(c->lo) ? c->ns : (c->hi - c->lo) / 2, false);
	}
}

/* The parts of the present bound, and the other problems that it needs (0 ns). */
static void parts_add(struct parts *p, const struct session *s, const char **texts, int count)
{
	for (int i = 0; i < count; i++)
		if (!results_is_finished(session_results(s), texts[i]))
			part_add(p, texts[i], 0, true);
}

static void parts_of(struct parts *p, struct session *s)
{
	int count;
	parts_of_layers(p, s);
	const char **texts = session_problems(s, &p->arena, &count);
	parts_add(p, s, texts, count);
	/* those that the results so far make possible */
	texts = session_conversions(s, &p->arena, &count);
	parts_add(p, s, texts, count);
	texts = session_besides(s, &p->arena, &count);
	parts_add(p, s, texts, count);
}

static void parts_free(struct parts *p)
{
	free(p->list);
	hash_free(&p->index);
	arena_free(&p->arena);
}

/* What is not measured comes first, since the bound needs all of it. */
static int part_compare(const void *x, const void *y)
{
	const struct part *a = x, *b = y;
	if (a->open != b->open)
		return a->open ? -1 : 1;
	return a->ns != b->ns ? (a->ns > b->ns ? -1 : 1) : strcmp(a->text, b->text);
}

/* Half of the bound's interval as a share of it; NaN: unknown, as that of one of its parts is. */
static double half_share(const struct analysis *a)
{
	return a->without_interval ? NAN : (a->hi_ns - a->lo_ns) / 2 / a->total_ns;
}

static bool is_within(const struct analysis *a, double percent)
{
	return !a->rough && a->unmeasured_problems == 0 && !a->coverage.missing && !a->coverage.unsupported &&
		half_share(a) * 100 <= percent;
}

/* Queues the problems to which the interval owes most, as many as there are runners. One that failed is not
 * tried again, one with a wide interval AGAIN_MOST times. Returns the number queued. */
static int parts_queue(struct session *s, struct hash *again)
{
	struct parts p = { 0 };
	int added = 0, most = queue_status(session_queue(s)).workers;
	parts_of(&p, s);
	if (p.count)
		qsort(p.list, (size_t)p.count, sizeof(*p.list), part_compare);
	for (int i = 0; i < p.count && added < most; i++) {
		const struct part *one = &p.list[i];
		enum job_state state = queue_state(session_queue(s), one->text);
		if (state == JOB_FAILED || state == JOB_UNSUPPORTED)
			continue;
		if (!one->open) {
			if (!(one->ns > 0) || hash_find(again, text_of(one->text)) >= AGAIN_MOST - 1)
				continue;
			++*hash_at(again, text_of(one->text)); /* results own the text */
		}
		added += queue_add(session_queue(s), one->text, false, !one->open);
	}
	parts_free(&p);
	return added;
}

/* Says how narrow the interval is, and what is missing if it is not narrow enough. */
static void within_tell(const struct session *s, const struct options *o, const char *name, double percent)
{
	const struct analysis *a = session_analysis(s);
	char bound[STR_QUANTITY], half[STR_QUANTITY];
	if (o->quiet)
		return;
	fprintf(stderr, "benanza: %s", name);
	if (isnan(a->total_ns) || isnan(half_share(a)))
		fprintf(stderr, "not within %g%%: the bound%s is unknown", percent,
			isnan(a->total_ns) ? "" : "'s interval");
	else
		fprintf(stderr, "%swithin %g%%: bound %s%s +- %s (%.2g%%)",
			is_within(a, percent) ? "" : "not ", percent, analysis_mark(a),
			str_duration(bound, a->total_ns), str_duration(half, (a->hi_ns - a->lo_ns) / 2),
			half_share(a) * 100);
	if (a->unmeasured_problems)
		fprintf(stderr, "; %d problem%s not measured", a->unmeasured_problems,
			a->unmeasured_problems == 1 ? " is" : "s are");
	if (a->without_interval)
		fprintf(stderr, "; %d cost%s no interval", a->without_interval,
			a->without_interval == 1 ? " has" : "s have");
	int gaps = a->coverage.missing + a->coverage.unsupported;
	if (gaps)
		fprintf(stderr, "; %d layer%s no cost", gaps, gaps == 1 ? " has" : "s have");
	fputc('\n', stderr);
}

/* Measures what the interval of the selected point owes most to. One that is narrow may be that of a moment:
 * what matters is measured at other times too, and then more of what is wide. */
static int within_point(struct session *s, const struct options *o, double percent, struct error *err)
{
	struct hash again = { 0 };
	int status = EXIT_DONE;
	for (int round = 0, more = 1; round <= REPEAT_ROUNDS && more; round++) {
		while (status == EXIT_DONE && !interrupted && !is_within(session_analysis(s), percent) &&
			parts_queue(s, &again)) {
			status = bench_drain(s, o, NULL, NULL, err);
			session_refresh(s);
		}
		bool goes_on = status == EXIT_DONE && !interrupted && round < REPEAT_ROUNDS;
		more = goes_on ? session_queue_repeats(s, true) : 0;
		status = more ? bench_drain(s, o, NULL, NULL, err) : status;
		session_refresh(s);
	}
	hash_free(&again);
	return status;
}

int bench_within(
	struct session *s, const struct options *o, double percent, bool *reached, struct error *err)
{
	struct points p = points_of(o);
	int status = EXIT_DONE;
	char name[64];
	*reached = true;
	for (int i = 0; i < p.count && status == EXIT_DONE && !interrupted; i++) {
		bool selected = point_select(s, &p, i);
		status = selected ? within_point(s, o, percent, err) : status;
		*reached &= selected && is_within(session_analysis(s), percent);
		if (selected && status == EXIT_DONE)
			within_tell(s, o, point_text(s, name, sizeof(name), &p, i), percent);
	}
	*reached &= !interrupted;
	return status;
}
