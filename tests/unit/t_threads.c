#include "config.h"

#include "tests/unit/tap.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runner/measure/preempt.h"
#include "runner/host/threads.h"

/* --- whose preemptions count --- */

#define WANTED 50

static atomic_int helper_has, helper_may_end;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static int64_t own(int who)
{
	struct rusage usage;
	return getrusage(who, &usage) == 0 ? usage.ru_nivcsw : 0;
}

/* Yields the one core to and fro until the system has counted enough of it. */
static void *helper(void *unused)
{
	preempt_leave_out();
	for (int64_t i = 0; i < 10000000 && own(RUSAGE_THREAD) < WANTED; i++)
		sched_yield();
	pthread_mutex_lock(&lock);
	atomic_store(&helper_has, (int)own(RUSAGE_THREAD) + 1);
	while (!atomic_load(&helper_may_end))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void test_preempt(void)
{
	cpu_set_t before, one;
	pthread_t t;
	int first = 0;
	sched_getaffinity(0, sizeof(before), &before);
	while (first < CPU_SETSIZE - 1 && !CPU_ISSET((unsigned)first, &before))
		first++;
	CPU_ZERO(&one);
	CPU_SET((unsigned)first, &one);
	sched_setaffinity(0, sizeof(one), &one);
	ok(isnan(preempt_waited_ns()), "whom nobody watches does not wait");
	preempt_watch(NULL, 0, 1);
	double waited = preempt_waited_ns();
	if (pthread_create(&t, NULL, helper, NULL))
		return;
	while (!atomic_load(&helper_has))
		sched_yield();
	if (isnan(waited))
		ok(1, "# SKIP nothing says how long threads wait here");
	else
		ok(preempt_waited_ns() > waited, "two on one core: this one waited %.0f ns",
			preempt_waited_ns() - waited);
	int64_t low, high, counted;
	low = own(RUSAGE_THREAD);
	counted = preempt_count();
	high = own(RUSAGE_THREAD);
	if (atomic_load(&helper_has) > WANTED)
		ok(low - 5 <= counted && counted <= high + 5,
			"%lld switches are counted: of %lld to %lld of this thread, none of another's %d",
			(long long)counted, (long long)low, (long long)high, atomic_load(&helper_has) - 1);
	else
		ok(1, "# SKIP nothing counts involuntary switches here");
	pthread_mutex_lock(&lock);
	atomic_store(&helper_may_end, 1);
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
	ok(preempt_count() <= own(RUSAGE_THREAD) + 5, "a thread that has ended is still left out");
	sched_setaffinity(0, sizeof(before), &before);
}

/* --- where threads may run --- */

/* An invented machine: CPUs 0 and 2 are one core, 1 and 3 another, and so on. */
static int paired(int cpu)
{
	return cpu % 2 + cpu / 4 * 4;
}

/* One word a thread: its CPUs as digits. */
static void binding(const char *text, const char *expected, int apart)
{
	cpu_set_t set[8];
	struct threads t = { 0 };
	char buf[64];
	for (const char *at = text; *at; t.count++) {
		CPU_ZERO(&set[t.count]);
		for (; *at && *at != ' '; at++)
			CPU_SET((unsigned)(*at - '0'), &set[t.count]);
		at += *at == ' ';
	}
	threads_classify(&t, set, t.count, paired);
	is_str(threads_describe(&t, buf), expected, "threads on CPUs %s", text);
	is_int(threads_are_apart(&t), apart,
		apart ? "each has a CPU of its own" : "not every one has a CPU of its own");
}

static void test_bindings(void)
{
	binding("0 1", "2 threads bound one a core", 1);
	binding("02 13", "2 threads bound one a core", 1);
	binding("0 2", "2 threads bound to 1 core", 1);
	binding("02 02", "2 threads bound to 1 core", 0);
	binding("0 1 2", "3 threads bound to 2 cores", 1);
	binding("0123 0123", "2 threads unbound", 0);
	binding("0123 4567", "2 threads bound", 0);
	binding("01", "1 thread unbound", 0);
	binding("13", "1 thread bound one a core", 1);
	struct threads unknown = { .count = 4 };
	char buf[64];
	is_str(threads_describe(&unknown, buf), "4 threads", "nothing known, nothing said");
}

int main(void)
{
	test_bindings();
	test_preempt();
	return done_testing();
}
