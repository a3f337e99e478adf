/* Reads the bytes of a file in order, decompressed if it is gzip data, UTF-16 as UTF-8, without a byte order
 * mark. The only user of zlib in the room. */
#ifndef PROFILE_READ_STREAM_H
#define PROFILE_READ_STREAM_H

#include "profile/profile.h"

struct stream;

/* Opens a regular file. Returns NULL with an error that names the file. options may be NULL. */
struct stream *stream_open(const char *path, const struct profile_options *options, struct error *err);
void stream_close(struct stream *s);
/* Reads up to n bytes (n at least 4). Returns their number; 0 at the end; -1 with an error: a read error,
 * damaged compressed data, or `stop` is set. Truncated compressed data ends the stream (stream_is_cut). */
int64_t stream_read(struct stream *s, void *bytes, size_t n, struct error *err);
bool stream_is_gzip(const struct stream *s);
bool stream_is_cut(const struct stream *s); /* call at the end: true if the compressed data is truncated */

#endif
