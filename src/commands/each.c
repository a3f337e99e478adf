#include "config.h"

#include "commands/each.h"

#include "commands/report.h"

void each_notes(struct session *s, const struct options *o)
{
	struct arena a = { 0 };
	const char *other = session_other_records(s, &a);
	if (s->trouble[0] && !o->quiet)
		fprintf(stderr, "benanza: %s; using recorded results of %s\n", s->trouble, s->device.model);
	if (other && !o->quiet)
		fprintf(stderr, "benanza: %s\n", other);
	if (!s->store && o->config.db && !s->described && !s->recorded && !o->quiet)
		fprintf(stderr, "benanza: %s: no such database, so nothing is measured; bench makes it\n",
			text_clean(&a, text_of(o->config.db)));
	if (s->current && s->current->plan->idle_value && !o->quiet)
		fprintf(stderr, "benanza: --value %s has no effect: no shape and no branch depends on it\n",
			s->current->plan->idle_value);
	for (int i = 0; s->queue && !o->quiet && i < queue_status(s->queue).workers; i++)
		if (*queue_worker(s->queue, i).note)
			fprintf(stderr, "benanza: %s\n", queue_worker(s->queue, i).note);
	arena_free(&a);
}

static int select_bound(struct session *s, int64_t batch, enum dtype dtype, struct error *err)
{
	return options_select(s, batch, dtype, err) || session_check_bound(s, err) ? EXIT_BAD : EXIT_DONE;
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
	if (status == EXIT_DONE)
		each_notes(s, o);
	for (int i = 0; i < batch_count * dtype_count && status <= EXIT_GAPS; i++) {
		int one = select_bound(s, batches[i / dtype_count], dtypes[i % dtype_count], err);
		if (one == EXIT_DONE) {
			session_refresh(s);
			if (!o->quiet && i % dtype_count == 0)
				report_batch_note(s, batches[i / dtype_count]);
			one = visit(s, o, err);
		}
		status = one > status ? one : status;
	}
	session_close(s);
	return status;
}
