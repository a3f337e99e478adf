/* The digest is computed in steps, so that a caller can do other work between them; it is valid only if
 * the file's size and date are the same at the end as at the start. */
#include "config.h"

#include "base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <sha2.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

#define BLOCK (1 << 18)

struct digest {
	SHA2_CTX context;
	int fd;
	char *path;
	int64_t bytes, size, date_ns;
	char text[DIGEST_SIZE];
};

struct digest *digest_open(const char *path, struct error *err)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		error_set(err, "%s: cannot be read: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		error_set(err, "%s: not a regular file", path);
		return NULL;
	}
	struct digest *d = base_calloc(1, sizeof(*d));
	*d = (struct digest){ .fd = fd, .path = base_strdup(path), .size = st.st_size,
		.date_ns = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec };
	SHA256Init(&d->context);
	return d;
}

int digest_step(struct digest *d, int64_t most, const volatile sig_atomic_t *stop, struct error *err)
{
	unsigned char *block = base_malloc(BLOCK);
	int64_t end = d->bytes + most;
	ssize_t n = 1;
	while (d->bytes < end && ((n = read(d->fd, block, BLOCK)) > 0 || (n < 0 && errno == EINTR))) {
		if (stop && *stop) {
			n = -1;
			errno = EINTR;
			break;
		}
		if (n > 0) {
			SHA256Update(&d->context, block, (size_t)n);
			d->bytes += n;
		}
	}
	free(block);
	if (n < 0)
		return error_set(err, "%s: cannot be read: %s", d->path, strerror(errno));
	if (n > 0)
		return 1;
	if (d->bytes != d->size)
		return error_set(err, "%s: the file changed while it was read", d->path);
	SHA256End(&d->context, d->text);
	return 0;
}

const char *digest_text(const struct digest *d)
{
	return d->text;
}

int64_t digest_bytes(const struct digest *d)
{
	return d->bytes;
}

const char *digest_path(const struct digest *d)
{
	return d->path;
}

int64_t digest_date_ns(const struct digest *d)
{
	return d->date_ns;
}

void digest_close(struct digest *d)
{
	if (!d)
		return;
	close(d->fd);
	free(d->path);
	free(d);
}

int digest_file(const char *path, const volatile sig_atomic_t *stop, char digest[DIGEST_SIZE], int64_t *bytes,
	struct error *err)
{
	struct digest *d = digest_open(path, err);
	int more = d ? 1 : -1;
	while (more > 0)
		more = digest_step(d, INT64_MAX / 2, stop, err);
	if (!more) {
		memcpy(digest, digest_text(d), DIGEST_SIZE);
		*bytes = digest_bytes(d);
	}
	digest_close(d);
	return more;
}

#define ENDS_BYTES (1 << 20)

int digest_ends(const char *path, char digest[DIGEST_SIZE], struct error *err)
{
	struct digest *d = digest_open(path, err);
	if (!d)
		return -1;
	unsigned char *block = base_malloc(ENDS_BYTES);
	int64_t starts[] = { 0, d->size > ENDS_BYTES ? d->size - ENDS_BYTES : d->size };
	ssize_t n = 0;
	SHA256Update(&d->context, (const unsigned char *)&d->size, sizeof(d->size));
	for (int i = 0; i < 2 && n >= 0; i++) {
		n = pread(d->fd, block, ENDS_BYTES, starts[i]);
		if (n > 0)
			SHA256Update(&d->context, block, (size_t)n);
	}
	if (n < 0)
		error_set(err, "%s: cannot be read: %s", path, strerror(errno));
	SHA256End(&d->context, digest);
	free(block);
	digest_close(d);
	return n < 0 ? -1 : 0;
}
