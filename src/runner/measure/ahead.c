/* Threads take pieces of work (a list, a compiled algorithm) under one lock; a round of work ends before
 * the device is measured. */
#include "config.h"

#include "runner/measure/ahead.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "runner/measure/clock.h"

#define CANCEL_MS 50

/* What is known of one problem. A thread that works on it writes without the lock: `listing` keeps others
 * from the whole entry, a compiled algorithm only concerns the thread that has its index. */
struct entry {
	char *text;
	bool all;
	struct problem problem;
	struct offers offers;
	struct error err;
	enum status status;
	bool listing, listed;
	int *picked, picked_count; /* of the offers, those to compile */
	int begun, finished;       /* number of them that a thread has begun, and finished */
};

struct ahead {
	struct ahead_options options;
	pthread_t *thread;
	pthread_mutex_t lock;      /* guards everything below */
	pthread_cond_t work, done; /* there may be work; a piece of it is done */
	struct entry *entry[AHEAD_PROBLEMS]; /* in the order of the jobs */
	int count;
	bool open, leaving;        /* a round is on: work may be begun; the threads shall end */
	double until_ns;           /* of the round: for other problems than the first */
	int busy;                  /* threads at work */
	int64_t pieces;            /* of work done so far */
	int entered;               /* threads that have called `enter` */
	struct error why;          /* of one that failed to */
};

int ahead_threads(int cores)
{
	return cores - 1 < 1 ? 1 : cores - 1 < AHEAD_THREADS ? cores - 1 : AHEAD_THREADS;
}

static void entry_free(struct entry *e)
{
	if (e->listed && e->status == STATUS_OK)
		offers_close(&e->offers);
	free(e->picked);
	free(e->text);
	free(e);
}

/* --- the threads --- */

/* One piece of work: to list a problem's algorithms (index -1), or to compile one of them. */
struct piece {
	struct entry *entry;
	int index;
};

static bool entry_is_done(const struct entry *e)
{
	return e->listed && e->finished == e->picked_count;
}

static void entry_list(const struct ahead *a, struct entry *e)
{
	e->status = STATUS_FAILED;
	if (problem_parse(text_of(e->text), &e->problem, &e->err))
		return;
	e->status = offers_open(&e->offers, a->options.backends, &e->problem, e->all, &e->err) ?
		STATUS_UNSUPPORTED : STATUS_OK;
	if (e->status != STATUS_OK || a->options.lists_only)
		return;
	const struct offers *o = &e->offers;
	int *picked = base_calloc((size_t)o->count, sizeof(*picked));
	int count = offers_pick(o, picked, a->options.most > 0 ? a->options.most : o->count), kept = 0;
	for (int i = 0; i < count; i++)
		if (o->offer[picked[i]].list->backend->compile)
			picked[kept++] = picked[i];
	e->picked = picked;
	e->picked_count = kept;
}

static void piece_do(const struct ahead *a, struct piece p)
{
	if (p.index < 0) {
		entry_list(a, p.entry);
		return;
	}
	const struct offer *f = &p.entry->offers.offer[p.entry->picked[p.index]];
	f->list->backend->compile(f->list, f->index);
}

/* Begins the next piece of work: problems in order, listing before compiling. Returns false if no work is
 * left
 * now; listing one problem may give more. */
static bool piece_begin(struct ahead *a, struct piece *p)
{
	for (int i = 0; i < a->count && a->open; i++) {
		struct entry *e = a->entry[i];
		if (i > 0 && clock_ns() >= a->until_ns)
			return false;
		if (!e->listed && !e->listing) {
			e->listing = true;
			*p = (struct piece){ e, -1 };
			return true;
		}
		if (e->listed && e->begun < e->picked_count) {
			*p = (struct piece){ e, e->begun++ };
			return true;
		}
	}
	return false;
}

static void piece_end(struct piece p)
{
	if (p.index < 0)
		p.entry->listed = true;
	else
		p.entry->finished++;
}

static void *thread_main(void *argument)
{
	struct ahead *a = argument;
	struct error why = ERROR_NONE;
	struct piece p;
	if (a->options.enter)
		a->options.enter(&why);
	pthread_mutex_lock(&a->lock);
	a->entered++;
	a->why = *why.text ? why : a->why;
	pthread_cond_broadcast(&a->done);
	while (!a->leaving) {
		if (!piece_begin(a, &p)) {
			pthread_cond_wait(&a->work, &a->lock);
			continue;
		}
		a->busy++;
		pthread_mutex_unlock(&a->lock);
		piece_do(a, p);
		pthread_mutex_lock(&a->lock);
		a->busy--;
		piece_end(p);
		a->pieces++;
		pthread_cond_broadcast(&a->work);
		pthread_cond_broadcast(&a->done);
	}
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* --- rounds --- */

static bool is_of(const struct entry *e, struct ahead_job job)
{
	return e->all == job.all && strcmp(e->text, job.text) == 0;
}

static struct entry *entry_find(const struct ahead *a, struct ahead_job job)
{
	for (int i = 0; i < a->count; i++)
		if (a->entry[i] && is_of(a->entry[i], job))
			return a->entry[i];
	return NULL;
}

static void entry_remove(struct ahead *a, const struct entry *e)
{
	int kept = 0;
	for (int i = 0; i < a->count; i++)
		if (a->entry[i] != e)
			a->entry[kept++] = a->entry[i];
	a->count = kept;
}

/* Replaces the entries by those of these problems, keeping what is known of them. No thread is at work. */
static void entries_set(struct ahead *a, const struct ahead_job *jobs, int count)
{
	struct entry *next[AHEAD_PROBLEMS];
	int n = 0;
	for (int i = 0; i < count && n < AHEAD_PROBLEMS; i++) {
		struct entry *e = entry_find(a, jobs[i]);
		bool twice = false;
		for (int j = 0; j < n; j++)
			twice = twice || is_of(next[j], jobs[i]);
		if (twice)
			continue;
		if (e) {
			entry_remove(a, e);
		} else {
			e = base_calloc(1, sizeof(*e));
			e->text = base_strdup(jobs[i].text);
			e->all = jobs[i].all;
		}
		next[n++] = e;
	}
	for (int i = 0; i < a->count; i++)
		entry_free(a->entry[i]);
	memcpy(a->entry, next, (size_t)n * sizeof(*next));
	a->count = n;
}

static bool all_done(const struct ahead *a)
{
	for (int i = 0; i < a->count; i++)
		if (!entry_is_done(a->entry[i]))
			return false;
	return true;
}

/* Waits for a change, at most CANCEL_MS. */
static void wait_shortly(struct ahead *a)
{
	struct timespec until;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += CANCEL_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&a->done, &a->lock, &until);
}

void ahead_prepare(struct ahead *a, const struct ahead_job *jobs, int count, bool (*cancelled)(void *user),
	void *user)
{
	pthread_mutex_lock(&a->lock);
	struct entry *first = count > 0 ? entry_find(a, jobs[0]) : NULL;
	bool needed = count > 0 && !(first && entry_is_done(first));
	if (needed) {
		entries_set(a, jobs, count);
		a->until_ns = clock_ns() + a->options.ahead_ns;
		a->open = true;
		pthread_cond_broadcast(&a->work);
	}
	while (a->open) {
		bool enough = entry_is_done(a->entry[0]) && clock_ns() >= a->until_ns;
		pthread_mutex_unlock(&a->lock);
		bool stop = cancelled(user);
		pthread_mutex_lock(&a->lock);
		a->open = !stop && !enough && !all_done(a);
		if (a->open)
			wait_shortly(a);
	}
	while (a->busy)
		pthread_cond_wait(&a->done, &a->lock);
	pthread_mutex_unlock(&a->lock);
}

int64_t ahead_pieces(struct ahead *a)
{
	pthread_mutex_lock(&a->lock);
	int64_t pieces = a->pieces;
	pthread_mutex_unlock(&a->lock);
	return pieces;
}

bool ahead_busy(struct ahead *a, char *text, size_t size)
{
	bool busy = false;
	pthread_mutex_lock(&a->lock);
	for (int i = 0; i < a->count && !busy; i++) {
		const struct entry *e = a->entry[i];
		busy = (e->listing && !e->listed) || e->begun > e->finished;
		if (busy)
			snprintf(text, size, "%s", e->text);
	}
	pthread_mutex_unlock(&a->lock);
	return busy;
}

bool ahead_take(struct ahead *a, struct ahead_job job, struct problem *p, struct offers *o,
	enum status *status, struct error *err)
{
	pthread_mutex_lock(&a->lock);
	struct entry *e = entry_find(a, job);
	bool known = e && e->listed;
	if (known)
		entry_remove(a, e);
	pthread_mutex_unlock(&a->lock);
	if (!known)
		return false;
	*p = e->problem;
	*status = e->status;
	if (e->status == STATUS_OK)
		offers_move(o, &e->offers);
	else
		error_set(err, "%s", e->err.text);
	entry_free(e);
	return true;
}

/* --- opening and closing --- */

static int threads_start(struct ahead *a)
{
	int n = 0;
	while (n < a->options.threads && pthread_create(&a->thread[n], NULL, thread_main, a) == 0)
		n++;
	return n;
}

struct ahead *ahead_open(const struct ahead_options *o, struct error *err)
{
	struct ahead *a = base_calloc(1, sizeof(*a));
	pthread_condattr_t monotonic;
	a->options = *o;
	a->thread = base_calloc((size_t)o->threads, sizeof(*a->thread));
	pthread_mutex_init(&a->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&a->work, NULL);
	pthread_cond_init(&a->done, &monotonic);
	pthread_condattr_destroy(&monotonic);
	a->options.threads = threads_start(a);
	pthread_mutex_lock(&a->lock);
	while (a->entered < a->options.threads)
		pthread_cond_wait(&a->done, &a->lock);
	struct error why = a->why;
	pthread_mutex_unlock(&a->lock);
	if (a->options.threads && !*why.text)
		return a;
	error_set(err, "%s", *why.text ? why.text : "the system starts no threads");
	ahead_close(a);
	return NULL;
}

void ahead_close(struct ahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->leaving = true;
	pthread_cond_broadcast(&a->work);
	pthread_mutex_unlock(&a->lock);
	for (int i = 0; i < a->options.threads; i++)
		pthread_join(a->thread[i], NULL);
	for (int i = 0; i < a->count; i++)
		entry_free(a->entry[i]);
	pthread_cond_destroy(&a->work);
	pthread_cond_destroy(&a->done);
	pthread_mutex_destroy(&a->lock);
	free(a->thread);
	free(a);
}
