/* benanza bench: queues the problems that are missing, peaks first, follows the queue, and measures
 * doubtful results once more. */
#include "config.h"

#include "commands/agents.h"
#include "commands/bench.h"
#include "commands/command.h"
#include "commands/interrupt.h"
#include "commands/keep.h"
#include "commands/report.h"
#include "commands/wanted.h"

#include "base/clock.h"
#include "session/type_lack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DOUBTS_LEAST 0.01 /* share of the cost from which suspect results are measured once more */
#define DOUBT_ROUNDS 3 /* the next measurement decides between two that differ, unless it differs too */

/* Totals of a run: every problem is one of already ... missing. */
struct tally {
	int problems, already, measured, failed, unsupported, missing;
	int shaky; /* noisy ones among these */
	int lost; /* results that the database rejected */
	int peaks; /* peaks of the device that were measured; not part of the problems */
	double wall_s, peaks_s, saved_by_sharing_s;
	double eta_off; /* the worst factor of any model (bench_eta_off); NaN unknown */
	bool interrupted;
	double percent; /* --within; NaN: everything is measured */
	bool within;    /* ... and reached by all models */
	struct bench_quick quick;
	json_t *warnings; /* lines: libraries that the runner lacks */
	json_t *scenarios; /* [ { model, batch, dtype, problems, missing } ] */
	json_t *runners; /* [ { name, problems, out, note } ] */
	struct agents_tally agents;
};

static const struct option_row bench_rows[] = {
	{ "again", 0, NULL, OWN_FLAG(bench_options, again), "measure everything again" },
	{ "shaky", 0, NULL, OWN_FLAG(bench_options, shaky), "also measure noisy and disputed results again" },
	{ "agents", 0, "[=LIST]", OWN_TEXT(bench_options, agents),
		"afterwards also run the models with frameworks (ort,openvino ...; default: all installed)" },
	{ "algorithms", 0, "WHICH", OWN_TEXT(bench_options, algorithms),
		"all: also algorithms that the libraries' heuristics do not return (measures everything "
		"again); heuristics: only algorithms that they return" },
	{ "caches", 0, "LIST", OWN_TEXT(bench_options, caches),
		"cache states (net,warm,cold,1m..512m); measures everything again" },
	{ "emit-jobs", 0, NULL, OWN_FLAG(bench_options, emit_jobs),
		"print jobs for a runner on another machine, measure nothing" },
	{ "order", 0, "WHICH", OWN_TEXT(bench_options, order),
		"with --emit-jobs: model: all problems of one model before those of the next; value: by "
		"their share of the work of all models (default)" },
	{ "no-quick", 0, NULL, OWN_FLAG(bench_options, no_quick),
		"no quick first pass: measure each problem only in full" },
	{ "within", 0, "PERCENT", OWN_TEXT(bench_options, within),
		"stop as soon as the bound is known to +- PERCENT; the problems that narrow its interval "
		"most come first" },
	{ "launches", 0, "LIST", OWN_TEXT(bench_options, launches),
		"with --emit-jobs: launch modes (amortized,isolated)" },
	{ 0 }
};

static double now_s(void)
{
	return (double)clock_ms() / 1000;
}

/* Final state of a problem: JOB_DONE, JOB_UNSUPPORTED, JOB_FAILED, or JOB_NONE: not finished. */
static enum job_state standing(const struct results *r, const char *problem)
{
	int count;
	const struct result *const *all = results_of(r, problem, &count);
	for (int i = 0; i < count; i++)
		if (!all[i]->algorithm.name[0])
			return all[i]->status == STATUS_UNSUPPORTED ? JOB_UNSUPPORTED : JOB_FAILED;
	return results_is_finished(r, problem) ? JOB_DONE : JOB_NONE;
}

static void tally_add(struct tally *t, struct session *s, const struct wanted *w, const struct options *o)
{
	for (int i = 0; i < w->count; i++) {
		const struct wanted_problem *p = &w->problems[i];
		enum job_state now = queue_state(session_queue(s), p->text),
			       known = standing(session_results(s), p->text);
		const char *why = queue_why(session_queue(s), p->text);
		t->problems++;
		t->already += known == JOB_DONE && now != JOB_DONE;
		t->measured += known == JOB_DONE && now == JOB_DONE;
		t->failed += known == JOB_FAILED;
		t->unsupported += known == JOB_UNSUPPORTED;
		t->missing += known == JOB_NONE;
		t->shaky += session_is_shaky(s, p->text);
		if (now == JOB_DONE && p->uses > 1)
			t->saved_by_sharing_s += (p->uses - 1) * queue_took_s(session_queue(s), p->text);
		if (now == JOB_FAILED && !o->quiet)
			fprintf(stderr, "benanza: %s: %s\n", p->text, why);
	}
}

/* For each batch and type: the problems beyond those of the previous ones, and how many of them are
 * missing. */
static void scenarios_add(
	struct tally *t, const struct session *s, const struct wanted *w, const struct options *o)
{
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	for (int i = 0; i < batch_count * dtype_count; i++) {
		int problems = 0, missing = 0;
		int64_t batch = batches[i / dtype_count];
		for (int k = 0; k < w->count; k++) {
			bool own = w->problems[k].scenario == i;
			problems += own;
			missing += own && standing(session_results(s), w->problems[k].text) == JOB_NONE;
		}
		json_array_append_new(t->scenarios,
			json_pack("{s:o, s:o, s:s, s:i, s:i}", "model",
				json_text(text_of(session_model(s)->path)), "batch",
				batch ? json_integer(batch) : json_null(), "dtype",
				session_type_name(s, dtypes[i % dtype_count]), "problems", problems,
				"missing", missing));
	}
}

/* Work of each runner over all models, and why it is no longer used. */
static void runners_add(json_t *runners, const struct queue *q, const struct options *o)
{
	for (int i = 0; i < queue_status(q).workers; i++) {
		struct queue_worker w = queue_worker(q, i);
		json_t *o_runner = NULL, *one;
		size_t at;
		json_array_foreach(runners, at, one)
			if (strcmp(json_string_at(one, "name", ""), w.label) == 0)
				o_runner = one;
		if (!o_runner)
			json_array_append_new(
				runners, o_runner = json_pack("{s:s, s:i}", "name", w.label, "problems", 0));
		json_object_set_new(
			o_runner, "problems", json_integer(json_int_at(o_runner, "problems", 0) + w.ended));
		json_object_set_new(o_runner, "out", *w.out ? json_text(text_of(w.out)) : json_null());
		json_object_set_new(o_runner, "note", *w.note ? json_text(text_of(w.note)) : json_null());
		const char *const said[] = { w.note, w.out };
		for (int k = 0; k < 2; k++)
			if (*said[k] && !o->quiet && strcmp(said[k], queue_status(q).trouble) != 0)
				fprintf(stderr, "benanza: %s\n", said[k]);
	}
}

/* Prints problems of the database (always) and of the runner (unless -q). */
static void trouble_print(const struct queue_status *q, const struct options *o, const char *store_why,
	const struct error *said)
{
	if (q->trouble[0] && !o->quiet && strcmp(q->trouble, store_why) != 0 &&
		strcmp(q->trouble, said->text) != 0)
		fprintf(stderr, "benanza: %s\n", q->trouble);
}

/* Queues the device's peaks before everything else, because rooflines need them. An unsupported peak is not a
 * gap. Returns the number queued. */
static int peaks_queue(struct session *s, bool again, bool shaky)
{
	struct arena a = { 0 };
	int count, added = 0;
	const char **texts = session_peak_problems(s, &a, &count);
	for (int i = 0; i < count; i++)
		added += session_queue_peak(
			s, texts[i], again || (shaky && session_is_shaky(s, texts[i])));
	arena_free(&a);
	return added;
}

/* Number of runners that completed a problem: they worked in parallel. */
static int queue_busy(const struct queue *q)
{
	int busy = 0, all = queue_status(q).workers;
	for (int i = 0; i < all; i++)
		busy += queue_worker(q, i).ended > 0;
	return busy > 0 ? busy : 1;
}

/* Counts the peaks that were measured, and their share of the wall time. */
static void peaks_count(struct session *s, struct tally *t)
{
	struct arena a = { 0 };
	int count;
	const char **texts = session_peak_problems(s, &a, &count);
	for (int i = 0; i < count; i++) {
		double took_s = queue_took_s(session_queue(s), texts[i]);
		t->peaks += queue_state(session_queue(s), texts[i]) == JOB_DONE;
		t->peaks_s += isnan(took_s) ? 0 : took_s / queue_busy(session_queue(s));
	}
	arena_free(&a);
}

/* Queues the problems of the selected batch and type that lack a state of it: a problem of several batches
 * was measured in the states of the first one. Returns the number queued. */
static int own_queue(struct session *s)
{
	struct arena a = { 0 };
	int count, added = 0;
	const char **texts = session_problems(s, &a, &count);
	for (int i = 0; i < count; i++)
		if (results_is_finished(session_results(s), texts[i])) /* others failed just now */
			added += queue_add(session_queue(s), texts[i], false, false);
	arena_free(&a);
	return added;
}

/* Queues again the problems of disputed costs (struct layer_cost); the first time those of capped ones too,
 * and the suspect results of this run or that were measured once, which are counted in *suspect. Returns the
 * number queued. */
static int doubts_queue(struct session *s, struct options *o, bool first, int *suspect)
{
	struct queue *q = session_queue(s);
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes), added = 0;
	for (int i = 0; i < batch_count * dtype_count; i++) {
		struct error err = ERROR_NONE;
		if (options_select(s, batches[i / dtype_count], dtypes[i % dtype_count], &err))
			continue;
		session_refresh(s);
		added += first ? own_queue(s) : 0;
		const struct analysis *a = session_analysis(s);
		bool matters = first && a && a->coverage.cost_mistrusted_share >= DOUBTS_LEAST;
		for (int k = 0; a && k < a->layer_count; k++) {
			const struct layer_cost *c = &a->layers[k];
			bool differs = (first && c->capped) || c->disputed;
			bool doubted = differs || (matters && c->mistrusted);
			const char *problem = doubted && c->result ? c->result->problem : NULL;
			if (!problem ||
				(!differs && !session_is_once(s, c->result) &&
					queue_state(q, problem) != JOB_DONE))
				continue;
			*suspect += !differs;
			added += queue_add(q, problem, false, true);
		}
		for (int k = 0; first && a && k < a->beside_count; k++) {
			const struct beside_cost *b = &a->besides[k];
			if (!b->used || !b->mistrusted || queue_state(q, b->text) != JOB_DONE)
				continue;
			(*suspect)++;
			added += queue_add(q, b->text, false, true);
		}
	}
	return added;
}

/* Queues problems that depend on the results so far, and adds them to the problems: `list` names those of a
 * scenario. Returns the number queued. */
static int later_queue(struct session *s, struct options *o, struct wanted *w,
	const char **(*list)(struct session *s, struct arena *a, int *count))
{
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes), added = 0;
	for (int i = 0; i < batch_count * dtype_count; i++) {
		struct error err = ERROR_NONE;
		struct arena a = { 0 };
		int count;
		if (options_select(s, batches[i / dtype_count], dtypes[i % dtype_count], &err))
			continue;
		session_refresh(s);
		const char **texts = list(s, &a, &count);
		for (int k = 0; k < count; k++) {
			wanted_append(w, texts[k], i);
			added += queue_add(session_queue(s), texts[k], false, false);
		}
		arena_free(&a);
	}
	return added;
}

/* --algorithms replaces what the configuration says. */
static int algorithms_read(struct options *o, struct error *err)
{
	const struct bench_options *own = o->own;
	bool all = own->algorithms && strcmp(own->algorithms, "all") == 0;
	if (!own->algorithms)
		return 0;
	if (!all && strcmp(own->algorithms, "heuristics") != 0)
		return error_set(err, "--algorithms takes all or heuristics, not %.60s", own->algorithms);
	return all || config_lists_all(&o->config) ?
		config_set(&o->config, "algorithms", all ? "all" : "best", err) : 0;
}

/* Reads --caches, with which all problems are measured again. net is required, because bounds use it. */
static int states_read(const struct options *o, bool caches[CACHE_COUNT], struct error *err)
{
	const struct bench_options *own = o->own;
	if (own->launches)
		return error_set(err, "--launches needs --emit-jobs");
	if (own->order)
		return error_set(err, "--order needs --emit-jobs");
	if (bench_caches(o, caches, err))
		return -1;
	return caches[CACHE_NET] ? 0 : error_set(err, "--caches: add net, because bounds need it");
}

/* -1: the device cannot measure the states that are asked for (caches; NULL: none are given). */
static int states_refuse(const struct session *s, const bool *caches, struct error *err)
{
	const struct device *d = queue_device(session_queue(s));
	bool huge = session_scenario(s)->huge_pages, near = false;
	if (!d)
		return 0;
	for (enum cache c = 0; caches && c < CACHE_COUNT; c++) {
		huge |= caches[c] && cache_is_huge(c);
		near |= caches[c] && cache_is_distance(c);
	}
	if (near && !d->distances)
		return error_set(err, "--caches: %s measures no reuse distances: use net, warm and cold",
			d->model);
	return huge && !d->huge_pages ? error_set(err,
		"%s measures no pages of 2 MiB: leave pages=2m and @2m out (on a CPU, as root: "
		"echo madvise > /sys/kernel/mm/transparent_hugepage/enabled)", d->model) : 0;
}

/* Measures all problems and conversions, then doubtful ones until none is left or DOUBT_ROUNDS are over, and
 * the peaks if these make results suspect: other work on the machine can distort both. */
static int bench_problems(
	struct session *s, struct options *o, struct wanted *w, struct tally *t, struct error *err)
{
	const struct bench_options *own = o->own;
	bool caches[CACHE_COUNT];
	states_read(o, caches, err);
	if (own->caches)
		queue_set_caches(session_queue(s), caches);
	if (states_refuse(s, own->caches ? caches : NULL, err))
		return EXIT_BAD;
	struct bench_eta estimates = { 0 };
	if (!own->no_quick && !own->algorithms && !own->again && !own->caches) {
		int one = bench_quick(s, o, &t->quick, err);
		if (one != EXIT_DONE || interrupted)
			return one;
	}
	if (!isnan(t->percent)) {
		bool reached;
		int one = bench_within(s, o, t->percent, &reached, err);
		t->within &= reached;
		return one;
	}
	if (w->count)
		peaks_queue(s, own->again, own->shaky);
	bool huge = session_scenario(s)->huge_pages;
	for (int i = 0; i < w->count; i++) {
		queue_set_distance(session_queue(s), w->problems[i].distance, huge);
		queue_add(session_queue(s), w->problems[i].text, false,
			own->again || own->caches ||
				(own->algorithms && config_lists_all(&o->config)) ||
				(own->shaky && session_is_shaky(s, w->problems[i].text)));
	}
	session_set_distance(s);
	int status = bench_drain(s, o, w, &estimates, err);
	if (status == EXIT_DONE && !interrupted)
		t->eta_off = fmax(t->eta_off, bench_eta_off(&estimates));
	bench_eta_free(&estimates);
	if (status == EXIT_DONE && !interrupted && later_queue(s, o, w, session_conversions))
		status = bench_drain(s, o, w, NULL, err);
	if (status == EXIT_DONE && !interrupted && later_queue(s, o, w, session_besides))
		status = bench_drain(s, o, w, NULL, err);
	if (status == EXIT_DONE && !interrupted)
		status = bench_repeats(s, o, err);
	int suspect = 0, added = 1;
	for (int round = 0; round < DOUBT_ROUNDS && added && status == EXIT_DONE && !interrupted; round++) {
		added = doubts_queue(s, o, round == 0, &suspect);
		added += w->count && (round == 0 || suspect) ? peaks_queue(s, false, true) : 0;
		added += round == 0 && suspect ? session_queue_peaks_again(s) : 0;
		status = added ? bench_drain(s, o, w, NULL, err) : status;
	}
	return status;
}

static int bench_run(
	struct session *s, struct options *o, struct wanted *w, struct tally *t, struct error *err)
{
	double start = now_s(), peaks_s = t->peaks_s;
	int status = bench_problems(s, o, w, t, err);
	peaks_count(s, t);
	t->wall_s += fmax(now_s() - start - (t->peaks_s - peaks_s), 0);
	tally_add(t, s, w, o);
	scenarios_add(t, s, w, o);
	struct queue_status q = queue_status(session_queue(s));
	runners_add(t->runners, session_queue(s), o);
	struct error waiting = ERROR_NONE;
	int unkept = keep_end(session_store(s), KEEP_WAIT_MS, o->quiet, &waiting);
	t->lost += unkept;
	if (store_is_gone(session_store(s))) {
		error_set(err, "%s (%d results of this run)", unkept ? store_waiting(session_store(s)).why :
			q.trouble, unkept);
		return EXIT_BAD;
	}
	if (unkept)
		fprintf(stderr, "benanza: %s\n", waiting.text);
	trouble_print(&q, o, store_waiting(session_store(s)).why, err);
	return status;
}

/* Returns EXIT_GAPS, with the first reason in err, if layers need a measurement and none can have one: no
 * problem of the model is measured, and none is left to measure. Else EXIT_DONE. */
static int bench_none(struct session *s, const struct wanted *w, struct error *err)
{
	for (int i = 0; i < w->count; i++) {
		enum job_state state = standing(session_results(s), w->problems[i].text);
		if (state == JOB_DONE || state == JOB_NONE)
			return EXIT_DONE;
	}
	session_refresh(s);
	const struct analysis *a = session_analysis(s);
	struct arena scratch = { 0 };
	struct type_lack lack = type_lack_of(session_plan(s), session_analysis(s), &scratch);
	const char *instead = lack.count ? "; frameworks compute in f32 there: -t f32" : "";
	arena_free(&scratch);
	for (int i = 0; a && i < a->layer_count; i++) {
		const struct layer_cost *c = &a->layers[i];
		struct text name = session_plan(s)->layers[i].name;
		if (c->origin != ORIGIN_MISSING && c->origin != ORIGIN_UNSUPPORTED)
			continue;
		error_set(err,
			"%s: none of its %d layers that need time can be measured, e.g. %.*s: %s%s; benanza "
			"bound lists them",
			session_model(s)->path, a->coverage.missing + a->coverage.unsupported, (int)name.n,
			name.p, c->why ? c->why : "it has no problem", instead);
		return EXIT_GAPS;
	}
	return EXIT_DONE;
}

/* All models share the runners of the first one: in a cluster each start may wait long. */
static int bench_session(struct session **s, struct options *o, int index, struct error *err)
{
	if (*s && session_queue(*s)) {
		queue_forget(session_queue(*s));
		return session_turn_to(*s, o->argv[index], err);
	}
	session_close(*s);
	*s = options_session(o, index, SESSION_DB_WRITE, err);
	return *s ? 0 : -1;
}

/* Runs the model on agents. Returns an exit status. */
static int bench_agents(struct session *s, struct options *o, struct tally *t, struct error *err)
{
	const struct bench_options *own = o->own;
	struct arena a = { 0 };
	int status = agents_run_all(s, o, own->agents, own->again, &a, NULL, &t->agents, err);
	arena_free(&a);
	struct error waiting = ERROR_NONE;
	int unkept = keep_end(session_store(s), KEEP_WAIT_MS, o->quiet, &waiting);
	t->lost += unkept;
	if (unkept)
		fprintf(stderr, "benanza: %s\n", waiting.text);
	return status;
}

/* Layers that are not measured because the user gave their time. */
static void timed_note(const struct session *s)
{
	struct str line = { 0 };
	session_operators_describe(s, true, &line);
	if (line.n)
		fprintf(stderr, "benanza: %s: not measured, their operators have a time only: %s\n",
			session_model_name(s), line.p);
	str_free(&line);
}

static int bench_model(struct session **session, struct options *o, int index, struct tally *t, bool *gone,
	struct error *err)
{
	if (bench_session(session, o, index, err))
		return EXIT_BAD;
	struct session *s = *session;
	struct wanted w = { 0 };
	int status = wanted_gather(&w, s, o, err) ? EXIT_BAD : EXIT_DONE;
	wanted_sort(&w);
	if (status == EXIT_DONE && !session_queue(s))
		status = options_connected(session_connect(s, QUEUE_HELLO_LIMIT, err));
	if (status == EXIT_DONE && !session_queue(s)) {
		error_set(err,
			"%s%s%s is only %s: nothing can be measured on it; give a runner with -d, "
			"see benanza devices",
			session_trouble(s), session_trouble(s)[0] ? "; " : "", session_device(s)->model,
			session_described(s) ? "described" : "recorded");
		status = EXIT_NO_DEVICE;
	}
	if (status == EXIT_DONE && !o->quiet && index == 0)
		report_libraries_text(session_device(s), "benanza", stderr);
	if (status == EXIT_DONE && !o->quiet)
		report_dims_note(s);
	if (status == EXIT_DONE && !o->quiet)
		timed_note(s);
	if (status == EXIT_DONE)
		status = bench_run(s, o, &w, t, err);
	if (status == EXIT_DONE && !interrupted)
		status = bench_none(s, &w, err);
	const struct bench_options *own = o->own;
	if (status <= EXIT_GAPS && own->agents && !interrupted) {
		int one = bench_agents(s, o, t, err);
		status = one > status ? one : status;
	}
	*gone = store_is_gone(session_store(s));
	t->interrupted |= interrupted;
	if (interrupted && status == EXIT_NO_DEVICE) { /* interrupted while waiting for it */
		err->text[0] = '\0';
		status = EXIT_GAPS;
	}
	wanted_free(&w);
	return status;
}

static json_t *tally_json(const struct tally *t)
{
	json_t *all = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:f, s:b, s:O, s:O, s:i, "
			  "s:f, s:o, s:O, s:O}",
			"problems", t->problems, "already", t->already, "measured", t->measured,
			"failed", t->failed, "unsupported", t->unsupported, "missing", t->missing,
			"shaky", t->shaky, "lost", t->lost, "wall_s", t->wall_s, "saved_by_sharing_s",
			t->saved_by_sharing_s, "interrupted", t->interrupted, "scenarios",
			t->scenarios, "runners", t->runners, "peaks", t->peaks, "peaks_s", t->peaks_s,
			"eta_off", json_number_or_null(t->eta_off), "executions", t->agents.report,
			"warnings", t->warnings);
	json_object_set_new(all, "first_pass", isnan(t->quick.bound_ns) ? json_null() :
		json_pack("{s:i, s:f, s:f}", "problems", t->quick.problems, "bound_ns",
			t->quick.bound_ns, "wall_s", t->quick.wall_s));
	json_object_set_new(all, "within", isnan(t->percent) ? json_null() :
		json_pack("{s:f, s:b}", "percent", t->percent, "reached", t->within));
	return all;
}

static void tally_print(const struct tally *t, const struct options *o)
{
	if (o->json) {
		report_json_line(tally_json(t), stdout);
		return;
	}
	if (o->quiet)
		return;
	printf("%d problems: %d known already, %d measured, %d unsupported, %d failed", t->problems,
		t->already, t->measured, t->unsupported, t->failed);
	if (t->missing)
		printf(", %d left", t->missing);
	printf("; %.1f s", t->wall_s);
	if (t->peaks)
		printf(", and %.1f s for %d peaks of the device", t->peaks_s, t->peaks);
	if (t->saved_by_sharing_s >= 0.5)
		printf(", about %.0f s more without sharing", t->saved_by_sharing_s);
	if (t->shaky)
		printf("; %d noisy: on a quiet machine, bench --shaky measures them again", t->shaky);
	if (json_array_size(t->agents.report))
		printf("; %zu execution%s of models: %d known already, %d measured, %d failed",
			json_array_size(t->agents.report), json_array_size(t->agents.report) == 1 ? "" : "s",
			t->agents.known, t->agents.measured, t->agents.failed);
	puts(!t->interrupted ? "" : t->lost ? "; interrupted" : "; interrupted, measured results are kept");
}

/* --agents takes its list after a '='. An agent's name in place of the first model is a likely mistake. */
static int agents_check(const struct options *o, struct error *err)
{
	const struct bench_options *own = o->own;
	struct text name = { o->argv[0], strcspn(o->argv[0], ",:") };
	if (own->agents && *own->agents && agents_list_check(&o->config, own->agents, err))
		return options_blame("agents", err);
	if (!own->agents || *own->agents || access(o->argv[0], F_OK) == 0 || !config_agent(&o->config, name))
		return 0;
	return error_set(err, "%s: no such file; did you mean --agents=%s?", o->argv[0], o->argv[0]);
}

static int cmd_bench(struct options *o, struct error *err)
{
	const struct bench_options *own = o->own;
	if (own->agents)
		config_add_agents(&o->config);
	if (options_check_agents(o, own->agents, "--agents", err) || agents_check(o, err) ||
		algorithms_read(o, err))
		return EXIT_BAD;
	double percent;
	if (bench_within_read(o, &percent, err))
		return EXIT_BAD;
	if (own->emit_jobs)
		return bench_jobs(o, err);
	bool caches[CACHE_COUNT];
	if (states_read(o, caches, err))
		return EXIT_BAD;
	struct tally t = { .scenarios = json_array(), .runners = json_array(), .eta_off = NAN,
		.percent = percent, .within = true, .quick.bound_ns = NAN, .agents.report = json_array() };
	interrupt_watch();
	o->stop = &interrupted;
	int status = EXIT_DONE;
	bool gone = false;
	struct session *s = NULL;
	/* continue with the other models if one cannot be used */
	for (int i = 0; i < o->argc && status != EXIT_NO_DEVICE && !gone && !interrupted; i++) {
		if (err->text[0])
			fprintf(stderr, "benanza: %s\n", err->text);
		err->text[0] = '\0';
		int one = bench_model(&s, o, i, &t, &gone, err);
		status = one > status ? one : status;
	}
	t.warnings = s ? report_libraries_json(session_device(s)) : json_array();
	session_close(s);
	if (status <= EXIT_GAPS || t.problems || t.interrupted)
		tally_print(&t, o);
	bool short_of = isnan(t.percent) ? t.failed || t.unsupported || t.missing : !t.within;
	bool gaps = short_of || t.interrupted || t.lost || t.agents.failed;
	json_decref(t.warnings);
	json_decref(t.scenarios);
	json_decref(t.runners);
	json_decref(t.agents.report);
	return status == EXIT_DONE && gaps ? EXIT_GAPS : status;
}

const struct command command_bench = {
	.name = "bench",
	.arguments = "MODEL...",
	.least = 1,
	.most = COMMAND_ARGUMENTS_MAX,
	.text = "measure the problems without a result",
	.about = "Measures the problems of the models that have no result in the database. Ctrl-C stops "
		"and keeps all results; the next run continues from there.",
	.examples = { "benanza bench -b 1,8 model.onnx",
		"benanza bench --emit-jobs --budget-ms 50 model.onnx > jobs.jsonl" },
	.own = bench_rows,
	.own_size = sizeof(struct bench_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_budget,
		&options_agents, &options_json },
	.run = cmd_bench,
};
