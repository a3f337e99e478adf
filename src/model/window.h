/* A file or stream of any size seen through a small moving window. Skipping in a file reads nothing; a stream
 * is read and thrown away. Nothing is mapped: a page fault would read much more around it. */
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
	uint64_t position;    /* of the next byte */
	uint64_t size;	      /* in bytes; UINT64_MAX for a stream */
	uint64_t start;	      /* the buffer holds bytes start .. start + filled */
	size_t filled, reach; /* reach: how much the next fill asks for */
	uint64_t bytes_read;  /* in all, for tests */
	unsigned char *buffer;
	unsigned char head[WINDOW_HEAD]; /* the first bytes, for telling what else the file may be */
	size_t head_bytes;
};

/* Opens path; "-" is standard input. Errors name the file and the cure. Close in any case but failure. */
int window_open(struct window *w, const char *path, struct error *err);
void window_close(struct window *w);

/* The bytes from position on that are there without reading, and how many. */
static inline size_t window_here(const struct window *w, const unsigned char **bytes)
{
	uint64_t at = w->position - w->start;
	bool there = at < w->filled; /* not after a jump */
	*bytes = w->buffer + (there ? at : 0);
	return there ? w->filled - (size_t)at : 0;
}

/* Is there a byte at position? 1 yes, 0 end of file, -1 read error (err set). Fills the buffer. */
int window_more(struct window *w, struct error *err);
/* Copies n bytes to out (NULL: throws them away) and moves on. 1 done; 0 the file ends before; -1 error. */
int window_take(struct window *w, void *out, uint64_t n, struct error *err);

#endif
