/* Checks of memory, pages, NUMA nodes and limits. */
#include "config.h"

#include "doctor/doctor_private.h"

#include "base/cgroup.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_LEAST_KB (1024.0 * 1024)

static void doctor_memory(struct doctor *d)
{
	const char *text = doctor_file(d, "proc/meminfo");
	double total = doctor_field(text, "MemTotal:"), available = doctor_field(text, "MemAvailable:"),
		group = cgroup_memory_left(d->o.root) / 1024;
	char free_text[STR_QUANTITY], total_text[STR_QUANTITY];
	if (isnan(available)) {
		doctor_found(d, DOCTOR_UNKNOWN, "free memory is unknown (/proc/meminfo)");
		return;
	}
	bool limited = group < available;
	double left = limited ? group : available;
	doctor_found(d, left < MEMORY_LEAST_KB ? DOCTOR_BENDS : DOCTOR_OK, "%s free of %s%s",
		str_bytes(free_text, left * 1024), str_bytes(total_text, total * 1024),
		limited ? " (limit of the cgroup)" : "");
}

static void doctor_swap(struct doctor *d)
{
	const char *text = doctor_file(d, "proc/meminfo");
	double used = doctor_field(text, "SwapTotal:") - doctor_field(text, "SwapFree:"),
		moved = d->now.swapped - d->first.swapped;
	char number[STR_QUANTITY];
	if (isnan(used))
		doctor_found(d, DOCTOR_UNKNOWN, "unknown whether memory is swapped out (/proc/meminfo)");
	else if (moved > 0)
		doctor_found(d, DOCTOR_BENDS, "%.0f pages swapped in or out during the check", moved);
	else
		doctor_found(d, DOCTOR_OK, used > 0 ? "%s in use, no traffic" : "none in use",
			str_bytes(number, used * 1024));
}

static void doctor_pages(struct doctor *d)
{
	const char *modes = doctor_file(d, "sys/kernel/mm/transparent_hugepage/enabled");
	const char *open = modes ? strchr(modes, '[') : NULL;
	double reserved = doctor_field(doctor_file(d, "proc/meminfo"), "HugePages_Total:");
	if (!open)
		doctor_found(d, DOCTOR_UNKNOWN, "unknown whether huge pages are enabled");
	else
		doctor_found(d, DOCTOR_OK, "huge pages: %.*s%s", (int)strcspn(open + 1, "]"), open + 1,
			reserved > 0
				? arena_printf(&d->arena, ", %.0f reserved, not used for operands", reserved)
				: "");
}

static void doctor_nodes(struct doctor *d)
{
	bool nodes[DOCTOR_CPUS] = { false }, ours[DOCTOR_CPUS] = { false }, cpus[DOCTOR_CPUS];
	int count = doctor_list(doctor_file(d, "sys/devices/system/node/online"), nodes, DOCTOR_CPUS),
		used = 0, near = -1;
	int memory = doctor_list(doctor_line(d, doctor_file(d, "proc/self/status"), "Mems_allowed_list:"),
		ours, DOCTOR_CPUS);
	doctor_cpus(d, cpus);
	for (int i = 0; i < DOCTOR_CPUS; i++) {
		bool node[DOCTOR_CPUS] = { false }, any = false;
		if (!nodes[i])
			continue;
		doctor_list(doctor_file(d, "sys/devices/system/node/node%d/cpulist", i), node, DOCTOR_CPUS);
		for (int c = 0; c < DOCTOR_CPUS; c++)
			any |= node[c] && cpus[c];
		used += any;
		near = any && near < 0 ? i : near;
	}
	if (!count)
		doctor_found(d, DOCTOR_UNKNOWN, "the number of NUMA nodes is unknown");
	else if (count == 1 || (used == 1 && memory == 1))
		doctor_found(d, DOCTOR_OK, count == 1 ? "one" : "one of %d", count);
	else
		doctor_found_of(d, "", DOCTOR_BENDS, arena_printf(&d->arena,
			"use one node: numactl --cpunodebind=%d --membind=%d benanza ...",
			near < 0 ? 0 : near, near < 0 ? 0 : near),
			"%d; threads and memory may be on different ones", count);
}

/* The soft limit in a row of /proc/self/limits; NaN: none or unknown. */
static double limit_of(const char *text, const char *name)
{
	return doctor_field(text, name); /* "unlimited" is not a number */
}

static void doctor_limits(struct doctor *d)
{
	static const struct {
		const char *name, *what, *cure;
	} rows[] = { /* Linux ignores the limit of the resident set */
		{ "Max cpu time", "seconds of CPU time, after which the runner is killed",
			"ulimit -t unlimited" },
		{ "Max address space", "bytes of address space", "ulimit -v unlimited" },
		{ "Max data size", "bytes of data", "ulimit -d unlimited" },
	};
	const char *text = doctor_file(d, "proc/self/limits");
	bool any = false;
	for (size_t i = 0; text && i < sizeof(rows) / sizeof(rows[0]); i++) {
		double limit = limit_of(text, rows[i].name);
		if (isnan(limit))
			continue;
		doctor_found_of(d, rows[i].name, DOCTOR_BENDS,
			arena_printf(&d->arena, "%s, in the shell that starts the runner", rows[i].cure),
			"%.0f %s", limit, rows[i].what);
		any = true;
	}
	if (!text)
		doctor_found(d, DOCTOR_UNKNOWN, "/proc/self/limits cannot be read");
	else if (!any)
		doctor_found(d, DOCTOR_OK, "no limit affects measurements");
}

const struct doctor_check doctor_memory_checks[] = {
	{ "memory", doctor_memory,
		"free memory: measurements rotate operands through it, and swapping slows them" },
	{ "swap", doctor_swap, "free memory, then swapoff -a; swapon -a" },
	{ "pages", doctor_pages, "" },
	{ "nodes", doctor_nodes, "" },
	{ "limits", doctor_limits, "" },
	{ 0 }
};
