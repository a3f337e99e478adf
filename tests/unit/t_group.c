/* Memory limits of control groups, on machines made of files. */
#include "config.h"

#include "base/arena.h"
#include "base/group.h"
#include "base/str.h"
#include "store_help.h"

#include <math.h>

static double left(const char *machine)
{
	char root[600];
	snprintf(root, sizeof(root), "%s/%s", scratch, machine);
	return group_memory_left(root);
}

/* The folders of a list, joined by blanks. */
static void folders(const char *listed, const char *controller, const char *want, const char *name)
{
	struct arena a = { 0 };
	struct str got = { 0 };
	const char *all[8];
	int count = group_folders(&a, listed, controller, all, 8);
	for (int i = 0; i < count; i++)
		str_addf(&got, "%s%s", i ? " " : "", all[i]);
	is_str(got.p, want, "%s", name);
	str_free(&got);
	arena_free(&a);
}

static void test_folders(void)
{
	const char *listed = "12:cpuacct,memoryless:/no\n11:cpu,memory,pids:/a/b\n3:devices:/memory\n1:name=memory:/named\n0::/user\n";
	folders(listed, "memory", "sys/fs/cgroup/memory/a/b sys/fs/cgroup/memory/a sys/fs/cgroup/memory", "among other controllers");
	folders(listed, "cpu", "sys/fs/cgroup/cpu/a/b sys/fs/cgroup/cpu/a sys/fs/cgroup/cpu", "the first of them");
	folders(listed, "pids", "sys/fs/cgroup/pids/a/b sys/fs/cgroup/pids/a sys/fs/cgroup/pids", "the last of them");
	folders(listed, "freezer", "sys/fs/cgroup/freezer", "one that is not listed: the outermost");
	folders(listed, NULL, "sys/fs/cgroup/user sys/fs/cgroup", "version 2: the one without a name");
	folders("4:memory:/x\n", NULL, "sys/fs/cgroup", "which is not listed");
	folders("5:,cpu:/x\n0::/y\n", NULL, "sys/fs/cgroup/y sys/fs/cgroup", "an empty name is not version 2");
	folders("0::/../b\n", NULL, "sys/fs/cgroup", "a path that leads out is not followed");
	folders(NULL, NULL, "sys/fs/cgroup", "no list");
	struct arena a = { 0 };
	const char *all[2];
	is_int(group_folders(&a, "0::/a/b/c\n", NULL, all, 2), 2, "no more than there is room for");
	is_str(all[1], "sys/fs/cgroup/a/b", "its own first");
	arena_free(&a);
}

int main(void)
{
	test_folders();
	scratch_make();
	ok(isnan(left("none")), "a machine without groups");
	scratch_file("free/proc/self/cgroup", "0::/user/me\n");
	scratch_file("free/sys/fs/cgroup/user/me/memory.max", "max\n");
	scratch_file("free/sys/fs/cgroup/user/me/memory.current", "100\n");
	ok(isnan(left("free")), "no limit");
	scratch_file("two/proc/self/cgroup", "0::/user/me\n");
	scratch_file("two/sys/fs/cgroup/user/me/memory.max", "5000\n");
	scratch_file("two/sys/fs/cgroup/user/me/memory.current", "1000\n");
	scratch_file("two/sys/fs/cgroup/user/memory.max", "4000\n");
	scratch_file("two/sys/fs/cgroup/user/memory.current", "3000\n");
	ok(left("two") == 1000, "version 2: the least, of one around it");
	scratch_file("two/sys/fs/cgroup/user/memory.stat", "anon 500\ninactive_file 2500\n");
	ok(left("two") == 3500, "files that are only cached are free");
	scratch_file("one/proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/1\n");
	scratch_file("one/sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");
	scratch_file("one/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
	ok(left("one") == 8000, "version 1, seen from inside a container");
	scratch_file("one/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	ok(isnan(left("one")), "... without a limit");
	scratch_file("odd/proc/self/cgroup", "0::/../../etc\n:::\n4\n4:memory\n0::\n\xff\n");
	scratch_file("odd/sys/fs/cgroup/memory.max", "-5\n");
	scratch_file("odd/sys/fs/cgroup/memory.current", "x\n");
	ok(isnan(left("odd")), "nonsense");
	scratch_file("over/proc/self/cgroup", "0::/\n");
	scratch_file("over/sys/fs/cgroup/memory.max", "5\n");
	scratch_file("over/sys/fs/cgroup/memory.current", "50\n");
	ok(left("over") == 0, "more than all is nothing left");
	scratch_remove();
	return done_testing();
}
