/* Lists the forms of a problem. */
#include "config.h"

#include "runner/cudnn/cudnn_form.h"

#include <string.h>

static bool is_open(const struct problem *p)
{
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].layout != LAYOUT_ANY)
			return false;
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind == EPILOGUE_BINARY && p->epilogue[i].operand.layout != LAYOUT_ANY)
			return false;
	return true;
}

static bool is_channels_last(const struct problem *p)
{
	for (int i = 0; i < 3; i++)
		if (p->operand[i].layout != LAYOUT_NXC)
			return false;
	return true;
}

static struct cudnn_form form_of(const struct problem *p)
{
	return (struct cudnn_form){ .problem = *p, .tag = "", .notes = "", .layouts = "" };
}

/* True for a convolution whose only epilogues are a residual, a relu, or both: cuDNN has ready-made kernels
 * for those behind a bias. */
static bool lacks_bias(const struct problem *p)
{
	int n = p->epilogue_count;
	enum dtype t = p->operand[2].dtype;
	if (p->kernel != KERNEL_CONV || n == 0 || n == PROBLEM_EPILOGUES ||
		p->operand[2].layout == LAYOUT_STRIDES ||
		(t != DTYPE_F32 && t != DTYPE_F16 && t != DTYPE_BF16))
		return false;
	for (int i = 0; i < n; i++) {
		const struct epilogue *e = &p->epilogue[i];
		bool relu = e->kind == EPILOGUE_ELTWISE && e->mode == MODE_RELU && i == n - 1;
		bool residual = e->kind == EPILOGUE_BINARY && e->mode == MODE_ADD && i == 0;
		if (!relu && !residual)
			return false;
	}
	return true;
}

static struct cudnn_form with_zeros(const struct problem *p)
{
	struct cudnn_form f = form_of(p);
	struct problem *to = &f.with_bias;
	f.zero_bias = true;
	f.tag = "zero_bias:";
	f.notes = "zero_bias";
	*to = *p;
	memmove(&to->epilogue[1], &to->epilogue[0], (size_t)to->epilogue_count * sizeof(to->epilogue[0]));
	to->epilogue[0] = (struct epilogue){ .kind = EPILOGUE_BIAS,
		.operand = { .dtype = p->operand[2].dtype,
			.layout = p->operand[2].layout,
			.constant = true } };
	to->epilogue_count++;
	return f;
}

bool cudnn_form_always(const struct cudnn_form *f)
{
	return f->as_s8 || f->zero_bias;
}

int cudnn_forms(const struct problem *p, struct cudnn_form *to)
{
	int count = 0;
	struct problem last = *p;
	bool differs = is_open(p) && problem_set_layout(&last, LAYOUT_NXC);
	to[count++] = form_of(p);
	if (lacks_bias(p))
		to[count++] = with_zeros(p);
	if (differs)
		to[count++] = form_of(&last);
	to[count] = form_of(&last);
	if (p->kernel != KERNEL_MATMUL && (p->kernel != KERNEL_CONV || !is_channels_last(&last)))
		return count;
	if (cuda_signed_make(&last, &to[count].as_signed, NULL) == 0) {
		to[count].as_s8 = true;
		to[count].tag = "s8:";
		to[count].notes = to[count].as_signed.weights_as_s8 ? "src_as_s8 wei_as_s8" : "src_as_s8";
		count++;
	}
	return count;
}
