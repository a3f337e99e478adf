/* Selects each batch and type in turn and calls a report with the analysis. */
#include "config.h"

#include "commands/each.h"

#include "commands/report.h"
#include "session/scenarios.h"

#include <string.h>

/* Prints a line that was not said before. */
static void note(struct str *said, const char *line)
{
	struct str whole = { 0 };
	str_addf(&whole, "benanza: %s\n", line);
	if (!said->n || !strstr(said->p, whole.p)) {
		fputs(whole.p, stderr);
		str_puts(said, whole.p);
	}
	str_free(&whole);
}

void each_notes_after(struct session *s, const struct options *o, struct str *said)
{
	struct queue *q = session_queue(s);
	struct arena a = { 0 };
	if (o->quiet)
		return;
	const char *other = session_other_records(s, &a);
	if (session_trouble(s)[0])
		note(said, arena_printf(&a, "%s; using recorded results of %s", session_trouble(s),
			session_device(s)->model));
	if (other)
		note(said, other);
	if (!session_store(s) && o->config.db && !session_described(s) && !session_is_recorded(s))
		note(said, arena_printf(&a, "%s: no such database, so no results; bench creates it",
			text_clean(&a, text_of(o->config.db))));
	if (session_plan(s) && session_plan(s)->idle_value)
		note(said, arena_printf(&a, "--value %s has no effect: no shape and no branch depends on it",
			session_plan(s)->idle_value));
	const char *miss = scenarios_names_miss(s, &a);
	if (miss)
		note(said, miss);
	for (int i = 0; q && i < queue_status(q).workers; i++)
		if (*queue_worker(q, i).note)
			note(said, queue_worker(q, i).note);
	arena_free(&a);
}

void each_notes(struct session *s, const struct options *o)
{
	struct str said = { 0 };
	each_notes_after(s, o, &said);
	str_free(&said);
}

static int select_bound(struct session *s, int64_t batch, enum dtype dtype, struct error *err)
{
	return options_select(s, batch, dtype, err) || session_check_bound(s, err) ? EXIT_BAD : EXIT_DONE;
}

int each_open(struct options *o, int index, struct session **s, struct error *err)
{
	int64_t batch;
	enum dtype dtype;
	if (options_one_plan(o, &batch, &dtype, err) ||
		!(*s = options_session(o, index, SESSION_DB_READ, err)))
		return EXIT_BAD;
	int status = select_bound(*s, batch, dtype, err);
	if (status == EXIT_DONE)
		status = options_connected(session_connect(*s, QUEUE_HELLO_LIMIT, err));
	if (status == EXIT_DONE)
		session_refresh(*s);
	return status;
}

int each_scenario(struct options *o, int (*visit)(struct session *s, struct options *o, struct error *err),
	struct error *err)
{
	struct session *s = options_session(o, 0, SESSION_DB_READ, err);
	if (!s)
		return EXIT_BAD;
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	int status = select_bound(s, batches[0], dtypes[0], err);
	if (status == EXIT_DONE)
		status = options_connected(session_connect(s, QUEUE_HELLO_LIMIT, err));
	struct str said = { 0 };
	for (int i = 0; i < batch_count * dtype_count && status <= EXIT_GAPS; i++) {
		int one = select_bound(s, batches[i / dtype_count], dtypes[i % dtype_count], err);
		if (one == EXIT_DONE) {
			session_refresh(s);
			each_notes_after(s, o, &said);
			if (i % dtype_count == 0)
				report_batch_note(s, o, batches[i / dtype_count]);
			one = visit(s, o, err);
		}
		status = one > status ? one : status;
	}
	str_free(&said);
	session_close(s);
	return status;
}
