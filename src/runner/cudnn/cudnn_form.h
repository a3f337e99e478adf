/* The forms in which a problem is passed to cuDNN. A problem leaves the layout of its operands open; cuDNN's
 * engines of 8-bit types need channels last. cuDNN multiplies s8 by s8: a u8 source is converted, which is a
 * part of each execution (cuda_signed.h). Its ready-made convolutions with a relu or a residual have a bias:
 * a convolution without one passes zeros. */
#ifndef RUNNER_CUDNN_FORM_H
#define RUNNER_CUDNN_FORM_H

#include "base/error.h"
#include "problem/problem.h"
#include "runner/gpu/cuda_signed.h"

#define CUDNN_FORMS 4 /* maximum forms of a problem */

struct cudnn_form {
	struct problem problem;   /* as its operands lie in memory */
	bool as_s8;               /* its source is converted to s8: cuDNN is asked for as_signed.inner */
	struct cuda_signed as_signed;
	bool zero_bias;           /* cuDNN is asked for with_bias, whose first epilogue is a bias of zeros */
	struct problem with_bias;
	const char *tag;          /* prefix of the algorithms' names */
	const char *notes;        /* "" or of all its algorithms */
	const char *layouts;      /* of the operands whose layout was open */
};

/* Returns what cuDNN is asked for. */
static inline const struct problem *cudnn_form_asked(const struct cudnn_form *f)
{
	return f->as_s8 ? &f->as_signed.inner : f->zero_bias ? &f->with_bias : &f->problem;
}

/* Lists the forms in the order in which cuDNN is asked, without `layouts`. The first is the problem itself,
 * open layouts in ONNX's order; then the same with a bias of zeros. The next has all layouts channels last,
 * if all are open and the layout makes a difference: it is asked only if the forms before it have no engine.
 * The last, of products with a u8 source, is asked always. Returns their number. Pure. */
int cudnn_forms(const struct problem *p, struct cudnn_form *to);
/* True if the form is asked although others have engines. Pure. */
bool cudnn_form_always(const struct cudnn_form *f);

#endif
