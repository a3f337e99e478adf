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

int cudnn_forms(const struct problem *p, struct cudnn_form *to)
{
	int count = 0;
	to[count++].problem = *p;
	to[count].problem = *p;
	if (is_open(p) && problem_set_layout(&to[count].problem, LAYOUT_NXC))
		count++;
	return count;
}
