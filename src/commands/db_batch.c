/* Transactions of limited size, with a pause between them, so that others can write meanwhile. */
#include "config.h"

#include "commands/db_batch.h"
#include "commands/interrupt.h"

#include <inttypes.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/executions.h"

#define BATCH 2000      /* additions in one transaction */
#define SAID_MAX 10     /* reasons printed for invalid lines */
#define PROGRESS_MS 500
#define FUTURE_S 86400  /* tolerance for clocks that differ */
#define GIVE_WAY_MS 2   /* pause between transactions, so that other programs get the lock */
#define PATIENCE_MS 300000
#define SAID_AFTER_MS 1000

static void progress_clear(const struct db_batch *b)
{
	if (b->bar)
		fputs("\r\x1b[K", stderr);
}

/* Called while another program has the file locked; false stops waiting. */
static bool batch_go_on(void *context, int64_t waited_ms)
{
	struct db_batch *b = context;
	if (waited_ms > SAID_AFTER_MS && !b->said) {
		const char *who = store_lock_holder(b->store);
		struct error line = ERROR_NONE; /* error_set cleans the other program's name */
		error_set(&line, "waiting for %s: locked by another program%s%s%s", store_path(b->store),
			*who ? " (" : "", who, *who ? ")" : "");
		progress_clear(b);
		fprintf(stderr, "benanza: %s\n", line.text);
		b->said = true;
	}
	b->given_up = interrupted;
	return !b->given_up;
}

void db_batch_start(struct db_batch *b, struct store *s, const struct options *o)
{
	*b = (struct db_batch){ .store = s,
		.options = o,
		.began_s = (int64_t)time(NULL),
		.bar = isatty(STDERR_FILENO) && !o->quiet };
	interrupt_watch();
	store_set_patience(s, PATIENCE_MS, batch_go_on, b);
}

static void progress_draw(struct db_batch *b)
{
	int64_t now = clock_ms();
	if (!b->bar || now - b->drawn_ms < PROGRESS_MS)
		return;
	b->drawn_ms = now;
	progress_clear(b);
	fprintf(stderr, "%" PRId64 " results", b->now.results);
	fflush(stderr);
}

int db_batch_commit(struct db_batch *b, struct error *err)
{
	if (!b->waiting)
		return 0;
	b->waiting = 0;
	/* a failed addition rolls back its batch: resets the counts to the last commit */
	bool undone = !store_has_batch(b->store);
	if (undone || store_batch_end(b->store, err)) {
		b->now = b->kept;
		return undone ? 0 : -1;
	}
	b->kept = b->now;
	poll(NULL, 0, GIVE_WAY_MS);
	return 0;
}

int db_batch_ready(struct db_batch *b, struct error *err)
{
	if (b->waiting >= BATCH && db_batch_commit(b, err))
		return -1;
	if (b->waiting++)
		return 0;
	progress_draw(b);
	return store_batch_begin(b->store, err);
}

int db_batch_result(struct db_batch *b, int64_t device, const struct result *r, struct error *err)
{
	int added = db_batch_ready(b, err) ? -1 : store_add_once(b->store, device, r, err);
	if (added < 0)
		return -1;
	b->now.results++;
	b->now.added += added;
	b->now.future += r->measured_at > b->began_s + FUTURE_S;
	return 0;
}

int db_batch_execution(struct db_batch *b, const struct execution *e, struct error *err)
{
	int added = db_batch_ready(b, err) ? -1 : store_execution_add_once(b->store, e, err);
	if (added < 0)
		return -1;
	b->now.executions++;
	b->now.executions_added += added;
	b->now.future += e->measured_at > b->began_s + FUTURE_S;
	return 0;
}

void db_batch_print_executions(const struct db_batch *b)
{
	const struct db_counts *c = &b->kept;
	if (c->executions)
		printf("; %" PRId64 " execution%s of models, %" PRId64 " added", c->executions,
			c->executions == 1 ? "" : "s", c->executions_added);
}

void db_batch_leave_out(struct db_batch *b, const char *why)
{
	if (b->left_out++ >= SAID_MAX)
		return;
	progress_clear(b);
	fprintf(stderr, "benanza: left out: %s\n", why);
}

int db_batch_end(struct db_batch *b, int bad, struct error *err)
{
	if (b->given_up) { /* interrupted by the user: not an error */
		err->text[0] = '\0';
		bad = 0;
	}
	progress_clear(b);
	if (b->options->quiet)
		return bad;
	if (b->left_out > SAID_MAX)
		fprintf(stderr, "benanza: ... and %" PRId64 " more\n", b->left_out - SAID_MAX);
	if (b->kept.future)
		fprintf(stderr,
			"benanza: %" PRId64 " results are dated in the future and stay the newest until "
			"then; fix the clock of that machine\n",
			b->kept.future);
	return bad;
}
