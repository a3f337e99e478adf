/* Databases on network file systems. A write-ahead log has its index in shared memory, which several machines
 * do not share (sqlite.org/wal.html), so the file uses a rollback journal there and depends on working file
 * locks. */
#include "config.h"

#include "store/store_private.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

#define PROBE_MS 10000

/* f_type of statfs(2); values from statfs(2), linux/magic.h and the file systems' headers. */
static const struct place_kind {
	uint32_t type;
	const char *name;
} place_kinds[] = {
	{ 0x00006969, "NFS" },
	{ 0x0000517b, "SMB" },
	{ 0xff534d42, "CIFS" },
	{ 0xfe534d42, "SMB" },
	{ 0x0000564c, "NCP" },
	{ 0x5346414f, "AFS" },
	{ 0x6b414653, "AFS" },
	{ 0x73757245, "Coda" },
	{ 0x0bd00bd0, "Lustre" },
	{ 0x47504653, "GPFS" },
	{ 0x00c36400, "Ceph" },
	{ 0x19830326, "BeeGFS" },
	{ 0x20030528, "OrangeFS" },
	{ 0xaad7aaea, "PanFS" },
	{ 0x01161970, "GFS2" },
	{ 0x7461636f, "OCFS2" },
	{ 0x01021997, "9p" },
	{ 0x786f4256, "VirtualBox shared folder" },
	{ 0x65735546, "FUSE, possibly remote" }, /* sshfs, GlusterFS and local FUSE file systems share this
						    value */
};

const char *store_network(const char *path)
{
	struct statfs fs;
	if (statfs(path, &fs))
		return NULL;
	for (size_t i = 0; i < sizeof(place_kinds) / sizeof(place_kinds[0]); i++)
		if (place_kinds[i].type == (uint32_t)fs.f_type)
			return place_kinds[i].name;
	return NULL;
}

/* In the child process: requests a read lock on a byte that SQLite does not lock. Exits with the errno, 0 if
 * locks work. */
static void probe_lock(const char *path)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = 0x40000000 + 1000,
		.l_len = 1 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	_exit(fd >= 0 && fcntl(fd, F_SETLK, &lock) && errno != EAGAIN && errno != EACCES ? errno : 0);
}

/* A missing lock service fails at once or never replies, and a process that waits for it in the kernel cannot
 * be interrupted. So a child process requests the lock, and this one waits for the end of a pipe, up to
 * limit_ms. */
int place_probe_locks(const struct store *s, int limit_ms, struct error *err)
{
	int end[2], status = 0;
	if (pipe2(end, O_CLOEXEC))
		return 0; /* cannot test; SQLite will report it */
	pid_t child = fork();
	if (child == 0)
		probe_lock(s->path);
	close(end[1]); /* the child's copy closes when it exits */
	struct pollfd at = { .fd = end[0], .events = POLLIN };
	int ready = -1;
	while (child > 0 && (ready = poll(&at, 1, limit_ms)) < 0 && errno == EINTR)
		;
	close(end[0]);
	if (child < 0)
		return 0;
	if (ready == 0) {
		kill(child, SIGKILL);
		waitpid(child, &status, WNOHANG);
		return error_set(err,
			"%s: its file system (%s) does not reply to a lock request: check its lock service, "
			"or give a file on a local disk with --db",
			s->path, s->network);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status) || WEXITSTATUS(status) == 0)
		return 0;
	return error_set(err,
		"%s: its file system (%s) does not support locks (%s): check its lock service, "
		"or give a file on a local disk with --db",
		s->path, s->network, strerror(WEXITSTATUS(status)));
}

/* True if byte 18 of the header (write version) is 2: WAL mode (sqlite.org/fileformat.html). Reads through
 * SQLite's descriptor, because closing another one would release all POSIX locks of this process. */
static bool place_is_wal(struct store *s)
{
	sqlite3_file *file = NULL;
	unsigned char version[2] = { 0 };
	if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file ||
		!file->pMethods)
		return false;
	return file->pMethods->xRead(file, version, sizeof(version), 18) == SQLITE_OK && version[0] == 2;
}

/* Switches the file from WAL mode to a rollback journal. In exclusive locking mode SQLite uses no shared
 * memory, and the lock ensures that no other process, on any machine, has the file open. */
static int place_switch(struct store *s, struct error *err)
{
	struct store own = { .path = s->path, .network = s->network };
	bool fresh;
	int rc = store_open_file(&own, false, err);
	store_set_patience(&own, 0, NULL, NULL);
	if (!rc)
		rc = store_exec(&own, "PRAGMA locking_mode = EXCLUSIVE", err);
	if (!rc)
		rc = store_check_header(&own, &fresh, err);
	if (!rc)
		rc = store_set_journal(&own, "DELETE", 0, err);
	if (!rc && own.wal)
		rc = error_set(err, "%s: cannot turn off its write-ahead log", s->path);
	s->code = own.code;
	sqlite3_close(own.db);
	if (!rc)
		log_line("%s: changed from a write-ahead log to a rollback journal, "
			 "because it is on a network file system (%s)",
			s->path, s->network);
	else if (own.code == SQLITE_BUSY || own.code == SQLITE_LOCKED)
		error_set(err,
			"%s: on a network file system (%s) with a write-ahead log, "
			"which works on one machine only, and another program has it open: "
			"end that program first, or give another file with --db",
			s->path, s->network);
	return rc;
}

int place_prepare(struct store *s, bool immutable, struct error *err)
{
	s->network = store_network(s->path);
	if (!s->network || immutable)
		return 0;
	if (place_probe_locks(s, PROBE_MS, err))
		return -1;
	return place_is_wal(s) ? place_switch(s, err) : 0;
}
