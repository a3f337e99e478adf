/* What the driver's management library (NVML) tells of a GPU: who else is on it, its clocks, power and heat. Opened at run
 * time; its header is no part of the CUDA toolkit, so that the declarations are ours. Everything is optional: where it is
 * missing, nothing is known and nothing fails. */
#ifndef RUNNER_CUDA_NVML_H
#define RUNNER_CUDA_NVML_H

#include "base/error.h"
#include "base/json.h"

#define CUDA_NVML_PROCESSES 64

/* NaN, "", -1: unknown. */
struct cuda_nvml {
	char driver[80];             /* "580.82.07" */
	double sm_mhz, memory_mhz;   /* now */
	double most_sm_mhz, most_memory_mhz;
	double power_w, power_limit_w, usual_power_limit_w, temperature_c;
	int persistence, mig;        /* on 1, off 0 */
	double utilization;          /* share of the last moments with a kernel running, 0 to 1 */
	double reasons;              /* why clocks are below what was asked for: NVML's bits */
	int processes;               /* computing on it */
	unsigned pid[CUDA_NVML_PROCESSES];
};

/* Finds the GPU by UUID, else by PCI address. -1: err says why nothing will be known. */
int cuda_nvml_open(const char *uuid, const char *pci, struct error *err);
void cuda_nvml_close(void);
/* All unknown where it is not open. */
void cuda_nvml_read(struct cuda_nvml *r);
/* The readings as they are recorded; the caller owns it. */
json_t *cuda_nvml_json(const struct cuda_nvml *r);
/* One line that says that others (not the process `own`) use this GPU, into `line`; false: nobody seen. */
bool cuda_nvml_busy(const struct cuda_nvml *r, unsigned own, char *line, int size);
/* "power_cap thermal" of the bits that mean slower than wanted, into `line`; "" none. */
const char *cuda_nvml_reasons(double reasons, char *line, int size);

#endif
