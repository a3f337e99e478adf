/* Checks of the runners: whether they answer, the instructions that their libraries use, the state of their
 * GPU. */
#include "config.h"

#include "doctor/doctor_private.h"
#include "problem/libraries.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUSY_SHARE 0.10

static json_t *attributes_of(const struct doctor_runner *r)
{
	return r->device && r->device->attributes ? json_loads(r->device->attributes, 0, NULL) : NULL;
}

/* ---- all runners ---- */

/* True if the check of the timer says the same. */
static bool is_of_timer(const json_t *attributes, const char *line)
{
	const json_t *timer = json_object_get(attributes, "timer");
	return *line && (strcmp(json_string_at(timer, "doubt", ""), line) == 0 ||
		strcmp(json_string_at(timer, "caveat", ""), line) == 0);
}

static void warnings(struct doctor *d, const struct doctor_runner *r)
{
	json_t *attributes = attributes_of(r);
	const json_t *one;
	size_t i;
	json_array_foreach(json_object_get(attributes, "warnings"), i, one)
		if (json_is_string(one) && !is_of_timer(attributes, json_string_value(one)))
			doctor_found_of(d, r->name, DOCTOR_BENDS, NULL, "%s", json_string_value(one));
	json_decref(attributes);
}

static void doctor_runners(struct doctor *d)
{
	if (!d->o.runner_count)
		doctor_found(d, DOCTOR_UNKNOWN, "no runner was asked");
	for (int i = 0; i < d->o.runner_count; i++) {
		const struct doctor_runner *r = &d->o.runners[i];
		const char *version = r->device && r->device->version ? r->device->version : "";
		if (!r->device) {
			doctor_found_of(d, r->name, DOCTOR_BENDS,
				"nothing can be measured on its device: fix it, "
				"or remove it from the configuration",
				"does not answer: %s", r->error);
			continue;
		}
		bool other = d->o.version && strcmp(version, d->o.version) != 0;
		doctor_found_of(d, r->name, other ? DOCTOR_BENDS : DOCTOR_OK,
			other ? "install the same version on both sides" : NULL, "%s%s%s", r->device->stack,
			other ? "; its version is " : "", other ? version : "");
		warnings(d, r);
	}
}

/* Those that a runner opens when it starts, one line each. */
static void doctor_libraries(struct doctor *d)
{
	for (int i = 0; i < d->o.runner_count; i++) {
		const struct doctor_runner *r = &d->o.runners[i];
		struct library *l;
		int count = r->device ? libraries_of(r->device, &d->arena, &l) : 0;
		for (int k = 0; k < count; k++)
			if (l[k].present)
				doctor_found_of(d, r->name, DOCTOR_OK, NULL, "%s %s, %s", l[k].name,
					l[k].version, *l[k].path ? l[k].path : "path unknown");
			else
				doctor_found_of(d, r->name, DOCTOR_BENDS, l[k].fix,
					"%s missing: %s; bounds are those of the other libraries; "
					"searched: %s", l[k].name, l[k].why, l[k].tried);
	}
}

/* The stack's name has the processors of the threads; the runner's `cores` is empty if several threads share
 * one. */
static void threads_of(struct doctor *d, const struct doctor_runner *r, int count)
{
	static const char to[] = " bound to ";
	const char *bound = strstr(r->device->stack, " bound"), *few = strstr(r->device->stack, to),
		*s = count == 1 ? "" : "s";
	json_t *attributes = attributes_of(r);
	const json_t *cpus = json_object_get(attributes, "cores");
	int cores = few ? atoi(few + sizeof(to) - 1) : count;
	bool apart = !json_is_array(cpus) || json_array_size(cpus) > 0;
	if (strstr(r->device->stack, "unbound"))
		doctor_found_of(d, r->name, DOCTOR_BENDS, NULL,
			"%d thread%s, not bound: they may move between processors during a measurement",
			count, s);
	else if (!bound)
		doctor_found_of(d, r->name, DOCTOR_UNKNOWN, NULL,
			"%d thread%s; unknown whether they are bound", count, s);
	else if (cores > 0 && cores < count && !apart)
		doctor_found_of(d, r->name, DOCTOR_BENDS, arena_printf(&d->arena, "--threads %d, "
			"or unset OMP_NUM_THREADS, OMP_PROC_BIND and OMP_PLACES for one thread per core",
			cores),
			"%d threads on %d core%s: they wait for each other", count, cores,
			cores == 1 ? "" : "s");
	else
		doctor_found_of(d, r->name, DOCTOR_OK, NULL, "%d thread%s, bound", count, s);
	json_decref(attributes);
}

static void doctor_threads(struct doctor *d)
{
	for (int i = 0; i < d->o.runner_count; i++) {
		const struct doctor_runner *r = &d->o.runners[i];
		if (!r->device || r->device->threads < 1)
			continue;
		if (d->o.threads > 0 && r->device->threads != d->o.threads) {
			doctor_found_of(d, r->name, DOCTOR_BENDS,
				"its command does not pass it on: add --threads after benanza-runner-cpu in "
				"the command",
				"%d, not the requested %d", r->device->threads, d->o.threads);
			continue;
		}
		threads_of(d, r, r->device->threads);
	}
}

/* Instruction sets, ascending: the flag in /proc/cpuinfo, and oneDNN's name. */
static const struct {
	const char *flag, *name;
} isas[] = {
	{ " sse4_1", "sse41" },
	{ " avx", "avx" },
	{ " avx2", "avx2" },
	{ " avx512bw", "avx512_core" },
	{ " avx512_vnni", "avx512_core_vnni" },
	{ " avx512_bf16", "avx512_core_bf16" },
	{ " amx_tile", "avx512_core_amx" },
};
#define ISAS ((int)(sizeof(isas) / sizeof(isas[0])))

static bool has_flag(const char *flags, const char *flag)
{
	size_t n = strlen(flag);
	for (const char *at = flags; (at = strstr(at, flag)); at += n)
		if (at[n] == ' ' || !at[n])
			return true;
	return false;
}

/* True if the runner is on this host; an unknown host counts as this one. */
static bool is_here(struct doctor *d, const struct doctor_runner *r)
{
	const char *here = doctor_file(d, "proc/sys/kernel/hostname"),
		*there = r->device ? r->device->host : NULL;
	return !here || !there || !*there || strcmp(here, there) == 0;
}

static void doctor_isa(struct doctor *d)
{
	const char *flags = doctor_line(d, doctor_file(d, "proc/cpuinfo"), "flags");
	int found = -1;
	for (int i = 0; flags && i < ISAS; i++)
		found = has_flag(arena_printf(&d->arena, " %s", flags), isas[i].flag) ? i : found;
	for (int i = 0; i < d->o.runner_count; i++) {
		const struct doctor_runner *r = &d->o.runners[i];
		json_t *attributes = attributes_of(r);
		const char *used = json_string_at(attributes, "isa", "");
		int at = -1;
		for (int k = 0; k < ISAS; k++)
			at = strcmp(used, isas[k].name) == 0 ? k : at;
		if (at >= 0 && found >= 0 && is_here(d, r))
			doctor_found_of(d, r->name, at < found ? DOCTOR_BENDS : DOCTOR_OK, NULL,
				at < found ? "its library uses %s, the processor here has %s"
					   : "its library uses %s",
				isas[at].name, isas[found].name);
		else if (*used)
			doctor_found_of(d, r->name, DOCTOR_UNKNOWN, NULL,
				"its library uses %s; the instruction sets of the processor%s are unknown",
				used, is_here(d, r) ? "" : " there");
		json_decref(attributes);
	}
}

/* ---- GPUs ---- */

/* The attributes of the runner's GPU, which the caller releases; false: it has no GPU. */
static bool gpu_of(const struct doctor_runner *r, json_t **attributes, const json_t **now)
{
	*attributes = attributes_of(r);
	*now = json_object_get(*attributes, "nvml");
	return json_object_get(*attributes, "uuid") != NULL;
}

static double of(const json_t *o, const char *key)
{
	return json_number_or_nan(json_object_get(o, key));
}

/* Appends "persistence on", if known. */
static void setting_add(struct str *line, const json_t *o, const char *key, const char *name)
{
	const json_t *value = json_object_get(o, key);
	if (json_is_boolean(value))
		str_addf(line, ", %s %s", name, json_is_true(value) ? "on" : "off");
}

static void gpu_settings(struct doctor *d, const struct doctor_runner *r, const json_t *attributes,
	const json_t *now)
{
	struct str line = { 0 };
	const char *slowed = json_string_at(now, "slowed_by", NULL);
	double clock = of(now, "sm_mhz"), most = of(attributes, "most_clock_mhz"),
		hot = of(now, "temperature_c");
	str_addf(&line, "driver %.40s", json_string_at(attributes, "driver", "unknown"));
	if (!isnan(clock))
		str_addf(&line, ", at %.0f MHz", clock);
	if (!isnan(most))
		str_addf(&line, ", %.0f at most", most);
	if (!isnan(hot))
		str_addf(&line, ", %.0f C", hot);
	setting_add(&line, attributes, "ecc", "ECC");
	setting_add(&line, attributes, "persistence", "persistence");
	setting_add(&line, attributes, "mig", "MIG");
	if (slowed && *slowed)
		doctor_found_of(d, r->name, DOCTOR_BENDS, NULL, "slowed by %.80s; %s", slowed, line.p);
	else
		doctor_found_of(d, r->name, slowed ? DOCTOR_OK : DOCTOR_UNKNOWN, NULL, "%s%s", line.p,
			slowed ? "" : "; unknown whether it is throttled");
	str_free(&line);
}

static void doctor_gpu(struct doctor *d)
{
	for (int i = 0; i < d->o.runner_count; i++) {
		json_t *attributes;
		const json_t *now;
		if (gpu_of(&d->o.runners[i], &attributes, &now))
			gpu_settings(d, &d->o.runners[i], attributes, now);
		json_decref(attributes);
	}
}

/* The command that sets the power limit; NULL if the runner's id has other characters than ids have, because
 * users paste the command into a shell. */
static const char *power_command(struct doctor *d, const char *uuid, double watts)
{
	static const char id[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-";
	if (uuid[strspn(uuid, id)] || *uuid == '-')
		return NULL;
	return arena_printf(&d->arena, "nvidia-smi -i %.60s -pl %.0f", uuid, watts);
}

static void doctor_gpu_power(struct doctor *d)
{
	for (int i = 0; i < d->o.runner_count; i++) {
		const struct doctor_runner *r = &d->o.runners[i];
		json_t *attributes;
		const json_t *now;
		bool is_gpu = gpu_of(r, &attributes, &now);
		double limit = of(attributes, "power_limit_w"),
			usual = of(attributes, "default_power_limit_w");
		if (is_gpu && limit < 0.99 * usual)
			doctor_found_of(d, r->name, DOCTOR_BENDS,
				power_command(d, json_string_at(attributes, "uuid", "0"), usual),
				"limited to %.0f W; the default is %.0f", limit, usual);
		else if (is_gpu && !isnan(limit) && !isnan(usual))
			doctor_found_of(d, r->name, DOCTOR_OK, NULL, "up to %.0f W", limit);
		else if (is_gpu)
			doctor_found_of(d, r->name, DOCTOR_UNKNOWN, NULL, "the power limit is unknown");
		json_decref(attributes);
	}
}

/* Appends ", the clock is steady at 1755 MHz" and the like. */
static void timer_words(struct str *line, const json_t *timer)
{
	double graph = of(timer, "graph_ns"), mhz = of(timer, "steady_mhz"), scale = of(timer, "host_scale");
	str_addf(line, "events count %.4g of the host's time", scale);
	if (!isnan(graph))
		str_addf(line, ", a graph starts in %.1f us", graph / 1e3);
	if (!isnan(mhz))
		str_addf(line, ", the clock under load is %s%.0f MHz",
			json_is_true(json_object_get(timer, "steady")) ? "steady at " : "not steady, about ",
			mhz);
}

static void doctor_gpu_timer(struct doctor *d)
{
	for (int i = 0; i < d->o.runner_count; i++) {
		const struct doctor_runner *r = &d->o.runners[i];
		json_t *attributes;
		const json_t *now;
		bool is_gpu = gpu_of(r, &attributes, &now);
		const json_t *timer = json_object_get(attributes, "timer");
		const char *doubt = json_string_at(timer, "doubt", ""), *caveat = json_string_at(timer,
			"caveat", ""), *why = json_string_at(timer, "why", "its runner does not report it");
		struct str line = { 0 };
		timer_words(&line, timer);
		if (is_gpu && (*doubt || *caveat))
			doctor_found_of(d, r->name, DOCTOR_BENDS, *doubt ? NULL :
				"times are right, but samples at a low clock are not discarded", "%.200s",
				*doubt ? doubt : caveat);
		else if (is_gpu && isnan(of(timer, "host_scale")))
			doctor_found_of(d, r->name, DOCTOR_UNKNOWN, NULL, "%.200s", why);
		else if (is_gpu)
			doctor_found_of(d, r->name, DOCTOR_OK, NULL, "%s", line.p);
		str_free(&line);
		json_decref(attributes);
	}
}

/* Some drivers count the runner as a process and others do not, so utilization is the better indicator. */
static void doctor_gpu_load(struct doctor *d)
{
	for (int i = 0; i < d->o.runner_count; i++) {
		const struct doctor_runner *r = &d->o.runners[i];
		json_t *attributes;
		const json_t *now;
		bool is_gpu = gpu_of(r, &attributes, &now);
		double busy = of(now, "utilization"), processes = of(now, "processes");
		if (is_gpu && isnan(busy) && isnan(processes))
			doctor_found_of(d, r->name, DOCTOR_UNKNOWN, NULL,
				"unknown which other processes use it");
		else if (is_gpu)
			doctor_found_of(d, r->name,
				busy >= BUSY_SHARE || processes > 1 ? DOCTOR_BENDS : DOCTOR_OK, NULL,
				"%s, %s",
				isnan(busy) ? "utilization unknown"
					    : arena_printf(&d->arena,
						      "busy %.0f%% of the time before the runner started",
						      100 * busy),
				isnan(processes) ? "its processes are unknown"
						 : arena_printf(&d->arena, "%.0f process%s on it", processes,
							   processes == 1 ? "" : "es"));
		json_decref(attributes);
	}
}

const struct doctor_check doctor_device_checks[] = {
	{ "runners", doctor_runners, "" },
	{ "libraries", doctor_libraries, "" },
	{ "isa", doctor_isa,
		"unset ONEDNN_MAX_CPU_ISA and DNNL_MAX_CPU_ISA, or use a oneDNN that supports this "
		"processor" },
	{ "threads", doctor_threads,
		"unset OMP_PROC_BIND and OMP_PLACES: the runner then binds its threads itself" },
	{ "gpu", doctor_gpu,
		"see nvidia-smi -q -d PERFORMANCE; cool it, raise its limit (nvidia-smi -pl), measure "
		"again" },
	{ "gpu power", doctor_gpu_power, "" },
	{ "gpu timer", doctor_gpu_timer,
		"start the runner again; if the fault remains, update the driver: times measured on this "
		"device are wrong" },
	{ "gpu load", doctor_gpu_load,
		"stop the other processes on it (nvidia-smi lists them), or use another GPU" },
	{ 0 }
};
