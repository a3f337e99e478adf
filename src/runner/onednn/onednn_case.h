/* Translates a problem to oneDNN: operation, arguments, attributes. One case per choice of layouts. */
#ifndef RUNNER_ONEDNN_CASE_H
#define RUNNER_ONEDNN_CASE_H

#include "base/error.h"
#include "runner/verify/fill.h"
#include "runner/onednn/onednn_layout.h"

#define ONEDNN_ARGS (PROBLEM_SHAPES + 8)

struct onednn_arg {
	int arg;              /* DNNL_ARG_... */
	const char *role;     /* "src" "wei" "dst" ...; "": not reported */
	const char *letters;  /* names of its dimensions in layout names */
	onednn_md md;         /* as requested; owned by the case */
	enum dtype dtype;     /* type of its values: scales of a bf16 normalization are f32 */
	int rank;
	int64_t dims[ONEDNN_RANK];
	bool constant;        /* may be repacked; rotates in cache state net */
	bool output;
	bool any;             /* the problem does not fix its layout: report the one chosen */
	bool permuted;        /* its memory order is the result (transpose) */
	enum fill_kind fill;  /* kind of random values; one: the scalar of a composed operation */
	int64_t fill_limit;   /* of FILL_FACTOR, see fill_value */
	const float *values;  /* values instead of random ones; borrowed from the case */
	const float *divisor; /* a bias is divided by these factors, as the library multiplies it */
	bool attribute;       /* an attribute: its descriptor is md for all implementations */
	int64_t plain_strides[ONEDNN_RANK]; /* of its values, in the problem's order; all 0: row-major */
	int epilogue;         /* 1 + index of the epilogue that it is an operand of, or 0 */
	bool source;          /* the problem's source, whatever argument of the operation it is */
	char layout[16];      /* name of its layout, if not that of its descriptor; "": that */
};

/* Side of the source on which a product has the matrix of ones (onednn_ones.h). */
enum onednn_side { SIDE_RIGHT, SIDE_LEFT, SIDE_COUNT };

struct onednn_case {
	struct problem problem;
	struct onednn_op op;           /* its descriptors belong to the arguments */
	dnnl_primitive_attr_t attr;
	bool swapped;                  /* binary: the sources were exchanged */
	bool shifted;                  /* u8 weights are passed as s8 */
	float *factor;                 /* of a scale epilogue or of (de)quantize; owned */
	float zero_point;
	float share;                   /* the result is multiplied by it before the epilogues */
	float *triangle;               /* ones of a running sum; owned */
	const char *prefix;            /* of the names of its algorithms; static */
	int arg_count;
	struct onednn_arg arg[ONEDNN_ARGS];
};

/* Builds the case. Returns -1 if oneDNN cannot express the problem; err has the reason. Call
 * onednn_case_free only after 0. */
int onednn_case_build(
	struct onednn_case *c, const struct problem *p, enum onednn_choice choice, struct error *err);
/* The same as a product with ones on this side of the source. */
int onednn_case_build_ones(struct onednn_case *c, const struct problem *p, enum onednn_choice choice,
	enum onednn_side side, struct error *err);
void onednn_case_free(struct onednn_case *c);

/* True if the kernel needs a concrete source layout, so that each layout is a separate case. */
bool onednn_case_tries_layouts(const struct problem *p);
/* onednn_rnn_blob: converts a recurrent layer's arguments, dense ldigo and ldgo, to the blob of weights
 * and biases (check.h); the caller frees it. onednn_rnn_place: the library's index of output `index`. */
float *onednn_rnn_blob(
	const struct problem *p, const float *input, const float *recurrent, const float *bias);
int64_t onednn_rnn_place(const struct problem *p, int64_t index);
/* True if the layout of any operand is open. */
bool onednn_case_is_open(const struct problem *p);

#endif
