/* Stores the canary's usual times of the cores when the runner ends, for the next runner on the same
 * cores: otherwise a run on a machine that is slow from the start would take slow times for usual. One
 * small file per host and set of cores in $XDG_CACHE_HOME/benanza (else ~/.cache/benanza). If it cannot be
 * read or written, the canary learns from its first runs only. The memory's usual times are not stored. */
#ifndef RUNNER_CANARY_MEMORY_H
#define RUNNER_CANARY_MEMORY_H

/* cores: name of the cores and their processor, of letters, digits and "-". count: number of threads.
 * core_ns[count]: ns per thread. canary_recall sets all to NaN if the file is missing, damaged, or of
 * another number of threads. */
void canary_recall(const char *cores, double *core_ns, int count);
void canary_remember(const char *cores, const double *core_ns, int count);

#endif
