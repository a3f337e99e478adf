#include "config.h"

#include "doctor/doctor_private.h"

#include "base/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct doctor_check checks[] = {
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
	{ "load", doctor_load, "stop it, or wait until it ends; measure again" },
	{ "pressure", doctor_pressure,
		"find the process that uses the machine; measure when the machine is quiet" },
	{ "steal", doctor_steal, "use a dedicated machine, or measure when other virtual machines are idle" },
	{ "memory", doctor_memory,
		"free memory: measurements rotate operands through it, and swapping slows them" },
	{ "swap", doctor_swap, "free memory, then swapoff -a; swapon -a" },
	{ "pages", doctor_pages, "" },
	{ "nodes", doctor_nodes, "" },
	{ "limits", doctor_limits, "" },
	{ "variables", doctor_variables, "" },
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
	{ "database", doctor_database, "" },
};

const char *doctor_outcome_name(enum doctor_outcome o)
{
	static const char *const names[DOCTOR_OUTCOMES] = { "ok", "bends", "unknown" };
	return names[o];
}

/* ---- findings ---- */

json_t *doctor_json(const struct doctor_finding *f)
{
	return json_pack("{s:s, s:o, s:s, s:o, s:o}", "check", f->check, "subject",
		*f->subject ? json_text(text_of(f->subject)) : json_null(), "outcome",
		doctor_outcome_name(f->outcome), "what", json_text(text_of(f->what)), "cure",
		*f->cure ? json_text(text_of(f->cure)) : json_null());
}

/* ---- files ---- */

/* ---- readings and checks ---- */

static void options_copy(struct doctor *d, const struct doctor_options *o)
{
	struct doctor_runner *runners = ARENA_ARRAY(&d->kept, struct doctor_runner, o->runner_count);
	d->o = *o;
	d->o.root = arena_printf(&d->kept, "%s", o->root);
	d->o.db = o->db ? arena_printf(&d->kept, "%s", o->db) : NULL;
	d->o.version = o->version ? arena_printf(&d->kept, "%s", o->version) : NULL;
	d->o.runners = runners;
	for (int i = 0; i < o->runner_count; i++) {
		struct device *device = ARENA_NEW(&d->kept, struct device);
		runners[i] = (struct doctor_runner){ .name = arena_printf(&d->kept, "%s", o->runners[i].name),
			.error = arena_printf(
				&d->kept, "%s", o->runners[i].error ? o->runners[i].error : "") };
		if (!o->runners[i].device)
			continue;
		*device = device_copy(&d->kept, o->runners[i].device);
		runners[i].device = device;
	}
}

int doctor_due_ms(const struct doctor *d)
{
	int64_t left = d->opened_ms + d->o.window_ms - clock_ms();
	return left > 0 ? (int)left : 0;
}

struct doctor *doctor_open(const struct doctor_options *o)
{
	struct doctor *d = base_calloc(1, sizeof(*d));
	options_copy(d, o);
	d->opened_ms = clock_ms();
	doctor_reading(d, &d->first);
	arena_free(&d->arena);
	return d;
}

void doctor_close(struct doctor *d)
{
	if (!d)
		return;
	hash_free(&d->ticks);
	free(d->findings);
	arena_free(&d->arena);
	arena_free(&d->kept);
	free(d);
}

const struct doctor_finding *doctor_look(struct doctor *d, int *count)
{
	arena_free(&d->arena);
	d->count = 0;
	doctor_reading(d, &d->now);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		d->at = &checks[i];
		d->at->look(d);
	}
	*count = d->count;
	return d->findings;
}
