#include "config.h"

#include "runner/host/canary.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "runner/host/canary_memory.h"
#include "runner/measure/clock.h"
#include "runner/host/team.h"

#define ROUNDS 48            /* passes over data that fits in the L1 cache */
#define VECTORS 128
#define LINE 64
#define CHUNK_BYTES 65536    /* that a thread reads per run */
#define LLC_FACTOR 2         /* bytes read before a chunk is reused, in last-level caches */
#define BUFFER_MOST 256e6

#define TOGETHER_NS 50e3     /* time in which all threads that have a core start */

#define CORE_FACTOR 1.3      /* more than the 20% by which wide vectors lower the clock */
#define CORE_FALL 0.1        /* share of the difference by which faster times lower the usual one */
#define CORE_RISE_NS 600e9   /* time constant of its rise: twice as slow becomes usual after 7 minutes */
#define MEMORY_FACTOR 2.0    /* high: writes of the last sample still use the memory */
#define FIRST 32             /* runs that determine the usual times at the start */
#define FIRST_PAUSE_NS 500000/* between these runs: load on a core's other thread changes within ms */
#define LEARN_NS 20e9        /* time constant of the memory's quantile */
#define SLOWER_MOST 4.0      /* limit: beyond it the canary itself was interrupted */
#define TRIES 2
#define TRIES_TOGETHER 8
#define USUAL 0.25           /* quantile of the memory's times that counts as usual */

#define STOLEN_SHARE 0.05    /* of all cores' time */
#define STOLEN_NS 100e6      /* system ticks are 10 ms */

static struct {
	char *buffer;
	int64_t chunks, next;
	struct canary_times times[TEAM_MOST];
	struct canary_times usual[TEAM_MOST]; /* per thread: cores differ */
	atomic_int here;
	atomic_bool late;        /* some threads started without the others */
	double asked;            /* time of the last run */
	char cores[64];          /* name for canary_memory.h, "": none */
	double stolen, stolen_at; /* ticks at the last reading, and its time; 0: never read */
	bool stolen_lately;
} canary;

/* 16-byte vectors exist on every machine, so all compilers generate the same loop. */
typedef float vector __attribute__((vector_size(16)));

/* Loads, multiplications and eight independent sums, which keep the core's execution units busy. A chain
 * of dependent multiplications would leave units free for the other hardware thread of the core and would
 * not be slowed by it. */
static void core_work(const vector *from)
{
	const vector factor = { 0.999f, 0.999f, 0.999f, 0.999f };
	vector a = factor, b = factor, c = factor, d = factor, e = factor, f = factor, g = factor, h = factor;
	for (int round = 0; round < ROUNDS; round++)
		for (const vector *v = from; v < from + VECTORS; v += 8) {
			a += v[0] * factor;
			b += v[1] * factor;
			c += v[2] * factor;
			d += v[3] * factor;
			e += v[4] * factor;
			f += v[5] * factor;
			g += v[6] * factor;
			h += v[7] * factor;
		}
	a += b + c + d + e + f + g + h;
	__asm__ volatile("" : : "r"(&a) : "memory");
}

static void memory_work(const char *from)
{
	uint64_t sum = 0, word;
	for (int64_t at = 0; at < CHUNK_BYTES; at += LINE) {
		memcpy(&word, from + at, sizeof(word));
		sum += word;
	}
	__asm__ volatile("" : : "r"(sum));
}

/* Waits until all threads have started, because two threads on one core slow each other down and must do
 * so in every run. After TOGETHER_NS the run is marked as late. */
static void meet(int count)
{
	double begin = clock_ns();
	atomic_fetch_add(&canary.here, 1);
	while (atomic_load(&canary.here) < count)
		if (clock_ns() - begin > TOGETHER_NS) {
			atomic_store(&canary.late, true);
			return;
		}
}

/* One thread's part of a run: waits for the others, then times fixed work in the L1 cache (the clock and
 * the core's other thread) and reading a chunk from memory that left the caches (bandwidth used by
 * others). Each thread times only itself: waiting for the slowest would hide the others. */
static void share(void *unused, int i, int count)
{
	(void)unused;
	struct canary_times *t = &canary.times[i];
	vector near[VECTORS];
	for (int j = 0; j < VECTORS; j++)
		near[j] = (vector){ 0.001f, 0.001f, 0.001f, 0.001f };
	__asm__ volatile("" : : "r"(near) : "memory");
	meet(count);
	double begin = clock_ns();
	core_work(near);
	double between = clock_ns();
	if (canary.chunks)
		memory_work(canary.buffer + (canary.next + i) % canary.chunks * CHUNK_BYTES);
	*t = (struct canary_times){ between - begin, canary.chunks ? clock_ns() - between : NAN };
}

/* Usual time of a core: close to the minimum, as load on the other hardware thread comes and goes within
 * milliseconds and may be present from the start. A faster time lowers it by CORE_FALL of the difference;
 * a slower one raises it by at most past_ns / CORE_RISE_NS, because a clock can fall and stay low. */
static void core_learn(double *usual, double now, double past_ns)
{
	if (now < *usual)
		*usual -= CORE_FALL * (*usual - now);
	else if (now > *usual)
		*usual = fmin(now, *usual * (1 + past_ns / CORE_RISE_NS));
}

/* Stochastic quantile estimate: step up by q, down by 1 - q, so that the steps cancel where a share q of
 * the values lies below (Robbins and Monro, 1951). Steps are relative and proportional to the time between
 * runs. */
static void memory_learn(double *usual, double now, double past_ns)
{
	double step = fmin(past_ns / LEARN_NS, 1);
	if (!isnan(now) && !isnan(*usual))
		*usual *= now < *usual ? 1 - step * (1 - USUAL) : 1 + step * USUAL;
}

/* Compares one thread's times with the usual ones, and then updates these. More than CORE_FACTOR or
 * MEMORY_FACTOR is a disturbance; *slower is the factor, limited to SLOWER_MOST, because beyond it the
 * canary itself was interrupted. Ratios with unknown times are NaN and never above a limit. */
const char *canary_judge(struct canary_times *usual, struct canary_times now, double past_ns, double *slower)
{
	double core = now.core_ns / usual->core_ns;       /* NaN if either is unknown */
	double memory = now.memory_ns / usual->memory_ns;
	core_learn(&usual->core_ns, now.core_ns, past_ns);
	memory_learn(&usual->memory_ns, now.memory_ns, past_ns);
	*slower = fmin(core > CORE_FACTOR ? core : memory > MEMORY_FACTOR ? memory : 1, SLOWER_MOST);
	return core > CORE_FACTOR ? "the cores were slower than usual" :
		memory > MEMORY_FACTOR ? "the memory was slower than usual" : NULL;
}

/* --- time stolen by a hypervisor --- */

/* Stolen time of all CPUs in clock ticks, from /proc/stat (proc(5)); 0 if not reported. */
static double stolen_read(void)
{
	double stolen = 0;
	FILE *f = fopen("/proc/stat", "r");
	if (f && fscanf(f, "cpu %*s %*s %*s %*s %*s %*s %*s %lf", &stolen) != 1)
		stolen = 0;
	if (f)
		fclose(f);
	return stolen;
}

/* True if the hypervisor took more than STOLEN_SHARE of the CPUs' time since the last reading: difference
 * of the stolen ticks divided by elapsed time * CPUs. Reads /proc/stat at most every STOLEN_NS: with many
 * CPUs the file is long, and ticks are 10 ms. The first reading only sets the start. */
static bool is_stolen(void)
{
	double now = clock_ns(), past = now - canary.stolen_at;
	if (past < STOLEN_NS)
		return canary.stolen_lately;
	double stolen = stolen_read();
	double ns = (stolen - canary.stolen) * 1e9 / (double)sysconf(_SC_CLK_TCK);
	canary.stolen_lately =
		canary.stolen_at > 0 && ns > STOLEN_SHARE * past * (double)sysconf(_SC_NPROCESSORS_ONLN);
	canary.stolen = stolen;
	canary.stolen_at = now;
	return canary.stolen_lately;
}

/* --- running the canary --- */

static void times_take(void)
{
	int count = team_size();
	memset(canary.times, 0, (size_t)count * sizeof(*canary.times));
	atomic_store(&canary.here, 0);
	atomic_store(&canary.late, false);
	team_run(share, NULL);
	canary.next += count;
}

/* Updates the usual times of all threads. The slowest thread decides, since a parallel section ends with
 * it. */
static const char *times_judge(double *slower)
{
	const char *says = NULL;
	double now = clock_ns(), past = now - canary.asked, one;
	canary.asked = now;
	*slower = 1;
	for (int i = 0; i < team_size(); i++) {
		const char *why = canary_judge(&canary.usual[i], canary.times[i], past, &one);
		says = says ? says : why;
		*slower = fmax(*slower, one);
	}
	return says;
}

/* NULL if the machine is as usual. Runs up to TRIES times and stops at the first usual run: a disturbance
 * that hit only the canary is over in the second. If all were slow, the reason is time stolen by the
 * hypervisor where it is reported, else that of the last run. */
const char *canary_ask(double *slower)
{
	const char *says = NULL;
	for (int i = 0; i < TRIES; i++) {
		times_take();
		if (atomic_load(&canary.late)) {
			*slower = NAN;
			says = "its threads had to wait for their cores";
		} else if (!(says = times_judge(slower))) {
			return NULL;
		}
	}
	return !atomic_load(&canary.late) && is_stolen() ? "the hypervisor gave its cores to others" : says;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Initial usual times of a thread from FIRST runs: the minimum for the core, whose disturbances only add
 * time, and the quantile USUAL for the memory, whose time varies without them. Sorting FIRST values
 * twice. */
static struct canary_times usual_of(struct canary_times (*first)[TEAM_MOST], int thread)
{
	double core[FIRST], memory[FIRST];
	for (int i = 0; i < FIRST; i++) {
		core[i] = first[i][thread].core_ns;
		memory[i] = first[i][thread].memory_ns;
	}
	qsort(core, FIRST, sizeof(*core), by_size);
	qsort(memory, FIRST, sizeof(*memory), by_size);
	return (struct canary_times){ core[0], memory[(int)(USUAL * FIRST)] };
}

/* Uses the stored time of each thread if it is faster, but not if it differs so much that it must come
 * from another kind of machine. */
static void usual_recall(void)
{
	double before[TEAM_MOST];
	canary_recall(canary.cores, before, team_size());
	for (int i = 0; i < team_size(); i++)
		if (before[i] < canary.usual[i].core_ns && before[i] > canary.usual[i].core_ns / SLOWER_MOST)
			canary.usual[i].core_ns = before[i];
}

/* Allocates a buffer of LLC_FACTOR times the last-level cache, so that a chunk has left the caches when
 * it is read again, and learns the usual times from FIRST runs with pauses. A run whose threads did not
 * start together is repeated, up to TRIES_TOGETHER times. Takes 16 ms of pauses plus the runs. */
void canary_open(double llc_bytes, const char *cores)
{
	double bytes = LLC_FACTOR * llc_bytes;
	struct canary_times (*first)[TEAM_MOST] = base_malloc(FIRST * sizeof(*first));
	int64_t chunks = bytes > 0 && bytes <= BUFFER_MOST ? (int64_t)bytes / CHUNK_BYTES : 0;
	if (chunks > 0)
		canary.buffer = aligned_alloc(LINE, (size_t)chunks * CHUNK_BYTES);
	canary.chunks = canary.buffer ? chunks : 0;
	if (canary.buffer)
		memset(canary.buffer, 1, (size_t)chunks * CHUNK_BYTES);
	for (int i = 0; i < FIRST; i++) {
		nanosleep(&(struct timespec){ .tv_nsec = FIRST_PAUSE_NS }, NULL);
		for (int try = 0; try == 0 || (try < TRIES_TOGETHER && atomic_load(&canary.late)); try++)
			times_take(); /* a thread alone on a shared core would be faster than usual */
		memcpy(first[i], canary.times, sizeof(*first));
	}
	canary.asked = clock_ns();
	for (int thread = 0; thread < team_size(); thread++)
		canary.usual[thread] = usual_of(first, thread);
	free(first);
	snprintf(canary.cores, sizeof(canary.cores), "%s", cores);
	if (*canary.cores)
		usual_recall();
	is_stolen();
}

void canary_close(void)
{
	double core_ns[TEAM_MOST];
	for (int i = 0; i < team_size(); i++)
		core_ns[i] = canary.usual[i].core_ns;
	if (*canary.cores)
		canary_remember(canary.cores, core_ns, team_size());
	free(canary.buffer);
	canary.buffer = NULL;
	canary.chunks = 0;
}
