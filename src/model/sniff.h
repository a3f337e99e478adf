/* Recognizes files that are not ONNX models by their first bytes. */
#ifndef MODEL_SNIFF_H
#define MODEL_SNIFF_H

#include <stddef.h>

struct sniff {
	const char *what; /* "a zip archive" */
	const char *fix;  /* "unpack it ..." */
};

/* The kind of file, or NULL if it is not recognized. Only for files that could not be read as a model. */
const struct sniff *sniff_bytes(const void *head, size_t n);

#endif
