#include "config.h"

#include "runner/group.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_LIMIT 1e18 /* version 1 writes a number near 2^63 */
#define PATH_MOST 4096

static const struct version {
	const char *controller; /* as /proc/self/cgroup lists it; "" version 2 */
	const char *folder, *limit, *used, *cached;
} versions[] = {
	{ "", "sys/fs/cgroup", "memory.max", "memory.current", "inactive_file " },
	{ "memory", "sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file " },
};

/* The number behind a word at the beginning of a line, "" the first line; NaN: none. */
static double number_read(const char *folder, const char *name, const char *word)
{
	char path[PATH_MOST + 64], line[256];
	double n = NAN;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
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

static double left_in(const struct version *v, const char *folder)
{
	double limit = number_read(folder, v->limit, ""), used = number_read(folder, v->used, "");
	double cached = number_read(folder, "memory.stat", v->cached);
	if (!(limit < NO_LIMIT) || isnan(used))
		return NAN;
	return fmax(0, limit - fmax(0, used - (isnan(cached) ? 0 : cached)));
}

/* A line is "4:cpu,memory:/path"; version 2 has no names. */
static bool is_of(const char *names, size_t n, const char *controller)
{
	size_t wanted = strlen(controller);
	if (!wanted)
		return n == 0;
	for (const char *end = names + n; names < end;) {
		size_t one = strcspn(names, ",:");
		if (one == wanted && memcmp(names, controller, one) == 0)
			return true;
		names += one + 1;
	}
	return false;
}

/* The group's own folder, then those around it: in a container only the last may be there. */
static double least_of(const char *root, const struct version *v, char *path)
{
	double least = NAN;
	char folder[PATH_MOST + 32];
	for (;;) {
		size_t n = strlen(path);
		while (n && path[n - 1] == '/')
			path[--n] = '\0';
		if (snprintf(folder, sizeof(folder), "%s/%s%s", root, v->folder, path) < (int)sizeof(folder))
			least = fmin(least, left_in(v, folder)); /* NaN gives way */
		char *slash = strrchr(path, '/');
		if (!slash)
			return least;
		*slash = '\0';
	}
}

double group_memory_left(const char *root)
{
	char name[PATH_MOST], line[PATH_MOST];
	double least = NAN;
	snprintf(name, sizeof(name), "%s/proc/self/cgroup", root);
	FILE *f = fopen(name, "r");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
		for (size_t i = 0; path && !strstr(path, "..") && i < sizeof(versions) / sizeof(versions[0]); i++)
			if (is_of(names + 1, (size_t)(path - names - 1), versions[i].controller)) {
				char own[PATH_MOST];
				snprintf(own, sizeof(own), "%s", path + 1);
				least = fmin(least, least_of(root, &versions[i], own));
			}
	}
	if (f)
		fclose(f);
	return least;
}
