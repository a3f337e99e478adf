/* Our own CUDA kernels, as C sees them: they only enqueue. Addresses are device addresses, strides count elements. Used
 * for movers and what no library offers, and to fill and sample operands. Each family is planned once on the host (a
 * struct of plain numbers, made without a device) and enqueued from that as often as wanted. All return what the CUDA
 * runtime said of the launch. */
#ifndef RUNNER_CUDA_KERNELS_H
#define RUNNER_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "problem/problem.h"
#include "runner/fill.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_strided {     /* a tensor in memory */
	void *data;
	enum dtype dtype;
	int rank;
	int64_t dim[PROBLEM_RANK], stride[PROBLEM_RANK];
};

/* Fills by fill_value(seed, logical index). Types of less than 8 bits: cudaErrorInvalidValue. */
cudaError_t cuda_fill(const struct cuda_strided *t, uint64_t seed, enum fill_kind kind, int64_t limit, cudaStream_t s);
/* Occupies the stream for about `ns` and writes what the SM clock and the global timer counted meanwhile to counts[0],
 * counts[1] (device memory). */
cudaError_t cuda_clock_count(uint64_t *counts, double ns, cudaStream_t s);
/* Waits on the device until *flag (pinned host memory) is not 0; gives up after about a second. */
cudaError_t cuda_block(const volatile int *flag, cudaStream_t s);

/* --- moves: the same elements in other places, or in another type --- */

enum cuda_move_kind {
	CUDA_MOVE_MEMCPY,   /* cudaMemcpyAsync; dense to dense */
	CUDA_MOVE_COPY,     /* dense to dense, 16 bytes a load */
	CUDA_MOVE_TILED,    /* through shared memory: the fastest dimension changes */
	CUDA_MOVE_TALL,     /* the same with tiles twice as long in the destination: more bytes in flight */
	CUDA_MOVE_VECTOR,   /* element by element, of as many bytes as both sides keep together */
	CUDA_MOVE_STRIDED,  /* element by element */
	CUDA_MOVE_KINDS
};

/* Dimensions as both sides see them, outermost first, the destination's fastest last; merged where both sides allow. */
struct cuda_move_form {
	int bytes;          /* of an element */
	int rank;
	int64_t dim[PROBLEM_RANK], from[PROBLEM_RANK], to[PROBLEM_RANK]; /* strides in such elements */
};

struct cuda_move {
	enum dtype from_type, to_type;
	struct cuda_move_form plain, wide; /* wide: elements joined as far as 16 bytes; a cast's is like the plain one */
	int from_inner;     /* dimension of the wide form that is fastest in the source; -1 none */
	int pack;           /* small elements that a tiled move takes at once: 4 bytes / element, or 1 */
	bool dense;         /* both sides are one run */
	bool aligned;       /* both begin on 16 bytes */
};

/* `from` and `to` have equal dimensions; their addresses count only as far as alignment goes (an offset from a 256-byte
 * boundary is enough, NULL is one). -1: a type of less than 8 bits or unlike shapes. */
int cuda_move_plan(struct cuda_move *m, const struct cuda_strided *from, const struct cuda_strided *to);
bool cuda_move_can(const struct cuda_move *m, enum cuda_move_kind kind);
/* "copy16" "tiled64x64" "vector8" ..., in buf of 32 bytes. */
const char *cuda_move_name(const struct cuda_move *m, enum cuda_move_kind kind, char *buf);
cudaError_t cuda_move(const struct cuda_move *m, enum cuda_move_kind kind, const void *from, void *to, cudaStream_t s);

/* --- picks: places are computed or looked up --- */

/* destination[outer][i][inner] = source[outer][index[i]][inner], all dense; indices s32 or s64, negative from the end. */
struct cuda_gather {
	int bytes;                    /* moved at once: elements of the inner run, joined as far as 16 bytes */
	enum dtype index_type;
	int64_t outer, size, count, inner; /* inner in units of `bytes` */
};
int cuda_gather_plan(struct cuda_gather *g, const struct problem *p);
cudaError_t cuda_gather(const struct cuda_gather *g, const void *source, const void *indices, void *to, cudaStream_t s);

/* destination = condition ? a : b, broadcast; operands dense in their own shapes. */
struct cuda_select {
	int bytes, rank;
	int64_t dim[PROBLEM_RANK], condition[PROBLEM_RANK], a[PROBLEM_RANK], b[PROBLEM_RANK]; /* strides; 0 broadcasts */
};
int cuda_select_plan(struct cuda_select *c, const struct problem *p);
cudaError_t cuda_select(const struct cuda_select *c, const void *condition, const void *a, const void *b, void *to,
	cudaStream_t s);

/* Half-pixel resampling as check.h defines it, of f32, f16 and bf16, sums in f32. Strides are n, c, d, h, w. */
struct cuda_resample {
	enum mode mode;
	enum dtype dtype;
	bool channels_last;           /* the destination's fastest dimension is c */
	int64_t n, c, in[3], out[3], from[5], to[5];
};
cudaError_t cuda_resample(const struct cuda_resample *r, const void *from, void *to, cudaStream_t s);

/* --- quantization: dense elements, in the order in which they lie --- */

#define CUDA_QUANTIZE_PARTS 1024  /* ranges that a dynamic one finds before they are put together, 8 bytes each */

/* Scales lie as problem_scale_shape says: element i has scale i / inner % dim, or by blocks the one of its `size` neighbours
 * among those dim. */
struct cuda_quantize {
	enum kernel kernel;           /* quantize or dequantize */
	enum dtype from_type, to_type;
	bool single, by_block, dynamic;
	int64_t count, dim, inner, size;
	float zero;                   /* the zero point */
};
bool cuda_quantize_can(const struct cuda_quantize *q);
/* `workspace`: CUDA_QUANTIZE_PARTS ranges, dynamic alone. */
cudaError_t cuda_quantize(const struct cuda_quantize *q, const void *from, const void *scales, void *to, void *workspace,
	cudaStream_t s);

/* --- lines: what is computed along one axis of a dense tensor outer x size x inner --- */

struct cuda_line {
	enum dtype dtype;
	enum dtype place_type;        /* argreduce: s32 or s64 */
	enum mode mode;               /* of topk, argreduce, scan */
	int64_t outer, size, inner;
	int64_t k;                    /* topk */
};

enum cuda_topk_kind {
	CUDA_TOPK_BLOCK,    /* a line a block, sorted in its registers; up to CUDA_TOPK_BLOCK_SIZE */
	CUDA_TOPK_SEGMENTED,/* all lines by one segmented sort */
	CUDA_TOPK_SORT,     /* line by line by a sort of the whole device */
	CUDA_TOPK_KINDS
};
#define CUDA_TOPK_BLOCK_SIZE 4096
#define CUDA_TOPK_SORT_LINES 16 /* more are not sorted line by line */
bool cuda_topk_can(const struct cuda_line *l, enum cuda_topk_kind kind);
/* Bytes of workspace; asks the library, no device needed for it to be right for this build. NaN: it could not tell. */
double cuda_topk_workspace(const struct cuda_line *l, enum cuda_topk_kind kind);
cudaError_t cuda_topk(const struct cuda_line *l, enum cuda_topk_kind kind, const void *from, void *to, int64_t *places,
	void *workspace, cudaStream_t s);

enum cuda_line_kind {
	CUDA_LINE_BLOCK,    /* a line a block */
	CUDA_LINE_THREAD,   /* a line a thread: neighbouring lines are neighbours in memory, or lines are short */
	CUDA_LINE_KINDS
};
bool cuda_line_can(const struct cuda_line *l, enum cuda_line_kind kind);
cudaError_t cuda_argreduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *places,
	cudaStream_t s);
cudaError_t cuda_scan(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to, cudaStream_t s);

#ifdef __cplusplus
}
#endif
#endif
