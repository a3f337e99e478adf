/* What a file that is not an ONNX model may be, told from its first bytes. */
#ifndef MODEL_SNIFF_H
#define MODEL_SNIFF_H

#include <stddef.h>

struct sniff {
	const char *what; /* "a zip archive" */
	const char *cure; /* "unpack it ..." */
};

/* NULL when the bytes say nothing. To be asked only after the file failed as a model. */
const struct sniff *sniff_bytes(const void *head, size_t n);

#endif
