/* C interface of our own CUDA kernels, used for data movement, for problems that no library covers, and to
 * fill operands. Each family is planned once on the host, without a device, into a struct of plain numbers;
 * the plan is then enqueued as often as wanted. Addresses are device addresses, strides count elements. All
 * functions with a stream only enqueue and return the CUDA runtime's launch error. */
#ifndef RUNNER_CUDA_KERNELS_H
#define RUNNER_CUDA_KERNELS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "problem/problem.h"
#include "runner/verify/fill.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cuda_strided {     /* a tensor in memory */
	void *data;
	enum dtype dtype;
	int rank;
	int64_t dim[PROBLEM_RANK], stride[PROBLEM_RANK];
};

/* Fills with fill_value(seed, logical index). Types of 4 bits are packed two to a byte, the first in the low
 * bits, and need strides without gaps. Returns cudaErrorInvalidValue for other types of less than 8 bits. */
cudaError_t cuda_fill(
	const struct cuda_strided *t, uint64_t seed, enum fill_kind kind, int64_t limit, cudaStream_t s);

/* --- probes: how fast the GPU and its timers run --- */

struct cuda_count {       /* counted over the same time; device memory */
	uint64_t cycles;  /* of one SM's clock */
	uint64_t ns;      /* of the global timer; 0: nothing was counted */
	uint64_t tick_ns; /* cuda_spin: the smallest step of the global timer; 0: none was seen */
};

struct cuda_span {        /* a count that begins in one kernel and ends in another; device memory */
	struct cuda_count count;
	uint64_t began_cycles, began_ns;
	unsigned sm, ended;
};
/* Counts the cycles of one SM and the global timer between two places in the stream. The second call keeps
 * the stream busy until least_ns have passed since the first. If none of its blocks runs on the SM of the
 * first, count.ns remains 0. */
cudaError_t cuda_span_begin(struct cuda_span *span, cudaStream_t s);
cudaError_t cuda_span_end(struct cuda_span *span, double least_ns, int multiprocessors, cudaStream_t s);
/* Occupies one SM until both `ns` of the global timer and `cycles` of its clock have passed. */
cudaError_t cuda_spin(struct cuda_count *count, double ns, double cycles, cudaStream_t s);
/* Keeps the multiply-add units of all SMs busy for `ns` and counts meanwhile. */
cudaError_t cuda_heat(struct cuda_count *count, double ns, int multiprocessors, cudaStream_t s);
/* An empty kernel of one thread. */
cudaError_t cuda_nothing(cudaStream_t s);
/* Blocks the stream until *flag (pinned host memory) is not 0, for at most about a second. */
cudaError_t cuda_block(const volatile int *flag, cudaStream_t s);

/* --- moves: copies, transposes and casts --- */

enum cuda_move_kind {
	CUDA_MOVE_MEMCPY,   /* cudaMemcpyAsync; dense to dense */
	CUDA_MOVE_COPY,     /* dense to dense, 16 bytes per load */
	CUDA_MOVE_TILED,    /* through shared memory, if the innermost dimensions differ */
	CUDA_MOVE_TALL,     /* the same with tiles twice as long in the destination: more bytes in flight */
	CUDA_MOVE_VECTOR,   /* strided, in words of up to 16 bytes that are contiguous on both sides */
	CUDA_MOVE_STRIDED,  /* strided, element by element */
	CUDA_MOVE_KINDS
};

/* Common dimensions of source and destination, in order of falling destination strides. Sizes of 1 are
 * dropped and neighbors merged if both sides allow it. */
struct cuda_move_form {
	int bytes;          /* of an element */
	int rank;
	int64_t dim[PROBLEM_RANK], from[PROBLEM_RANK], to[PROBLEM_RANK]; /* from, to: strides in elements */
};

struct cuda_move {
	enum dtype from_type, to_type;
	struct cuda_move_form plain;
	struct cuda_move_form wide; /* with words of up to 16 bytes as elements; equals `plain` for a cast */
	int from_inner;     /* dimension of `wide` that has stride 1 in the source; -1: no tiled move */
	int pack;           /* elements per 4-byte word of a tiled move of 1- or 2-byte elements; else 1 */
	bool dense;         /* both sides are contiguous, in the same order */
	bool aligned;       /* both addresses are multiples of 16 */
};

/* Plans a move between tensors of equal dimensions. Only the alignment of the addresses counts: an offset
 * from a 256-byte boundary (or NULL) is enough. Returns -1 if a type has less than 8 bits or the shapes
 * differ. */
int cuda_move_plan(struct cuda_move *m, const struct cuda_strided *from, const struct cuda_strided *to);
bool cuda_move_can(const struct cuda_move *m, enum cuda_move_kind kind);
/* Returns "copy16", "tiled64x64:2_bytes", "strided:8_bytes" ...; may be written to buf, which holds 32
 * bytes. */
const char *cuda_move_name(const struct cuda_move *m, enum cuda_move_kind kind, char *buf);
cudaError_t cuda_move(
	const struct cuda_move *m, enum cuda_move_kind kind, const void *from, void *to, cudaStream_t s);

/* --- lookups: gather, select, resample --- */

/* destination[outer][i][inner] = source[outer][index[i]][inner], all dense. Indices are s32 or s64; negative
 * ones count from the end. */
struct cuda_gather {
	int bytes;                    /* of a word: elements of the inner run joined to up to 16 bytes */
	enum dtype index_type;
	int64_t outer, size, count, inner; /* inner in units of `bytes` */
};
int cuda_gather_plan(struct cuda_gather *g, const struct problem *p);
cudaError_t cuda_gather(
	const struct cuda_gather *g, const void *source, const void *indices, void *to, cudaStream_t s);

/* destination = condition ? a : b with broadcasting; each operand is dense in its own shape. */
struct cuda_select {
	int bytes, rank;
	int64_t dim[PROBLEM_RANK];
	int64_t condition[PROBLEM_RANK], a[PROBLEM_RANK], b[PROBLEM_RANK]; /* strides; 0 broadcasts */
};
int cuda_select_plan(struct cuda_select *c, const struct problem *p);
cudaError_t cuda_select(const struct cuda_select *c, const void *condition, const void *a, const void *b,
	void *to, cudaStream_t s);

/* Half-pixel resampling as defined in check.h, of f32, f16 and bf16 with f32 sums. Strides are in order n, c,
 * d, h, w. */
struct cuda_resample {
	enum mode mode;
	enum dtype dtype;
	bool channels_last;           /* c is innermost in the destination */
	int64_t n, c, in[3], out[3], from[5], to[5];
};
cudaError_t cuda_resample(const struct cuda_resample *r, const void *from, void *to, cudaStream_t s);

/* --- quantization: dense elements in memory order --- */

#define CUDA_QUANTIZE_PARTS 1024  /* partial ranges of a dynamic quantization, 8 bytes each */

/* Scales are shaped by problem_scale_shape: element i uses scale i / inner % dim. With by_block, `size`
 * neighbors along that axis share a scale. */
struct cuda_quantize {
	enum kernel kernel;           /* quantize or dequantize */
	enum dtype from_type, to_type;
	bool single, by_block, dynamic;
	int64_t count, dim, inner, size;
	float zero;                   /* the zero point */
};
bool cuda_quantize_can(const struct cuda_quantize *q);
/* workspace: CUDA_QUANTIZE_PARTS ranges; only used by dynamic quantization. */
cudaError_t cuda_quantize(const struct cuda_quantize *q, const void *from, const void *scales, void *to,
	void *workspace, cudaStream_t s);

/* --- products with weights of 4 bits --- */

/* to[row][column] = bias[column] + sum over terms of source[row][term] * (weights[column][term] - zero) *
 * scale, with f32 sums. Weights and zero points are packed two to a byte, the first in the low bits; each
 * column begins a new byte. A column has a scale and a zero point for every `block` terms (MatMulNBits of
 * com.microsoft, and of DequantizeLinear by blocks). terms: a multiple of 32; block: of 32 too. */
struct cuda_few {
	enum dtype dtype;             /* of source, scales, bias and destination: f32, f16 or bf16 */
	bool is_signed;               /* weights and zero points are s4, else u4 */
	int64_t rows, columns, terms, block;
};
struct cuda_few_operands {
	const void *source, *weights, *scales, *zeros, *bias; /* bias may be NULL */
	void *to;
};
enum cuda_few_kind {
	CUDA_FEW_ROWS,      /* 4 columns of up to 4 rows per block */
	CUDA_FEW_TILE,      /* 64 x 64 results per block */
	CUDA_FEW_KINDS
};
cudaError_t cuda_few(const struct cuda_few *c, enum cuda_few_kind kind, const struct cuda_few_operands *o,
	cudaStream_t s);

/* --- products of 8-bit integers that no library has --- */

/* `dim` batches (a convolution: its groups) of to[row][column] = sum of a[row][term] b[term][column], in s32
 * or, by steps, from f32. Strides count bytes; `stride` has those of the batches of a, b, the destination (in
 * elements) and the channels, which are columns. A picture is a convolution, channels last: row n, z, y, x of
 * the output, term t, r, s, channel of the window; fewer than 2^31 rows and terms. */
#define CUDA_EIGHT_BATCHES PROBLEM_RANK
enum cuda_eight_step_kind {
	CUDA_EIGHT_SCALE,   /* times a factor per channel */
	CUDA_EIGHT_BIAS,    /* plus a value per channel */
	CUDA_EIGHT_ADD,     /* plus an element that lies like the result */
	CUDA_EIGHT_CLIP     /* from low to high */
};
struct cuda_eight_step {
	enum cuda_eight_step_kind kind;
	enum dtype dtype;   /* of its operand: s8, u8, s32, f32, f16 or bf16 */
	float low, high;
};
struct cuda_eight {
	bool a_signed, b_signed;
	enum dtype to_type;            /* s32 (then without steps), s8, u8, f32, f16 or bf16 */
	int64_t rows, columns, terms;  /* of a batch */
	int rank;                      /* of the batches; a picture: 1 */
	int64_t dim[CUDA_EIGHT_BATCHES], stride[CUDA_EIGHT_BATCHES][4];
	int64_t a_row, a_term, b_column, b_term, to_row; /* no picture: a_row, a_term */
	bool is_picture;
	int64_t channels, depth;       /* of the source; of a group of them */
	int64_t in[3], out[3], window[3], step_by[3], before[3], dilation[3];
	int step_count;
	struct cuda_eight_step step[PROBLEM_EPILOGUES];
};
struct cuda_eight_operands {
	const void *a, *b, *step[PROBLEM_EPILOGUES];
	void *to;
};
enum cuda_eight_kind {
	CUDA_EIGHT_TILE,    /* 64 x 64 results per block */
	CUDA_EIGHT_DIRECT,  /* pictures: a thread computes its results alone */
	CUDA_EIGHT_KINDS
};
cudaError_t cuda_eight(const struct cuda_eight *c, enum cuda_eight_kind kind,
	const struct cuda_eight_operands *o, cudaStream_t s);

/* --- u8 sources of products as s8 --- */

/* Subtracts 128 from u8 values, which makes them s8: n blocks of planes x rows x bytes of a row, dense. The
 * border before and after them is filled with -128, the u8 value 0. The result has less than 2^31 bytes. */
struct cuda_shift {
	int64_t n, size[3], before[3], after[3];
};
cudaError_t cuda_shift(const struct cuda_shift *c, const void *from, void *to, cudaStream_t s);

/* What the subtraction takes from each sum of products is added back with the bias: to[i] = bias[i] + 128 *
 * scale[i] * sum of the s8 weights of channel i, in f32; or `whole`, in s32 without scale and bias. */
struct cuda_shift_sum {
	int64_t channels, terms, channel_stride, term_stride; /* strides in elements */
	bool whole;
};
cudaError_t cuda_shift_sum(const struct cuda_shift_sum *c, const void *weights, const float *scale,
	const float *bias, void *to, cudaStream_t s);

/* --- lines: operations along one axis of a dense tensor outer x size x inner --- */

struct cuda_line {
	enum dtype dtype;
	enum dtype index_type;        /* argreduce: s32 or s64 */
	enum mode mode;               /* of topk and argreduce */
	int64_t outer, size, inner;
	int64_t k;                    /* topk */
};

enum cuda_topk_kind {
	CUDA_TOPK_BLOCK,    /* one line per block, sorted in registers; up to CUDA_TOPK_BLOCK_SIZE elements */
	CUDA_TOPK_SEGMENTED,/* all lines with one segmented sort */
	CUDA_TOPK_SORT,     /* one device-wide sort per line */
	CUDA_TOPK_SELECT,   /* one line per block: a radix selection, then a sort of the k elements */
	CUDA_TOPK_SELECT_SPLIT, /* several blocks per line select */
	CUDA_TOPK_KINDS
};
#define CUDA_TOPK_BLOCK_SIZE 4096
#define CUDA_TOPK_SELECT_MOST 1024 /* maximum k of a selection */
#define CUDA_TOPK_SORT_LINES 16 /* maximum lines for CUDA_TOPK_SORT */
bool cuda_topk_can(const struct cuda_line *l, enum cuda_topk_kind kind);
/* Returns the bytes of workspace that CUB reports; NaN if it reports none, as without a device. */
double cuda_topk_workspace(const struct cuda_line *l, enum cuda_topk_kind kind);
cudaError_t cuda_topk(const struct cuda_line *l, enum cuda_topk_kind kind, const void *from, void *to,
	int64_t *indices, void *workspace, cudaStream_t s);

/* What is done with a line: reduced to one value; mapped to a line by means of one value found from all of
 * it; replaced by its cumulative sums. */
enum cuda_line_task { CUDA_LINE_REDUCE, CUDA_LINE_MAP, CUDA_LINE_SCAN };

enum cuda_line_kind {
	CUDA_LINE_WARP,     /* one line per warp; with stride 1 */
	CUDA_LINE_BLOCK,    /* one line per block */
	CUDA_LINE_SPLIT,    /* several blocks per line, with stride 1; their parts meet in the workspace */
	CUDA_LINE_COLUMN,   /* a block on some lines that are adjacent in memory */
	CUDA_LINE_COLUMN_SPLIT, /* several blocks on them */
	CUDA_LINE_THREAD,   /* one line per thread */
	CUDA_LINE_PRODUCT,  /* 16 lines of 16 to 4096 elements per warp or block, as products with ones on
			       matrix units; f16 and bf16, stride 1, compute capability 8.0 */
	CUDA_LINE_KINDS
};
#define CUDA_LINE_PART_BYTES 16
bool cuda_line_can(const struct cuda_line *l, enum cuda_line_task task, enum cuda_line_kind kind);
/* Returns the number of blocks that share a line, about; 1 unless the kind splits lines and they are long. */
int64_t cuda_line_parts(const struct cuda_line *l, enum cuda_line_kind kind);
double cuda_line_workspace(const struct cuda_line *l, enum cuda_line_kind kind);
/* index of the extreme value; workspace: of cuda_line_workspace, here and below */
cudaError_t cuda_argreduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from,
	void *indices, void *workspace, cudaStream_t s);
cudaError_t cuda_scan(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s);
/* f32, f16 and bf16, with f32 sums; l->mode: of reduce. */
bool cuda_reduce_can(const struct cuda_line *l);
cudaError_t cuda_reduce(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s);
/* Sums, means and cumulative sums of CUDA_LINE_PRODUCT, which cuda_reduce and cuda_scan use. */
cudaError_t cuda_product_reduce(const struct cuda_line *l, const void *from, void *to, cudaStream_t s);
cudaError_t cuda_product_scan(const struct cuda_line *l, const void *from, void *to, cudaStream_t s);
/* The same types; l->mode: of softmax. */
cudaError_t cuda_softmax(const struct cuda_line *l, enum cuda_line_kind kind, const void *from, void *to,
	void *workspace, cudaStream_t s);

/* --- normalization of lines with stride 1: layernorm, rmsnorm, instancenorm, groupnorm --- */

#define CUDA_NORM_EPSILON 1e-5f

/* Lines are normalized to mean 0 and variance 1 (rms: to a mean square of 1, without shift). Element i of
 * line r then has scale and shift number r % groups * (size / inner) + i / inner. */
struct cuda_norm {
	struct cuda_line line;        /* of f32, f16 or bf16 on both sides; sums are in f32; inner is 1 */
	int64_t inner, groups;
	bool rms;
};
bool cuda_norm_can(const struct cuda_norm *n);
cudaError_t cuda_norm(const struct cuda_norm *n, enum cuda_line_kind kind, const void *from,
	const float *scale, const float *shift, void *to, void *workspace, cudaStream_t s);

#ifdef __cplusplus
}
#endif
#endif
