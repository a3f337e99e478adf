/* Threads that meet by counters in memory, which they poll: a lock would cost more than short branches
 * take. */
#include "config.h"

#include "runner/host/lanes.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"
#include "runner/host/team.h"
#include "runner/measure/clock.h"
#include "runner/measure/preempt.h"

#define SPINS 20000 /* looks at a counter before it yields the core, on which the other thread may wait */

struct lane {
	struct lanes *of;
	int number, threads, first; /* first: index of its first thread */
	pthread_t thread;
};

struct lanes {
	struct lane lane[LANES_MOST];
	int count, started;
	bool team;               /* one thread each: the team's */
	pthread_mutex_t lock;    /* guards the next two */
	pthread_cond_t changed;
	int64_t runs;            /* asked for so far; -1: end */
	void (*work)(void *argument, int lane);
	void *argument;
	int64_t times;
	_Atomic int64_t begun, ready, ended; /* executions begun; lanes that wait for the first; that ended */
};

/* ---- lanes of one thread ---- */

/* The runtime may start fewer threads than there are lanes. */
static void member(void *argument, int i, int count)
{
	struct lanes *l = argument;
	team_member_share(1);
	for (int lane = i; lane < l->count; lane += count)
		l->work(l->argument, lane);
	team_member_share(0);
}

static double team_times(struct lanes *l, int64_t times)
{
	double begin = clock_ns();
	for (int64_t i = 0; i < times; i++)
		team_run(member, l);
	return clock_elapsed(begin);
}

/* ---- lanes with threads of their own ---- */

static void wait_for(_Atomic int64_t *counter, int64_t value)
{
	for (int64_t i = 1; atomic_load_explicit(counter, memory_order_acquire) < value; i++) {
		if (i % SPINS == 0)
			sched_yield();
#if defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	}
}

/* Binds a thread of a lane to its core: the runtime has bound it to that of lane 0. */
static void settle(void *argument, int i, int count)
{
	const struct lane *lane = argument;
	const int *cpus = team_cpus();
	cpu_set_t set;
	CPU_ZERO(&set);
	if (cpus)
		CPU_SET((unsigned)cpus[lane->first + i], &set);
	if (cpus && CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
	preempt_watch(NULL, i, count);
}

static void *lane_main(void *argument)
{
	struct lane *lane = argument;
	struct lanes *l = lane->of;
	int64_t seen = 0;
	team_share(lane->threads);
	team_run(settle, lane);
	for (;;) {
		pthread_mutex_lock(&l->lock);
		while (l->runs == seen)
			pthread_cond_wait(&l->changed, &l->lock);
		seen = l->runs;
		pthread_mutex_unlock(&l->lock);
		if (seen < 0)
			break;
		int64_t times = l->times;
		atomic_fetch_add(&l->ready, 1);
		for (int64_t i = 0; i < times; i++) {
			wait_for(&l->begun, i + 1);
			l->work(l->argument, lane->number);
			atomic_fetch_add_explicit(&l->ended, 1, memory_order_release);
		}
	}
	team_run(preempt_unwatch, NULL);
	return NULL;
}

static void tell(struct lanes *l, int64_t runs)
{
	pthread_mutex_lock(&l->lock);
	l->runs = runs;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
}

static double own_times(struct lanes *l, int64_t times)
{
	int others = l->count - 1;
	l->begun = l->ready = l->ended = 0;
	l->times = times;
	tell(l, l->runs + 1);
	team_share(l->lane[0].threads);
	wait_for(&l->ready, others);
	double begin = clock_ns();
	for (int64_t i = 0; i < times; i++) {
		atomic_store_explicit(&l->begun, i + 1, memory_order_release);
		l->work(l->argument, 0);
		wait_for(&l->ended, others * (i + 1));
	}
	double ns = clock_elapsed(begin);
	team_share(0);
	return ns;
}

/* ---- both ---- */

double lanes_run(struct lanes *l, void (*work)(void *argument, int lane), void *argument, int64_t times)
{
	l->work = work;
	l->argument = argument;
	return l->team ? team_times(l, times) : own_times(l, times);
}

struct lanes *lanes_open(const int *threads, int count)
{
	struct lanes *l = base_calloc(1, sizeof(*l));
	int first = 0;
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	l->count = count;
	l->team = true;
	for (int i = 0; i < count; i++) {
		l->lane[i] = (struct lane){ .of = l, .number = i, .threads = threads[i], .first = first };
		l->team &= threads[i] == 1;
		first += threads[i];
	}
	l->started = l->team ? count : 1;
	while (l->started < count && pthread_create(&l->lane[l->started].thread, NULL, lane_main,
			&l->lane[l->started]) == 0)
		l->started++;
	if (l->started == count)
		return l;
	lanes_close(l);
	return NULL;
}

void lanes_close(struct lanes *l)
{
	if (!l->team)
		tell(l, -1);
	for (int i = 1; i < l->started && !l->team; i++)
		pthread_join(l->lane[i].thread, NULL);
	pthread_cond_destroy(&l->changed);
	pthread_mutex_destroy(&l->lock);
	free(l);
}
