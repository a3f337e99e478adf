/* A stand-in for the CUDA runtime, for our own kernels that fill and hold, for NVML and CUPTI, on host memory and with an
 * invented clock: what is enqueued runs when the stream is waited for, a kernel takes the time that it says it takes, host
 * calls take a fixed time. Faults are ordered by fields. */
#ifndef FAKE_CUDART_H
#define FAKE_CUDART_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_CALL_NS 500    /* host time of any call */
#define FAKE_DEVICES 3
#define FAKE_L2 65536

struct fake {
	/* the machine */
	int device_count;
	cudaError_t count_error;         /* of cudaGetDeviceCount */
	int driver_version;              /* 0: none */
	struct { int major, minor; const char *name; unsigned char uuid; } device[FAKE_DEVICES];
	cudaError_t set_device_error;
	double memory_bytes;
	double clock_mhz, default_mhz;
	bool has_nvml, has_cupti, names_kernels;
	int nvml_processes;
	unsigned nvml_pid[8], nvml_utilization;
	/* faults */
	int malloc_fails_at;             /* the n-th allocation from now; 0: none */
	bool pinned_fails;               /* there is no pinned memory */
	int fault_at;                    /* the n-th kernel executed from now reads where it must not */
	bool capture_fails;              /* captures end invalid */
	bool instantiate_fails;
	bool launches_wait;              /* every launch runs to its end before it returns, as under some tools */
	/* what happened */
	int allocations, allocations_alive, pinned_alive;
	double bytes_alive, bytes_most;
	int kernels_run, graph_launches, graphs_alive, execs_alive, events_alive, streams_alive, captures;
	int blocks_given_up;
	int sweeps;                      /* of twice the L2 */
	int flags_set_device;
	double host_ns, device_ns;
	double clock_count_ns;           /* asked for last */
};
extern struct fake fake;

/* One GPU, everything works, nothing has happened. */
void fake_reset(void);

/* A folder of the test's own for the lock, so that tests do not wait for each other; gone at the end. */
bool fake_folder_open(void);
void fake_folder_close(void);

/* A kernel: a function on a copy of its arguments, that takes so long on the device. */
typedef void fake_kernel(void *arguments);
cudaError_t fake_launch(fake_kernel *kernel, const void *arguments, size_t size, double ns, const char *name,
	cudaStream_t s);

#endif
