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

#include "runner/host/canary.h"
#include "runner/host/canary_memory.h"
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

/* What one runner knew, and what a file may hold. */
static void test_memory(void)
{
	double knew[2] = { 1102, 1210 }, knows[2] = { 0, 0 };
	char folder[] = "/tmp/benanza-t_threads.XXXXXX", cache[64], path[512];
	ok(mkdtemp(folder) != NULL, "a folder for it");
	snprintf(cache, sizeof(cache), "%s/made", folder);
	setenv("XDG_CACHE_HOME", cache, 1);
	canary_recall("0-1", knows, 2);
	ok(isnan(knows[0]) && isnan(knows[1]), "nothing is known at first");
	canary_remember("0-1", knew, 2);
	canary_recall("0-1", knows, 2);
	ok(fabs(knows[0] - 1102) < 1 && fabs(knows[1] - 1210) < 1, "then what the last one knew");
	canary_recall("2-3", knows, 2);
	ok(isnan(knows[0]), "of other cores nothing");
	canary_recall("0-1", knows, 1);
	ok(isnan(knows[0]), "nor of another number of them");
	static const char *const bad[] = { "", "benanza-canary 1 2 1100", "benanza-canary 1 2 1100 -5",
		"benanza-canary 1 2 nan inf", "benanza-canary 9 2 1100 1100", "\x1b[2J" };
	char host[64] = "";
	gethostname(host, sizeof(host) - 1);
	for (char *c = host; *c; c++)
		*c = isalnum((unsigned char)*c) ? *c : '-';
	snprintf(path, sizeof(path), "%s/benanza/canary-%s-0-1", cache, host);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FILE *f = fopen(path, "w");
		if (f) {
			fputs(bad[i], f);
			fclose(f);
		}
		canary_recall("0-1", knows, 2);
		ok(f && isnan(knows[0]) && isnan(knows[1]), "a file that makes no sense, %d", (int)i);
	}
	unlink(path);
	ok(mkfifo(path, 0600) == 0, "a pipe in its place");
	canary_recall("0-1", knows, 2);
	ok(isnan(knows[0]), "... keeps nobody waiting");
	unlink(path);
	const char *says = NULL;
	double slower = 1;
	for (int i = 0; i < 20 && !says;
		i++) { /* the machine may be twice as quick, or as slow, the second time */
		canary_open(NAN, "own");
		canary_close();
		canary_recall("own", knows, 1);
		knows[0] /= 1.9;
		canary_remember("own", knows, 1);
		canary_open(NAN, "own");
		says = canary_ask(&slower);
	}
	is_str(says, "the cores were slower than usual", "a canary is asked beside what was usual before");
	ok(slower > 1.3, "%.1f times", slower);
	snprintf(path, sizeof(path), "%s/benanza/canary-%s-own", cache, host);
	unlink(path);
	setenv("XDG_CACHE_HOME", "/proc/none", 1);
	canary_close();
	canary_remember("0-1", knew, 2);
	canary_recall("0-1", knows, 2);
	ok(isnan(knows[0]), "where nothing can be written nothing is known");
	snprintf(path, sizeof(path), "%s/benanza", cache);
	rmdir(path);
	rmdir(cache);
	ok(rmdir(folder) == 0, "and nothing else is left");
}

#define MS 1e6

/* What is usual follows slowly: nearly the least of the cores, a quantile of the memory. */
static void test_canary(void)
{
	struct canary_times usual = { 1000, 5000 };
	double slower;
	ok(!canary_judge(&usual, (struct canary_times){ 1300, 9000 }, MS, &slower) && slower == 1,
		"noise is no contention");
	is_str(canary_judge(&usual, (struct canary_times){ 1500, 5000 }, MS, &slower),
		"the cores were slower than usual", "slow cores");
	near(slower, 1.5, 0.01, "and by how much");
	canary_judge(&usual, (struct canary_times){ 4e6, 5000 }, MS, &slower);
	near(slower, 4, 1e-9,
		"what interrupted the canary for milliseconds made nothing thousands of times slower");
	is_str(canary_judge(&usual, (struct canary_times){ 1000, 12000 }, MS, &slower),
		"the memory was slower than usual", "slow memory");
	near(slower, 2.4, 0.01, "by how much");
	ok(!canary_judge(&usual, (struct canary_times){ 1000, NAN }, MS, &slower) && !isnan(usual.memory_ns),
		"what is not known says nothing");
	ok(fabs(usual.core_ns - 1000) < 3, "a few times teach little");
	for (int i = 0; i < 100000; i++) /* again and again, as who waits for quiet does */
		canary_judge(&usual, (struct canary_times){ 2000, 5000 }, MS / 10, &slower);
	near(slower, 2, 0.05, "what lasts is noticed ten seconds later, too, however often one asks");
	for (int i = 0; i < 500; i++)
		canary_judge(&usual, (struct canary_times){ 2000, 5000 }, 1000 * MS, &slower);
	ok(!canary_judge(&usual, (struct canary_times){ 2000, 5000 }, MS, &slower),
		"what stays for minutes becomes usual");
	for (int i = 0; i < 200; i++)
		canary_judge(&usual, (struct canary_times){ i % 4 ? 1200 : 1000, 5000 }, MS, &slower);
	near(usual.core_ns, 1000, 0.01, "and the least is soon usual again");
	for (int i = 0; i < 200; i++)
		canary_judge(&usual, (struct canary_times){ 1000, i % 4 ? 9000 : 5000 }, 1000 * MS, &slower);
	near(usual.memory_ns, 5000, 0.2, "of the memory the lower quartile");
	canary_open(1e6, "");
	struct canary_times none = { NAN, NAN };
	ok(!canary_judge(&none, (struct canary_times){ 1, 1 }, MS, &slower),
		"where nothing is usual, nothing is slow");
	canary_ask(&slower);
	canary_close();
	test_memory();
	ok(1, "the real one is asked on one thread");
}

int main(void)
{
	test_bindings();
	test_preempt();
	test_canary();
	return done_testing();
}
