/* Operations and bytes of a problem. */
#include "config.h"

#include "problem/beside.h"
#include "problem/problem_private.h"

double problem_shape_volume(const struct problem_shape *s)
{
	double volume = 1;
	for (int i = 0; i < s->rank; i++)
		volume *= (double)s->dim[i];
	return volume;
}

double problem_operand_volume(const struct problem *p, int i)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	if (row->volume)
		return row->volume(p, i);
	struct problem_shape s = problem_operand_shape(p, i);
	return problem_shape_volume(&s);
}

double problem_flops(const struct problem *p)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	if (row->branches)
		return beside_sum(p, problem_flops);
	double out = problem_operand_volume(p, row->operands - 1);
	double core = row->flops ? row->flops(p) : problem_operand_volume(p, 0) * row->element_flops;
	return core + out * p->epilogue_count;
}

/* Number of elements of an epilogue's operand. */
static double epilogue_volume(const struct problem *p, const struct epilogue *e)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	if (e->kind == EPILOGUE_ELTWISE)
		return 0;
	if (e->kind == EPILOGUE_BIAS || e->kind == EPILOGUE_SCALE)
		return row->output_channels ? (double)row->output_channels(p) : 0;
	return problem_operand_volume(p, row->operands - 1);
}

static double epilogues_bytes(const struct problem *p, bool only_constant)
{
	double bytes = 0;
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		if (e->kind != EPILOGUE_ELTWISE && (e->operand.constant || !only_constant))
			bytes += dtype_bytes(e->operand.dtype, epilogue_volume(p, e));
	}
	return bytes;
}

double problem_operand_traffic(const struct problem *p, int i)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	return row->traffic ? row->traffic(p, i) : problem_operand_volume(p, i);
}

double problem_bytes(const struct problem *p)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	if (row->branches)
		return beside_sum(p, problem_bytes);
	double bytes = epilogues_bytes(p, false);
	for (int i = 0; i < row->operands; i++)
		bytes += dtype_bytes(p->operand[i].dtype, problem_operand_traffic(p, i));
	return row->other_bytes ? bytes + row->other_bytes(p) : bytes;
}

double problem_constant_bytes(const struct problem *p)
{
	if (kernel_row(p->kernel)->branches)
		return beside_sum(p, problem_constant_bytes);
	double bytes = epilogues_bytes(p, true) + problem_weight_scale_bytes(p);
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].constant)
			bytes += dtype_bytes(p->operand[i].dtype, problem_operand_volume(p, i));
	return bytes;
}
