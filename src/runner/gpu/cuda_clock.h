/* The SM clock: the steady clock under load, heating after pauses, and the mean clock of each sample. A
 * sample is judged against the measured steady clock, never against the peak: locked clocks and power limits
 * are not disturbances. One instance, since a process measures on one GPU. */
#ifndef RUNNER_CUDA_CLOCK_H
#define RUNNER_CUDA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define CUDA_CLOCK_SHARE 0.75 /* a sample at a clock below this share of the steady one is discarded; */
#define CUDA_CLOCK_VARIABLE "BENANZA_CLOCK_SHARE" /* this variable has another share, 0 to 1 */

/* What the samples of one algorithm showed; zeroed by the caller. */
struct cuda_clock_track {
	double mhz;        /* mean clock of the last sample; 0: not counted */
	double own_mhz;    /* steady clock under this algorithm if lower than under our load; 0: not lower */
	bool is_silent;    /* in: do not ask NVML, which may take milliseconds */
	/* Private: */
	double low_mhz;    /* of the last low sample */
	int lows;          /* equally low samples, each after heating */
	int highs;         /* samples in a row that were not low */
	bool is_heated;    /* the GPU was at its steady clock, and no sample was low since */
	uint64_t reasons;  /* NVML's reasons for reduced clocks, of all samples */
	double ask_at;     /* clock_ns() from which NVML is asked again */
};

/* The clock under our load. */
struct cuda_clock_load {
	double steady_mhz; /* NaN: unknown, then no sample is discarded and nothing is heated */
	double nvml_mhz;   /* what NVML reported meanwhile; NaN: unknown */
	double heated_ns;  /* how long it was heated at first */
	bool is_steady;    /* the clock was within 1% at the end of that */
};

/* Reads the share from the environment. Returns -1 and sets err if it is not a number from 0 to 1. */
int cuda_clock_share_read(struct error *err);
/* Allocates the counters; no effect if that is done. Returns -1 and sets err. */
int cuda_clock_open(struct error *err);
void cuda_clock_close(void);
/* Heats the GPU until its clock is within 1% (at most 3 s), which becomes the steady clock. tick_ns: smallest
 * step of the global timer; with a long one counts take longer. Returns -1 and sets err on a CUDA error. */
int cuda_clock_heat(double tick_ns, struct error *err);
/* Heats the GPU until it has its steady clock again (at most 1 s), if it paused for more than 50 ms or the
 * last sample was low. A clock that is steady at another value after that becomes the steady clock. */
int cuda_clock_settle(struct cuda_clock_track *k, struct error *err);
struct cuda_clock_load cuda_clock_load(void);
/* The global timer is wrong: clocks are unknown until cuda_clock_close. */
void cuda_clock_distrust(void);

/* Enqueue the begin and the end of a count: outside the events, around a sample. */
int cuda_clock_begin(struct error *err);
int cuda_clock_end(struct error *err);
/* Asks NVML for the reasons for a reduced clock; call it while the sample runs. */
void cuda_clock_ask(struct cuda_clock_track *k);
/* Evaluates the count of a sample; the stream must be idle. Returns true if its clock was low. If the clock
 * is equally low twice after heating, it is the algorithm's own steady clock (a power limit), and not low. */
bool cuda_clock_judge(struct cuda_clock_track *k);
/* Writes what reduced the algorithm's clock to `line` ("" if nothing did), and returns it. */
const char *cuda_clock_words(const struct cuda_clock_track *k, char *line, int size);

#endif
