/* Errors as values. Every function that can fail takes `struct error *err` last, returns -1 (or NULL) and
 * leaves one line of text in it. The caller owns the struct; callees only write it when they fail. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>

#define ERROR_TEXT_SIZE 768

struct error {
	char text[ERROR_TEXT_SIZE]; /* one line, cleaned (text_clean); "" = no error */
};

#define ERROR_NONE { .text = "" }

/* Replaces the text. Always returns -1, so that `return error_set(err, ...)` reads well. NULL err is allowed. */
int error_set(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Puts "fmt: " before the present text: the caller says where it happened. Always returns -1. */
int error_context(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
