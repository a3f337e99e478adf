/* The truth of the timer: kernels and graphs of known length show how fast the events' clock runs and how
 * much of a measured time is not work. One instance, since a process measures on one GPU. */
#ifndef RUNNER_CUDA_CALIBRATE_H
#define RUNNER_CUDA_CALIBRATE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/json.h"

#define CUDA_CALIBRATE_TOLERANCE 0.05 /* largest relative difference between two clocks */

struct cuda_calibration {
	bool is_done;
	/* Scales: of the growth in time from a kernel of known length to one of twice that length, so that
	 * what both have in common drops out. */
	double event_scale;      /* time between two events / time of the GPU's global timer */
	double host_scale;       /* time between two events / time of the host's monotonic clock */
	double tick_ns;          /* smallest step of the global timer */
	double cycle_mhz;        /* cycles of a kernel of known cycles / its time between two events */
	/* Floors, in ns, which are subtracted from samples: */
	double pair_ns;          /* time between two events with nothing between them */
	double graph_ns;         /* time of a graph besides its nodes: 2 T(N) - T(2N) of N empty kernels */
	double graph_spread_ns;  /* half of the interquartile range of that */
	double node_ns;          /* time of an empty kernel in a graph: (T(2N) - T(N)) / N */
	char doubt[200];         /* why times cannot be trusted; "": they can */
	char caveat[200];        /* why clocks cannot be trusted; "": they can */
};

/* Calibrates, unless that is done: 0.3 s, longer while the clock rises. Also finds the steady clock
 * (cuda_clock.h). Needs the GPU for itself. Returns -1 and sets err on a CUDA error. */
int cuda_calibrate(struct error *err);
/* Returns the calibration; before it is done all floors are 0 and there is no doubt. */
const struct cuda_calibration *cuda_calibration(void);
void cuda_calibrate_forget(void);
/* Returns the calibration and the steady clock as the attribute "timer", which the caller owns. */
json_t *cuda_calibration_json(void);

#endif
