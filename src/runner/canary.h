/* A small fixed piece of work on all measuring threads, again and again: where it takes longer than usual, so
 * does what is measured, though nobody took a core away. Another program that fills the memory's bandwidth, one on the other
 * half of a core, a clock that falls, a hypervisor that gives the core to somebody else: a thread sees none of them itself. */
#ifndef RUNNER_CANARY_H
#define RUNNER_CANARY_H

/* How long the two pieces take: loads, products and sums within the nearest cache, and bytes that are in no cache (NaN: not known). */
struct canary_times {
	double core_ns, memory_ns;
};

/* Learns what is usual, in some 20 milliseconds, and from the last time on these cores (canary_memory.h; "" of no use).
 * llc_bytes NaN: unknown. */
void canary_open(double llc_bytes, const char *cores);
/* NULL: all is as usual, *slower 1; else what is not, in a few words, and how many times slower than usual that makes it (at
 * most 4; NaN: nobody knows). Takes some 20 us. */
const char *canary_ask(double *slower);
void canary_close(void);

/* What canary_ask says of such times, past_ns after those before, beside what is usual: the lower quartile of those before (of
 * the cores nearly the least), of which the older ones are forgotten slowly, so that what lasts for minutes is usual in the
 * end. *slower as above. */
const char *canary_judge(struct canary_times *usual, struct canary_times now, double past_ns, double *slower);

#endif
