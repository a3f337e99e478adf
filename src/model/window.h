/* Reads a file or stream of any size through a small buffer. Skipping seeks in a file, and reads and discards
 * in a stream. Files are not mapped: a page fault would read far more than needed. */
#ifndef MODEL_WINDOW_H
#define MODEL_WINDOW_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WINDOW_HEAD 512

struct window {
	const char *name; /* for messages */
	int fd;
	bool owned;	      /* fd is closed at the end */
	bool seekable;	      /* pread works, size is known */
	uint64_t base;	      /* file offset of position 0 */
	uint64_t position;    /* file offset of the next byte */
	uint64_t size;	      /* in bytes; UINT64_MAX for a stream */
	uint64_t start;	      /* the buffer holds bytes start .. start + filled */
	size_t filled, reach; /* reach: bytes that the next fill requests */
	uint64_t bytes_read;  /* total, for tests */
	unsigned char *buffer;
	unsigned char head[WINDOW_HEAD]; /* the first bytes of the file, to recognize other formats */
	size_t head_bytes;
};

/* Opens path; "-" is standard input. -1 with an error that names the file and the fix; nothing to close then.
 * */
int window_open(struct window *w, const char *path, struct error *err);
void window_close(struct window *w);

/* Number of bytes at `position` that are in the buffer, and a pointer to them. */
static inline size_t window_here(const struct window *w, const unsigned char **bytes)
{
	uint64_t at = w->position - w->start;
	bool there = at < w->filled; /* false after a jump */
	*bytes = w->buffer + (there ? at : 0);
	return there ? w->filled - (size_t)at : 0;
}

/* Fills the buffer if it is empty. 1: there is a byte at `position`; 0: end of file; -1: read error (err
 * set). */
int window_more(struct window *w, struct error *err);
/* Copies n bytes to out (NULL: discards them) and advances. 1: done; 0: the file ends before; -1: error. */
int window_take(struct window *w, void *out, uint64_t n, struct error *err);

#endif
