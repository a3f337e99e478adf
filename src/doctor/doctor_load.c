/* Checks of other work on the machine, counted between two readings, so that earlier work does not count. */
#include "config.h"

#include "doctor/doctor_private.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUSY_PROCESSORS 0.15  /* share of one processor above which other work can delay any thread */
#define STEAL_SHARE 0.01
#define PRESSURE_SHARE 5.0    /* percent of the last ten seconds in which some task waited */
#define PROCESSES_MOST 100000

/* ---- a reading ---- */

/* user nice system idle iowait irq softirq steal; user includes guests. */
static void totals_read(struct doctor *d, struct reading *r)
{
	const char *cpu = doctor_line(d, doctor_file(d, "proc/stat"), "cpu ");
	double ticks[8] = { 0 };
	int n = 0;
	for (char *end; cpu && n < 8; cpu = end) {
		double value = strtod(cpu, &end);
		if (end == cpu)
			break;
		ticks[n++] = value;
	}
	bool known = n >= 4;
	r->busy = known ? ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] : NAN;
	r->idle = known ? ticks[3] + ticks[4] : NAN;
	r->steal = n >= 8 ? ticks[7] : NAN;
}

/* Parses "pid (name) state parent ... utime stime"; the name can contain anything, so the last bracket ends
 * it. */
static bool process_read(struct doctor *d, int pid, struct process *p)
{
	const char *text = doctor_file(d, "proc/%d/stat", pid), *open = text ? strchr(text, '(') : NULL;
	const char *close = open ? strrchr(open, ')') : NULL;
	double user, system;
	if (!close || sscanf(close + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lf %lf", &p->parent,
		&user, &system) != 3)
		return false;
	size_t n = (size_t)(close - open - 1);
	snprintf(p->name, sizeof(p->name), "%.*s", (int)(n < 60 ? n : 60), open + 1);
	p->pid = pid;
	p->ticks = user + system;
	return true;
}

/* Name of a process. One started through /proc/self/exe is called "exe"; then the name in its command line.
 * In d->arena. */
static const char *process_title(struct doctor *d, const struct process *p)
{
	const char *command = strcmp(p->name, "exe") == 0 ? doctor_file(d, "proc/%d/cmdline", p->pid) : NULL;
	const char *slash = command ? strrchr(command, '/') : NULL, *name = slash ? slash + 1 : command;
	if (!name || !*name || strcmp(name, "exe") == 0)
		return p->name;
	return text_clean(&d->arena, text_of(name));
}

/* First reading: stores the process's ticks. Second: keeps the process with the most ticks since then. */
static void process_note(struct doctor *d, const struct reading *r, struct process p)
{
	char key[16];
	snprintf(key, sizeof(key), "%d", p.pid);
	if (r == &d->first) {
		*hash_at(&d->ticks, text_of(arena_strndup(&d->kept, key, strlen(key)))) = (int64_t)p.ticks;
		return;
	}
	int64_t before = hash_find(&d->ticks, text_of(key));
	p.ticks -= before > 0 ? (double)before : 0;
	if (p.ticks > d->busiest.ticks)
		d->busiest = p;
}

static void processes_read(struct doctor *d, struct reading *r)
{
	DIR *dir = opendir(arena_printf(&d->arena, "%s/proc", d->o.root));
	struct dirent *entry;
	r->own = 0;
	d->busiest = (struct process){ 0 };
	for (int n = 0; dir && n < PROCESSES_MOST && (entry = readdir(dir));) {
		struct process p;
		int64_t pid;
		if (!text_to_int64(text_of(entry->d_name), &pid) || pid < 1 || pid > INT32_MAX ||
			!process_read(d, (int)pid, &p))
			continue;
		n++;
		if (pid == d->o.pid || p.parent == d->o.pid)
			r->own += p.ticks;
		else
			process_note(d, r, p);
	}
	if (dir)
		closedir(dir);
}

static void throttled_read(struct doctor *d, struct reading *r)
{
	bool cpus[DOCTOR_CPUS];
	r->throttled = NAN;
	doctor_cpus(d, cpus);
	for (int i = 0; i < DOCTOR_CPUS; i++) {
		if (!cpus[i])
			continue;
		double core = doctor_number(d,
			"sys/devices/system/cpu/cpu%d/thermal_throttle/core_throttle_count", i);
		double package = doctor_number(d,
			"sys/devices/system/cpu/cpu%d/thermal_throttle/package_throttle_count", i);
		double both = (isnan(core) ? 0 : core) + (isnan(package) ? 0 : package);
		if (!isnan(core) || !isnan(package))
			r->throttled = isnan(r->throttled) ? both : r->throttled + both;
	}
}

void doctor_reading(struct doctor *d, struct reading *r)
{
	const char *vm = doctor_file(d, "proc/vmstat");
	totals_read(d, r);
	processes_read(d, r);
	throttled_read(d, r);
	r->swapped = doctor_field(vm, "pswpin ") + doctor_field(vm, "pswpout ");
}

/* ---- checks ---- */

static double ticks_between(const struct doctor *d)
{
	double steal = isnan(d->now.steal) ? 0 : d->now.steal - d->first.steal;
	return d->now.busy - d->first.busy + d->now.idle - d->first.idle + steal;
}

static void doctor_load(struct doctor *d)
{
	bool cpus[DOCTOR_CPUS] = { false };
	int count = doctor_list(doctor_file(d, "sys/devices/system/cpu/online"), cpus, DOCTOR_CPUS);
	double whole = ticks_between(d), average = doctor_number(d, "proc/loadavg");
	if (!(whole > 0) || !count) {
		doctor_found(d, DOCTOR_UNKNOWN, "other load is unknown (/proc/stat)");
		return;
	}
	double other = fmax(0, d->now.busy - d->first.busy - (d->now.own - d->first.own)) / whole * count;
	bool bends = other >= BUSY_PROCESSORS;
	const struct process *p = &d->busiest;
	const char *who = bends && p->ticks > 0
		? arena_printf(&d->arena, "; most by %s (process %d, %.2f)", process_title(d, p), p->pid,
			  p->ticks / whole * count)
		: "";
	doctor_found(d, bends ? DOCTOR_BENDS : DOCTOR_OK,
		"other work uses %.2f of %d processor%s%s; load average %s", other,
		count, count == 1 ? "" : "s", who, isnan(average) ? "unknown" : arena_printf(&d->arena,
		"%.2f", average));
}

static double pressure_of(struct doctor *d, const char *what)
{
	const char *line = doctor_line(d, doctor_file(d, "proc/pressure/%s", what), "some avg10=");
	return line ? strtod(line, NULL) : NAN;
}

/* Pressure stall information: the share of time in which a runnable task waited. */
static void doctor_pressure(struct doctor *d)
{
	double cpu = pressure_of(d, "cpu"), memory = pressure_of(d, "memory");
	if (isnan(cpu))
		doctor_found(d, DOCTOR_UNKNOWN, "this kernel has no pressure information (/proc/pressure)");
	else
		doctor_found(d, cpu >= PRESSURE_SHARE || memory >= PRESSURE_SHARE ? DOCTOR_BENDS : DOCTOR_OK,
			"in the last 10 s tasks waited for a processor %.0f%% of the time%s", cpu,
			isnan(memory) ? "" : arena_printf(&d->arena, ", for memory %.0f%%", memory));
}

static void doctor_steal(struct doctor *d)
{
	double whole = ticks_between(d), share = (d->now.steal - d->first.steal) / whole;
	double ever = d->now.steal / (d->now.busy + d->now.idle + d->now.steal);
	if (!(whole > 0) || isnan(share))
		doctor_found(d, DOCTOR_UNKNOWN, "steal time is unknown (/proc/stat)");
	else
		doctor_found(d, share >= STEAL_SHARE ? DOCTOR_BENDS : DOCTOR_OK,
			"the hypervisor gave %.1f%% of this machine's time to other virtual machines during "
			"the check, "
			"%.1f%% since the start",
			100 * share, 100 * ever);
}

const struct doctor_check doctor_load_checks[] = {
	{ "load", doctor_load, "stop it, or wait until it ends; measure again" },
	{ "pressure", doctor_pressure,
		"find the process that uses the machine; measure when the machine is quiet" },
	{ "steal", doctor_steal, "use a dedicated machine, or measure when other virtual machines are idle" },
	{ 0 }
};
