/* Checks of the processors: their speed, and which of them the process may use. */
#include "config.h"

#include "doctor/doctor_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FREQ "sys/devices/system/cpu/cpu%d/cpufreq/"
#define CAPPED_SHARE 0.99
#define GROUPS 32

static bool is_virtual(struct doctor *d)
{
	const char *flags = doctor_line(d, doctor_file(d, "proc/cpuinfo"), "flags");
	return flags && strstr(flags, " hypervisor");
}

/* Reports something that cannot be read. In a virtual machine it may be hidden, so it is not reported as
 * OK. */
static void not_told(struct doctor *d, const char *what)
{
	doctor_found(d, DOCTOR_UNKNOWN, "%s unknown%s", what,
		is_virtual(d) ? ": hidden in a virtual machine, check its host" : "");
}

/* Reports the first governor other than performance on the allowed processors, and their number. */
static void doctor_governor(struct doctor *d)
{
	bool cpus[DOCTOR_CPUS];
	int count = 0, bent = 0, allowed = doctor_cpus(d, cpus);
	const char *which = "";
	for (int i = 0; i < DOCTOR_CPUS; i++) {
		const char *governor = cpus[i] ? doctor_file(d, FREQ "scaling_governor", i) : NULL;
		if (!governor)
			continue;
		count++;
		if (strcmp(governor, "performance") == 0)
			continue;
		which = bent++ ? which : arena_printf(&d->arena, "%.32s", governor);
	}
	if (!count)
		not_told(d, "the governor is");
	else if (bent)
		doctor_found(d, DOCTOR_BENDS,
			"%s on %d of %d processors: the clock follows the load; short problems run at a low "
			"clock",
			which, bent, allowed);
	else
		doctor_found(d, DOCTOR_OK, "performance on all %d processors", count);
}

static void doctor_boost(struct doctor *d)
{
	double boost = doctor_number(d, "sys/devices/system/cpu/cpufreq/boost");
	double off = doctor_number(d, "sys/devices/system/cpu/intel_pstate/no_turbo");
	if (isnan(boost) && isnan(off))
		not_told(d, "the boost setting is");
	else if ((isnan(off) && boost > 0) || off <= 0)
		doctor_found(d, DOCTOR_BENDS,
			"on: the clock depends on temperature and on the number of busy cores");
	else
		doctor_found(d, DOCTOR_OK, "off");
}

static void doctor_frequency(struct doctor *d)
{
	bool cpus[DOCTOR_CPUS];
	double least = NAN, limit = NAN, top = NAN;
	doctor_cpus(d, cpus);
	for (int i = 0; i < DOCTOR_CPUS; i++) {
		double own_top = cpus[i] ? doctor_number(d, FREQ "cpuinfo_max_freq", i) : NAN;
		double own_limit = cpus[i] ? doctor_number(d, FREQ "scaling_max_freq", i) : NAN;
		double now = cpus[i] ? doctor_number(d, FREQ "scaling_cur_freq", i) : NAN;
		least = now < least || isnan(least) ? now : least;
		if (isnan(own_top) || own_limit / own_top >= limit / top)
			continue;
		limit = own_limit;
		top = own_top;
	}
	if (isnan(top) || isnan(limit))
		not_told(d, "the clock frequency is");
	else if (limit < CAPPED_SHARE * top)
		doctor_found_of(d, "", DOCTOR_BENDS,
			arena_printf(&d->arena, "cpupower frequency-set -u %.0fMHz", top / 1e3),
			"limited to %.0f of %.0f MHz", limit / 1e3, top / 1e3);
	else
		doctor_found(d, DOCTOR_OK, "up to %.0f MHz%s", top / 1e3,
			isnan(least) ? "" : arena_printf(&d->arena, ", the slowest processor is at %.0f now",
			least / 1e3));
}

static void doctor_throttling(struct doctor *d)
{
	double since = d->now.throttled - d->first.throttled;
	if (isnan(since))
		not_told(d, "thermal throttling is");
	else if (since > 0)
		doctor_found(d, DOCTOR_BENDS, "processors throttled by heat %.0f times during the check",
			since);
	else if (d->now.throttled > 0)
		doctor_found(d, DOCTOR_UNKNOWN,
			"not throttled now, but %.0f times since the start; may happen again under load",
			d->now.throttled);
	else
		doctor_found(d, DOCTOR_OK, "never since the start");
}

/* Battery power, or a limit below the package's rated power. */
static void doctor_power(struct doctor *d)
{
	static const char *const supplies[] = { "AC", "ACAD", "AC0", "ADP0", "ADP1" };
	double limit = doctor_number(d, "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw");
	double most = doctor_number(d, "sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw");
	for (size_t i = 0; i < sizeof(supplies) / sizeof(supplies[0]); i++)
		if (doctor_number(d, "sys/class/power_supply/%s/online", supplies[i]) <= 0) {
			doctor_found(d, DOCTOR_BENDS, "on battery");
			return;
		}
	if (limit > 0 && most > 0 && limit < CAPPED_SHARE * most)
		doctor_found(d, DOCTOR_BENDS, "the package is limited to %.0f of %.0f W", limit / 1e6,
			most / 1e6);
	else if (limit > 0 && most > 0)
		doctor_found(d, DOCTOR_OK, "up to %.0f W", limit / 1e6);
	else
		not_told(d, "the power limit is");
}

static void doctor_virtual(struct doctor *d)
{
	if (!doctor_file(d, "proc/cpuinfo"))
		doctor_found(d, DOCTOR_UNKNOWN, "/proc/cpuinfo cannot be read");
	else if (is_virtual(d))
		doctor_found_of(d, "", DOCTOR_UNKNOWN,
			"measure twice, some time apart; use a dedicated machine to be sure",
			"a virtual machine: clocks and other virtual machines are not visible");
	else
		doctor_found(d, DOCTOR_OK, "no hypervisor");
}

/* Fewer processors than online is the user's choice and part of the stack's name: reported as OK. */
static void doctor_cores(struct doctor *d)
{
	bool allowed[DOCTOR_CPUS], online[DOCTOR_CPUS] = { false };
	int ours = doctor_cpus(d, allowed),
		all = doctor_list(doctor_file(d, "sys/devices/system/cpu/online"), online, DOCTOR_CPUS);
	if (!ours || !all)
		doctor_found(d, DOCTOR_UNKNOWN, "the processors that this process may use are unknown");
	else if (ours < all)
		doctor_found(d, DOCTOR_OK,
			"%d of %d processors (affinity or cpuset): at most as many threads", ours, all);
	else
		doctor_found(d, DOCTOR_OK, "all %d processors", all);
}

static void doctor_siblings(struct doctor *d)
{
	bool cpus[DOCTOR_CPUS];
	int shared = 0, allowed = doctor_cpus(d, cpus);
	bool told = false;
	for (int i = 0; i < DOCTOR_CPUS; i++) {
		bool siblings[DOCTOR_CPUS] = { false };
		const char *list = cpus[i] ? doctor_file(d,
			"sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i) : NULL;
		told |= list != NULL;
		shared += doctor_list(list, siblings, DOCTOR_CPUS) > 1;
	}
	bool busy = d->now.busy - d->first.busy - (d->now.own - d->first.own) >
		0.1 * (d->now.busy - d->first.busy + d->now.idle - d->first.idle);
	if (!told)
		doctor_found(d, DOCTOR_UNKNOWN, "unknown which processors share a core");
	else if (!shared)
		doctor_found(d, DOCTOR_OK, "each processor is a separate core");
	else
		doctor_found(d, busy ? DOCTOR_BENDS : DOCTOR_OK,
			"%d of %d processors share a core: one thread per core is used%s",
			shared, allowed, busy ? ", but other work may run on the sibling" : "");
}

/* The lowest CPU quota of this cgroup and its parents, in processors; NaN: no limit. *told: a quota file
 * exists. */
static double quota_of(struct doctor *d, bool *told)
{
	const char *folders[GROUPS];
	double least = NAN;
	for (int version = 2; version >= 1; version--) {
		int count = doctor_groups(d, version == 2 ? NULL : "cpu", folders, GROUPS);
		for (int i = 0; i < count; i++) {
			const char *text = version == 2 ? doctor_file(d, "%s/cpu.max", folders[i]) : NULL;
			double quota = version == 2 ? NAN :
				doctor_number(d, "%s/cpu.cfs_quota_us", folders[i]);
			double period = version == 2 ? NAN :
				doctor_number(d, "%s/cpu.cfs_period_us", folders[i]);
			*told |= text != NULL || !isnan(quota);
			if (text && sscanf(text, "%lf %lf", &quota, &period) != 2)
				continue; /* "max" */
			if (quota > 0 && period > 0 && !(quota / period >= least))
				least = quota / period;
		}
	}
	return least;
}

static void doctor_quota(struct doctor *d)
{
	bool cpus[DOCTOR_CPUS], told = false;
	int allowed = doctor_cpus(d, cpus);
	double quota = quota_of(d, &told);
	if (quota < allowed)
		doctor_found_of(d, "", DOCTOR_BENDS,
			arena_printf(&d->arena,
				"raise the quota to the number of threads (docker --cpus %d, "
				"CPUQuota=%d%%)%s",
				allowed, 100 * allowed,
				quota >= 1 ? arena_printf(&d->arena,
						     ", or measure with fewer: --threads %.0f", floor(quota))
					   : ""),
			"the cgroup may use the time of %.2f of %d processors: "
			"beyond that the kernel stops all its threads for a while",
			quota, allowed);
	else if (!isnan(quota))
		doctor_found(d, DOCTOR_OK, "time of %.2f processors, for %d", quota, allowed);
	else if (told)
		doctor_found(d, DOCTOR_OK, "none");
	else
		doctor_found(d, DOCTOR_UNKNOWN, "unknown: no cgroup reports a quota");
}

static void doctor_clock(struct doctor *d)
{
	const char *source = doctor_file(d,
		"sys/devices/system/clocksource/clocksource0/current_clocksource");
	static const char *const quick[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
		"arch_sys_counter", "timebase", "tod" };
	if (!source) {
		doctor_found(d, DOCTOR_UNKNOWN, "the clock source is unknown");
		return;
	}
	for (size_t i = 0; i < sizeof(quick) / sizeof(quick[0]); i++)
		if (strcmp(source, quick[i]) == 0) {
			doctor_found(d, DOCTOR_OK, "%s", source);
			return;
		}
	doctor_found(d, DOCTOR_BENDS,
		"%.40s: reading it takes a microsecond or more, which distorts short problems", source);
}

const struct doctor_check doctor_cpu_checks[] = {
	{ "governor", doctor_governor, "cpupower frequency-set -g performance" },
	{ "boost", doctor_boost,
		"for repeatable results, switch it off (echo 0 > /sys/devices/system/cpu/cpufreq/boost, "
		"or echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo); "
		"leave it on for the machine's best performance" },
	{ "frequency", doctor_frequency, "" },
	{ "throttling", doctor_throttling, "cool the machine or reduce its load; measure again" },
	{ "power", doctor_power, "connect the power supply, or raise the limit" },
	{ "virtual", doctor_virtual, "" },
	{ "cores", doctor_cores, "" },
	{ "siblings", doctor_siblings,
		"keep other work off the siblings, or switch SMT off "
		"(echo off > /sys/devices/system/cpu/smt/control)" },
	{ "quota", doctor_quota, "" },
	{ "clock", doctor_clock, "boot with clocksource=tsc if the processor's TSC is stable" },
	{ 0 }
};
