/* Work in shares of equal size; a share less than a thread reads from its own caches is not split. */
#include "config.h"

#include "runner/host/team.h"

#include <math.h>
#include <time.h>

static struct {
	int size;
	struct openmp omp;
	int cpus[TEAM_MOST];
	bool bound;
} team = { .size = 1 };

static _Thread_local int share; /* of the calling thread; 0: all */

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
	return share ? share : team.size;
}

void team_member_share(int count)
{
	share = count;
}

void team_share(int count)
{
	share = count;
	threads_limit(team_size());
}

void team_set_cpus(const int *cpus)
{
	team.bound = cpus != NULL;
	for (int i = 0; cpus && i < team.size; i++)
		team.cpus[i] = cpus[i];
}

const int *team_cpus(void)
{
	return team.bound ? team.cpus : NULL;
}

#define SMALL_BYTES 524288 /* a thread reads as many from its own caches, or */
#define SMALL_FLOPS 2e6    /* computes as many, in about ten microseconds */

bool team_is_too_large(const struct problem *p)
{
	return team_size() > 1 && problem_bytes(p) <= SMALL_BYTES && problem_flops(p) <= SMALL_FLOPS;
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
	if (team_size() > 1)
		team.omp.parallel(member, &p, (unsigned)team_size(), 0);
	else
		work(argument, 0, 1);
}

static void sleep_share(void *ns, int i, int count)
{
	double time = *(const double *)ns;
	(void)i;
	(void)count;
	struct timespec t = { .tv_sec = (time_t)(time / 1e9), .tv_nsec = (long)fmod(time, 1e9) };
	nanosleep(&t, NULL);
}

void team_rest(double ns)
{
	team_run(sleep_share, &ns);
}
