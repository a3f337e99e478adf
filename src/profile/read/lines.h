/* Reads a text file, also gzip, line by line. */
#ifndef PROFILE_READ_LINES_H
#define PROFILE_READ_LINES_H

#include "profile/read/stream.h"

/* Limit in bytes of one line; the rest of a longer line is dropped. */
#define LINES_BYTES_MOST (1 << 20)

struct lines;

/* Returns NULL with an error that names the file. options may be NULL. */
struct lines *lines_open(const char *path, const struct profile_options *options, struct error *err);
void lines_close(struct lines *l);
/* Returns 1 with a line without its "\n" or "\r\n" and without the sequences that colour it, valid until the
 * next call; 0 at the end; -1 with an error. A last line without a newline is not returned,
 * because it may be cut within a number (lines_is_cut). */
int lines_next(struct lines *l, struct text *line, struct error *err);
bool lines_is_cut(const struct lines *l);
/* Cuts a line of a CSV file into fields: parts of the line, or in `a` if they are in quotation marks. Returns
 * their number, at most `most`. */
int lines_fields(struct arena *a, struct text line, char separator, struct text *fields, int most);

#endif
