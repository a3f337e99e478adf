/* Matmuls of one value with constant weights, as a model has them for queries, keys and values, or for gate
 * and up: with the weights side by side they are one matmul, whose result has theirs as columns. Biases are
 * joined alike; a member without one gets zeros. A reader reads its part as a matrix with a leading dimension
 * (kernel_row.leading_dimension); where one cannot, or the part is a model output, the part is copied. */
#include "config.h"

#include "analyze/fusion/fusion_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int layer_compare(const void *x, const void *y)
{
	int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

/* ---- the members */

/* True for a matmul of the value with a constant matrix, with at most a bias. */
static bool is_member(const struct plan *p, const struct plan_layer *l, int value)
{
	const struct plan_problem *pp = plan_layer_problem(p, l);
	if (!pp || pp->problem->kernel != KERNEL_MATMUL || l->input_count < 2 || l->inputs[0] != value ||
		l->inputs[1] == value || l->absorbed_by >= 0 || l->quantized)
		return false;
	struct problem q;
	problem_restore(pp->problem, &q);
	bool one_matrix = true;
	for (int i = 0; i < q.batch_b.rank; i++)
		one_matrix &= q.batch_b.dim[i] == 1;
	int scaled = sums_are_scaled(&q);
	bool bias = q.epilogue_count == scaled + 1 && q.epilogue[scaled].kind == EPILOGUE_BIAS &&
		q.epilogue[scaled].operand.constant;
	return q.operand[1].constant && one_matrix && (dtype_is_float(q.accumulator) || scaled) &&
		(q.epilogue_count == scaled || bias);
}

/* Follows a matmul to its bias, if it has one. */
static bool part_start(struct chain *c, const struct plan *p, const struct plan_layer *l)
{
	if (!chain_start(c, p, l))
		return false;
	struct chain next = *c;
	next.pattern = (struct str){ 0 };
	str_puts(&next.pattern, c->pattern.p);
	int scaled = sums_are_scaled(&c->problem);
	bool bias = c->problem.epilogue_count == scaled && chain_step(&next) &&
		next.problem.epilogue_count == scaled + 1 &&
		next.problem.epilogue[scaled].kind == EPILOGUE_BIAS && next.level == FUSION_EPILOGUE;
	if (!bias) {
		str_free(&next.pattern);
		return true;
	}
	str_free(&c->pattern);
	*c = next;
	return true;
}

/* True if both can be one matmul: they differ in their columns and biases at most. */
static bool same_form(const struct problem *x, const struct problem *y)
{
	bool same = x->m == y->m && x->mk == y->mk && x->transpose_a == y->transpose_a &&
		x->transpose_b == y->transpose_b && x->accumulator == y->accumulator &&
		x->batch_a.rank == y->batch_a.rank && x->size == y->size && x->zero_points == y->zero_points;
	for (int i = 0; same && i < x->batch_a.rank; i++)
		same = x->batch_a.dim[i] == y->batch_a.dim[i];
	for (int i = 0; i < 3; i++)
		same = same && x->operand[i].dtype == y->operand[i].dtype &&
			x->operand[i].layout == y->operand[i].layout;
	return same;
}

void join_free(struct join *j)
{
	for (int i = 0; i < j->count; i++)
		str_free(&j->parts[i].pattern);
	j->count = 0;
}

bool join_find(struct join *j, const struct plan *p, int value)
{
	const struct plan_value *v = &p->values[value];
	int seen = 0;
	j->count = 0;
	j->why = NULL;
	if (v->constant || v->consumer_count < 2)
		return false;
	while (j->next < v->consumer_count && j->count < JOIN_MEMBERS_MAX) {
		const struct plan_layer *l = &p->layers[v->consumers[j->next++]];
		if (!is_member(p, l, value))
			continue;
		struct chain *c = &j->parts[j->count];
		seen++;
		if (!part_start(c, p, l))
			continue;
		if (j->count && !same_form(&j->parts[0].problem, &c->problem))
			str_free(&c->pattern);
		else
			j->count++;
	}
	if (j->count < seen)
		j->why = "the matmuls of the value differ in types or matrix orders, or have several outputs";
	return j->count > 0;
}

unsigned join_next(const struct join *j, unsigned members)
{
	unsigned all = (1u << j->count) - 1;
	if (j->count > 3) {
		unsigned pair = members == all ? 3 : members ? members << 2 : all;
		return pair & ~all ? 0 : pair;
	}
	for (members++; members <= all; members++)
		if (members & (members - 1)) /* two or more */
			return members;
	return 0;
}

/* ---- how the parts are read */

#define VIEWS 6

/* True if a free layer only splits the last `columns` elements of each row into more dimensions, or merges
 * and splits rows. */
static bool is_view(const struct plan *p, const struct plan_layer *l, int64_t columns)
{
	const struct shape *to = &p->values[l->outputs[0]].shape;
	int64_t last = 1;
	if (l->class != CLASS_FREE || !shape_is_known(*to))
		return false;
	for (int i = to->rank - 1; i >= 0 && last < columns; i--)
		last *= to->dims[i].value;
	return last == columns;
}

/* True if all readers of a value, whose rows of `columns` elements are part of wider rows, read it so. */
static bool reads_columns(const struct join *j, const struct plan *p, int value, int64_t columns, int depth)
{
	const struct plan_value *v = &p->values[value];
	if (v->is_output || depth == VIEWS)
		return false;
	for (int i = 0; i < v->consumer_count; i++) {
		const struct plan_layer *l = &p->layers[v->consumers[i]];
		const struct plan_problem *pp = plan_layer_problem(p, l);
		if (!chain_reads(p, l->index, value))
			continue;
		bool view = plan_layer_is_onnx(l) && l->input_count > 0 && l->inputs[0] == value &&
			l->output_count == 1 && l->outputs[0] >= 0 && is_view(p, l, columns);
		if (view && reads_columns(j, p, l->outputs[0], columns, depth + 1))
			continue;
		if (l->class == CLASS_FREE || l->body_count || !pp || j->dense[l->index] ||
			!kernel_row(pp->problem->kernel)->leading_dimension)
			return false;
	}
	return true;
}

/* ---- the join */

static bool has_bias(const struct chain *c)
{
	return c->problem.epilogue_count > sums_are_scaled(&c->problem);
}

static void name(const struct join *j, unsigned members, struct chain *c)
{
	const struct chain *longest = NULL;
	char times[16];
	int count = 0;
	for (int i = 0; i < j->count; i++)
		if (members >> i & 1) {
			count++;
			if (!longest || j->parts[i].pattern.n > longest->pattern.n)
				longest = &j->parts[i];
		}
	snprintf(times, sizeof(times), " x%d", count);
	str_puts(&c->pattern, longest->pattern.p);
	str_puts(&c->pattern, times);
}

bool join_make(const struct join *j, unsigned members, struct chain *c, double *copy_bytes)
{
	const struct chain *biased = NULL;
	*copy_bytes = 0;
	*c = (struct chain){ .plan = j->parts[0].plan, .level = FUSION_PATTERN, .residual = -1,
		.channel_axis = -1, .value = -1 };
	problem_copy(&c->problem, &j->parts[0].problem);
	c->problem.mn = 0;
	for (int i = 0; i < j->count; i++) {
		const struct chain *part = &j->parts[i];
		int64_t columns = part->problem.mn;
		if (!(members >> i & 1))
			continue;
		if (c->layer_count + part->layer_count > FUSION_LAYERS_MAX)
			return false;
		for (int k = 0; k < part->layer_count; k++)
			chain_take(c, part->layers[k], part->value);
		c->problem.mn += columns;
		biased = has_bias(part) ? part : biased;
		if (!reads_columns(j, c->plan, part->value, columns, 0))
			*copy_bytes += dtype_bytes(part->problem.operand[2].dtype,
				problem_operand_traffic(&part->problem, 2));
	}
	const struct problem *with = biased ? &biased->problem : &j->parts[0].problem;
	c->problem.epilogue_count = biased ? with->epilogue_count : sums_are_scaled(with);
	memcpy(c->problem.epilogue, with->epilogue, sizeof(with->epilogue));
	qsort(c->layers, (size_t)c->layer_count, sizeof(c->layers[0]), layer_compare);
	name(j, members, c);
	return true;
}
