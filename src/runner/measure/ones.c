/* Describes a reduction as batch x length x kept, if the memory allows it; exact, else refused. */
#include "config.h"

#include "runner/measure/ones.h"

/* --- the source as batch x length x kept --- */

/* A dimension, or adjacent ones that are one in memory and in the problem's order. */
struct part {
	int64_t size, lies, at; /* strides as in struct ones_sum */
	bool summed;
};

/* Inserts a dimension by its place in memory, the outermost first. */
static void part_insert(struct part *part, int count, struct part one)
{
	int i = count;
	for (; i > 0 && part[i - 1].lies < one.lies; i--)
		part[i] = part[i - 1];
	part[i] = one;
}

/* Merges neighbours. Returns how many are left. */
static int parts_merge(struct part *part, int count)
{
	int n = 0;
	for (int i = 0; i < count; i++) {
		struct part *last = n ? &part[n - 1] : NULL, one = part[i];
		if (last && last->summed == one.summed && last->lies == one.size * one.lies &&
			last->at == one.size * one.at) {
			one.size *= last->size;
			*last = one;
		} else {
			part[n++] = one;
		}
	}
	return n;
}

static int parts_make(struct part part[PROBLEM_RANK], const struct problem_shape *s, const bool *summed,
	const int64_t *stride)
{
	int64_t at[PROBLEM_RANK], step = 1;
	int count = 0;
	for (int i = s->rank - 1; i >= 0; i--) {
		at[i] = step;
		step *= s->dim[i];
	}
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] > 1)
			part_insert(part, count++, (struct part){ s->dim[i], stride[i], at[i], summed[i] });
	return parts_merge(part, count);
}

/* Fills sizes and strides from the parts: one of them summed, at most two kept, these in the problem's
 * order. */
static int view_fill(struct ones_sum *v, const struct part *part, int count, struct error *err)
{
	const struct part one = { .size = 1, .lies = 1, .at = 1 }, *kept[2] = { &one, &one }, *line = NULL;
	int kept_count = 0, lines = 0;
	for (int i = 0; i < count; i++)
		if (part[i].summed) {
			line = &part[i];
			lines++;
		} else if (kept_count++ < 2) {
			kept[kept_count - 1] = &part[i];
		}
	if (lines == 0)
		return error_set(err, "only sums of several terms are products with ones");
	if (lines > 1 || kept_count > 2 || (kept_count == 2 && kept[0]->at < kept[1]->at))
		return error_set(err, "only sums along adjacent dimensions are one product with ones");
	if (kept_count == 1) {
		kept[1] = kept[0];
		kept[0] = &one;
	}
	v->batch = kept[0]->size;
	v->length = line->size;
	v->kept = kept[1]->size;
	v->lies = (struct ones_steps){ kept[0]->lies, line->lies, kept[1]->lies };
	v->at = (struct ones_steps){ kept[0]->at, line->at, kept[1]->at };
	return 0;
}

/* --- which problems --- */

static bool is_average(const struct problem *p)
{
	bool whole = p->kernel == KERNEL_POOL && (p->mode == MODE_AVG_INCLUDE || p->mode == MODE_AVG_EXCLUDE);
	for (int i = 3 - p->spatial; i < 3 && whole; i++)
		whole = p->kernel_size[i] == p->in[i] && (p->dilation[i] == 1 || p->in[i] == 1) &&
			p->pad_begin[i] == 0 && p->pad_end[i] == 0;
	return whole;
}

static bool is_reduction(const struct problem *p)
{
	return p->kernel == KERNEL_REDUCE && (p->mode == MODE_REDUCE_SUM || p->mode == MODE_REDUCE_MEAN);
}

/* Sets which dimensions of the source are summed. */
static void summed_set(const struct problem *p, const struct problem_shape *from, bool *summed)
{
	struct problem_shape to = problem_operand_shape(p, 1);
	for (int i = 0; i < from->rank; i++)
		summed[i] = p->kernel == KERNEL_SCAN ? i == p->axis : to.dim[i] == 1;
}

static int refuse(const struct problem *p, struct error *err)
{
	enum dtype type = p->operand[0].dtype;
	if (!is_reduction(p) && !is_average(p) && p->kernel != KERNEL_SCAN)
		return error_set(err, "only sums, means, averages of whole images and running sums are "
			"products with ones");
	if (type != DTYPE_F32 && type != DTYPE_BF16 && type != DTYPE_F16)
		return error_set(err, "only f32, bf16 and f16 are multiplied by ones");
	return 0;
}

int ones_view(
	const struct problem *p, const int64_t *stride, struct ones_sum *v, struct error *err)
{
	bool summed[PROBLEM_RANK];
	struct part part[PROBLEM_RANK];
	if (refuse(p, err))
		return -1;
	struct problem_shape from = problem_operand_shape(p, 0);
	summed_set(p, &from, summed);
	*v = (struct ones_sum){ .running = p->kernel == KERNEL_SCAN, .factor = 1 };
	if (view_fill(v, part, parts_make(part, &from, summed, stride), err))
		return -1;
	if (v->running && v->length > ONES_RUNNING)
		return error_set(err, "only running sums of at most %d values are one product", ONES_RUNNING);
	if (p->kernel == KERNEL_POOL || p->mode == MODE_REDUCE_MEAN)
		v->factor = 1 / (float)v->length;
	return 0;
}
