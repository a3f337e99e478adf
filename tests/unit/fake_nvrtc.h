/* Fakes of NVRTC, of the runtime's libraries of code and of the driver's launch. A kernel is compiled by the
 * host's C++ compiler, and a launch runs its threads one after another on fake_cudart's stream. */
#ifndef FAKE_NVRTC_H
#define FAKE_NVRTC_H

#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdbool.h>

#define FAKE_NVRTC_LAUNCH_NS 5e3 /* on the device, of each kernel */

extern struct fake_nvrtc {
	/* the machine */
	int archs[4], arch_count;   /* for which it compiles */
	const char *compiler_error; /* of the next compilations; NULL: none */
	cudaError_t load_error, kernel_error;
	int launch_error;           /* the driver's */
	bool (*locked)(void);       /* asked at each compilation, one at a time; NULL: not */
	/* counters */
	atomic_int compiled, compiled_here; /* here: on the thread that reset the fake */
	atomic_int compiled_locked;         /* ... while `locked` said so */
	int programs_alive, loaded, unloaded, launches;
	char options[4][64];        /* of the last compilation */
	int option_count;
	unsigned blocks, threads;   /* of the last launch */
} fake_nvrtc;

/* Resets, and makes the driver's launch one of fake_cudart. Call it after fake_reset. */
void fake_nvrtc_reset(void);

#endif
