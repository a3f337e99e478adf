/* Operands in the layouts of problems, in memory and row-major. */
#ifndef LAYOUT_CASE_H
#define LAYOUT_CASE_H

#include "kernel_case.h"

extern "C" {
#include "runner/gpu/cuda_work.h"
}

/* Returns the offset of an element, given its row-major index, in elements. */
static inline int64_t place(const struct cuda_layout &l, int64_t index)
{
	int64_t at = 0;
	for (int i = l.shape.rank - 1; i >= 0; i--) {
		at += index % l.shape.dim[i] * l.stride[i];
		index /= l.shape.dim[i];
	}
	return at;
}

static inline size_t span_bytes(const struct cuda_layout &l)
{
	int64_t n = 1;
	for (int i = 0; i < l.shape.rank; i++)
		n += (l.shape.dim[i] - 1) * l.stride[i];
	return (size_t)(n * size_of(l.dtype));
}

/* Fills a new operand; its row-major bytes go to *row_major. */
static inline buffer *operand_make(const struct cuda_layout &l, int seed, enum fill_kind kind, int64_t limit,
	std::vector<char> *row_major)
{
	size_t bytes = (size_t)size_of(l.dtype);
	int64_t n = elements(l.shape);
	buffer *b = new buffer(span_bytes(l));
	row_major->resize((size_t)n * bytes);
	for (int64_t i = 0; i < n; i++) {
		char *word = &(*row_major)[(size_t)i * bytes];
		fill_encode(fill_value((uint64_t)seed, i, kind, limit, l.dtype), l.dtype, word);
		memcpy(b->p + place(l, i) * (int64_t)bytes, word, bytes);
	}
	return b;
}

/* Returns the elements of an operand in row-major order. */
static inline std::vector<char> row_major_of(const struct cuda_layout &l, const char *from)
{
	size_t bytes = (size_t)size_of(l.dtype);
	int64_t n = elements(l.shape);
	std::vector<char> dense((size_t)n * bytes);
	for (int64_t i = 0; i < n; i++)
		memcpy(&dense[(size_t)i * bytes], from + place(l, i) * (int64_t)bytes, bytes);
	return dense;
}

#endif
