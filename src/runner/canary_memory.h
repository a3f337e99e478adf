/* What the canary knew when the runner ended, for the next one on the same cores: a run that is slow from its first moment would
 * take slow cores for usual. One small file for each host and set of cores in $XDG_CACHE_HOME/benanza (else ~/.cache); who has no
 * such place, or cannot write there, only learns anew. What is usual of the memory is always learned anew. */
#ifndef RUNNER_CANARY_MEMORY_H
#define RUNNER_CANARY_MEMORY_H

/* cores: a word of letters, digits and "-" that names them and their processor. NaN where nothing is known of a thread. The file is somebody's text: what makes no sense there,
 * or is of another number of threads, is nothing known. */
void canary_recall(const char *cores, double *core_ns, int count);
void canary_remember(const char *cores, const double *core_ns, int count);

#endif
