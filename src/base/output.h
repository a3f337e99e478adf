/* Files that the program writes. A file is written beside its path and gets that name when it is complete: a
 * crash, a full disk or an error leaves the path as it was. A file that has other names (hard links) keeps
 * them: the complete file is copied into it; if that fails the part stays beside it. Pipes, devices and the
 * standard streams ("-" is the output) are written directly. Errors do not name the path: the caller does, as
 * the user gave it (error_context). */
#ifndef BASE_OUTPUT_H
#define BASE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

struct output_rules {
	const char *refusal;      /* says how to replace an existing file; NULL: it is replaced */
	const char *const *reads; /* paths of files that are never replaced, NULL at the end; NULL: none */
	bool files_only;          /* refuses pipes and devices */
	unsigned mode;            /* of a new file, less the umask; 0: 0666. A replaced file keeps its own */
};

struct output;
/* Opens the output without changing a file. The path is copied. Returns NULL on errors. */
struct output *output_open(const char *path, const struct output_rules *rules, struct error *err);
FILE *output_stream(const struct output *out);
/* Completes the file and frees `out`. On errors (-1) the path is as it was before. */
int output_close(struct output *out, struct error *err);
/* Frees `out` without completing the file. `out` may be NULL. */
void output_drop(struct output *out);

/* Removes the file that is being written, before a signal ends the program. Async-signal-safe. */
void output_abandon(void);

/* Writes a file of n bytes in one call. */
int output_put(const char *path, const struct output_rules *rules, const void *bytes, size_t n,
	struct error *err);

/* True if the path names the standard output, or the same pipe or device. */
bool output_is_stdout(const char *path);

#endif
