/* The log. Off by default; -v on the command line directs it to a file or to standard error, never to the
 * full-screen UI, which can keep its last lines. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdint.h>
#include <stdio.h>

/* Directs later log lines to `stream`, which the caller owns; NULL turns the log off. */
void log_to(FILE *stream);
/* Writes one line with a leading time stamp; adds the newline. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Keeps the last `lines` of the later lines in memory, each shortened to LOG_LINE_SIZE - 1 bytes; 0: none any
 * more. Not cleaned: they may have control characters. */
#define LOG_LINE_SIZE 400
void log_keep(int lines);
/* The number of lines since log_keep, and of the first one that is still kept. */
uint64_t log_count(void);
uint64_t log_first(void);
/* Line `number`, 0 the first; NULL: it is not kept (any more). Valid until the next log_line. */
const char *log_kept(uint64_t number);

#endif
