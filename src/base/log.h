/* The log. Off by default; -v on the command line directs it to a file or to standard error, never to the
 * full-screen UI. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdio.h>

/* Directs later log lines to `stream`, which the caller owns; NULL turns the log off. */
void log_to(FILE *stream);
/* Writes one line with a leading time stamp; adds the newline. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
