/* A problem in oneDNN's terms: the operation, its arguments, its attributes. One case per choice of layouts. */
#ifndef RUNNER_ONEDNN_CASE_H
#define RUNNER_ONEDNN_CASE_H

#include "base/error.h"
#include "runner/onednn_layout.h"

#define ONEDNN_ARGS (PROBLEM_SHAPES + 8)

/* Values that make sense for an operand: uniform in [-1, 1), or in [0.5, 1.5) where logarithms, roots and divisors
 * want it positive; exactly one for the scalar that a composed operation multiplies by. */
enum onednn_fill { FILL_SIGNED, FILL_POSITIVE, FILL_ONE };

struct onednn_arg {
	int arg;              /* DNNL_ARG_... */
	const char *role;     /* "src" "wei" "dst" ...; "" = not worth reporting */
	const char *letters;  /* names of its dimensions in layouts */
	onednn_md md;         /* as asked for; owned by the case */
	int rank;
	int64_t dims[ONEDNN_RANK];
	bool constant;        /* may be repacked, and rotates in cache state net */
	bool output;
	bool any;             /* the problem leaves its layout open: the result records what was chosen */
	bool permuted;        /* its memory, not its logical order, is the answer (transpose) */
	enum onednn_fill fill;
	int epilogue;         /* 1 + the epilogue whose operand it is, 0 none */
};

struct onednn_case {
	struct problem problem;
	struct onednn_op op;           /* its descriptors are the arguments' */
	dnnl_primitive_attr_t attr;
	bool swapped;                  /* binary: the sources changed places */
	int arg_count;
	struct onednn_arg arg[ONEDNN_ARGS];
};

/* -1: the problem cannot be said in oneDNN's terms, err says why. c is to be freed only after 0. */
int onednn_case_build(struct onednn_case *c, const struct problem *p, enum onednn_choice choice, struct error *err);
void onednn_case_free(struct onednn_case *c);

/* Has the kernel's source to be concrete, so that layouts are tried one by one? */
bool onednn_case_tries_layouts(const struct problem *p);
/* Does any operand leave its layout open? */
bool onednn_case_is_open(const struct problem *p);

#endif
