#include "config.h"

#include "runner/cudnn/cudnn_form.h"

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

int cudnn_forms(const struct problem *p, struct cudnn_form *to)
{
	int count = 0;
	struct problem last = *p;
	bool differs = is_open(p) && problem_set_layout(&last, LAYOUT_NXC);
	to[count++] = form_of(p);
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
