/* db export: prints results of the database in the format of a runner. */
#include "config.h"

#include "commands/db.h"
#include "commands/db_google.h"
#include "commands/wanted.h"
#include "session/recorded.h"
#include "session/scenarios.h"
#include "session/session_agent.h"
#include "store/executions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct export {
	const struct results *standing; /* of the device: which problems are finished, and their status */
	const struct wanted *wanted;    /* NULL: everything */
	struct str hello;               /* of the device; "" once it is printed */
	struct str problem;             /* of the last result; "" none */
	struct hash files;              /* SHA-256 of the given models' files */
	struct arena arena;             /* of these */
	struct db_google_file *google;  /* NULL: as a runner writes results */
	int64_t device, google_device;  /* the current one; that of the file */
	struct arena seen;
	struct device now;              /* in `seen` */
	int64_t id;                     /* of the current job */
	int64_t results;
};

static void line_print(char *line)
{
	fputs(line, stdout);
	free(line);
}

/* Final status of a problem. */
static enum status export_status(const struct results *r, const char *problem)
{
	int count;
	const struct result *const *all = results_of(r, problem, &count);
	enum status status = count ? all[0]->status : STATUS_FAILED;
	for (int i = 0; i < count; i++) {
		if (!all[i]->algorithm.name[0])
			return all[i]->status;
		if (all[i]->status == STATUS_OK)
			status = STATUS_OK;
	}
	return status;
}

static void export_end(struct export *ex)
{
	if (!ex->problem.n)
		return;
	struct wire_message done = { .type = WIRE_DONE, .id = ex->id, .problem = ex->problem.p, .what = "",
		.status = export_status(ex->standing, ex->problem.p) };
	if (results_is_finished(ex->standing, ex->problem.p))
		line_print(wire_format(&done));
	str_clear(&ex->problem);
}

static int export_device(void *context, const struct device *d, struct store_seen seen, struct error *err)
{
	struct export *ex = context;
	(void)seen, (void)err;
	if (ex->google) {
		arena_clear(&ex->seen);
		ex->now = device_copy(&ex->seen, d);
		return 0;
	}
	export_end(ex);
	char *hello = wire_hello(d);
	str_clear(&ex->hello);
	str_addf(&ex->hello, "%s", hello);
	free(hello);
	return 0;
}

static int written(struct error *err)
{
	return ferror(stdout) ? error_set(err, "standard output: cannot write: %s", strerror(errno)) : 0;
}

/* A file of Google Benchmark describes the machine of its first result. */
static int export_google(struct export *ex, const struct result *r, struct error *err)
{
	if (ex->results++ && ex->device != ex->google_device)
		return error_set(err, "a file of Google Benchmark describes one device, but these results "
			"are of several; select one with -d");
	if (ex->results == 1)
		db_google_begin(ex->google, &ex->now);
	ex->google_device = ex->device;
	db_google_result(ex->google, r, results_is_finished(ex->standing, r->problem));
	return written(err);
}

static int export_result(void *context, const struct result *r, struct error *err)
{
	struct export *ex = context;
	if (ex->wanted && hash_find(&ex->wanted->index, text_of(r->problem)) < 0)
		return 0;
	if (ex->google)
		return export_google(ex, r, err);
	if (!ex->problem.n || strcmp(ex->problem.p, r->problem) != 0) {
		export_end(ex);
		str_addf(&ex->problem, "%s", r->problem);
		ex->id++;
	}
	fputs(ex->hello.p, stdout);
	str_clear(&ex->hello);
	struct wire_message m = { .type = WIRE_RESULT, .id = ex->id, .problem = "", .what = "",
		.result = *r };
	line_print(wire_format(&m));
	ex->results++;
	return written(err);
}

static int export_one(struct store *s, int64_t device, struct export *ex, struct error *err)
{
	struct results *standing = results_new();
	struct store_walker walker = { .context = ex, .device = export_device, .result = export_result };
	ex->standing = standing;
	ex->device = device;
	int bad = store_load(s, device, standing, err);
	if (!bad)
		bad = store_walk(s, device, &walker, err);
	if (!bad)
		export_end(ex);
	str_clear(&ex->problem);
	results_free(standing);
	return bad;
}

static void message_print(struct wire_message m, int64_t id)
{
	m.id = id;
	m.problem = m.what = "";
	line_print(wire_format(&m));
}

struct export_executions {
	struct export *ex;
	const struct options *options;
	struct hash devices; /* model names of the exported devices */
};

/* True if -d is absent or names the execution's device: one that is exported, a model, or a part of
 * "onnxruntime 1.32.0, CPUExecutionProvider, 2 threads". */
static bool execution_matches(const struct export_executions *x, const struct execution *e, struct arena *a)
{
	const struct device d = { .name = "", .model = e->device, .threads = e->threads,
		.stack = arena_printf(a, "%s %s, %s, %d threads", e->framework, e->version, e->provider,
			e->threads) };
	return recorded_matches(&x->options->config, &d, 0) != RECORDED_NONE ||
	       hash_find(&x->devices, text_of(e->device)) >= 0;
}

/* Prints an execution as its agent sent it. */
static int export_execution(void *context, const struct execution *e, struct error *err)
{
	struct export_executions *x = context;
	struct arena a = { 0 };
	bool wanted = execution_matches(x, e, &a);
	arena_free(&a);
	if (!wanted || (x->options->argc && hash_find(&x->ex->files, text_of(e->model_hash)) < 0))
		return 0;
	int64_t id = ++x->ex->id;
	message_print((struct wire_message){ .type = WIRE_EXECUTION, .execution = e }, id);
	for (int i = 0; i < e->row_count; i++)
		message_print((struct wire_message){ .type = WIRE_ROW, .row = &e->rows[i] }, id);
	message_print((struct wire_message){ .type = WIRE_DONE, .kind = JOB_MODEL, .status = e->status,
			      .payload = *e->model ? e->model : "?" },
		id);
	x->ex->results++;
	return written(err);
}

static int export_executions(struct store *s, struct export_executions *x, struct error *err)
{
	const struct executions_walker w = { .context = x, .visit = export_execution };
	return store_executions_walk(s, &(struct executions_wanted){ .oldest_first = true }, &w, err);
}

/* Exports the devices that match -d best, and the executions on them; without -d, all. */
static int export_all(struct store *s, const struct options *o, struct export *ex, struct error *err)
{
	struct arena a = { 0 };
	struct device *devices;
	int64_t *ids;
	struct export_executions executions = { .ex = ex, .options = o };
	int count, bad = store_devices(s, &a, &devices, &ids, &count, err), exported = 0;
	for (int wanted = RECORDED_WHOLE; !bad && wanted > RECORDED_NONE && !exported; wanted--)
		for (int i = 0; i < count && !bad; i++)
			if ((int)recorded_matches(&o->config, &devices[i], ids[i]) == wanted) {
				bad = export_one(s, ids[i], ex, err);
				*hash_at(&executions.devices, text_of(devices[i].model)) = 1;
				exported++;
			}
	if (!bad && !ex->google)
		bad = export_executions(s, &executions, err);
	hash_free(&executions.devices);
	if (!bad && !exported && !ex->results && o->config.device)
		bad = error_set(err, "-d %.60s: %s has no results of it; see benanza devices",
			o->config.device, store_path(s));
	arena_free(&a);
	return bad;
}

/* Remembers the hash of the model's file, by which its executions are found. */
static int export_file(struct export *ex, struct session *model, struct error *err)
{
	char digest[DIGEST_SIZE];
	int64_t bytes;
	if (strcmp(session_model(model)->path, "-") == 0)
		return 0;
	if (session_digest(model, session_model(model)->path, digest, &bytes, err))
		return -1;
	*hash_at(&ex->files, text_of(arena_printf(&ex->arena, "%s", digest))) = 1;
	return 0;
}

static int export_wanted(struct export *ex, struct wanted *w, struct options *o, struct error *err)
{
	for (int i = 0; i < o->argc; i++) {
		struct session *model = options_session(o, i, SESSION_DB_READ, err);
		int bad = model ? wanted_gather(w, model, o, err) || export_file(ex, model, err) : -1;
		session_close(model);
		if (bad)
			return -1;
	}
	return 0;
}

/* Without a model, options that select its problems would be ignored. */
static int selects_nothing(const struct options *o, struct error *err)
{
	bool any = o->batch_option || (o->given & SCENARIO_DTYPE) || o->what_if_option || o->dim_count ||
		o->shape_count || o->value_count || o->assume_count;
	return any && !o->argc ? error_set(err, "db export: -b, -t, -w, --dim, --input, --value and --assume "
		"select problems of models: add a MODEL, or leave them out") : 0;
}

int db_export(struct store *s, struct options *o, struct error *err)
{
	struct wanted wanted = { 0 };
	struct db_google_file file = { 0 };
	int google = selects_nothing(o, err) ? -1 : db_format_is_google(o, err);
	struct export ex = { .wanted = o->argc ? &wanted : NULL, .google = google == 1 ? &file : NULL };
	int bad = google < 0 || export_wanted(&ex, &wanted, o, err) || export_all(s, o, &ex, err);
	if (ex.google)
		db_google_end(&file);
	wanted_free(&wanted);
	str_free(&ex.hello);
	str_free(&ex.problem);
	hash_free(&ex.files);
	arena_free(&ex.arena);
	arena_free(&ex.seen);
	if (!bad && !ex.results) {
		error_set(err, "%s has no such results", store_path(s));
		return EXIT_GAPS;
	}
	return bad ? EXIT_BAD : EXIT_DONE;
}
