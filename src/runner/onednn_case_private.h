/* What the files of a case share: how arguments are added, how modes are called, and the builders. */
#ifndef RUNNER_ONEDNN_CASE_PRIVATE_H
#define RUNNER_ONEDNN_CASE_PRIVATE_H

#include "runner/onednn_case.h"

/* A mode that is one algorithm of oneDNN's, with its parameters. */
struct onednn_mode {
	enum mode mode;
	dnnl_alg_kind_t algorithm;
	float alpha, beta;
};

/* The parameters given where the mode has some, its own where not. false: oneDNN has no such mode. */
bool onednn_mode_resolve(enum mode m, float alpha, float beta, struct onednn_mode *out);

/* Adds an argument laid out by the operand's own layout or the choice. NULL: refused, err says why. */
struct onednn_arg *onednn_arg_add(struct onednn_case *c, int arg, const char *role, const struct operand *o,
	struct problem_shape s, enum onednn_choice choice, struct error *err);
/* The same with strides instead of a layout. */
struct onednn_arg *onednn_arg_add_strided(struct onednn_case *c, int arg, const char *role, const struct operand *o,
	struct problem_shape s, const int64_t *strides, struct error *err);

/* Fill the operation and its arguments from c->problem, which they may rewrite into an equal one. */
typedef int onednn_build(struct onednn_case *c, enum onednn_choice choice, struct error *err);
onednn_build onednn_build_conv, onednn_build_matmul, onednn_build_pool, onednn_build_batchnorm, onednn_build_layernorm,
	onednn_build_eltwise, onednn_build_binary, onednn_build_reduce, onednn_build_concat, onednn_build_transpose,
	onednn_build_plain, onednn_build_deconv, onednn_build_rnn, onednn_build_quantize;

/* The scale epilogue, and what it does to a bias behind it. */
int onednn_scale_add(struct onednn_case *c, int epilogue, struct error *err);
void onednn_bias_before_factors(struct onednn_case *c, struct onednn_arg *bias);

#endif
