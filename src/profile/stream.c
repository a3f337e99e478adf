#include "config.h"

#include "profile/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK (128 << 10)
#define PROGRESS_BYTES (16 << 20) /* between two reports */
/* A packed file of many blanks would be read for hours. Traces pack to a tenth, logs of one line to a
 * hundredth. */
#define PACKED_MOST 250
#define PACKED_FREE (INT64_C(256) << 20) /* bytes without that limit */

struct stream {
	gzFile file;
	int64_t file_bytes, read, reported;
	const struct profile_options *options;
	bool gzip, cut;
	char path[];
};

struct stream *stream_open(const char *path, const struct profile_options *options, struct error *err)
{
	struct stat st;
	unsigned char magic[2];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st)) {
		error_set(err, "%s: cannot be read: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	gzFile file = NULL;
	if (!S_ISREG(st.st_mode))
		error_set(err, "%s: not a regular file; give the file that the profiler wrote", path);
	else if (!(file = gzdopen(fd, "rb")))
		error_set(err, "%s: cannot be read: out of memory", path);
	if (!file) {
		close(fd);
		return NULL;
	}
	struct stream *s = base_calloc(1, sizeof(*s) + strlen(path) + 1);
	memcpy(s->path, path, strlen(path) + 1);
	s->gzip = pread(fd, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
	s->file = file;
	s->file_bytes = st.st_size;
	s->options = options;
	gzbuffer(file, CHUNK);
	return s;
}

void stream_close(struct stream *s)
{
	if (!s)
		return;
	gzclose(s->file);
	free(s);
}

static void report(struct stream *s)
{
	if (!s->options || !s->options->progress || s->read - s->reported < PROGRESS_BYTES)
		return;
	s->reported = s->read;
	double share = (double)gzoffset(s->file) / (double)s->file_bytes;
	s->options->progress(s->options->user, share < 1 ? share : 1);
}

int64_t stream_read(struct stream *s, void *bytes, size_t n, struct error *err)
{
	int code = Z_OK;
	if (s->options && s->options->stop && *s->options->stop)
		return error_set(err, "%s: interrupted", s->path);
	int got = gzread(s->file, bytes, (unsigned)(n < (1u << 30) ? n : 1u << 30));
	const char *why = gzerror(s->file, &code);
	if (got < 0 && code == Z_BUF_ERROR)
		got = 0;
	if (got < 0 || (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR))
		return error_set(err, "%s: cannot be read: %s", s->path,
			code == Z_ERRNO              ? strerror(errno)
				: code == Z_DATA_ERROR ? "the compressed data is damaged; copy the file again"
						       : why);
	s->cut |= code == Z_BUF_ERROR;
	s->read += got;
	if (s->gzip && s->read > PACKED_FREE && s->read / PACKED_MOST > s->file_bytes)
		return error_set(err, "%s: unpacks to more than %d times its size, so it is no profile; give "
			"the file that the profiler wrote", s->path, PACKED_MOST);
	report(s);
	return got;
}

bool stream_is_gzip(const struct stream *s)
{
	return s->gzip;
}

bool stream_is_cut(const struct stream *s)
{
	return s->cut;
}
