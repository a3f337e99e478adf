/* What is known of the commands that carry a runner to another machine: ssh, Slurm's srun and their like. Nothing here is
 * needed for a runner to work; it tells a link that failed from a problem that did, and a place in a queue from a hang. */
#ifndef DRIVE_LINK_H
#define DRIVE_LINK_H

#include <stdbool.h>

/* Does this program (argv[0]) run its command on another machine? */
bool link_is_remote(const char *program);
/* A line of standard error: does it say that a cluster's queue is waited for? */
bool link_waits(const char *line);
/* The same: does it say that the machine or the way to it was lost? */
bool link_is_lost(const char *line);
/* The end of `program`, as waitpid gives it: was the runner taken from outside (the link broke, somebody or the system
 * killed it), or did it end by what it was doing? A remote program that a signal ended may look like a broken link. */
bool link_took(const char *program, int wait_status);
/* Variables that would make such a command bend the lines between us and the runner: labels before them, a pseudo
 * terminal that echoes, other files in place of the pipes. NULL-terminated. */
const char *const *link_variables(void);

#endif
