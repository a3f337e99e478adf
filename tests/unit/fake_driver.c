#include "config.h"

#include "fake_driver.h"

#include <cupti.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake_cudart.h"
#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_library.h"

/* --- CUPTI --- */

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static bool tracing;
static CUDA_CUPTI_KERNEL ran[64];
static char ran_names[64][128];
static size_t ran_count;

void fake_driver_ran(const char *name, double ns)
{
	if (!tracing || ran_count == 64)
		return;
	strncpy(ran_names[ran_count], name, sizeof(ran_names[0]) - 1);
	memset(&ran[ran_count], 0, sizeof(ran[0]));
	ran[ran_count].kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	ran[ran_count].start = (uint64_t)ns;
	ran[ran_count].name = ran_names[ran_count];
	ran_count++;
}

static CUptiResult fake_register(CUpti_BuffersCallbackRequestFunc r, CUpti_BuffersCallbackCompleteFunc c)
{
	request = r;
	complete = c;
	fake.cupti_attached = true;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_enable(CUpti_ActivityKind kind)
{
	if (!fake.cupti_attached)
		return CUPTI_ERROR_NOT_INITIALIZED;
	tracing = kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	ran_count = 0;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_disable(CUpti_ActivityKind kind)
{
	(void)kind;
	tracing = false;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_finalize(void)
{
	request = NULL;
	complete = NULL;
	fake.cupti_attached = false;
	return CUPTI_SUCCESS;
}

/* Returns records in reverse order of start: the caller must sort them. */
static CUptiResult fake_flush(uint32_t flag)
{
	uint8_t *buffer;
	size_t size, most;
	(void)flag;
	request(&buffer, &size, &most);
	for (size_t i = 0; i < ran_count; i++)
		memcpy(buffer + i * sizeof(ran[0]), &ran[ran_count - 1 - i], sizeof(ran[0]));
	complete(NULL, 0, buffer, size, ran_count * sizeof(ran[0]));
	return CUPTI_SUCCESS;
}

static CUptiResult fake_next(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + sizeof(ran[0]) : buffer;
	if (next >= buffer + valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}

static CUptiResult fake_reason(CUptiResult c, const char **text)
{
	(void)c;
	*text = "CUPTI_ERROR_SOMETHING";
	return CUPTI_SUCCESS;
}

/* --- NVML --- */

struct utilization {
	unsigned gpu, memory;
};
struct process {
	unsigned pid;
	unsigned long long bytes;
	unsigned gpu_instance, compute_instance;
};

static int nvml_ok(void)
{
	return 0;
}

static const char *nvml_error(int c)
{
	return c == 6 ? "Not Found" : "Some NVML error";
}

static int nvml_version(char *text, unsigned size)
{
	strncpy(text, "580.82.07", size);
	return 0;
}

static int nvml_uuid(const char *uuid, void **device)
{
	*device = &fake;
	return strncmp(uuid, "GPU-", 4) == 0 ? 0 : 6;
}

static int nvml_pci(const char *pci, void **device)
{
	(void)pci;
	*device = &fake;
	return 6;
}

static int nvml_clock(void *device, int type, unsigned *mhz)
{
	(void)device;
	*mhz = type == 1 ? (unsigned)fake.nvml_mhz : 3201;
	return 0;
}

static int nvml_power(void *device, unsigned *mw)
{
	(void)device;
	*mw = 123456;
	return 0;
}

static int nvml_usual_power(void *device, unsigned *mw)
{
	(void)device;
	*mw = 700000;
	return 0;
}

static int nvml_persistence(void *device, int *on)
{
	(void)device;
	*on = 1;
	return 0;
}

/* "not supported": a GPU without MIG */
static int nvml_mig(void *device, unsigned *now, unsigned *pending)
{
	(void)device;
	*now = *pending = 0;
	return 3;
}

static int nvml_temperature(void *device, int sensor, unsigned *c)
{
	(void)device;
	(void)sensor;
	*c = 41;
	return 0;
}

static int nvml_reasons(void *device, unsigned long long *bits)
{
	(void)device;
	fake_host_work(fake.nvml_ns);
	fake.nvml_asked++;
	*bits = fake.nvml_reasons;
	return 0;
}

static int nvml_processes(void *device, unsigned *count, struct process *list)
{
	(void)device;
	unsigned room = *count;
	*count = (unsigned)fake.nvml_processes;
	if (*count > room)
		return 7;
	for (unsigned i = 0; i < *count; i++)
		list[i] = (struct process){ .pid = i < 8 ? fake.nvml_pid[i] : 1000 + i };
	return 0;
}

static int nvml_utilization(void *device, struct utilization *u)
{
	(void)device;
	*u = (struct utilization){ fake.nvml_utilization, 0 };
	return 0;
}

static int nvml_unsupported(void *device, int type, unsigned *mhz)
{
	(void)device;
	(void)type;
	(void)mhz;
	return 3;
}

/* --- the lock's folder --- */

static char folder[] = "fake_lock_XXXXXX";

bool fake_folder_open(void)
{
	return mkdtemp(folder) && setenv("BENANZA_LOCK_DIR", folder, 1) == 0;
}

void fake_folder_close(void)
{
	static const char *const uuids[] = { "ab", "ac", "11" };
	for (size_t i = 0; i < sizeof(uuids) / sizeof(uuids[0]); i++) {
		char path[128];
		const char *u = uuids[i];
		snprintf(path, sizeof(path), "%s/benanza-GPU-%s%s%s%s-%s%s-%s%s-%s%s-%s%s%s%s%s%s.lock",
			folder, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u);
		unlink(path);
	}
	rmdir(folder);
}

/* --- the loader --- */

typedef void any_function(void);
static const struct {
	const char *name;
	any_function *function;
} functions[] = {
	{ "cuptiActivityRegisterCallbacks", (any_function *)fake_register },
	{ "cuptiActivityEnable", (any_function *)fake_enable },
	{ "cuptiActivityDisable", (any_function *)fake_disable },
	{ "cuptiActivityFlushAll", (any_function *)fake_flush },
	{ "cuptiActivityGetNextRecord", (any_function *)fake_next },
	{ "cuptiGetResultString", (any_function *)fake_reason },
	{ "cuptiFinalize", (any_function *)fake_finalize },
	{ "nvmlInit_v2", (any_function *)nvml_ok },
	{ "nvmlShutdown", (any_function *)nvml_ok },
	{ "nvmlErrorString", (any_function *)nvml_error },
	{ "nvmlSystemGetDriverVersion", (any_function *)nvml_version },
	{ "nvmlDeviceGetHandleByUUID", (any_function *)nvml_uuid },
	{ "nvmlDeviceGetHandleByPciBusId_v2", (any_function *)nvml_pci },
	{ "nvmlDeviceGetClockInfo", (any_function *)nvml_clock },
	{ "nvmlDeviceGetMaxClockInfo", (any_function *)nvml_unsupported },
	{ "nvmlDeviceGetPowerUsage", (any_function *)nvml_power },
	{ "nvmlDeviceGetEnforcedPowerLimit", (any_function *)nvml_power },
	{ "nvmlDeviceGetPowerManagementDefaultLimit", (any_function *)nvml_usual_power },
	{ "nvmlDeviceGetPersistenceMode", (any_function *)nvml_persistence },
	{ "nvmlDeviceGetMigMode", (any_function *)nvml_mig },
	{ "nvmlDeviceGetTemperature", (any_function *)nvml_temperature },
	{ "nvmlDeviceGetCurrentClocksThrottleReasons", (any_function *)nvml_reasons },
	{ "nvmlDeviceGetComputeRunningProcesses_v3", (any_function *)nvml_processes },
	{ "nvmlDeviceGetUtilizationRates", (any_function *)nvml_utilization },
};

void *cuda_library_open(const char *const *names, const struct cuda_library_symbol *symbols, int count,
	const char *cure, struct error *err)
{
	bool there = strstr(names[0], "nvidia-ml") ? fake.has_nvml :
		strstr(names[0], "nvrtc") ? fake.has_nvrtc : fake.has_cupti;
	if (!there) {
		error_set(err, "%s: cannot open shared object file; %s", names[0], cure);
		return NULL;
	}
	for (int i = 0; i < count; i++) {
		*symbols[i].to = dlsym(RTLD_DEFAULT, symbols[i].name);
		for (size_t j = 0; j < sizeof(functions) / sizeof(functions[0]); j++)
			if (strcmp(functions[j].name, symbols[i].name) == 0)
				memcpy(symbols[i].to, &functions[j].function, sizeof(void *));
		if (!*symbols[i].to && !symbols[i].optional) {
			error_set(err, "%s has no %s; %s", names[0], symbols[i].name, cure);
			return NULL;
		}
	}
	return &fake;
}
