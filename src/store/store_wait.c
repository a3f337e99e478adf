/* Locks of other programs: the limit of a wait, and the process that has the lock. */
#include "config.h"

#include "store/store_private.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define POLL_MS 5

/* SQLite's busy handler: returns whether to retry. Polls every POLL_MS until patience_ms have passed
 * since the first try, because SQLite has no notification of unlocking between processes
 * (sqlite3_busy_handler). go_on may end the wait earlier, for example on an interrupt. */
static int wait_on(void *context, int tries)
{
	struct store *s = context;
	int64_t now = clock_ms();
	if (tries == 0)
		s->busy_since_ms = now;
	int64_t waited = now - s->busy_since_ms;
	if (waited >= s->patience_ms || (s->go_on && !s->go_on(s->go_on_context, waited)))
		return 0;
	sqlite3_sleep(POLL_MS);
	return 1;
}

void store_set_patience(
	struct store *s, int patience_ms, bool (*go_on)(void *context, int64_t waited_ms), void *context)
{
	s->patience_ms = patience_ms;
	s->go_on = go_on;
	s->go_on_context = context;
	sqlite3_busy_handler(s->db, wait_on, s);
}

/* Returns the id of a process with a write lock on the file, or 0: compares the inode in each line
 * of /proc/locks (proc(5)), linear in the locks of the machine. Processes in other containers have no
 * positive id there; those on other machines are not listed. */
static int holder_of(const char *path)
{
	struct stat st;
	char line[256];
	int found = 0;
	FILE *f = stat(path, &st) == 0 ? fopen("/proc/locks", "re") : NULL;
	while (f && !found && fgets(line, sizeof(line), f)) {
		char access[16];
		int pid;
		uint64_t inode;
		if (sscanf(line, "%*d: POSIX %*s %15s %d %*x:%*x:%" SCNu64, access, &pid, &inode) == 3 &&
			strcmp(access, "WRITE") == 0 && inode == (uint64_t)st.st_ino && pid > 0 &&
			pid != getpid())
			found = pid;
	}
	if (f)
		fclose(f);
	return found;
}

const char *store_lock_holder(struct store *s)
{
	struct str log = { 0 };
	str_addf(&log, "%s-shm", s->path); /* in WAL mode locks are on this file */
	int pid = holder_of(log.p);
	str_free(&log);
	pid = pid ? pid : holder_of(s->path);
	s->holder[0] = '\0';
	if (!pid)
		return s->holder;
	char name[32] = "";
	snprintf(s->holder, sizeof(s->holder), "/proc/%d/comm", pid);
	FILE *f = fopen(s->holder, "re");
	if (f && fgets(name, sizeof(name), f))
		name[strcspn(name, "\n")] = '\0';
	if (f)
		fclose(f);
	snprintf(s->holder, sizeof(s->holder), "%s%sprocess %d", name, name[0] ? ", " : "", pid);
	return s->holder;
}
