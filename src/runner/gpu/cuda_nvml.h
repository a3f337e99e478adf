/* Readings of a GPU from the driver's management library (NVML): other processes, clocks, power, temperature.
 * Opened at run time, with own declarations. Everything is optional: without NVML all readings are unknown
 * and nothing fails. */
#ifndef RUNNER_CUDA_NVML_H
#define RUNNER_CUDA_NVML_H

#include "base/error.h"
#include "base/json.h"

#define CUDA_NVML_PROCESSES 64

/* Unknown values are NaN, "" or -1. */
struct cuda_nvml {
	char driver[80];             /* "580.82.07" */
	double sm_mhz, memory_mhz;   /* current clocks */
	double most_sm_mhz, most_memory_mhz; /* maximum clocks */
	double power_w, power_limit_w, default_power_limit_w, temperature_c;
	int persistence, mig;        /* on 1, off 0 */
	double utilization;          /* share of the last sampling period with a kernel running, 0 to 1 */
	double reasons;              /* NVML's bit mask of the reasons for reduced clocks */
	int processes;               /* number of compute processes */
	unsigned pid[CUDA_NVML_PROCESSES];
};

/* Finds the GPU by UUID, else by PCI address. Returns -1 and sets err if NVML or the GPU cannot be opened. */
int cuda_nvml_open(const char *uuid, const char *pci, struct error *err);
void cuda_nvml_close(void);
/* Reads all values; they are unknown if NVML is not open. */
void cuda_nvml_read(struct cuda_nvml *r);
/* Returns the recorded readings as an object that the caller owns. */
json_t *cuda_nvml_json(const struct cuda_nvml *r);
/* True if processes other than `own` use this GPU or it is busy; writes a one-line warning to `line`. */
bool cuda_nvml_busy(const struct cuda_nvml *r, unsigned own, char *line, int size);
/* Returns only `reasons`; NaN: unknown. */
double cuda_nvml_reasons_now(void);
/* Writes the names of the reasons that slow the GPU down, like "power_cap thermal", to `line` and returns it;
 * "" without one. */
const char *cuda_nvml_reasons(double reasons, char *line, int size);

#endif
