/* A fake CUDA runtime on host memory with a simulated clock, including our fill, probe and hold kernels, NVML
 * and CUPTI. Enqueued work runs when the stream is synchronized, a kernel takes the time passed to
 * fake_launch, a host call takes a fixed time. Faults are injected by setting fields. */
#ifndef FAKE_CUDART_H
#define FAKE_CUDART_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#define FAKE_CALL_NS 500    /* host time per call */
#define FAKE_DEVICES 3
#define FAKE_L2 65536

struct fake {
	/* the machine */
	int device_count;
	cudaError_t count_error;         /* of cudaGetDeviceCount */
	int driver_version;              /* 0: no driver */
	struct { int major, minor; const char *name; unsigned char uuid; } device[FAKE_DEVICES];
	cudaError_t set_device_error;
	double memory_bytes;
	double clock_mhz, default_mhz;   /* under load; of cudaDevAttrClockRate */
	double idle_mhz;                 /* clock after a pause; 0: it does not fall */
	double pause_ns, ramp_ns;        /* idle time after which it falls; busy time until it rises again */
	double own_mhz;                  /* clock under kernels that are not our own probes; 0: clock_mhz */
	double swing;                    /* share by which the clock swings under cuda_heat */
	double graph_ns;                 /* before the first node of each graph */
	double event_ns;                 /* time that recording an event takes */
	double event_scale, timer_scale; /* speed of the events' clock and of the global timer */
	double cycle_scale;              /* speed of the cycle counter */
	double timer_tick_ns;            /* step of the global timer */
	double nvml_mhz;
	unsigned nvml_reasons;
	double nvml_ns;             /* host time of asking for them */
	int nvml_asked;
	bool has_nvml, has_cupti, has_nvrtc, names_kernels;
	void (*driver_launch)(void);     /* the driver's cuLaunchKernel; NULL: it has none */
	int nvml_processes;
	unsigned nvml_pid[8], nvml_utilization;
	/* faults */
	int malloc_fails_at;             /* the n-th allocation from now fails; 0: none */
	bool pinned_fails;               /* allocations of pinned memory fail */
	int fault_at;                    /* the n-th kernel executed from now faults; 0: none */
	cudaError_t fault;               /* ... with this error; 0: cudaErrorIllegalAddress */
	bool fault_passes;               /* the next synchronization returns it, then the GPU works again */
	bool capture_fails;              /* captures become invalid */
	bool instantiate_fails;
	bool launches_wait;              /* launches return after the kernel, as under some tools */
	bool loads_lazily;               /* the first launch of each kernel waits for the stream */
	int queue_most;                  /* launches into a queue of so many wait until it is empty; 0: no */
	bool cupti_attached;             /* every launch is slower then */
	/* counters */
	int allocations, allocations_alive, pinned_alive;
	double bytes_alive, bytes_most;
	int kernels_run, graph_launches, graphs_alive, execs_alive, events_alive, streams_alive, captures;
	int forks, strays;               /* waits of other streams for the first; work in them before that */
	int blocks_given_up;
	int flushes;                     /* memsets of twice the L2 size */
	int flags_set_device;
	double host_ns, device_ns;
	double heated_ns;                /* device time in cuda_heat */
};
extern struct fake fake;

/* Resets to one GPU without faults, and all counters to 0. */
void fake_reset(void);

/* Create and remove a private folder for the lock, so that tests do not wait for each other. */
bool fake_folder_open(void);
void fake_folder_close(void);

/* The host works for so long beside the device. */
void fake_host_work(double ns);

/* Enqueues a kernel: a function that runs on a copy of its arguments and takes `ns` on the device. */
typedef void fake_kernel(void *arguments);
cudaError_t fake_launch(fake_kernel *kernel, const void *arguments, size_t size, double ns, const char *name,
	cudaStream_t s);

#endif
