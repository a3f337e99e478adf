/* Memory limits of cgroups, read from simulated proc and sys directories. */
#include "config.h"

#include "base/arena.h"
#include "base/cgroup.h"
#include "base/str.h"
#include "store_help.h"

#include <math.h>

static double left(const char *machine)
{
	char root[600];
	snprintf(root, sizeof(root), "%s/%s", scratch, machine);
	return cgroup_memory_left(root);
}

/* Compares the directories, joined by spaces. */
static void folders(const char *listed, const char *controller, const char *want, const char *name)
{
	struct arena a = { 0 };
	struct str got = { 0 };
	const char *all[8];
	int count = cgroup_folders(&a, listed, controller, all, 8);
	for (int i = 0; i < count; i++)
		str_addf(&got, "%s%s", i ? " " : "", all[i]);
	is_str(got.p, want, "%s", name);
	str_free(&got);
	arena_free(&a);
}

static void test_folders(void)
{
	const char *listed = "12:cpuacct,memoryless:/no\n11:cpu,memory,pids:/a/b\n3:devices:/"
			     "memory\n1:name=memory:/named\n0::/user\n";
	folders(listed, "memory", "sys/fs/cgroup/memory/a/b sys/fs/cgroup/memory/a sys/fs/cgroup/memory",
		"the second of three controllers");
	folders(listed, "cpu", "sys/fs/cgroup/cpu/a/b sys/fs/cgroup/cpu/a sys/fs/cgroup/cpu",
		"the first of three controllers");
	folders(listed, "pids", "sys/fs/cgroup/pids/a/b sys/fs/cgroup/pids/a sys/fs/cgroup/pids",
		"the last of three controllers");
	folders(listed, "freezer", "sys/fs/cgroup/freezer",
		"a controller that is not listed: the outermost group");
	folders(listed, NULL, "sys/fs/cgroup/user sys/fs/cgroup", "version 2: the line without controllers");
	folders("4:memory:/x\n", NULL, "sys/fs/cgroup", "version 2 is not listed: the outermost group");
	folders("4:memory:/x\n0::/y\n", "", "sys/fs/cgroup/", "an empty controller name matches no line");
	folders("5:,cpu:/x\n0::/y\n", NULL, "sys/fs/cgroup/y sys/fs/cgroup",
		"an empty controller name is not version 2");
	folders("0::/../b\n", NULL, "sys/fs/cgroup", "a path with .. is not followed");
	folders(NULL, NULL, "sys/fs/cgroup", "no /proc/self/cgroup");
	struct arena a = { 0 };
	const char *all[2];
	is_int(cgroup_folders(&a, "0::/a/b/c\n", NULL, all, 2), 2, "at most as many as fit");
	is_str(all[1], "sys/fs/cgroup/a/b", "the process's own group comes first");
	arena_free(&a);
}

int main(void)
{
	test_folders();
	scratch_make();
	ok(isnan(left("none")), "a machine without cgroups");
	scratch_file("free/proc/self/cgroup", "0::/user/me\n");
	scratch_file("free/sys/fs/cgroup/user/me/memory.max", "max\n");
	scratch_file("free/sys/fs/cgroup/user/me/memory.current", "100\n");
	ok(isnan(left("free")), "no limit");
	scratch_file("two/proc/self/cgroup", "0::/user/me\n");
	scratch_file("two/sys/fs/cgroup/user/me/memory.max", "5000\n");
	scratch_file("two/sys/fs/cgroup/user/me/memory.current", "1000\n");
	scratch_file("two/sys/fs/cgroup/user/memory.max", "4000\n");
	scratch_file("two/sys/fs/cgroup/user/memory.current", "3000\n");
	ok(left("two") == 1000, "version 2: the tightest limit, that of the parent group");
	scratch_file("two/sys/fs/cgroup/user/memory.stat", "anon 500\ninactive_file 2500\n");
	ok(left("two") == 3500, "inactive file cache counts as free");
	scratch_file("one/proc/self/cgroup", "5:cpu:/x\n4:memory:/docker/1\n");
	scratch_file("one/sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");
	scratch_file("one/sys/fs/cgroup/memory/memory.usage_in_bytes", "1000\n");
	ok(left("one") == 8000, "version 1 inside a container: the limit of the outermost group");
	scratch_file("one/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	ok(isnan(left("one")), "version 1 without a limit");
	scratch_file("odd/proc/self/cgroup", "0::/../../etc\n:::\n4\n4:memory\n0::\n\xff\n");
	scratch_file("odd/sys/fs/cgroup/memory.max", "-5\n");
	scratch_file("odd/sys/fs/cgroup/memory.current", "x\n");
	ok(isnan(left("odd")), "malformed files give no limit");
	scratch_file("over/proc/self/cgroup", "0::/\n");
	scratch_file("over/sys/fs/cgroup/memory.max", "5\n");
	scratch_file("over/sys/fs/cgroup/memory.current", "50\n");
	ok(left("over") == 0, "use above the limit leaves 0");
	scratch_remove();
	return done_testing();
}
