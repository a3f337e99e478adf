/* The jobs of a queue and their order. All jobs are in one array, with a hash from their keys to indexes;
 * pending ones also form a doubly linked list. Each pending job has a slot number that grows by 1 from head
 * to tail, so that its position is a subtraction: all operations take constant time. Removing a job from the
 * middle leaves a gap, and the next request for a position renumbers the list. */
#include "config.h"

#include "drive/queue_private.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void job_list_init(struct job_list *l)
{
	*l = (struct job_list){ .head = -1, .tail = -1 };
}

void job_list_free(struct job_list *l)
{
	free(l->jobs);
	hash_free(&l->by_key);
	arena_free(&l->arena);
	job_list_init(l);
}

bool job_is_problem(const struct job *j)
{
	return strcmp(j->kind, JOB_PROBLEM) == 0;
}

bool job_is_quick(const struct job *j)
{
	return strcmp(j->kind, JOB_QUICK) == 0;
}

bool job_is_repeat(const struct job *j)
{
	return strcmp(j->kind, JOB_REPEAT) == 0;
}

bool job_is_extra(const struct job *j)
{
	return job_is_quick(j) || job_is_repeat(j);
}

/* A problem's text has no newline, so the keys of two kinds differ. */
static struct text job_key(struct arena *a, const char *kind, const char *payload)
{
	return text_of(strcmp(kind, JOB_PROBLEM) == 0 ? payload : arena_printf(a, "%s\n%s", kind, payload));
}

int job_find(const struct job_list *l, const char *kind, const char *payload)
{
	struct arena a = { 0 };
	int job = (int)hash_find(&l->by_key, job_key(&a, kind, payload));
	arena_free(&a);
	return job;
}

int job_make(struct job_list *l, const char *kind, const char *payload)
{
	int known = job_find(l, kind, payload);
	if (known >= 0)
		return known;
	const char *copy = arena_strndup(&l->arena, payload, strlen(payload));
	VEC_GROW(l->jobs, l->count, l->capacity);
	l->jobs[l->count] = (struct job){ .kind = arena_strndup(&l->arena, kind, strlen(kind)),
		.payload = copy,
		.before = -1,
		.after = -1,
		.took_s = NAN,
		.weight = eta_weigh(copy),
		.why = "" };
	if (job_is_quick(&l->jobs[l->count])) { /* they take hardly any of the time */
		l->jobs[l->count].weight = (struct eta_weight){ 0 };
		l->quick[JOB_NONE]++;
	}
	l->repeats[JOB_NONE] += job_is_repeat(&l->jobs[l->count]);
	*hash_at(&l->by_key, job_key(&l->arena, kind, copy)) = l->count;
	l->by_state[JOB_NONE]++;
	return l->count++;
}

/* Unlinks a job from the doubly linked list of pending ones: constant time. A job removed from the middle
 * leaves a gap in the slot numbers, so they are marked as stale; at either end they stay consecutive. */
static void job_leave(struct job_list *l, int job)
{
	struct job *j = &l->jobs[job];
	if (j->before >= 0 && j->after >= 0)
		l->order_stale = true;
	if (j->before >= 0)
		l->jobs[j->before].after = j->after;
	else
		l->head = j->after;
	if (j->after >= 0)
		l->jobs[j->after].before = j->before;
	else
		l->tail = j->before;
	j->before = j->after = -1;
}

static void job_change(struct job_list *l, int job, enum job_state state)
{
	l->by_state[l->jobs[job].state]--;
	l->by_state[state]++;
	if (job_is_quick(&l->jobs[job])) {
		l->quick[l->jobs[job].state]--;
		l->quick[state]++;
	}
	if (job_is_repeat(&l->jobs[job])) {
		l->repeats[l->jobs[job].state]--;
		l->repeats[state]++;
	}
	l->jobs[job].state = state;
	l->version++;
}

/* Links the job at the head or tail, with the slot number before the first or after the last, which may
 * be negative: constant time without renumbering. */
void job_enqueue(struct job_list *l, int job, bool first)
{
	struct job *j = &l->jobs[job];
	assert(j->state != JOB_PENDING);
	job_change(l, job, JOB_PENDING);
	j->why = "";
	if (l->head < 0) {
		l->head = l->tail = job;
		j->slot = 0;
	} else if (first) {
		j->after = l->head;
		j->slot = l->jobs[l->head].slot - 1;
		l->jobs[l->head].before = job;
		l->head = job;
	} else {
		j->before = l->tail;
		j->slot = l->jobs[l->tail].slot + 1;
		l->jobs[l->tail].after = job;
		l->tail = job;
	}
}

void job_set(struct job_list *l, int job, enum job_state state, const char *why)
{
	assert(state != JOB_PENDING);
	if (l->jobs[job].state == JOB_PENDING)
		job_leave(l, job);
	job_change(l, job, state);
	const char *last = l->jobs[job].why;
	if (!why || !why[0])
		l->jobs[job].why = "";
	else if (!last || strcmp(last, why) != 0)
		l->jobs[job].why = arena_strndup(&l->arena, why, strlen(why));
}

/* 1 for the next job; 0 if not pending. The difference of slot numbers; after a removal from the middle
 * they are renumbered first, once for all requests until the next removal: linear then, constant
 * otherwise. */
int job_position(struct job_list *l, int job)
{
	if (l->jobs[job].state != JOB_PENDING)
		return 0;
	if (l->order_stale) {
		int64_t slot = 0;
		for (int i = l->head; i >= 0; i = l->jobs[i].after)
			l->jobs[i].slot = slot++;
		l->order_stale = false;
	}
	return (int)(l->jobs[job].slot - l->jobs[l->head].slot) + 1;
}
