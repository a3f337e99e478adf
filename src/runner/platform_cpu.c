/* The CPU as a device: its model, caches and environment, the binding of threads, the backends. */
#include "config.h"

#include "runner/measure/platform.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "runner/host/copies.h"
#include "runner/measure/device.h"
#include "runner/measure/preempt.h"
#include "runner/host/team.h"
#include "runner/host/threads.h"

#define GUARD "BENANZA_RUNNER_STARTED"
#define KEPT_SHARE 0.25
#define FALLBACK_MEMORY 1e9
#define TOLERANCE 0.02
#define GLANCE_NS 1e6
#define LONG_NS 5e6 /* longer samples are almost always preempted, and hardly slower */

/* Reads the first line of a file, without its newline; false: none. */
static bool line_read(const char *path, char *buf, int size)
{
	FILE *f = fopen(path, "r");
	if (!f)
		return false;
	bool got = fgets(buf, size, f) != NULL;
	fclose(f);
	if (got)
		buf[strcspn(buf, "\n")] = '\0';
	return got;
}

/* --- threads --- */

/* Binds the library's threads to cores by environment variables, which its runtime reads when it is
 * loaded: restarts the program with them set. Returns if they are set, or if the restart failed (unbound
 * then). */
static void threads_bind(int threads, char **argv)
{
	const char *given = getenv("OMP_NUM_THREADS");
	if (threads < 1 && given)
		threads = atoi(given);
	bool bound = getenv("OMP_PROC_BIND") && getenv("OMP_PLACES") && given && atoi(given) == threads &&
		!getenv("OMP_DYNAMIC");
	if (bound || getenv(GUARD))
		return;
	unsetenv("OMP_DYNAMIC"); /* the runtime must not change the number of threads */
	threads_unbind();
	char number[16];
	snprintf(number, sizeof(number), "%d", threads > 0 ? threads : threads_cores_count());
	setenv("OMP_NUM_THREADS", number, 1);
	setenv("OMP_PROC_BIND", "close", 0);
	setenv("OMP_PLACES", "cores", 0);
	setenv(GUARD, "1", 1);
	execv("/proc/self/exe", argv);
}

/* --- the system --- */

static const char *model_read(struct arena *a)
{
	char line[512];
	const char *model = "unknown CPU";
	FILE *f = fopen("/proc/cpuinfo", "r");
	while (f && fgets(line, sizeof(line), f)) {
		char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		line[strcspn(line, "\n")] = '\0';
		colon += 1 + strspn(colon + 1, " \t");
		size_t n = strlen(colon);
		while (n && colon[n - 1] == ' ')
			n--;
		model = text_clean(a, (struct text){ colon, n });
		break;
	}
	if (f)
		fclose(f);
	return model;
}

static double size_parse(const char *text)
{
	char *end;
	double size = strtod(text, &end);
	return *end == 'K'    ? size * 1024
		: *end == 'M' ? size * 1048576
		: *end == 'G' ? size * 1073741824
			      : size;
}

/* Number of CPUs in a list like "0-3,8"; 0: not a list. */
static int list_count(const char *list)
{
	int count = 0;
	while (*list >= '0' && *list <= '9') {
		char *end;
		long first = strtol(list, &end, 10), last = *end == '-' ? strtol(end + 1, &end, 10) : first;
		count += last >= first && last - first < 65536 ? (int)(last - first + 1) : 0;
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

/* Records the caches of the first core and how many CPUs share each; returns the size of the last level,
 * NaN: unknown. */
static double caches_probe(json_t *attributes)
{
	json_t *list = json_array();
	double last = NAN;
	for (int i = 0; i < 8; i++) {
		char path[96], level[16], type[32], size[32], shared[256] = "";
		const char *dir = "/sys/devices/system/cpu/cpu0/cache/index";
		snprintf(path, sizeof(path), "%s%d/level", dir, i);
		bool got = line_read(path, level, sizeof(level));
		snprintf(path, sizeof(path), "%s%d/type", dir, i);
		got = got && line_read(path, type, sizeof(type));
		snprintf(path, sizeof(path), "%s%d/size", dir, i);
		if (!got || !line_read(path, size, sizeof(size)))
			break;
		snprintf(path, sizeof(path), "%s%d/shared_cpu_list", dir, i);
		line_read(path, shared, sizeof(shared));
		json_t *one = json_pack("{s:i, s:s, s:o}", "level", atoi(level), "type", type, "bytes",
			json_number_or_null(size_parse(size)));
		if (list_count(shared))
			json_object_set_new(one, "shared", json_integer(list_count(shared)));
		json_array_append_new(list, one);
		if (strcmp(type, "Instruction") != 0)
			last = size_parse(size);
	}
	json_object_set_new(attributes, "caches", list);
	long size = isnan(last) ? sysconf(_SC_LEVEL3_CACHE_SIZE) : 0;
	return size > 0 ? (double)size : last;
}

static void environment_probe(json_t *attributes)
{
	static const char *const names[] = { "OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES",
		"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "GOMP_CPU_AFFINITY", "DNNL_MAX_CPU_ISA",
		"ONEDNN_MAX_CPU_ISA" };
	json_t *o = json_object();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);
		if (value)
			json_object_set_new(o, names[i], json_text(text_of(value)));
	}
	json_object_set_new(attributes, "environment", o);
	char governor[64];
	if (line_read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof(governor)))
		json_object_set_new(attributes, "governor", json_text(text_of(governor)));
}

static void prepare(const struct platform_options *o, char **argv)
{
	unsetenv("DNNL_DEFAULT_FPMATH_MODE"); /* strict math, whatever the environment sets */
	unsetenv("ONEDNN_DEFAULT_FPMATH_MODE");
	threads_bind(o->threads, argv);
}

static int open_cpu(const struct platform_options *o, struct arena *a, struct device *d, struct error *err)
{
	struct device_draft draft = { .attributes = json_object() };
	struct threads threads;
	char words[64];
	(void)o;
	*d = (struct device){ .name = "cpu" };
	int bad = device_probe(&draft, &d->has_matrix, err);
	threads_probe(&threads);
	if (!bad && threads.count > THREADS_MOST)
		bad = error_set(err,
			"%d threads are too many: set --threads or OMP_NUM_THREADS to at most %d",
			threads.count, THREADS_MOST);
	bool apart = threads_are_apart(&threads);
	team_set(threads.count);
	team_set_cpus(apart ? threads.cpus : NULL);
	team_run(preempt_watch, NULL);
	device_part(&draft, threads_describe(&threads, words));
	device_part(&draft, "strict");
	json_t *cpus = json_array();
	for (int i = 0; i < threads.count && apart; i++)
		json_array_append_new(cpus, json_integer(threads.cpus[i]));
	json_object_set_new(draft.attributes, "cores", cpus);
	d->llc_bytes = caches_probe(draft.attributes);
	environment_probe(draft.attributes);
	d->model = model_read(a);
	d->threads = threads.count;
	d->distances = true;
	d->huge_pages = copies_pages(true, NULL) == 0;
	copies_pages(false, NULL);
	device_finish(&draft, a, d);
	return bad;
}

/* Free memory without swapping, within the control group's limit. */
static double memory_available(void)
{
	char line[256];
	double kilobytes = 0;
	FILE *f = fopen("/proc/meminfo", "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lf", &kilobytes) == 1)
			break;
	if (f)
		fclose(f);
	return fmin(kilobytes > 0 ? kilobytes * 1024 : FALLBACK_MEMORY, cgroup_memory_left(""));
}

/* Free memory in bytes. Kept buffers do not count as free, as not every job can reuse them; if they are
 * large they are released first. */
static double memory_bytes(void)
{
	double available = memory_available();
	if (copies_kept_bytes() <= KEPT_SHARE * available)
		return available;
	copies_forget();
	return memory_available();
}

static const struct backend *const backends[] = { &backend_onednn, &backend_attention, &backend_plain,
	&backend_packed, &backend_ones, &backend_copy, &backend_beside, NULL };

const struct platform platform = { .program = "benanza-runner-cpu",
	.has_threads = true,
	.machine.tolerance = TOLERANCE,
	.machine.long_ns = LONG_NS,
	.machine.glance_ns = GLANCE_NS,
	.backends = backends,
	.prepare = prepare,
	.open = open_cpu,
	.memory_bytes = memory_bytes,
	.machine.disturbances = preempt_count,
	.machine.waited_ns = preempt_waited_ns,
	.machine.ran_mark = preempt_mark,
	.machine.ran_ns = preempt_ran_ns,
	.machine.rest = team_rest,
	.machine.pages = copies_pages };
