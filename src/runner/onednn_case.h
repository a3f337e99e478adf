/* A problem as oneDNN takes it: operation, arguments, attributes. One case per choice of layouts. */
#ifndef RUNNER_ONEDNN_CASE_H
#define RUNNER_ONEDNN_CASE_H

#include "base/error.h"
#include "runner/fill.h"
#include "runner/onednn_layout.h"

#define ONEDNN_ARGS (PROBLEM_SHAPES + 8)

struct onednn_arg {
	int arg;              /* DNNL_ARG_... */
	const char *role;     /* "src" "wei" "dst" ...; "" = not worth reporting */
	const char *letters;  /* names of its dimensions in layouts */
	onednn_md md;         /* as asked for; owned by the case */
	enum dtype dtype;     /* of its values: a normalization of bf16 has scales of f32 */
	int rank;
	int64_t dims[ONEDNN_RANK];
	bool constant;        /* may be repacked, and rotates in cache state net */
	bool output;
	bool any;             /* the problem leaves its layout open: the result records what was chosen */
	bool permuted;        /* its memory, not its logical order, is the answer (transpose) */
	enum fill_kind fill;  /* what makes sense for it; one: the scalar that a composed operation multiplies by */
	const float *values;  /* given instead; borrowed from the case */
	const float *divisor; /* a bias that the library multiplies by the channels' factors: what it is divided by */
	bool attribute;       /* an attribute's value: its descriptor is md, whatever the implementation */
	int64_t plain_strides[ONEDNN_RANK]; /* of its values in the problem's order; all 0: row-major */
	int epilogue;         /* 1 + the epilogue whose operand it is, 0 none */
};

struct onednn_case {
	struct problem problem;
	struct onednn_op op;           /* its descriptors are the arguments' */
	dnnl_primitive_attr_t attr;
	bool swapped;                  /* binary: the sources changed places */
	bool shifted;                  /* u8 weights are handed over as s8 */
	float *factor;                 /* of a scale epilogue, of quantize and dequantize; owned */
	float zero_point;
	int arg_count;
	struct onednn_arg arg[ONEDNN_ARGS];
};

/* -1: oneDNN cannot express the problem, err has the reason. Free c only after 0. */
int onednn_case_build(struct onednn_case *c, const struct problem *p, enum onednn_choice choice, struct error *err);
void onednn_case_free(struct onednn_case *c);

/* True if the kernel needs a concrete source layout, so that layouts are tried one by one. */
bool onednn_case_tries_layouts(const struct problem *p);
/* The blob of weights and biases (check.h) that the three arguments of a recurrent layer are, each dense in ldigo and ldgo;
 * to be freed. And where the library has the output that is number `index` in the problem. */
float *onednn_rnn_blob(const struct problem *p, const float *input, const float *recurrent, const float *bias);
int64_t onednn_rnn_place(const struct problem *p, int64_t index);
/* True if the layout of any operand is open. */
bool onednn_case_is_open(const struct problem *p);

#endif
