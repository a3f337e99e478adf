/* Counts cores by the lists of siblings in sysfs, and says how the threads are bound. */
#include "config.h"

#include "runner/host/threads.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* --- cores --- */

/* The core of a CPU (hardware thread), named by its first CPU: the list of siblings in sysfs starts with
 * the lowest, as "0,64" or "0-1". Without sysfs each CPU counts as a core. */
static int threads_core_of(int cpu)
{
	char path[96];
	int first = cpu;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
	FILE *f = fopen(path, "r");
	if (f && fscanf(f, "%d", &first) != 1)
		first = cpu;
	if (f)
		fclose(f);
	return first;
}

/* Adds a core unless it is in the list. Returns the new count. */
static int core_add(int *cores, int count, int core)
{
	for (int i = 0; i < count; i++)
		if (cores[i] == core)
			return count;
	cores[count] = core;
	return count + 1;
}

/* Lists the distinct cores of a set of CPUs and returns their number; *first: its first CPU, -1 if empty.
 * Linear search per CPU, quadratic in the cores: at most CPU_SETSIZE, once per runner. */
static int set_cores(const cpu_set_t *set, int (*core_of)(int cpu), int *cores, int *first)
{
	int n = 0;
	*first = -1;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((unsigned)cpu, set))
			continue;
		*first = *first < 0 ? cpu : *first;
		n = core_add(cores, n, core_of(cpu));
	}
	return n;
}

int threads_cores_count(void)
{
	cpu_set_t set;
	int cores[CPU_SETSIZE], first, n = 0;
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = set_cores(&set, threads_core_of, cores, &first);
	return n ? n : 1;
}

/* --- bindings --- */

/* Classifies the threads' CPU sets: each within one core (BINDING_CORE, or BINDING_CORE_EACH if no two
 * share one), all equal (not bound), or else bound to larger sets. core_of is a parameter so that tests
 * can describe other machines. */
void threads_classify(struct threads *t, const cpu_set_t *affinity, int count, int (*core_of)(int cpu))
{
	int used[THREADS_MOST], cores[CPU_SETSIZE];
	bool one_each = true, all_same = true;
	t->core_count = 0;
	for (int i = 0; i < count; i++) {
		one_each = one_each && set_cores(&affinity[i], core_of, cores, &t->cpus[i]) == 1;
		all_same = all_same && CPU_EQUAL(&affinity[i], &affinity[0]);
		if (one_each)
			t->core_count = core_add(used, t->core_count, cores[0]);
	}
	t->binding = one_each ? (t->core_count == count ? BINDING_CORE_EACH : BINDING_CORE) :
		all_same ? BINDING_NONE : BINDING_SOME;
}

/* True if each thread is bound to one core and no two sets start with the same CPU: two threads of one
 * core then run on different hardware threads. Quadratic in the threads, at most THREADS_MOST. */
int threads_are_apart(const struct threads *t)
{
	if (t->binding != BINDING_CORE && t->binding != BINDING_CORE_EACH)
		return false;
	for (int i = 0; i < t->count; i++)
		for (int k = 0; k < i; k++)
			if (t->cpus[i] == t->cpus[k])
				return false;
	return true;
}

const char *threads_describe(const struct threads *t, char *buf)
{
	static const char *const words[] = {
		[BINDING_UNKNOWN] = "",
		[BINDING_NONE] = " unbound",
		[BINDING_SOME] = " bound",
		[BINDING_CORE] = " bound",
		[BINDING_CORE_EACH] = " bound one a core",
	};
	int n = snprintf(buf, 64, "%d thread%s%s", t->count, t->count == 1 ? "" : "s", words[t->binding]);
	if (t->binding == BINDING_CORE)
		snprintf(buf + n, 64 - (size_t)n, " to %d core%s", t->core_count,
			t->core_count == 1 ? "" : "s");
	return buf;
}

/* --- the OpenMP runtime is loaded by the library: found by dlsym, not linked --- */

bool threads_openmp(struct openmp *omp)
{
	static const char *const names[] = { "omp_get_max_threads", "omp_get_thread_num",
		"omp_get_num_threads", "GOMP_parallel" };
	void *found[4];
	for (int i = 0; i < 4; i++) {
		found[i] = dlsym(RTLD_DEFAULT, names[i]);
		if (!found[i])
			return false;
	}
	_Static_assert(sizeof(*omp) == sizeof(found), "one pointer per name");
	memcpy(omp, found, sizeof(found));
	return true;
}

void threads_limit(int count)
{
	static void *found;
	void (*set)(int count);
	found = found ? found : dlsym(RTLD_DEFAULT, "omp_set_num_threads");
	memcpy(&set, &found, sizeof(set));
	if (found)
		set(count);
}

/* Gives the calling thread the union of all OpenMP places (omp_get_place_proc_ids, OpenMP 4.5), because
 * the runtime has bound it to the first place, and threads that it creates later would inherit that. Does
 * nothing if the runtime has no places. */
void threads_unbind(void)
{
	int (*places)(void), (*size)(int place);
	void (*cpus)(int place, int *ids);
	void *const found[] = { dlsym(RTLD_DEFAULT, "omp_get_num_places"),
		dlsym(RTLD_DEFAULT, "omp_get_place_num_procs"),
		dlsym(RTLD_DEFAULT, "omp_get_place_proc_ids") };
	if (!found[0] || !found[1] || !found[2])
		return;
	memcpy(&places, &found[0], sizeof(places));
	memcpy(&size, &found[1], sizeof(size));
	memcpy(&cpus, &found[2], sizeof(cpus));
	cpu_set_t all;
	int ids[CPU_SETSIZE];
	CPU_ZERO(&all);
	for (int i = 0, count = places(); i < count; i++) {
		int n = size(i);
		if (n > CPU_SETSIZE)
			return;
		cpus(i, ids);
		for (int k = 0; k < n; k++)
			if (ids[k] >= 0 && ids[k] < CPU_SETSIZE)
				CPU_SET((unsigned)ids[k], &all);
	}
	if (CPU_COUNT(&all))
		sched_setaffinity(0, sizeof(all), &all);
}

struct census {
	struct openmp omp;
	int count; /* threads that the runtime started */
	cpu_set_t affinity[THREADS_MOST];
	bool seen[THREADS_MOST];
};

static void affinity_note(void *argument)
{
	struct census *c = argument;
	int i = c->omp.thread_num();
	if (i == 0)
		c->count = c->omp.num_threads();
	if (i >= 0 && i < THREADS_MOST)
		c->seen[i] = sched_getaffinity(0, sizeof(c->affinity[i]), &c->affinity[i]) == 0;
}

/* Runs one parallel region in which every thread records its affinity, and classifies the result. The
 * runtime is called through GOMP_parallel, the entry that GCC and LLVM runtimes both have, because it is
 * found at run time and not linked. Unknown if a thread did not report. */
void threads_probe(struct threads *t)
{
	static struct census c;
	*t = (struct threads){ .count = 1 };
	c = (struct census){ 0 };
	if (!threads_openmp(&c.omp))
		return;
	t->count = c.omp.max_threads();
	if (t->count > THREADS_MOST)
		return;
	c.omp.parallel(affinity_note, &c, (unsigned)t->count, 0);
	t->count = c.count;
	for (int i = 0; i < t->count; i++)
		if (!c.seen[i])
			return;
	threads_classify(t, c.affinity, t->count, threads_core_of);
}
