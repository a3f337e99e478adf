/* Canary: a small fixed workload that runs on all measuring threads between samples. If it takes longer
 * than usual, the measured code is slower too, although no thread lost its core. Causes that a thread
 * cannot observe itself: memory bandwidth used by another program, load on the other hardware thread of a
 * core, a lower clock, a hypervisor that schedules another guest. */
#ifndef RUNNER_CANARY_H
#define RUNNER_CANARY_H

/* Duration of the two parts, in ns: loads, multiplications and additions in the L1 cache; reads from main
 * memory (NaN: unknown). */
struct canary_times {
	double core_ns, memory_ns;
};

/* Learns the usual times, in about 20 ms, and reads those that an earlier run stored for these cores
 * (canary_memory.h; cores "": nothing is read or stored). llc_bytes: size of the last-level cache, NaN:
 * unknown. */
void canary_open(double llc_bytes, const char *cores);
/* Runs the canary, about 20 us. Returns NULL and sets *slower to 1 if the times are as usual; else the
 * reason as a short static text, and in *slower how many times slower than usual the machine is (at most
 * 4; NaN: unknown). */
const char *canary_ask(double *slower);
void canary_close(void);

/* The decision of canary_ask for one thread: compares `now`, taken past_ns after the previous times, with
 * `usual`, and updates `usual`. `usual` is near the minimum of earlier times for the cores and their lower
 * quartile for the memory; old times are forgotten slowly, so a slowdown that lasts for minutes becomes
 * usual. Result and *slower as above. */
const char *canary_judge(struct canary_times *usual, struct canary_times now, double past_ns, double *slower);

#endif
