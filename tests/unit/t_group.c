/* Memory limits of control groups, on machines made of files. */
#include "config.h"

#include "runner/group.h"
#include "store_help.h"

#include <errno.h>
#include <math.h>

static void file(const char *path, const char *text)
{
	char whole[1024];
	snprintf(whole, sizeof(whole), "%s/%s", scratch, path);
	for (char *slash = whole + strlen(scratch) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
		*slash = '\0';
		if (mkdir(whole, 0755) && errno != EEXIST)
			perror(whole);
	}
	FILE *f = fopen(whole, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		perror(whole);
}

static double left(const char *machine)
{
	char root[600];
	snprintf(root, sizeof(root), "%s/%s", scratch, machine);
	return group_memory_left(root);
}

int main(void)
{
	scratch_make();
	ok(isnan(left("none")), "a machine without groups");
	file("free/proc/self/cgroup", "0::/user/me\n");
	file("free/sys/fs/cgroup/user/me/memory.max", "max\n");
	file("free/sys/fs/cgroup/user/me/memory.current", "100\n");
	ok(isnan(left("free")), "no limit");
	file("two/proc/self/cgroup", "0::/user/me\n");
	file("two/sys/fs/cgroup/user/me/memory.max", "5000\n");
	file("two/sys/fs/cgroup/user/me/memory.current", "1000\n");
	file("two/sys/fs/cgroup/user/memory.max", "4000\n");
	file("two/sys/fs/cgroup/user/memory.current", "3000\n");
	ok(left("two") == 1000, "version 2: the least, of one around it");
	file("two/sys/fs/cgroup/user/memory.stat", "anon 500\ninactive_file 2500\n");
	ok(left("two") == 3500, "files that are only cached are free");
	file("one/proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/1\n");
	file("one/sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");
	file("one/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
	ok(left("one") == 8000, "version 1, seen from inside a container");
	file("one/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	ok(isnan(left("one")), "... without a limit");
	file("odd/proc/self/cgroup", "0::/../../etc\n:::\n4\n4:memory\n0::\n\xff\n");
	file("odd/sys/fs/cgroup/memory.max", "-5\n");
	file("odd/sys/fs/cgroup/memory.current", "x\n");
	ok(isnan(left("odd")), "nonsense");
	file("over/proc/self/cgroup", "0::/\n");
	file("over/sys/fs/cgroup/memory.max", "5\n");
	file("over/sys/fs/cgroup/memory.current", "50\n");
	ok(left("over") == 0, "more than all is nothing left");
	scratch_remove();
	return done_testing();
}
