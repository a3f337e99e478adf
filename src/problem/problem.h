/* The problem: the work that one micro-benchmark measures, as a struct and as a canonical text
 * (docs/problem.md). The text identifies the problem everywhere: in plans, the database, messages to runners,
 * logs and on the command line. Two problems are equal if their texts are.
 *
 *   problem  = kernel ":" operands [ ":" mode { "," parameter } ] { ":" numbers } { "+" epilogue }
 *   operands = operand { "," operand } [ "/" accumulator ]       order: see struct problem
 *   operand  = dtype [ ".c" ] [ "@" layout ]                      .c: constant, may be repacked beforehand
 *   epilogue = "bias:" operand | "scale:" operand
 *            | mode { "," parameter }                             eltwise
 *            | mode ":" operand                                   binary; operand of the destination's shape
 *   layout   = absent (the library may choose) | "ncx" | "nxc" | "s" stride { "x" stride }   (in elements)
 *
 *   conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1+bias:f32.c+relu
 *   matmul:f32,f32,f32/f32:ba12bb12m128n128k64:ta0tb1
 *   pool:f32,f32:max:n1c64h112w112r3s3:ph1pw1qh1qw1:sh2sw2:dh1dw1
 *   binary:f32,f32,f32:add:1x256x56x56:1x256x56x56
 *   softmax:f32,f32:soft:1x12x128x128:ax3
 *
 * Problems that run side by side are one problem (beside.h): "beside:" and the texts of its branches.
 */
#ifndef PROBLEM_PROBLEM_H
#define PROBLEM_PROBLEM_H

#include "base/arena.h"
#include "base/error.h"
#include "problem/dtype.h"

#include <stddef.h>
#include <string.h>

#define PROBLEM_RANK 8       /* maximum rank of a tensor */
#define PROBLEM_SHAPES 64    /* maximum number of shapes (concat inputs) */
#define PROBLEM_EPILOGUES 4
#define PROBLEM_OPERANDS 4   /* operands with a type of their own; concat's inputs share one */
#define PROBLEM_TEXT_SIZE 1024

/* The kernels: id, name. The row of each (operands, text, checks, shapes, costs, flags) is kernel_NAME in a
 * file of src/problem/kernels/ (problem/kernel.h); what its text says is a section of docs/problem.md. */
#define KERNEL_LIST(_) \
	_(CONV, conv) \
	_(MATMUL, matmul) \
	_(POOL, pool) \
	_(BATCHNORM, batchnorm) \
	_(LAYERNORM, layernorm) \
	_(SOFTMAX, softmax) \
	_(ELTWISE, eltwise) \
	_(BINARY, binary) \
	_(REDUCE, reduce) \
	_(CONCAT, concat) \
	_(TRANSPOSE, transpose) \
	_(RESAMPLE, resample) \
	_(LRN, lrn) \
	_(CAST, cast) \
	_(COPY, copy) \
	_(DECONV, deconv) \
	_(INSTANCENORM, instancenorm) \
	_(RMSNORM, rmsnorm) \
	_(ATTENTION, attention) \
	_(RNN, rnn) \
	_(DROPOUT, dropout) \
	_(GATHER, gather) \
	_(SELECT, select) \
	_(TOPK, topk) \
	_(ARGREDUCE, argreduce) \
	_(SCAN, scan) \
	_(QUANTIZE, quantize) \
	_(DEQUANTIZE, dequantize) \
	_(GROUPNORM, groupnorm) \
	_(BESIDE, beside)

enum kernel {
#define KERNEL_ENUM(id, name) KERNEL_##id,
	KERNEL_LIST(KERNEL_ENUM)
#undef KERNEL_ENUM
	KERNEL_COUNT
};

/* Modes: the function that a kernel computes. id, name, kernel (those of eltwise are epilogues too), and how
 * many of the parameters alpha and beta the text contains. clip: lower, upper; leaky_relu: slope; elu: alpha;
 * affine: alpha*x+beta; hard_sigmoid, swish: alpha, beta. */
/*        id            name            kernel     parameters */
#define MODE_LIST(_)                                    \
	_(MAX,          "max",          POOL,      0) \
	_(AVG_INCLUDE,  "avg_include",  POOL,      0) \
	_(AVG_EXCLUDE,  "avg_exclude",  POOL,      0) \
	_(SOFTMAX,      "soft",         SOFTMAX,   0) \
	_(LOGSOFTMAX,   "log",          SOFTMAX,   0) \
	_(NEAREST,      "nearest",      RESAMPLE,  0) \
	_(LINEAR,       "linear",       RESAMPLE,  0) \
	_(CUBIC,        "cubic",        RESAMPLE,  0) \
	_(LRN_ACROSS,   "across",       LRN,       2) \
	_(RELU,         "relu",         ELTWISE,   0) \
	_(LEAKY_RELU,   "leaky_relu",   ELTWISE,   1) \
	_(CLIP,         "clip",         ELTWISE,   2) \
	_(SIGMOID,      "sigmoid",      ELTWISE,   0) \
	_(TANH,         "tanh",         ELTWISE,   0) \
	_(GELU_ERF,     "gelu_erf",     ELTWISE,   0) \
	_(GELU_TANH,    "gelu_tanh",    ELTWISE,   0) \
	_(SWISH,        "swish",        ELTWISE,   1) \
	_(HARD_SIGMOID, "hard_sigmoid", ELTWISE,   2) \
	_(HARD_SWISH,   "hard_swish",   ELTWISE,   0) \
	_(ELU,          "elu",          ELTWISE,   1) \
	_(SOFTPLUS,     "softplus",     ELTWISE,   0) \
	_(MISH,         "mish",         ELTWISE,   0) \
	_(EXP,          "exp",          ELTWISE,   0) \
	_(LOG,          "logarithm",    ELTWISE,   0) \
	_(SQRT,         "sqrt",         ELTWISE,   0) \
	_(ABS,          "abs",          ELTWISE,   0) \
	_(SQUARE,       "square",       ELTWISE,   0) \
	_(POW,          "pow",          ELTWISE,   2) \
	_(ROUND,        "round",        ELTWISE,   0) \
	_(LINEAR_MAP,   "affine",       ELTWISE,   2) \
	_(ADD,          "add",          BINARY,    0) \
	_(SUB,          "sub",          BINARY,    0) \
	_(MUL,          "mul",          BINARY,    0) \
	_(DIV,          "div",          BINARY,    0) \
	_(MAXIMUM,      "maximum",      BINARY,    0) \
	_(MINIMUM,      "minimum",      BINARY,    0) \
	_(GREATER,      "gt",           BINARY,    0) \
	_(GREATER_EQ,   "ge",           BINARY,    0) \
	_(LESS,         "lt",           BINARY,    0) \
	_(LESS_EQ,      "le",           BINARY,    0) \
	_(EQUAL,        "eq",           BINARY,    0) \
	_(REDUCE_SUM,   "sum",          REDUCE,    0) \
	_(REDUCE_MEAN,  "mean",         REDUCE,    0) \
	_(REDUCE_MAX,   "rmax",         REDUCE,    0) \
	_(REDUCE_MIN,   "rmin",         REDUCE,    0) \
	_(REDUCE_MUL,   "prod",         REDUCE,    0) \
	_(REDUCE_L2,    "l2",           REDUCE,    0) \
	_(FULL,         "full",         ATTENTION, 0) \
	_(CAUSAL,       "causal",       ATTENTION, 0) \
	_(MASKED,       "masked",       ATTENTION, 0) \
	_(LSTM,         "lstm",         RNN,       0) \
	_(GRU,          "gru",          RNN,       0) \
	_(RNN_RELU,     "rnn_relu",     RNN,       0) \
	_(RNN_TANH,     "rnn_tanh",     RNN,       0) \
	_(DROP,         "drop",         DROPOUT,   1) \
	_(LARGEST,      "largest",      TOPK,      0) \
	_(SMALLEST,     "smallest",     TOPK,      0) \
	_(ARGMAX,       "argmax",       ARGREDUCE, 0) \
	_(ARGMIN,       "argmin",       ARGREDUCE, 0) \
	_(SCAN_SUM,     "cumsum",       SCAN,      0) \
	_(QUANTIZE_TENSOR,  "tensor",   QUANTIZE,  0) \
	_(QUANTIZE_AXIS,    "axis",     QUANTIZE,  0) \
	_(QUANTIZE_BLOCK,   "block",    QUANTIZE,  0) \
	_(QUANTIZE_DYNAMIC, "dynamic",  QUANTIZE,  0) \
	_(DEQUANTIZE_TENSOR, "tensor",  DEQUANTIZE, 0) \
	_(DEQUANTIZE_AXIS,   "axis",    DEQUANTIZE, 0) \
	_(DEQUANTIZE_BLOCK,  "block",   DEQUANTIZE, 0)

enum mode {
	MODE_NONE = 0,
#define MODE_ENUM(id, name, kernel, parameters) MODE_##id,
	MODE_LIST(MODE_ENUM)
#undef MODE_ENUM
	MODE_COUNT
};

enum layout {
	LAYOUT_ANY = 0, /* the library may choose; the result records its choice */
	LAYOUT_NCX,     /* dense, ONNX order: channels before space; row-major for plain matrices */
	LAYOUT_NXC,     /* dense, channels last */
	LAYOUT_STRIDES  /* the operand's stride[] */
};

struct operand {
	enum dtype dtype;
	bool constant;
	enum layout layout;
	int stride_rank;               /* LAYOUT_STRIDES only */
	int64_t stride[PROBLEM_RANK];  /* elements */
};

enum epilogue_kind {
	EPILOGUE_BIAS,   /* + operand, one value per channel (conv k, matmul n) */
	EPILOGUE_SCALE,  /* * operand, one f32 factor per channel, as the first epilogue: converts s32 sums to
			    f32 (with a destination other than s32), or scales those of 8-bit floats whose
			    weights have a scale per channel */
	EPILOGUE_BINARY, /* mode (add, mul ...) with an operand of the destination's shape, not in place */
	EPILOGUE_ELTWISE /* mode with alpha and beta */
};

struct epilogue {
	enum epilogue_kind kind;
	enum mode mode;
	float alpha, beta;
	struct operand operand;
};

/* A shape of known sizes. */
struct problem_shape {
	int rank;
	int64_t dim[PROBLEM_RANK];
};

/* Fields that a kernel does not have are zero. Spatial arrays are in order d h w; 2-D problems use indexes 1
 * and 2, 1-D ones index 2 (see `spatial`). */
struct problem {
	enum kernel kernel;
	enum mode mode;
	float alpha, beta;                       /* parameters of the mode, see MODE_LIST */
	struct operand operand[PROBLEM_OPERANDS];/* conv, deconv, matmul, rnn: source, weights, destination;
						    binary: a, b, destination; attention: q, k, v,
						    destination; select: condition, a, b, destination; gather:
						    source, indices, destination; others: source, destination.
						    The destination is always the last */
	enum dtype accumulator;                  /* of conv, deconv, matmul and attention; else
						    DTYPE_UNKNOWN */
	/* conv, pool, resample */
	int spatial;                             /* number of spatial dimensions, 1 to 3 */
	int64_t n, c, k, g; /* batch, input channels, output channels, groups; groupnorm: g only */
	int64_t in[3], kernel_size[3];           /* d h w; t r s */
	int64_t pad_begin[3], pad_end[3], stride[3], dilation[3]; /* ONNX dilation: 1 = dense */
	int64_t out[3];                          /* resample: output size */
	int64_t out_pad[3];                      /* deconv: rows added at the end of the output. Output size:
						    (in - 1) * stride - pads + (kernel - 1) * dilation + 1 +
						    out_pad; weights: c, k/g, r, s */
	/* attention: softmax(q k' / sqrt(head_size)) v. Shapes: q n, heads, query_length, head_size; k n,
	 * kv_heads, key_length, head_size; v n, kv_heads, key_length, value_size. causal: query i sees keys 0
	 * to i + key_length - query_length. masked: a mask of q's type and of shape 0 is added to the scores;
	 * each of its four dimensions is 1 or that of the scores (n, heads, query_length, key_length) */
	int64_t heads, kv_heads, query_length, key_length, head_size, value_size;
	/* rnn: source steps, n, input_size; destination steps, directions, n, hidden_size; all weights in one
	 * block of directions * gates * hidden_size * (input_size + hidden_size + 2) elements (layout:
	 * runner/check.h). Gates: lstm 4, gru 3 (reset after the recurrent matmul), plain rnn 1 */
	int64_t steps, input_size, hidden_size, directions;
	/* matmul: C[m,n] = A[m,k] B[k,n]. Batch dimensions broadcast (1 or equal) and are merged as far as
	 * possible */
	int64_t m, mn, mk;                       /* m, n, k */
	struct problem_shape batch_a, batch_b;   /* of equal rank; 1 if fully merged */
	bool transpose_a, transpose_b;           /* a is stored as k x m; b as n x k */
	bool zero_points;                        /* b in blocks (`size`): each has one of b's type */
	/* kernels that only have shapes */
	int shape_count;
	int axis;                                /* softmax, concat, gather, topk, argreduce, scan, quantize,
						    dequantize; layernorm, rmsnorm: the first normalized
						    axis */
	int perm[PROBLEM_RANK];                  /* transpose: ONNX's attribute perm */
	int64_t size;                            /* lrn: channels in a sum; copy: bytes copied; topk: k;
						    quantize, dequantize by block: elements per block;
						    matmul: terms of a column of b that share a scale, 0: it
						    has no scales */
	int epilogue_count;
	struct epilogue epilogue[PROBLEM_EPILOGUES];
	/* The largest field, usually almost empty. It is the last one, so that comparing and hashing can skip
	 * the unused end (problem_extent). */
	union {
		struct problem_shape shape[PROBLEM_SHAPES]; /* source(s); binary: a, b; reduce: source,
							       destination; gather: source, indices; select:
							       condition, a, b (broadcast) */
		char branches[PROBLEM_TEXT_SIZE];           /* beside: their texts (beside.h); shape_count
							       is what they fill */
	};
};

/* Size in bytes of the part in use; the shapes after it are undefined. */
static inline size_t problem_extent(const struct problem *p)
{
	return offsetof(struct problem, shape) + (size_t)p->shape_count * sizeof(p->shape[0]);
}
/* Copies that part. */
static inline void problem_copy(struct problem *to, const struct problem *from)
{
	memcpy(to, from, problem_extent(from));
}
/* A problem in few bytes, mostly a tenth of that part: the words that are not zero. What is read often stands
 * before them. */
struct problem_kept {
	enum kernel kernel;
	enum mode mode;
	float alpha, beta;
	int epilogue_count;
	int shape_count;
	uint64_t words[]; /* a bit for each word of that part, then the words whose bit is set */
};
const struct problem_kept *problem_keep(struct arena *a, const struct problem *p);
/* Sets only the first problem_extent bytes of p, so that p is copied with problem_copy, never with `=`. */
void problem_restore(const struct problem_kept *kept, struct problem *p);

const char *kernel_name(enum kernel k); /* as in problem texts: "conv" */
const char *mode_name(enum mode m);     /* as in problem texts: "relu" */
enum mode mode_parse(enum kernel k, struct text name); /* MODE_NONE: the kernel has no such mode */
int mode_parameters(enum mode m);                      /* number of parameters in the text, 0 to 2 */
int mode_gates(enum mode m);                           /* of an rnn mode: lstm 4, gru 3, plain 1 */

/* Writes the canonical text to buf (PROBLEM_TEXT_SIZE bytes). -1: a field is out of range; err names it. */
int problem_format(const struct problem *p, char *buf, struct error *err);
/* Parses a text. Only the canonical spelling is accepted: problem_format of the result equals the input. -1:
 * err names the segment and the position. */
int problem_parse(struct text t, struct problem *p, struct error *err);
/* True if the text is that of branches side by side (beside.h). */
bool problem_is_beside(const char *text);

/* Output size of a conv, pool or deconv along spatial index i: floor((in + pads - effective kernel) / stride)
 * + 1; deconv: see out_pad. */
int64_t problem_out_size(const struct problem *p, int i);
/* Logical shape of operand i. conv weights as in ONNX: k, c/g, r, s; matmul: batch dimensions first; rnn
 * weights: rank 1. topk's indices (s64, shaped like the destination) are not an operand. */
struct problem_shape problem_operand_shape(const struct problem *p, int i);
/* Shape of an attention's mask, a dense tensor of q's type in memory; NULL: no mask. */
const struct problem_shape *problem_mask(const struct problem *p);
/* Number of operands without epilogues; 2 for concat: sources, destination. */
int problem_operand_count(const struct problem *p);
/* Shape of the scales of a quantize or dequantize. Modes tensor and dynamic: scalar; axis: one scale per
 * index along the axis; block: the source's shape with ceil(size / block) along the axis. A quantized value q
 * represents (q - zero point) * scale. */
struct problem_shape problem_scale_shape(const struct problem *p);
/* The destination's dimension that a bias or scale epilogue has one value for. */
int problem_channel_axis(const struct problem *p);
/* Blocks of terms (`size`) of each column of a matmul's b, which have a scale each; 0: it has no scales. */
int64_t problem_weight_blocks(const struct problem *p);
/* Bytes of their scales and zero points. */
double problem_weight_scale_bytes(const struct problem *p);
/* Returns the number of values of each f32 parameter that is not an operand: scale, shift ... of
 * normalizations; scales of quantize and dequantize. 0: the kernel has no such parameters. */
int64_t problem_parameter_count(const struct problem *p);
/* True if an operand is constant; only then do the cache states net and warm differ. */
bool problem_has_constant(const struct problem *p);
/* Sets the layout of every operand with channels: source, weights, destination and residual of conv, deconv,
 * pool, batchnorm, lrn, resample, instancenorm, eltwise, binary, concat, cast, quantize and dequantize, if
 * the destination has rank 3 to 5 and the operand the same rank. Operands with given strides keep them.
 * False: nothing changed. */
bool problem_set_layout(struct problem *p, enum layout l);
/* Arithmetic operations (a multiply-add counts 2), and compulsory bytes (every operand read or written once):
 *   conv       2 n k (c/g) r s * output size; dilation adds none
 *   deconv     2 n c (k/g) r s * input size
 *   attention  n heads * pairs * (2 head_size + 2 value_size + 5 of the softmax); pairs: query_length
 *              key_length; causal: query_length key_length - query_length (query_length - 1) / 2; masked:
 *              one more per pair, and the mask counts as read
 *   rnn        steps n directions hidden_size * (gates (2 (input_size + hidden_size) + 2) + 9 (lstm), 8 (gru)
 *              or 1)
 *   beside     those of all its problems
 *   matmul     2 m n k per batch; scales (a's type) and zero points of b count as read and as constant
 *   quantize, dequantize  2 per element (scale and zero point), dynamic 4 (minimum and maximum too); the f32
 *                         scales count as read, the one of dynamic as written
 * An epilogue adds one operation per destination element. Of a gather's source only the gathered elements
 * count as read; topk's indices count as written. problem_constant_bytes: size of the constant operands in
 * memory, including all of a gather's source. */
double problem_flops(const struct problem *p);
double problem_bytes(const struct problem *p);
double problem_constant_bytes(const struct problem *p);
/* Elements of operand i that must be read or written: all, but of a gather's source only those taken. */
double problem_operand_traffic(const struct problem *p, int i);

#endif
