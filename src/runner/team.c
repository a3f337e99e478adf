#include "config.h"

#include "runner/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SPINS 20000

static struct {
	int cores[TEAM_MOST];
	int size, started;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	int sleepers;            /* under lock */
	atomic_uint turn;        /* counts up with each piece of work */
	atomic_int busy;         /* threads that have not finished it */
	void (*work)(void *argument, int i, int count);
	void *argument;
} team = { .size = 1, .lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER };

void team_set(const int *cores, int count)
{
	team.size = count < 1 ? 1 : count > TEAM_MOST ? TEAM_MOST : count;
	for (int i = 0; i < team.size && i < count; i++)
		team.cores[i] = cores[i];
}

int team_size(void)
{
	return team.size;
}

static void turn_wait(unsigned seen)
{
	for (int i = 0; i < SPINS; i++)
		if (atomic_load(&team.turn) != seen)
			return;
	pthread_mutex_lock(&team.lock);
	team.sleepers++;
	while (atomic_load(&team.turn) == seen)
		pthread_cond_wait(&team.wake, &team.lock);
	team.sleepers--;
	pthread_mutex_unlock(&team.lock);
}

static void *member(void *number)
{
	int i = (int)(intptr_t)number;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((unsigned)team.cores[i], &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	for (unsigned seen = 0;; seen++) {
		turn_wait(seen);
		team.work(team.argument, i, team.size);
		atomic_fetch_sub(&team.busy, 1);
	}
	return NULL;
}

/* Threads that cannot be had: their share stays with fewer. */
static void team_start(void)
{
	for (team.started = 1; team.started < team.size; team.started++) {
		pthread_t t;
		if (pthread_create(&t, NULL, member, (void *)(intptr_t)team.started)) {
			team.size = team.started;
			break;
		}
		pthread_detach(t);
	}
}

void team_run(void (*work)(void *argument, int i, int count), void *argument)
{
	if (!team.started)
		team_start();
	team.work = work;
	team.argument = argument;
	atomic_store(&team.busy, team.size - 1);
	if (team.size > 1) {
		pthread_mutex_lock(&team.lock);
		atomic_fetch_add(&team.turn, 1);
		if (team.sleepers)
			pthread_cond_broadcast(&team.wake);
		pthread_mutex_unlock(&team.lock);
	}
	work(argument, 0, team.size);
	for (int i = 0; atomic_load(&team.busy) > 0; i++)
		if (i > SPINS)
			sched_yield();
}
