/* Linux control groups (cgroups), versions 1 and 2: the group of this process and its ancestors. */
#ifndef BASE_CGROUP_H
#define BASE_CGROUP_H

struct arena;

/* Writes the directories of the process's cgroup and its ancestors to `folders` (in the arena, without a
 * leading slash), the process's own first: "sys/fs/cgroup/memory/user", "sys/fs/cgroup/memory". listed: the
 * text of /proc/self/cgroup, or NULL; controller: NULL for version 2. If the text has no such group, only the
 * outermost one. Returns the count, at most `most`. */
int cgroup_folders(struct arena *a, const char *listed, const char *controller, const char **folders,
	int most);

/* Bytes that the process can still allocate under the tightest memory limit of its cgroups; inactive file
 * cache counts as free. NaN if there is no limit or it cannot be read. root: a directory that contains proc
 * and sys; "" for this machine. */
double cgroup_memory_left(const char *root);

#endif
