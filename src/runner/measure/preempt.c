/* Reads the kernel's counters of context switches and of waiting time; those of helper threads are left
 * out. */
#include "config.h"

#include "runner/measure/preempt.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define HELPERS 8

static struct {
	pthread_mutex_t lock;
	int count;
	struct {
		pid_t thread;
		int64_t seen; /* last count, kept after the thread ends */
	} helper[HELPERS];
} left_out = { .lock = PTHREAD_MUTEX_INITIALIZER };

void preempt_leave_out(void)
{
	pthread_mutex_lock(&left_out.lock);
	if (left_out.count < HELPERS)
		left_out.helper[left_out.count++].thread = gettid();
	pthread_mutex_unlock(&left_out.lock);
}

static int64_t thread_read(pid_t thread, int64_t otherwise)
{
	char path[64], line[256];
	long long n = otherwise;
	snprintf(path, sizeof(path), "/proc/self/task/%d/status", (int)thread);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "nonvoluntary_ctxt_switches: %lld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

static int64_t helpers_count(void)
{
	int64_t sum = 0;
	pthread_mutex_lock(&left_out.lock);
	for (int i = 0; i < left_out.count; i++) {
		left_out.helper[i].seen = thread_read(left_out.helper[i].thread, left_out.helper[i].seen);
		sum += left_out.helper[i].seen;
	}
	pthread_mutex_unlock(&left_out.lock);
	return sum;
}

/* Involuntary context switches of the process minus those of the helper threads (getrusage(2), proc(5)).
 * The files of the helper threads are read only when the process's count has changed. */
int64_t preempt_count(void)
{
	static int64_t all_seen = -1, counted;
	struct rusage usage;
	if (getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_nivcsw != all_seen) {
		all_seen = usage.ru_nivcsw;
		counted = all_seen - helpers_count();
	}
	return counted;
}

/* --- waiting for a core --- */

#define WATCHED 1024

static struct {
	pthread_mutex_t lock;
	double before;     /* what threads that ended had waited */
	pid_t thread[WATCHED];
	int file[WATCHED]; /* /proc/self/task/TID/schedstat, kept open: a reading is one call */
	clockid_t clock[WATCHED]; /* the CPU time of the thread */
	double mark[WATCHED];     /* what it was at preempt_mark */
	int count;
	bool blind;        /* one thread's file cannot be read */
} watched = { .lock = PTHREAD_MUTEX_INITIALIZER };

void preempt_watch(void *unused, int i, int count)
{
	char path[64];
	(void)unused;
	(void)i;
	(void)count;
	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", (int)gettid());
	int file = open(path, O_RDONLY | O_CLOEXEC);
	pthread_mutex_lock(&watched.lock);
	if (file >= 0 && watched.count < WATCHED) {
		watched.thread[watched.count] = gettid();
		if (pthread_getcpuclockid(pthread_self(), &watched.clock[watched.count]))
			watched.blind = true;
		watched.file[watched.count++] = file;
	} else {
		watched.blind = true;
	}
	pthread_mutex_unlock(&watched.lock);
}

/* The second number of schedstat: ns that the thread was ready and waited for a core (Linux
 * Documentation/scheduler/sched-stats.rst). */
static double waited_read(int file)
{
	char text[96], *end;
	ssize_t n = pread(file, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return NAN;
	text[n] = '\0';
	strtod(text, &end);
	double waited = strtod(end, &end);
	return *end == ' ' ? waited : NAN;
}

void preempt_unwatch(void *unused, int i, int count)
{
	(void)unused;
	(void)i;
	(void)count;
	pthread_mutex_lock(&watched.lock);
	for (int k = watched.count - 1; k >= 0; k--) {
		if (watched.thread[k] != gettid())
			continue;
		double waited = waited_read(watched.file[k]);
		watched.before += isnan(waited) ? 0 : waited;
		close(watched.file[k]);
		watched.count--;
		watched.thread[k] = watched.thread[watched.count];
		watched.file[k] = watched.file[watched.count];
		watched.clock[k] = watched.clock[watched.count];
		watched.mark[k] = watched.mark[watched.count];
	}
	pthread_mutex_unlock(&watched.lock);
}

double preempt_waited_ns(void)
{
	double sum = watched.blind || watched.count == 0 ? NAN : watched.before;
	for (int i = 0; i < watched.count && !isnan(sum); i++)
		sum += waited_read(watched.file[i]);
	return sum;
}

/* --- running --- */

static double ran_read(clockid_t clock)
{
	struct timespec t;
	return clock_gettime(clock, &t) ? NAN : (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

void preempt_mark(void)
{
	for (int i = 0; i < watched.count; i++)
		watched.mark[i] = ran_read(watched.clock[i]);
}

double preempt_ran_ns(void)
{
	double most = watched.blind || watched.count == 0 ? NAN : 0;
	for (int i = 0; i < watched.count && !isnan(most); i++) {
		double ran = ran_read(watched.clock[i]) - watched.mark[i];
		most = isnan(ran) ? NAN : ran > most ? ran : most;
	}
	return most;
}
