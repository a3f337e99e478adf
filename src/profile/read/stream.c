/* Decompresses gzip data and decodes UTF-16; limits how far a file may unpack. */
#include "config.h"

#include "profile/read/stream.h"

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
#define WIDE_BYTES 16 /* that tell whether a file is UTF-16 */
#define PACKED_FREE (INT64_C(256) << 20) /* bytes without that limit */

struct stream {
	gzFile file;
	int64_t file_bytes, read, reported;
	const struct profile_options *options;
	bool gzip, cut, begun;
	enum { BYTES, UTF16_LE, UTF16_BE } text;
	unsigned char *raw;            /* of UTF-16; `raw_at` to `raw_n` are not decoded yet */
	size_t raw_at, raw_n;
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
	free(s->raw);
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

static int64_t read_raw(struct stream *s, void *bytes, size_t n, struct error *err)
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
		return error_set(err, "%s: unpacks to more than %d times its size, so it is not a profile; "
			"give the file that the profiler wrote", s->path, PACKED_MOST);
	report(s);
	return got;
}

/* Returns true if each pair of the first bytes is an ASCII character of UTF-16, its zero at this place. */
static bool is_wide(const unsigned char *bytes, size_t n, size_t zero)
{
	n = n < WIDE_BYTES ? n & ~(size_t)1 : WIDE_BYTES;
	for (size_t i = 0; i < n; i += 2)
		if (bytes[i + zero] || !bytes[i + 1 - zero] || bytes[i + 1 - zero] >= 0x7f)
			return false;
	return n >= 4;
}

/* Returns true if the file begins with the byte order mark of UTF-32, or with ASCII characters of 32 bits. */
static bool is_utf32(const unsigned char *bytes, size_t n)
{
	static const unsigned char marks[2][4] = { { 0xff, 0xfe, 0, 0 }, { 0, 0, 0xfe, 0xff } };
	if (n < 4 || !memcmp(bytes, marks[0], 4) || !memcmp(bytes, marks[1], 4))
		return n >= 4;
	size_t at = bytes[0] ? 0 : 3; /* of the character in each unit */
	for (size_t i = 0; i < WIDE_BYTES; i++)
		if (i >= n || (i % 4 == at ? !bytes[i] || bytes[i] >= 0x7f : bytes[i] != 0))
			return false;
	return true;
}

/* Finds the encoding of the text by its byte order mark, which it takes off the first bytes of the file, or
 * by ASCII characters of 16 bits. Windows PowerShell writes the output of a program as UTF-16. Returns how
 * many bytes remain. */
static size_t begin(struct stream *s, unsigned char *bytes, size_t n)
{
	size_t mark = 0;
	if (n >= 3 && bytes[0] == 0xef && bytes[1] == 0xbb && bytes[2] == 0xbf)
		mark = 3;
	else if (n >= 2 && bytes[0] == 0xff && bytes[1] == 0xfe)
		s->text = UTF16_LE, mark = 2;
	else if (n >= 2 && bytes[0] == 0xfe && bytes[1] == 0xff)
		s->text = UTF16_BE, mark = 2;
	else
		s->text = is_wide(bytes, n, 1) ? UTF16_LE : is_wide(bytes, n, 0) ? UTF16_BE : BYTES;
	memmove(bytes, bytes + mark, n - mark);
	s->begun = true;
	return n - mark;
}

static unsigned unit_at(const struct stream *s, size_t at)
{
	unsigned first = s->raw[at], second = s->raw[at + 1];
	return s->text == UTF16_LE ? second << 8 | first : first << 8 | second;
}

/* Decodes the next character of UTF-16, as UTF-8, to out[4]; a unit without its pair becomes '?'. Returns its
 * bytes; 0 if the rest is not a whole character. last: nothing follows. */
static size_t decode(struct stream *s, char *out, bool last)
{
	if (s->raw_n - s->raw_at < 2)
		return 0;
	unsigned c = unit_at(s, s->raw_at), low = 0;
	bool high = c >= 0xd800 && c < 0xdc00, pair = false;
	if (high && s->raw_n - s->raw_at >= 4) {
		low = unit_at(s, s->raw_at + 2);
		pair = low >= 0xdc00 && low < 0xe000;
	} else if (high && !last)
		return 0;
	s->raw_at += pair ? 4 : 2;
	c = pair ? 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00) : c >= 0xd800 && c < 0xe000 ? '?' : c;
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)((0xf00 >> n & 0xff) | c);
	return n;
}

/* Reads UTF-16 as UTF-8. */
static int64_t read_utf16(struct stream *s, char *bytes, size_t n, struct error *err)
{
	size_t made = 0;
	bool last = n < 4;
	while (made == 0 && !last) {
		if (s->raw_n - s->raw_at < 4) {
			memmove(s->raw, s->raw + s->raw_at, s->raw_n - s->raw_at);
			s->raw_n -= s->raw_at;
			s->raw_at = 0;
			int64_t got = read_raw(s, s->raw + s->raw_n, CHUNK, err);
			if (got < 0)
				return -1;
			s->raw_n += (size_t)got;
			last = got == 0;
		}
		char one[4];
		for (size_t k; made + sizeof(one) <= n && (k = decode(s, one, last)); made += k)
			memcpy(bytes + made, one, k);
	}
	return (int64_t)made;
}

int64_t stream_read(struct stream *s, void *bytes, size_t n, struct error *err)
{
	if (s->text != BYTES)
		return read_utf16(s, bytes, n, err);
	int64_t got = read_raw(s, bytes, n, err);
	if (got <= 0 || s->begun)
		return got;
	if (is_utf32(bytes, (size_t)got))
		return error_set(err, "%s: UTF-32 text, which is not read; convert it: "
			"iconv -f UTF-32 -t UTF-8", s->path);
	got = (int64_t)begin(s, bytes, (size_t)got);
	if (s->text == BYTES)
		return got ? got : read_raw(s, bytes, n, err);
	s->raw = base_malloc((size_t)got + CHUNK + 4);
	memcpy(s->raw, bytes, (size_t)got);
	s->raw_n = (size_t)got;
	return read_utf16(s, bytes, n, err);
}

bool stream_is_gzip(const struct stream *s)
{
	return s->gzip;
}

bool stream_is_cut(const struct stream *s)
{
	return s->cut;
}
