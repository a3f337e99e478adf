/* One row per kernel: its operands, its text, its checks, shapes and costs, and flags for other rooms. The
 * rows are defined in src/problem/kernels/; a kernel of KERNEL_LIST (conv) has the row kernel_conv. Code that
 * needs a property of a kernel reads its row instead of listing kernels. */
#ifndef PROBLEM_KERNEL_H
#define PROBLEM_KERNEL_H

#include "problem/problem.h"

struct segment;

/* Which layouts a layer of this kernel works in, in a plan whose values may be stored channels last. */
enum kernel_layout {
	KERNEL_LAYOUT_ORDER, /* ONNX order only */
	KERNEL_LAYOUT_IMAGE, /* channels and space: source and destination may be stored channels last */
	KERNEL_LAYOUT_PASS,  /* either: channels last if an input is */
	KERNEL_LAYOUT_SOURCE /* either, if the destination has the same bytes; only the source has a layout */
};

/* As which kind of kernel the time on a described GPU is estimated (analyze/roof/calibration.h). */
enum estimated_as { ESTIMATED_AS_BYTES, ESTIMATED_AS_CONV, ESTIMATED_AS_MATMUL, ESTIMATED_AS_NORM };

struct kernel_row {
	/* text: operands, accumulator, mode, then the segments, NULL-terminated */
	int operands;       /* the destination is the last */
	/* names of the operands in the layouts of an algorithm: src, wei, dst ... */
	const char *names[PROBLEM_OPERANDS];
	bool accumulator;   /* has an accumulator type */
	bool mode;          /* has a mode: rows of MODE_LIST */
	const struct segment *const *segments;
	const struct segment *const *(*segments_by_mode)(enum mode m); /* replaces `segments` if not NULL */
	bool (*has_last)(const struct problem *p); /* the text has the last segment; NULL: always */
	/* checks: of the shapes 0 to `shapes` - 1 that the segments read, then of everything else */
	/* shapes in the text, for concat the minimum; 0: the kernel has named sizes instead */
	int shapes;
	bool axis;          /* `axis` is a dimension of shape 0 */
	bool channels;      /* shape 0 has a channel dimension */
	int (*check)(const struct problem *p, struct error *err);
	/* what the operands hold */
	bool weights;       /* operand 1 is weights: small values, and check.h's CHECK_WEIGHTS */
	bool source_list;   /* operand 0 is shape_count tensors of one type */
	int index_operand;  /* this one holds indices along the axis; 0: none */
	bool branches;      /* no operands: its text is that of problems side by side (beside.h) */
	bool second_output; /* has a second output of s64 indices, shaped like the destination */
	bool quantizer;     /* between values and integers that stand for them, by scale and zero point */
	/* f32 values besides the operands, one array each of scale, shift, mean and variance: the number of
	 * arrays, and of values in each (NULL: no arrays) */
	int parameters;
	int64_t (*parameter_count)(const struct problem *p);
	/* logical shape of operand i; NULL: shape 0 for all */
	struct problem_shape (*shape)(const struct problem *p, int i);
	int64_t (*out_size)(const struct problem *p, int i); /* problem_out_size; NULL: no output space */
	/* costs (problem.h says what they count) */
	double element_flops;                          /* per element of the source, if `flops` is NULL */
	double (*flops)(const struct problem *p);      /* without epilogues */
	/* elements of operand i; NULL: those of its shape */
	double (*volume)(const struct problem *p, int i);
	/* elements of operand i to transfer; NULL: its volume */
	double (*traffic)(const struct problem *p, int i);
	double (*other_bytes)(const struct problem *p); /* transferred besides the operands; NULL: 0 */
	/* output channels, to which a bias or scale epilogue applies; NULL: none */
	int64_t (*output_channels)(const struct problem *p);
	bool channels_last; /* they are the destination's last dimension instead of dimension 1 */
	/* products summed in one output; NULL: not a sum of products */
	double (*sum_terms)(const struct problem *p);
	/* layout */
	/* its operands are tensors with channels, whose layout is a choice (problem_set_layout) */
	bool image_like;
	enum kernel_layout layout;
	/* returns true if it computes element by element on equal shapes, so that no layout is faster; NULL:
	 * never */
	bool (*any_order)(const struct problem *p);
	/* what limits it */
	/* sums of products of two operands, which matrix units compute; others are limited by bytes */
	bool product;
	enum estimated_as estimated_as;
	bool estimated_from_own; /* real kernels of its own are among those that the estimate is fitted on */
	/* Share of a convolution's products that read an input element instead of padding; NULL: 1. 0:
	 * unknown */
	double (*share_computed)(const struct problem *p);
	/* Least share of the source that must be read; NULL: 1 */
	double (*share_read)(const struct problem *p);
	/* results differ between libraries by more than rounding: exponentials, roots, divisions */
	bool transcendental;
	/* fusion: a chain can start at it and become its epilogues; it can be fused with another of them */
	bool takes_epilogues;
	bool pointwise;
	/* reads a source whose rows are columns of a wider matrix as fast as a dense one: libraries take a
	 * leading dimension or strides */
	bool leading_dimension;
	/* time to prepare, check and measure one, relative to other kernels: without and with constants; 0
	 * means 1. Fitted (tests/eta); mostly the number of implementations. */
	double eta_factor[2];
};

#define KERNEL_ROW(id, name) extern const struct kernel_row kernel_##name;
KERNEL_LIST(KERNEL_ROW)
#undef KERNEL_ROW

extern const struct kernel_row *const kernel_rows[KERNEL_COUNT];

static inline const struct kernel_row *kernel_row(enum kernel k)
{
	return kernel_rows[k];
}

#endif
