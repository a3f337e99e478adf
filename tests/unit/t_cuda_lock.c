#include "config.h"

#include "runner/gpu/cuda_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "tap.h"

static char folder[] = "t_cuda_lock_XXXXXX";
static char path[128];
#define UUID "GPU-01/../x"

static bool is_free(void)
{
	int fd = open(path, O_RDONLY);
	bool can = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0;
	close(fd);
	return can;
}

static void test_one(void)
{
	struct cuda_lock l = CUDA_LOCK_CLOSED;
	struct error err = ERROR_NONE;
	struct stat st;
	is_int(cuda_lock_take(&l, &err), 0, "a closed lock is no lock");
	cuda_lock_give(&l);
	mode_t before = umask(0077);
	is_int(cuda_lock_open(&l, folder, UUID, &err), 0, "opened: %s", err.text);
	umask(before);
	ok(stat(path, &st) == 0, "the file is named by the UUID, cleaned");
	is_int(st.st_mode & 0777, 0444, "all users can open it, nobody can write it");
	ok(is_free(), "not taken yet");
	cuda_lock_take(&l, &err);
	cuda_lock_take(&l, &err);
	ok(!is_free(), "taken");
	cuda_lock_give(&l);
	ok(!is_free(), "twice");
	cuda_lock_give(&l);
	ok(is_free(), "given back");
	cuda_lock_take(&l, &err);
	cuda_lock_close(&l);
	ok(is_free(), "closing gives it back");
	is_int(cuda_lock_open(&l, folder, UUID, &err), 0, "the file of before is opened again");
	cuda_lock_close(&l);
}

/* Another process holds the lock until it reads the log line of the waiting one. */
static void test_two(void)
{
	/* shared with the child */
	struct cuda_lock *l =
		mmap(NULL, sizeof(*l), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct cuda_lock other;
	struct error err = ERROR_NONE;
	int taken[2], log[2], status;
	char line[256] = "";
	if (l == MAP_FAILED || pipe(taken) || pipe(log))
		abort();
	pid_t child = fork();
	if (child == 0) {
		cuda_lock_open(&other, folder, UUID, NULL);
		cuda_lock_take(&other, NULL);
		if (write(taken[1], "x", 1) != 1 || read(log[0], line, sizeof(line) - 1) < 1)
			_exit(2);
		if (!cuda_lock_waits(l))
			_exit(3);
		/* the kernel releases the lock */
		_exit(strstr(line, "another process measures on this GPU") ? 0 : 1);
	}
	ok(read(taken[0], line, 1) == 1, "another process measures");
	ok(!is_free(), "the lock is taken");
	cuda_lock_open(l, folder, UUID, &err);
	FILE *f = fdopen(log[1], "w");
	log_to(f);
	is_int(cuda_lock_take(l, &err), 0, "we wait until it is gone");
	ok(!cuda_lock_waits(l), "and then no more");
	log_to(NULL);
	fclose(f);
	waitpid(child, &status, 0);
	is_int(status, 0, "having said so");
	ok(!is_free(), "now it is ours");
	cuda_lock_close(l);
	munmap(l, sizeof(*l));
	close(taken[0]);
	close(taken[1]);
	close(log[0]);
}

static void test_hostile(void)
{
	struct cuda_lock l;
	struct error err = ERROR_NONE;
	char target[160];
	snprintf(target, sizeof(target), "%s/target", folder);
	unlink(path);
	ok(symlink("target", path) == 0, "a link in its place");
	is_int(cuda_lock_open(&l, folder, UUID, &err), -1, "is not followed: %s", err.text);
	ok(access(target, F_OK) != 0, "and makes no file elsewhere");
	is_int(cuda_lock_take(&l, &err), 0, "without a file there is no lock");
	unlink(path);
	ok(mkfifo(path, 0666) == 0, "a pipe in its place");
	is_int(cuda_lock_open(&l, folder, UUID, &err), -1, "is refused: %s", err.text);
	unlink(path);
	ok(mkdir(path, 0777) == 0, "a folder in its place");
	is_int(cuda_lock_open(&l, folder, UUID, &err), -1, "is refused: %s", err.text);
	rmdir(path);
	is_int(cuda_lock_open(&l, "no/such/folder", UUID, &err), -1, "no folder: %s", err.text);
}

int main(void)
{
	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/benanza-GPU-01----x.lock", folder);
	test_one();
	test_two();
	test_hostile();
	unlink(path);
	rmdir(folder);
	return done_testing();
}
