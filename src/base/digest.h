/* The SHA-256 of a file (FIPS 180-4), by libmd: identifies a model file wherever it lies. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <signal.h>
#include <stdint.h>

#include "base/error.h"

#define DIGEST_SIZE 65 /* bytes of a digest as text: 64 hexadecimal digits in lower case and a NUL */

struct digest;
/* Opens a file whose digest is computed in steps, for callers that must not block. Returns NULL on errors. */
struct digest *digest_open(const char *path, struct error *err);
/* Reads up to `most` bytes. Returns 1 before the end of the file, 0 when digest_text is known, -1 with an
 * error. */
int digest_step(struct digest *d, int64_t most, const volatile sig_atomic_t *stop, struct error *err);
const char *digest_text(const struct digest *d); /* DIGEST_SIZE bytes */
int64_t digest_bytes(const struct digest *d);    /* read so far */
const char *digest_path(const struct digest *d);
int64_t digest_date_ns(const struct digest *d);  /* date of the file's last change, when it was opened */
void digest_close(struct digest *d);             /* may be NULL */

/* Reads a regular file once (about 300 MB/s). Sets its digest and its size in bytes. stop: NULL, or a flag of
 * a signal handler that ends the reading. -1 with an error that names the file: it cannot be read, or it
 * changed meanwhile. */
int digest_file(const char *path, const volatile sig_atomic_t *stop, char digest[DIGEST_SIZE], int64_t *bytes,
	struct error *err);

/* The SHA-256 of a regular file's size, its first and its last MiB: a cheap key of a file, which does not
 * notice changes between them. -1 with an error that names the file. */
int digest_ends(const char *path, char digest[DIGEST_SIZE], struct error *err);

#endif
