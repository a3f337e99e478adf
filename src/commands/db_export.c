/* db export: prints results of the database in the format of a runner. */
#include "config.h"

#include "commands/db.h"
#include "commands/wanted.h"
#include "session/recorded.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct export {
	const struct results *standing; /* of the device: which problems are finished, and their status */
	const struct wanted *wanted;    /* NULL: everything */
	struct str hello;               /* of the device; "" once it is printed */
	struct str problem;             /* of the last result; "" none */
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
	export_end(ex);
	char *hello = wire_hello(d);
	str_clear(&ex->hello);
	str_addf(&ex->hello, "%s", hello);
	free(hello);
	return 0;
}

static int export_result(void *context, const struct result *r, struct error *err)
{
	struct export *ex = context;
	(void)err;
	if (ex->wanted && hash_find(&ex->wanted->index, text_of(r->problem)) < 0)
		return 0;
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
	return ferror(stdout) ? error_set(err, "standard output: cannot write: %s", strerror(errno)) : 0;
}

static int export_one(struct store *s, int64_t device, struct export *ex, struct error *err)
{
	struct results *standing = results_new();
	struct store_walker walker = { .context = ex, .device = export_device, .result = export_result };
	ex->standing = standing;
	int bad = store_load(s, device, standing, err);
	if (!bad)
		bad = store_walk(s, device, &walker, err);
	if (!bad)
		export_end(ex);
	str_clear(&ex->problem);
	results_free(standing);
	return bad;
}

/* Exports the devices that match -d best; without -d, all. */
static int export_all(struct store *s, const struct options *o, struct export *ex, struct error *err)
{
	struct arena a = { 0 };
	struct device *devices;
	int64_t *ids;
	int count, bad = store_devices(s, &a, &devices, &ids, &count, err), exported = 0;
	for (int wanted = RECORDED_WHOLE; !bad && wanted > RECORDED_NONE && !exported; wanted--)
		for (int i = 0; i < count && !bad; i++)
			if ((int)recorded_matches(&o->config, &devices[i], ids[i]) == wanted) {
				bad = export_one(s, ids[i], ex, err);
				exported++;
			}
	if (!bad && !exported && o->config.device)
		bad = error_set(err, "%s has no results of %s; see benanza devices", store_path(s),
			o->config.device);
	arena_free(&a);
	return bad;
}

static int export_wanted(struct wanted *w, struct options *o, struct error *err)
{
	for (int i = 0; i < o->argc; i++) {
		struct session *model = options_session(o, i, SESSION_DB_READ, err);
		int bad = model ? wanted_gather(w, model, o, err) : -1;
		session_close(model);
		if (bad)
			return -1;
	}
	return 0;
}

int db_export(struct store *s, struct options *o, struct error *err)
{
	struct wanted wanted = { 0 };
	struct export ex = { .wanted = o->argc ? &wanted : NULL };
	int bad = export_wanted(&wanted, o, err) || export_all(s, o, &ex, err);
	wanted_free(&wanted);
	str_free(&ex.hello);
	str_free(&ex.problem);
	if (!bad && !ex.results) {
		error_set(err, "%s has no such results", store_path(s));
		return EXIT_GAPS;
	}
	return bad ? EXIT_BAD : EXIT_DONE;
}
