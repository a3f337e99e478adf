/* Calls of NVML; each reading that the driver lacks is unknown. */
#include "config.h"

#include "runner/gpu/cuda_nvml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runner/gpu/cuda_library.h"

#define BUSY_SHARE 0.10 /* utilization from which the GPU counts as busy */

/* --- the part of NVML's interface used here, from its reference; names and numbers are stable since version
 * 2 --- */

typedef struct nvml_device *nvml_device;
enum { NVML_SUCCESS = 0, NVML_INSUFFICIENT_SIZE = 7 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };
enum { NVML_TEMPERATURE_GPU = 0 };

struct nvml_utilization {
	unsigned gpu, memory; /* percent */
};

struct nvml_process { /* layout for the _v2 and _v3 calls */
	unsigned pid;
	unsigned long long used_bytes;
	unsigned gpu_instance, compute_instance;
};

/* NVML's clocks event reasons (formerly throttle reasons), without those that are no problem: idle, user
 * settings. */
static const struct {
	unsigned long long bit;
	const char *name;
} reason_names[] = {
	{ 0x4, "power_cap" },
	{ 0x8, "hardware_slowdown" },
	{ 0x20, "thermal" },
	{ 0x40, "hardware_thermal" },
	{ 0x80, "power_brake" },
};

static struct {
	int (*init)(void);
	int (*shutdown)(void);
	const char *(*error_string)(int);
	int (*driver_version)(char *, unsigned);
	int (*by_uuid)(const char *, nvml_device *);
	int (*by_pci)(const char *, nvml_device *);
	int (*clock)(nvml_device, int, unsigned *);
	int (*most_clock)(nvml_device, int, unsigned *);
	int (*power)(nvml_device, unsigned *);
	int (*power_limit)(nvml_device, unsigned *);
	int (*default_power_limit)(nvml_device, unsigned *);
	int (*persistence)(nvml_device, int *);
	int (*mig)(nvml_device, unsigned *, unsigned *);
	int (*temperature)(nvml_device, int, unsigned *);
	int (*event_reasons)(nvml_device, unsigned long long *);
	int (*throttle_reasons)(nvml_device, unsigned long long *);
	int (*processes_v3)(nvml_device, unsigned *, struct nvml_process *);
	int (*processes_v2)(nvml_device, unsigned *, struct nvml_process *);
	int (*utilization)(nvml_device, struct nvml_utilization *);
} api;

static nvml_device device;

static const struct cuda_library_symbol symbols[] = {
	{ "nvmlInit_v2", (void **)&api.init, false },
	{ "nvmlShutdown", (void **)&api.shutdown, false },
	{ "nvmlErrorString", (void **)&api.error_string, false },
	{ "nvmlSystemGetDriverVersion", (void **)&api.driver_version, true },
	{ "nvmlDeviceGetHandleByUUID", (void **)&api.by_uuid, false },
	{ "nvmlDeviceGetHandleByPciBusId_v2", (void **)&api.by_pci, false },
	{ "nvmlDeviceGetClockInfo", (void **)&api.clock, true },
	{ "nvmlDeviceGetMaxClockInfo", (void **)&api.most_clock, true },
	{ "nvmlDeviceGetPowerUsage", (void **)&api.power, true },
	{ "nvmlDeviceGetEnforcedPowerLimit", (void **)&api.power_limit, true },
	{ "nvmlDeviceGetPowerManagementDefaultLimit", (void **)&api.default_power_limit, true },
	{ "nvmlDeviceGetPersistenceMode", (void **)&api.persistence, true },
	{ "nvmlDeviceGetMigMode", (void **)&api.mig, true },
	{ "nvmlDeviceGetTemperature", (void **)&api.temperature, true },
	{ "nvmlDeviceGetCurrentClocksEventReasons", (void **)&api.event_reasons, true },
	{ "nvmlDeviceGetCurrentClocksThrottleReasons", (void **)&api.throttle_reasons, true },
	{ "nvmlDeviceGetComputeRunningProcesses_v3", (void **)&api.processes_v3, true },
	{ "nvmlDeviceGetComputeRunningProcesses_v2", (void **)&api.processes_v2, true },
	{ "nvmlDeviceGetUtilizationRates", (void **)&api.utilization, true },
};

int cuda_nvml_open(const char *uuid, const char *pci, struct error *err)
{
	static const char *const names[] = { "libnvidia-ml.so.1", NULL };
	static void *handle;
	device = NULL;
	if (!handle)
		handle = cuda_library_open(names, symbols, (int)(sizeof(symbols) / sizeof(symbols[0])),
			"it is part of the NVIDIA driver; without it clocks and other processes are unknown",
			err);
	if (!handle)
		return -1;
	int status = api.init();
	if (status != NVML_SUCCESS)
		return error_set(err, "NVML: %s", api.error_string(status));
	status = api.by_uuid(uuid, &device);
	if (status != NVML_SUCCESS)
		status = api.by_pci(pci, &device);
	if (status == NVML_SUCCESS)
		return 0;
	device = NULL;
	api.shutdown();
	return error_set(err, "NVML does not find %s: %s", uuid, api.error_string(status));
}

void cuda_nvml_close(void)
{
	if (device)
		api.shutdown();
	device = NULL;
}

/* Returns an integer property of the device times `scale`; NaN if the driver or GPU does not report it. */
static double number(int (*ask)(nvml_device, unsigned *), double scale)
{
	unsigned value = 0;
	return ask && ask(device, &value) == NVML_SUCCESS ? (double)value * scale : NAN;
}

static double number_of(int (*ask)(nvml_device, int, unsigned *), int which)
{
	unsigned value = 0;
	return ask && ask(device, which, &value) == NVML_SUCCESS ? (double)value : NAN;
}

double cuda_nvml_reasons_now(void)
{
	unsigned long long bits;
	int (*ask)(nvml_device, unsigned long long *) =
		api.event_reasons ? api.event_reasons : api.throttle_reasons;
	return device && ask && ask(device, &bits) == NVML_SUCCESS ? (double)bits : NAN;
}

static void processes_read(struct cuda_nvml *r)
{
	struct nvml_process list[CUDA_NVML_PROCESSES];
	unsigned count = CUDA_NVML_PROCESSES;
	int (*ask)(nvml_device, unsigned *, struct nvml_process *) = api.processes_v3 ? api.processes_v3 :
		api.processes_v2;
	int status = ask ? ask(device, &count, list) : -1;
	if (status != NVML_SUCCESS && status != NVML_INSUFFICIENT_SIZE)
		return;
	/* with NVML_INSUFFICIENT_SIZE only the count is set, not the list */
	r->processes = (int)count;
	for (unsigned i = 0; status == NVML_SUCCESS && i < count && i < CUDA_NVML_PROCESSES; i++)
		r->pid[i] = list[i].pid;
}

void cuda_nvml_read(struct cuda_nvml *r)
{
	*r = (struct cuda_nvml){ .sm_mhz = NAN, .memory_mhz = NAN, .most_sm_mhz = NAN, .most_memory_mhz = NAN,
		.power_w = NAN, .power_limit_w = NAN, .default_power_limit_w = NAN, .persistence = -1,
		.mig = -1, .temperature_c = NAN, .utilization = NAN, .reasons = NAN, .processes = -1 };
	if (!device)
		return;
	if (!api.driver_version || api.driver_version(r->driver, sizeof(r->driver)) != NVML_SUCCESS)
		r->driver[0] = '\0';
	r->driver[sizeof(r->driver) - 1] = '\0';
	r->sm_mhz = number_of(api.clock, NVML_CLOCK_SM);
	r->memory_mhz = number_of(api.clock, NVML_CLOCK_MEM);
	r->most_sm_mhz = number_of(api.most_clock, NVML_CLOCK_SM);
	r->most_memory_mhz = number_of(api.most_clock, NVML_CLOCK_MEM);
	r->power_w = number(api.power, 1e-3);
	r->power_limit_w = number(api.power_limit, 1e-3);
	r->default_power_limit_w = number(api.default_power_limit, 1e-3);
	int persistence;
	unsigned mig, mig_pending;
	if (api.persistence && api.persistence(device, &persistence) == NVML_SUCCESS)
		r->persistence = persistence != 0;
	if (api.mig && api.mig(device, &mig, &mig_pending) == NVML_SUCCESS) /* fails on GPUs without MIG */
		r->mig = mig != 0;
	r->temperature_c = number_of(api.temperature, NVML_TEMPERATURE_GPU);
	struct nvml_utilization rates;
	if (api.utilization && api.utilization(device, &rates) == NVML_SUCCESS)
		r->utilization = rates.gpu / 100.0;
	r->reasons = cuda_nvml_reasons_now();
	processes_read(r);
}

json_t *cuda_nvml_json(const struct cuda_nvml *r)
{
	char reasons[128];
	json_t *o = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "sm_mhz", json_number_or_null(r->sm_mhz),
		"memory_mhz", json_number_or_null(r->memory_mhz), "power_w", json_number_or_null(r->power_w),
		"temperature_c", json_number_or_null(r->temperature_c), "utilization",
		json_number_or_null(r->utilization), "processes",
		json_number_or_null(r->processes < 0 ? NAN : r->processes));
	if (!isnan(r->reasons))
		json_object_set_new(o, "slowed_by", json_text(text_of(cuda_nvml_reasons(r->reasons, reasons,
			sizeof(reasons)))));
	return o;
}

bool cuda_nvml_busy(const struct cuda_nvml *r, unsigned own, char *line, int size)
{
	int others = r->processes > 0 ? r->processes : 0, listed = 0;
	struct str pids = { 0 };
	for (int i = 0; i < r->processes && i < CUDA_NVML_PROCESSES; i++) {
		if (r->pid[i] == own)
			others--;
		else if (r->pid[i] && listed++ < 4)
			str_addf(&pids, "%s%u", pids.n ? ", " : "", r->pid[i]);
	}
	bool working = r->utilization >= BUSY_SHARE;
	if (others > 0 || working) {
		char share[32] = "";
		if (!isnan(r->utilization))
			snprintf(share, sizeof(share), "%s%.0f%% busy", others > 0 ? ", " : "",
				r->utilization * 100);
		char who[96] = "";
		if (others > 0)
			snprintf(who, sizeof(who), "%d other process%s%s%s%s", others,
				others == 1 ? "" : "es", pids.n ? " (" : "", pids.n ? pids.p : "",
				pids.n ? ")" : "");
		snprintf(line, (size_t)size, "this GPU is in use: %s%s; measured times may be too high", who,
			share);
	}
	str_free(&pids);
	return others > 0 || working;
}

const char *cuda_nvml_reasons(double reasons, char *line, int size)
{
	unsigned long long bits = reasons >= 0 ? (unsigned long long)reasons : 0;
	int n = 0;
	*line = '\0';
	for (size_t i = 0; i < sizeof(reason_names) / sizeof(reason_names[0]); i++)
		if ((bits & reason_names[i].bit) && n >= 0 && n < size)
			n += snprintf(
				line + n, (size_t)(size - n), "%s%s", n ? " " : "", reason_names[i].name);
	return line;
}
