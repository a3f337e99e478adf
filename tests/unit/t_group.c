/* Memory limits of control groups, on machines made of files. */
#include "config.h"

#include "base/group.h"
#include "store_help.h"

#include <math.h>

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
