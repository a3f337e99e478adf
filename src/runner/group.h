/* What this process's control group, and those around it, leave of memory. */
#ifndef RUNNER_GROUP_H
#define RUNNER_GROUP_H

/* Bytes that may still be taken before the least limit is met; files that are only cached count as free. NaN: no limit, or
 * nobody tells. root: a directory with proc and sys in it, "" this machine's own. Version 1 and 2. */
double group_memory_left(const char *root);

#endif
