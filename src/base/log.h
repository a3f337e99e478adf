/* The log: nothing by default; -v on the command line opens a file or stderr. Never the terminal screen. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdio.h>

/* Where log lines go from now on; NULL = nowhere. The stream stays the caller's. */
void log_to(FILE *stream);
/* One line, time stamp in front, newline added. */
void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
