/* Shared by the files that build a case: adding arguments, modes, builders. */
#ifndef RUNNER_ONEDNN_CASE_PRIVATE_H
#define RUNNER_ONEDNN_CASE_PRIVATE_H

#include "runner/onednn/onednn_case.h"

/* A mode that is one oneDNN algorithm, with its parameters. */
struct onednn_mode {
	enum mode mode;
	dnnl_alg_kind_t algorithm;
	float alpha, beta;
};

/* Parameters alpha and beta if the mode has any, else the defaults. false: oneDNN has no such mode. */
bool onednn_mode_resolve(enum mode m, float alpha, float beta, struct onednn_mode *out);

/* Letters of an activation's dimensions: nchw; abc... if it has none of these. */
const char *onednn_letters(int rank);

/* Adds an argument in the operand's layout, or in that of the choice. Returns NULL if refused, with err. */
struct onednn_arg *onednn_arg_add(struct onednn_case *c, int arg, const char *role, const struct operand *o,
	struct problem_shape s, enum onednn_choice choice, struct error *err);
/* The same with strides. */
struct onednn_arg *onednn_arg_add_strided(struct onednn_case *c, int arg, const char *role,
	const struct operand *o, struct problem_shape s, const int64_t *strides, struct error *err);

/* Fill the operation and its arguments from c->problem, which may be rewritten to an equivalent one. */
typedef int onednn_build(struct onednn_case *c, enum onednn_choice choice, struct error *err);
onednn_build onednn_build_conv, onednn_build_matmul, onednn_build_pool, onednn_build_batchnorm,
	onednn_build_layernorm, onednn_build_eltwise, onednn_build_binary, onednn_build_reduce,
	onednn_build_concat, onednn_build_transpose, onednn_build_plain, onednn_build_deconv,
	onednn_build_rnn, onednn_build_quantize;

/* The same for a sum as a product with ones, on that side of the product (onednn_ones.h). */
int onednn_build_ones(
	struct onednn_case *c, enum onednn_choice choice, enum onednn_side side, struct error *err);

/* Adds the scale epilogue, and adapts a bias that follows it. */
int onednn_scale_add(struct onednn_case *c, int epilogue, struct error *err);
void onednn_bias_before_factors(struct onednn_case *c, struct onednn_arg *bias);

#endif
