#include "config.h"

#include "tests/unit/tap.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runner/host/lanes.h"
#include "runner/host/team.h"

#define TIMES 200
#define PATIENCE 100000000

struct seen {
	int lanes;
	atomic_int calls[LANES_MOST], inside, alone, size[LANES_MOST], pieces[LANES_MOST];
	atomic_int met;
};

static void piece(void *argument, int i, int count)
{
	(void)i;
	(void)count;
	atomic_fetch_add((atomic_int *)argument, 1);
}

/* Each call waits until all lanes are in their call of the same number: one by one they never are. */
static void work(void *argument, int lane)
{
	struct seen *s = argument;
	int round = atomic_fetch_add(&s->calls[lane], 1) + 1;
	s->size[lane] = team_size();
	atomic_fetch_add(&s->met, 1);
	int64_t patience = PATIENCE;
	while (atomic_load(&s->met) < round * s->lanes && --patience)
		if (patience % 100 == 0)
			sched_yield();
	if (!patience || atomic_load(&s->met) > round * s->lanes)
		atomic_fetch_add(&s->alone, 1);
	if (round == 1)
		team_run(piece, &s->pieces[lane]);
}

static void runs(const char *name, const int *threads, int count)
{
	static struct seen none;
	struct seen s = none;
	struct lanes *l = lanes_open(threads, count);
	s.lanes = count;
	double ns = lanes_run(l, work, &s, TIMES);
	lanes_run(l, work, &s, 1); /* again */
	int right = 0, all = 0;
	for (int i = 0; i < count; i++) {
		right += s.calls[i] == TIMES + 1 && s.size[i] == threads[i] && s.pieces[i] == threads[i];
		all += threads[i];
	}
	ok(ns > 0, "%s: takes time", name);
	is_int(right, count, "%s: each lane is called each time, with its share of the threads", name);
	is_int(s.alone, 0, "%s: all lanes at the same time, none before the others have ended", name);
	is_int(team_size(), 4, "%s: then all threads are the caller's again", name);
	lanes_close(l);
}

int main(void)
{
	setenv("OMP_NUM_THREADS", "4", 1);
	if (!dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL))
		skip_all("no OpenMP runtime");
	team_set(4);
	runs("1+1", (const int[]){ 1, 1 }, 2);
	runs("1+1+1+1", (const int[]){ 1, 1, 1, 1 }, 4);
	runs("2+2", (const int[]){ 2, 2 }, 2);
	runs("1+3", (const int[]){ 1, 3 }, 2);
	runs("1+1+2", (const int[]){ 1, 1, 2 }, 3);
	return done_testing();
}
