/* A window of a file that moves forward: skips are jumps, and the amount read ahead doubles while reading
 * goes on without one. */
#include "config.h"

#include "model/window.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_LEAST 256 /* mostly a tensor's header; a larger read would often touch two pages */
#define WINDOW_MOST 65536

static int window_open_error(const char *path, struct error *err)
{
	if (errno == ENOENT || errno == ENOTDIR)
		return error_set(err, "%s: no such file; check the path", path);
	if (errno == EACCES || errno == EPERM)
		return error_set(err, "%s: permission denied; make the file readable", path);
	return error_set(err, "%s: cannot open: %s", path, strerror(errno));
}

static int window_refuse(struct window *w, const char *why, struct error *err)
{
	error_set(err, "%s: %s", w->name, why);
	window_close(w);
	return -1;
}

int window_open(struct window *w, const char *path, struct error *err)
{
	bool is_stdin = strcmp(path, "-") == 0;
	*w = (struct window){ .name = is_stdin ? "standard input" : path, .fd = 0, .owned = !is_stdin };
	if (!is_stdin) {
		w->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (w->fd < 0)
			return window_open_error(path, err);
	}
	struct stat st;
	if (fstat(w->fd, &st) != 0)
		return window_refuse(w, is_stdin ? "closed; pipe a model into it" : strerror(errno), err);
	if (S_ISDIR(st.st_mode))
		return window_refuse(w, "a directory, not a model; name the .onnx file in it", err);
	if (isatty(w->fd))
		return window_refuse(w, "a terminal, not a model; pipe a model into it", err);
	w->size = UINT64_MAX;
	off_t here = S_ISREG(st.st_mode) ? lseek(w->fd, 0, SEEK_CUR) : -1;
	if (here >= 0) {
		w->seekable = true;
		w->base = (uint64_t)here;
		w->size = st.st_size > here ? (uint64_t)(st.st_size - here) : 0;
		/* Payloads are skipped, so that readahead would read mostly bytes that are not needed. */
		posix_fadvise(w->fd, 0, 0, POSIX_FADV_RANDOM);
		/* Each jump is a read, which would update the access time. Only the owner of a file may turn
		 * that off. */
		if (w->owned)
			fcntl(w->fd, F_SETFL, O_NOATIME);
	}
	w->reach = WINDOW_LEAST;
	w->buffer = base_malloc(WINDOW_MOST);
	return 0;
}

void window_close(struct window *w)
{
	if (w->owned && w->fd >= 0)
		close(w->fd);
	free(w->buffer);
	w->buffer = NULL;
	w->fd = -1;
}

static ssize_t window_read(struct window *w)
{
	ssize_t got;
	do
		got = w->seekable ? pread(w->fd, w->buffer, w->reach, (off_t)(w->base + w->position))
				  : read(w->fd, w->buffer, w->reach);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Fills the buffer at the position if it is empty there; 1: bytes are available, 0: end. Adaptive
 * readahead: the request doubles from WINDOW_LEAST to WINDOW_MOST while reading goes on sequentially, and
 * falls back after a jump, so that skipping from header to header reads little. */
int window_more(struct window *w, struct error *err)
{
	if (w->position - w->start < w->filled)
		return 1;
	/* Reading sequentially: request more at once. After a jump: little. */
	bool onward = w->position == w->start + w->filled;
	w->reach = !onward ? WINDOW_LEAST : w->reach * 2 > WINDOW_MOST ? WINDOW_MOST : w->reach * 2;
	w->start = w->position;
	w->filled = 0;
	if (w->position >= w->size)
		return 0;
	ssize_t got = window_read(w);
	if (got < 0)
		return error_set(err, "%s: cannot read: %s", w->name, strerror(errno));
	w->filled = (size_t)got;
	w->bytes_read += (uint64_t)got;
	if (w->start < WINDOW_HEAD) {
		size_t n = WINDOW_HEAD - (size_t)w->start;
		n = n < w->filled ? n : w->filled;
		memcpy(w->head + w->start, w->buffer, n);
		if (w->start == w->head_bytes)
			w->head_bytes += n;
	}
	return got > 0;
}

/* Copies n bytes, or skips them if out is NULL: in the buffer a pointer moves; in a seekable file a skip
 * only sets the position and reads nothing; in a pipe it reads and discards. 1: done, 0: the file ended
 * before, -1: error. */
int window_take(struct window *w, void *out, uint64_t n, struct error *err)
{
	const unsigned char *here;
	if (n <= window_here(w, &here)) {
		if (out)
			memcpy(out, here, (size_t)n);
		w->position += n;
		return 1;
	}
	if (!out && w->seekable && n > w->start + w->filled - w->position) {
		bool fits = n <= w->size - w->position;
		w->position = fits ? w->position + n : w->size;
		return fits;
	}
	unsigned char *to = out;
	while (n > 0) {
		int more = window_more(w, err);
		if (more <= 0)
			return more;
		size_t there = (size_t)(w->start + w->filled - w->position);
		size_t part = n < there ? (size_t)n : there;
		if (to) {
			memcpy(to, w->buffer + (w->position - w->start), part);
			to += part;
		}
		w->position += part;
		n -= part;
	}
	return 1;
}
