/* Finds the control groups of this process in /proc/self/cgroup and the limits in their folders. A limit
 * of an ancestor counts, so the least memory left on the way to the root is the answer. */
#include "config.h"

#include "base/cgroup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/str.h"

#define NO_LIMIT 1e18 /* version 1 reports "no limit" as a number near 2^63 */
#define FOLDERS 32
#define LISTED_MOST 65536
#define PATH_MOST 4096

static const struct version {
	const char *controller;
	const char *limit, *used, *cached;
} versions[] = {
	{ NULL, "memory.max", "memory.current", "inactive_file " },
	{ "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file " },
};

/* The process's path in one hierarchy, or NULL. Lines of /proc/self/cgroup, cgroups(7): "0::/path" (version
 * 2), "4:cpu,cpuacct:/path" (version 1: hierarchy, controllers, path). */
static const char *path_of(struct arena *a, const char *listed, const char *controller)
{
	for (const char *line = listed; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		size_t length = strcspn(line, "\n");
		const char *names = memchr(line, ':', length);
		const char *path = names ? memchr(names + 1, ':', length - (size_t)(names + 1 - line)) : NULL;
		if (!path)
			continue;
		bool is = !controller && path == names + 1;
		for (const char *p = names + 1; controller && p < path;) {
			size_t n = strcspn(p, ",:");
			is = is || text_is((struct text){ p, n }, controller);
			p += n + 1;
		}
		if (is)
			return arena_strndup(a, path + 1, length - (size_t)(path + 1 - line));
	}
	return NULL;
}

/* Cuts the path at each '/' from its end: "/a/b" gives "/a/b", "/a" and "". A path with ".." counts as "/": a
 * process outside of its cgroup namespace has one. */
int cgroup_folders(struct arena *a, const char *listed, const char *controller, const char **folders,
	int most)
{
	const char *path = path_of(a, listed, controller);
	const char *top = controller ? arena_printf(a, "/%s", controller) : "";
	int count = 0;
	if (!path || strstr(path, ".."))
		path = "/";
	for (size_t n = strlen(path); count < most; n--) {
		if (n && path[n] != '/' && path[n])
			continue;
		size_t used = n && path[n - 1] == '/' ? n - 1 : n;
		folders[count++] = arena_printf(a, "sys/fs/cgroup%s%.*s", top, (int)used, path);
		if (used == 0)
			break;
	}
	return count;
}

/* --- memory --- */

/* The number after `word` at the start of a line of the file (word "": on the first line); NaN without a
 * number. */
static double number_read(const char *root, const char *folder, const char *name, const char *word)
{
	char path[PATH_MOST], line[256];
	double n = NAN;
	snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name);
	FILE *f = fopen(path, "r");
	while (f && isnan(n) && fgets(line, sizeof(line), f)) {
		char *end, *at = line + strlen(word);
		if (strncmp(line, word, strlen(word)) != 0)
			continue;
		n = strtod(at, &end);
		n = end != at && n >= 0 ? n : NAN;
		if (!*word)
			break;
	}
	if (f)
		fclose(f);
	return n;
}

/* limit - (used - inactive file cache) of one cgroup; NaN if it has no limit. */
static double left_in(const struct version *v, const char *root, const char *folder)
{
	double limit = number_read(root, folder, v->limit, ""), used = number_read(root, folder, v->used, "");
	double cached = number_read(root, folder, "memory.stat", v->cached);
	if (!(limit < NO_LIMIT) || isnan(used))
		return NAN;
	return fmax(0, limit - fmax(0, used - (isnan(cached) ? 0 : cached)));
}

double cgroup_memory_left(const char *root)
{
	struct arena a = { 0 };
	char *path = arena_printf(&a, "%s/proc/self/cgroup", root), *listed = arena_alloc(&a, LISTED_MOST);
	double least = NAN;
	FILE *f = fopen(path, "r");
	listed[f ? fread(listed, 1, LISTED_MOST - 1, f) : 0] = '\0';
	if (f)
		fclose(f);
	for (size_t v = 0; v < sizeof(versions) / sizeof(versions[0]); v++) {
		const char *folders[FOLDERS];
		int count = cgroup_folders(&a, listed, versions[v].controller, folders, FOLDERS);
		for (int i = 0; i < count; i++)
			least = fmin(least, left_in(&versions[v], root, folders[i])); /* fmin ignores NaN */
	}
	arena_free(&a);
	return least;
}
