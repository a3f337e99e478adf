/* A queue in memory for results that the file cannot take at the moment (locked, disk full). If a write
 * fails, the result is queued, and so are all later ones, to keep their order. Retries write up to BATCH
 * items in one transaction, with delays that double from DELAY_LEAST_MS to DELAY_MOST_MS. If a batch fails
 * for a reason that is not transient, its items are written one by one, and those that fail are dropped and
 * counted as lost. */
#include "config.h"

#include "store/executions.h"
#include "store/store_private.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

#define PATIENCE_MS 50      /* limit of a wait for a lock: the caller measures or draws a screen */
#define DELAY_LEAST_MS 250
#define DELAY_MOST_MS 2000
#define BATCH 500           /* queued items written in one transaction */

struct keep_device {
	struct keep_device *next;
	struct arena arena;
	struct device d;
	int64_t id;             /* in the file; 0: unknown */
};

struct keep_item {
	struct keep_item *next;
	struct arena arena;
	struct keep_device *device; /* NULL: the item is an execution */
	bool is_end;            /* marks r.problem as finished; not a result */
	struct result r;
	struct execution execution;
};

static bool keep_is_device(const struct device *a, const struct device *b)
{
	return strcmp(a->model, b->model) == 0 && strcmp(a->stack, b->stack) == 0 &&
		strcmp(a->name, b->name) == 0 && strcmp(a->runner, b->runner) == 0 &&
		strcmp(a->version, b->version) == 0 && strcmp(a->host, b->host) == 0 &&
		strcmp(a->attributes, b->attributes) == 0;
}

/* The queue's copy of a device, added if new. A linear search over all texts: a process has one or two
 * devices. Items point to it, so a row that was rolled back is added again with the next item. */
static struct keep_device *keep_device(struct keep *k, const struct device *d)
{
	struct keep_device *one = k->devices;
	while (one && !keep_is_device(&one->d, d))
		one = one->next;
	if (!one) {
		one = base_calloc(1, sizeof(*one));
		one->d = device_copy(&one->arena, d);
		one->next = k->devices;
		k->devices = one;
	}
	return one;
}

static void keep_pop(struct keep *k)
{
	struct keep_item *item = k->first;
	k->results -= !item->is_end;
	k->first = item->next;
	k->last = k->first ? k->last : NULL;
	arena_free(&item->arena);
	free(item);
}

void keep_free(struct keep *k)
{
	while (k->first)
		keep_pop(k);
	while (k->devices) {
		struct keep_device *one = k->devices;
		k->devices = one->next;
		arena_free(&one->arena);
		free(one);
	}
}

/* once: an earlier write may have succeeded in spite of its error, so an equal row is not added again. */
static int keep_write(struct store *s, struct keep_device *d, const struct result *r, bool is_end, bool once,
	struct error *err)
{
	if (!d->id) {
		int64_t id = store_device(s, &d->d, err);
		if (id < 0)
			return -1;
		d->id = id;
	}
	if (is_end)
		return store_finish(s, d->id, r->problem, err);
	return once ? store_add_once(s, d->id, r, err) : store_add(s, d->id, r, err);
}

static int keep_write_item(struct store *s, const struct keep_item *item, struct error *err)
{
	return item->device ? keep_write(s, item->device, &item->r, item->is_end, true, err)
			    : store_execution_add_once(s, &item->execution, err);
}

/* Appends an empty item. */
static struct keep_item *keep_push(struct keep *k)
{
	struct keep_item *item = base_calloc(1, sizeof(*item));
	if (k->last)
		k->last->next = item;
	else
		k->first = item;
	k->last = item;
	return item;
}

/* Schedules the next retry with a doubled delay, from DELAY_LEAST_MS to DELAY_MOST_MS (truncated
 * exponential backoff), and logs the reason if it changed. */
static void keep_delay(struct keep *k, const struct error *why)
{
	k->delay_ms = !k->delay_ms ? DELAY_LEAST_MS : k->delay_ms * 2 < DELAY_MOST_MS ? k->delay_ms * 2 :
		DELAY_MOST_MS;
	k->retry_at_ms = clock_ms() + k->delay_ms;
	if (strcmp(k->why, why->text) != 0)
		log_line("%s", why->text);
	snprintf(k->why, sizeof(k->why), "%s", why->text);
}

/* Shortens the wait for locks to PATIENCE_MS. Returns the old limit, to restore it. */
static int keep_hurry(struct store *s)
{
	int usual = s->patience_ms;
	s->patience_ms = usual < PATIENCE_MS ? usual : PATIENCE_MS;
	s->passing = false;
	return usual;
}

/* The file will never take it: counts it as lost. Returns -1. */
static int keep_refuse(struct keep *k, bool is_end, const struct error *why)
{
	k->lost += !is_end;
	if (!is_end)
		snprintf(k->why, sizeof(k->why), "%s", why->text);
	return -1;
}

/* Judges a failed write. Returns 1 if the caller must queue the item, because the file is locked or full at
 * the moment; -1 if the file will never accept it. */
static int keep_failed(struct store *s, bool is_end, const struct error *why)
{
	if (!s->passing)
		return keep_refuse(&s->keep, is_end, why);
	s->keep.delay_ms = 0;
	keep_delay(&s->keep, why);
	return 1;
}

/* Writes at once while nothing is queued; otherwise, or if the file is locked or full at the moment,
 * appends to the queue. 0: written; 1: queued, with the reason in err; -1: the file will never take it.
 * Constant time apart from the write, which waits at most PATIENCE_MS. */
static int keep_one(struct store *s, const struct device *device, const struct result *r, bool is_end,
	struct error *err)
{
	struct keep *k = &s->keep;
	struct keep_device *d = keep_device(k, device);
	if (!k->first) {
		int usual = keep_hurry(s), bad = keep_write(s, d, r, is_end, false, err);
		s->patience_ms = usual;
		if (!bad || keep_failed(s, is_end, err) < 0)
			return bad;
	}
	struct keep_item *item = keep_push(k);
	item->device = d;
	item->is_end = is_end;
	item->r = result_copy(&item->arena, r);
	k->results += !is_end;
	error_set(err, "%s", k->why);
	return 1;
}

int store_keep_execution(struct store *s, const struct execution *e, struct error *err)
{
	struct keep *k = &s->keep;
	if (!k->first) {
		int usual = keep_hurry(s), bad = store_execution_add(s, e, err);
		s->patience_ms = usual;
		if (!bad || keep_failed(s, false, err) < 0)
			return bad;
	}
	struct keep_item *item = keep_push(k);
	item->execution = execution_copy(&item->arena, e);
	k->results++;
	error_set(err, "%s", k->why);
	return 1;
}

int store_keep(struct store *s, const struct device *d, const struct result *r, struct error *err)
{
	return keep_one(s, d, r, false, err);
}

int store_keep_finish(struct store *s, const struct device *d, const char *problem, struct error *err)
{
	const struct result r = { .problem = problem };
	return keep_one(s, d, &r, true, err);
}

/* Writes up to `most` queued items in one transaction, because a commit costs a sync of the disk. Returns
 * their number, or -1 if nothing was written: all or none, so the caller removes exactly the written
 * items. Ids of devices are forgotten on failure, as their rows may have been rolled back. */
static int keep_try(struct store *s, int most, struct error *err)
{
	int n = 0, bad = store_batch_begin(s, err);
	for (struct keep_item *item = s->keep.first; item && !bad && n < most; item = item->next, n++)
		bad = keep_write_item(s, item, err) < 0;
	if (!bad)
		bad = store_batch_end(s, err);
	if (!bad)
		return n;
	for (struct keep_device *d = s->keep.devices; d; d = d->next) /* their rows may have been rolled
									 back */
		d->id = 0;
	return -1;
}

/* Drops the first item, which the file will never take; all items if the file is gone. */
static void keep_lose(struct store *s, const struct error *why)
{
	struct keep *k = &s->keep;
	do {
		k->lost += !k->first->is_end;
		keep_pop(k);
	} while (s->gone && k->first);
	snprintf(k->why, sizeof(k->why), "%s", why->text);
	log_line("%s", why->text);
}

/* Writes the queue in batches until it is empty or the file is busy again. If a batch fails for a lasting
 * reason, items are written one by one from there on, so only those that cause the error are lost.
 * Returns the number of results still queued. */
int store_keep_retry(struct store *s, bool at_once)
{
	struct keep *k = &s->keep;
	if (!k->first || (!at_once && clock_ms() < k->retry_at_ms))
		return k->results;
	int usual = keep_hurry(s), most = BATCH;
	while (k->first) {
		struct error err = ERROR_NONE;
		s->passing = false;
		int n = keep_try(s, most, &err);
		if (n < 0 && s->passing) {
			keep_delay(k, &err);
			break;
		}
		if (n < 0 && most == 1) /* the first item is the cause */
			keep_lose(s, &err);
		else if (n < 0)
			most = 1;
		for (; n > 0; n--)
			keep_pop(k);
	}
	s->patience_ms = usual;
	return k->results;
}

struct store_waiting store_waiting(const struct store *s)
{
	return (struct store_waiting){ .results = s->keep.results, .lost = s->keep.lost, .why = s->keep.why };
}
