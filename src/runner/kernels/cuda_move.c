/* Plans moves on the host: sorts the dimensions by destination stride, merges neighbors, and joins contiguous
 * elements to wider words. */
#include "config.h"

#include "runner/kernels/cuda_kernels.h"

#include <stdio.h>
#include <string.h>

static void form_swap(struct cuda_move_form *f, int i, int j)
{
	int64_t dim = f->dim[i], from = f->from[i], to = f->to[i];
	f->dim[i] = f->dim[j];
	f->from[i] = f->from[j];
	f->to[i] = f->to[j];
	f->dim[j] = dim;
	f->from[j] = from;
	f->to[j] = to;
}

/* Drops sizes of 1, sorts by falling destination stride, and merges neighbors that are contiguous on both
 * sides. */
static void form_merge(struct cuda_move_form *f)
{
	int rank = 0;
	for (int i = 0; i < f->rank; i++)
		if (f->dim[i] != 1)
			form_swap(f, rank++, i);
	f->rank = rank;
	for (int i = 1; i < f->rank; i++)
		for (int j = i; j > 0 && f->to[j] > f->to[j - 1]; j--)
			form_swap(f, j, j - 1);
	rank = f->rank ? 1 : 0;
	for (int i = 1; i < f->rank; i++) {
		int last = rank - 1;
		if (f->from[last] == f->dim[i] * f->from[i] && f->to[last] == f->dim[i] * f->to[i]) {
			f->dim[last] *= f->dim[i];
			f->from[last] = f->from[i];
			f->to[last] = f->to[i];
		} else {
			form_swap(f, rank++, i);
		}
	}
	if (!rank) /* one element */
		f->dim[0] = f->from[0] = f->to[0] = 1;
	f->rank = rank ? rank : 1;
}

/* True if n divides all strides except from[skip_from] and to[skip_to]. */
static bool strides_divide(const struct cuda_move_form *f, int skip_from, int skip_to, int64_t n)
{
	for (int i = 0; i < f->rank; i++)
		if ((i != skip_from && f->from[i] % n) || (i != skip_to && f->to[i] % n))
			return false;
	return true;
}

/* Joins elements that are contiguous on both sides to the widest word, a power of two up to 16 bytes, that
 * divides size, strides and addresses. */
static void form_widen(struct cuda_move_form *f, uintptr_t address)
{
	int last = f->rank - 1;
	for (int bytes = 16; bytes > f->bytes && f->from[last] == 1 && f->to[last] == 1; bytes /= 2) {
		int64_t n = bytes / f->bytes;
		if (f->dim[last] % n || !strides_divide(f, last, last, n) || address % (uintptr_t)bytes)
			continue;
		for (int i = 0; i < f->rank; i++) {
			f->from[i] /= i == last ? 1 : n;
			f->to[i] /= i == last ? 1 : n;
		}
		f->dim[last] /= n;
		f->bytes = bytes;
		form_merge(f);
		return;
	}
}

/* Finds the source's innermost dimension, if it is another than the destination's, and whether 1- or 2-byte
 * elements can be packed to 4-byte words on both sides. */
static void plan_tiles(struct cuda_move *m, uintptr_t address)
{
	const struct cuda_move_form *f = &m->wide;
	int last = f->rank - 1, n = 4 / f->bytes;
	m->from_inner = -1;
	m->pack = 1;
	if (f->rank < 2 || f->to[last] != 1 || m->from_type != m->to_type)
		return;
	for (int i = 0; i < last; i++)
		if (f->from[i] == 1)
			m->from_inner = i;
	if (m->from_inner >= 0 && n > 1 && f->dim[last] % n == 0 && f->dim[m->from_inner] % n == 0 &&
		address % 4 == 0 && strides_divide(f, m->from_inner, last, n))
		m->pack = n;
}

int cuda_move_plan(struct cuda_move *m, const struct cuda_strided *from, const struct cuda_strided *to)
{
	int from_bits = dtype_bits(from->dtype), to_bits = dtype_bits(to->dtype);
	uintptr_t address = (uintptr_t)from->data | (uintptr_t)to->data;
	*m = (struct cuda_move){
		.from_type = from->dtype, .to_type = to->dtype, .plain = { .rank = from->rank }
	};
	if (from->rank != to->rank ||
		memcmp(from->dim, to->dim, (size_t)from->rank * sizeof(*to->dim)) != 0 || from_bits < 8 ||
		to_bits < 8)
		return -1;
	m->plain.bytes = to_bits / 8;
	memcpy(m->plain.dim, from->dim, sizeof(m->plain.dim));
	memcpy(m->plain.from, from->stride, sizeof(m->plain.from));
	memcpy(m->plain.to, to->stride, sizeof(m->plain.to));
	form_merge(&m->plain);
	m->wide = m->plain;
	m->aligned = address % 16 == 0;
	m->dense = m->plain.rank == 1 && m->plain.from[0] == 1 && m->plain.to[0] == 1;
	if (from->dtype == to->dtype)
		form_widen(&m->wide, address);
	plan_tiles(m, address);
	return 0;
}

bool cuda_move_can(const struct cuda_move *m, enum cuda_move_kind kind)
{
	bool cast = m->from_type != m->to_type;
	switch (kind) {
	case CUDA_MOVE_MEMCPY: return m->dense && !cast;
	case CUDA_MOVE_COPY: return m->dense && !cast && m->aligned;
	case CUDA_MOVE_TILED:
	case CUDA_MOVE_TALL: return m->from_inner >= 0;
	case CUDA_MOVE_VECTOR: return !cast && !(m->dense && m->aligned) && m->wide.bytes > m->plain.bytes;
	case CUDA_MOVE_STRIDED: return true;
	default: return false;
	}
}

const char *cuda_move_name(const struct cuda_move *m, enum cuda_move_kind kind, char *buf)
{
	int tile = 32 * m->pack;
	switch (kind) {
	case CUDA_MOVE_MEMCPY: return "cudaMemcpyAsync";
	case CUDA_MOVE_COPY: return "copy16";
	case CUDA_MOVE_TILED: snprintf(buf, 32, "tiled%dx%d:%d_bytes", tile, tile, m->wide.bytes); return buf;
	case CUDA_MOVE_TALL:
		snprintf(buf, 32, "tiled%dx%d:%d_bytes", tile, 2 * tile, m->wide.bytes);
		return buf;
	case CUDA_MOVE_VECTOR: snprintf(buf, 32, "strided:%d_bytes", m->wide.bytes); return buf;
	default: break;
	}
	if (m->from_type != m->to_type)
		return m->dense ? "cast" : "cast_strided";
	snprintf(buf, 32, "strided:%d_bytes", m->plain.bytes);
	return buf;
}
