/* Errors as values. A function that can fail takes `struct error *err` as its last parameter; if it fails, it
 * writes one line of text to it and returns -1 (or NULL). The caller owns the struct. On success it is not
 * written. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>

#define ERROR_TEXT_SIZE 768

struct error {
	char text[ERROR_TEXT_SIZE]; /* one line, cleaned (text_clean); "" = no error */
};

#define ERROR_NONE { .text = "" }

/* Replaces the text. Always returns -1, for `return error_set(err, ...)`. err may be NULL. */
int error_set(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prepends "fmt: " to the text: callers add the file, node ... where the error occurred. Always returns
 * -1. */
int error_context(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
