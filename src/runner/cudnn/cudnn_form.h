/* The forms in which a problem is passed to cuDNN. A problem leaves the layout of its operands open; cuDNN's
 * engines of 8-bit types need channels last. */
#ifndef RUNNER_CUDNN_FORM_H
#define RUNNER_CUDNN_FORM_H

#include "base/error.h"
#include "problem/problem.h"

#define CUDNN_FORMS 2 /* maximum forms of a problem */

struct cudnn_form {
	struct problem problem; /* as its operands lie in memory */
};

/* Lists the forms in the order in which cuDNN is asked; the next one only if all before it have no engine.
 * The first is the problem itself, open layouts in ONNX's order; the second has all layouts channels last, if
 * all are open and the layout makes a difference. Returns their number. Pure. */
int cudnn_forms(const struct problem *p, struct cudnn_form *to);

#endif
