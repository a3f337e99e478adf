#include "config.h"

#include "runner/host/team.h"

static struct {
	int size;
	struct openmp omp;
} team = { .size = 1 };

struct piece {
	void (*work)(void *argument, int i, int count);
	void *argument;
};

void team_set(int count)
{
	team.size = !threads_openmp(&team.omp) || count < 1 ? 1 : count > TEAM_MOST ? TEAM_MOST : count;
}

int team_size(void)
{
	return team.size;
}

#define SMALL_BYTES 524288 /* a thread reads as many from its own caches, or */
#define SMALL_FLOPS 2e6    /* computes as many, in about ten microseconds */

bool team_is_too_large(const struct problem *p)
{
	return team.size > 1 && problem_bytes(p) <= SMALL_BYTES && problem_flops(p) <= SMALL_FLOPS;
}

static void member(void *argument)
{
	const struct piece *p = argument;
	/* the runtime may start fewer threads than requested */
	p->work(p->argument, team.omp.thread_num(), team.omp.num_threads());
}

void team_run(void (*work)(void *argument, int i, int count), void *argument)
{
	struct piece p = { work, argument };
	if (team.size > 1)
		team.omp.parallel(member, &p, (unsigned)team.size, 0);
	else
		work(argument, 0, 1);
}
