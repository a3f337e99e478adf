/* Control groups, version 1 and 2: this process's own, and those around it. */
#ifndef BASE_GROUP_H
#define BASE_GROUP_H

struct arena;

/* Folders of the process's group below the root, its own first, then those around it ("sys/fs/cgroup/memory/user",
 * "sys/fs/cgroup/memory"), in the arena. listed: the text of /proc/self/cgroup, NULL none; controller: NULL for version 2. Where it
 * lists no such group, the outermost one. Returns the count. */
int group_folders(struct arena *a, const char *listed, const char *controller, const char **folders, int most);

/* Bytes that may still be taken before the least limit is met; files that are only cached count as free. NaN: no limit, or
 * nobody tells. root: a directory with proc and sys in it, "" this machine's own. */
double group_memory_left(const char *root);

#endif
