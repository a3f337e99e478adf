/* Takes and gives the file lock, also nested. */
#include "config.h"

#include "runner/gpu/cuda_lock.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define OPEN_TRIES 4

/* Opens or creates the lock file in a folder that any user can write: follows no link, and opens an existing
 * file without O_CREAT, which systems refuse for other users' files in /tmp. Read access is enough to lock.
 * The caller must check that it is a regular file. */
static int file_open(const char *path)
{
	for (int i = 0; i < OPEN_TRIES; i++) {
		int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd >= 0 || errno != ENOENT)
			return fd;
		fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444);
		if (fd >= 0)
			fchmod(fd, 0444); /* despite the umask: other users must be able to open it */
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

int cuda_lock_open(struct cuda_lock *l, const char *folder, const char *uuid, struct error *err)
{
	char path[512], name[96];
	struct stat st;
	size_t n = 0;
	*l = (struct cuda_lock)CUDA_LOCK_CLOSED;
	for (; uuid[n] && n < sizeof(name) - 1; n++)
		name[n] = isalnum((unsigned char)uuid[n]) ? uuid[n] : '-';
	name[n] = '\0';
	snprintf(path, sizeof(path), "%s/benanza-%s.lock", folder, name);
	int fd = file_open(path);
	if (fd < 0)
		return error_set(err, "cannot open the lock file %s: %s", path, strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(err, "the lock file %s is not a regular file; remove it", path);
	}
	l->fd = fd;
	return 0;
}

static int wait_for(int fd)
{
	int status;
	do
		status = flock(fd, LOCK_EX);
	while (status && errno == EINTR);
	return status;
}

int cuda_lock_take(struct cuda_lock *l, struct error *err)
{
	if (l->fd < 0)
		return 0;
	if (l->holders == 0 && flock(l->fd, LOCK_EX | LOCK_NB)) {
		__atomic_store_n(&l->waits, errno == EWOULDBLOCK, __ATOMIC_RELAXED);
		if (l->waits)
			log_line("another process measures on this GPU; waiting until it is done");
		int bad = wait_for(l->fd);
		__atomic_store_n(&l->waits, false, __ATOMIC_RELAXED);
		if (bad)
			return error_set(err, "cannot lock the GPU: %s", strerror(errno));
	}
	l->holders++;
	return 0;
}

bool cuda_lock_try(struct cuda_lock *l)
{
	if (l->fd < 0)
		return true;
	if (l->holders == 0 && flock(l->fd, LOCK_EX | LOCK_NB))
		return false;
	l->holders++;
	return true;
}

bool cuda_lock_waits(const struct cuda_lock *l)
{
	return __atomic_load_n(&l->waits, __ATOMIC_RELAXED);
}

void cuda_lock_give(struct cuda_lock *l)
{
	if (l->fd < 0)
		return;
	assert(l->holders > 0);
	if (--l->holders == 0)
		flock(l->fd, LOCK_UN);
}

void cuda_lock_close(struct cuda_lock *l)
{
	if (l->fd >= 0)
		close(l->fd);
	*l = (struct cuda_lock)CUDA_LOCK_CLOSED;
}
