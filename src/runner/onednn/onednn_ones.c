#include "config.h"

#include "runner/onednn/onednn_ones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/onednn/onednn_case_private.h"

/* --- the source as batch x length x kept --- */

/* A dimension, or adjacent ones that are one in memory and in the problem's order. */
struct part {
	int64_t size, lies, at; /* strides as in struct onednn_ones */
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
	bool channels_last)
{
	int64_t lies[ONEDNN_RANK], at[ONEDNN_RANK];
	int count = 0;
	onednn_strides_ncx(s->rank, s->dim, at);
	(channels_last ? onednn_strides_nxc : onednn_strides_ncx)(s->rank, s->dim, lies);
	for (int i = 0; i < s->rank; i++)
		if (s->dim[i] > 1)
			part_insert(part, count++, (struct part){ s->dim[i], lies[i], at[i], summed[i] });
	return parts_merge(part, count);
}

/* Fills sizes and strides from the parts: one of them summed, at most two kept, these in the problem's
 * order. */
static int view_fill(struct onednn_ones *v, const struct part *part, int count, struct error *err)
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
	v->lies = (struct onednn_steps){ kept[0]->lies, line->lies, kept[1]->lies };
	v->at = (struct onednn_steps){ kept[0]->at, line->at, kept[1]->at };
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

/* True if channels last and ONNX order are the same bytes. */
static bool is_one_order(const struct problem_shape *s)
{
	int64_t space = 1;
	for (int i = 2; i < s->rank; i++)
		space *= s->dim[i];
	return s->rank < 3 || s->dim[1] == 1 || space == 1;
}

static int refuse(const struct problem *p, struct error *err)
{
	enum dtype type = p->operand[0].dtype;
	if (!is_reduction(p) && !is_average(p) && p->kernel != KERNEL_SCAN)
		return error_set(err, "only sums, means, averages of whole images and running sums are "
			"products with ones");
	if (type != DTYPE_F32 && type != DTYPE_BF16 && type != DTYPE_F16)
		return error_set(err, "only f32, bf16 and f16 are multiplied by ones");
	for (int i = 0; i < 2; i++)
		if (p->operand[i].layout == LAYOUT_STRIDES)
			return error_set(err, "only dense operands are multiplied by ones");
	for (int i = 0; i < p->epilogue_count; i++) {
		const struct epilogue *e = &p->epilogue[i];
		bool order = e->operand.layout == LAYOUT_ANY || e->operand.layout == LAYOUT_NCX;
		if (e->kind != EPILOGUE_ELTWISE && !(e->kind == EPILOGUE_BINARY && order))
			return error_set(err, "only element-wise epilogues follow a product with ones");
	}
	return 0;
}

int onednn_ones_view(
	const struct problem *p, enum onednn_choice choice, struct onednn_ones *v, struct error *err)
{
	bool summed[PROBLEM_RANK];
	struct part part[PROBLEM_RANK];
	if (refuse(p, err))
		return -1;
	struct problem_shape from = problem_operand_shape(p, 0), to = problem_operand_shape(p, 1);
	enum layout layout = p->operand[0].layout;
	bool last = layout == LAYOUT_NXC || (layout == LAYOUT_ANY && choice == CHOICE_NXC);
	if ((last || p->operand[1].layout == LAYOUT_NXC) && !is_one_order(&to))
		return error_set(
			err, "only results that are the same in both layouts are products with ones");
	summed_set(p, &from, summed);
	*v = (struct onednn_ones){ .running = p->kernel == KERNEL_SCAN, .factor = 1 };
	if (view_fill(v, part, parts_make(part, &from, summed, last), err))
		return -1;
	if (v->running && v->length > ONES_RUNNING)
		return error_set(err, "only running sums of at most %d values are one product", ONES_RUNNING);
	if (p->kernel == KERNEL_POOL || p->mode == MODE_REDUCE_MEAN)
		v->factor = 1 / (float)v->length;
	return 0;
}

/* --- the product --- */

/* Dimensions and strides of one operand of the product: a matrix, with a batch before it if there is one. */
struct matrix {
	int rank;
	int64_t dims[3], lies[3], at[3];
};

static void dimension_add(struct matrix *m, int64_t size, int64_t lies, int64_t at)
{
	m->dims[m->rank] = size;
	m->lies[m->rank] = lies;
	m->at[m->rank++] = at;
}

static struct problem_shape shape_of(const struct matrix *m)
{
	struct problem_shape s = { .rank = m->rank };
	memcpy(s.dim, m->dims, (size_t)m->rank * sizeof(m->dims[0]));
	return s;
}

/* Source: kept x length for ones on the right, length x kept for ones on the left. */
static struct matrix source_matrix(const struct onednn_ones *v, enum onednn_side side)
{
	struct matrix m = { .rank = 0 };
	if (v->batch > 1)
		dimension_add(&m, v->batch, v->lies.batch, v->at.batch);
	if (side == SIDE_RIGHT)
		dimension_add(&m, v->kept, v->lies.kept, v->at.kept);
	dimension_add(&m, v->length, v->lies.length, v->at.length);
	if (side == SIDE_LEFT)
		dimension_add(&m, v->kept, v->lies.kept, v->at.kept);
	return m;
}

/* A dense matrix with the batch `batch` if the problem has one. */
static struct matrix dense_matrix(const struct onednn_ones *v, int64_t batch, int64_t rows, int64_t columns)
{
	struct matrix m = { .rank = 0 };
	if (v->batch > 1)
		dimension_add(&m, batch, rows * columns, 0);
	dimension_add(&m, rows, columns, 0);
	dimension_add(&m, columns, 1, 0);
	return m;
}

/* 1 where row `i` and column `j` of the right factor, or of the left factor, belong to one running sum. */
static float *triangle_make(int64_t n, enum onednn_side side)
{
	float *t = base_malloc((size_t)(n * n) * sizeof(*t));
	for (int64_t i = 0; i < n; i++)
		for (int64_t j = 0; j < n; j++)
			t[i * n + j] = side == SIDE_RIGHT ? i <= j : j <= i;
	return t;
}

/* Only the library's implementations for a right factor choose its layout. */
static int ones_add(
	struct onednn_case *c, const struct onednn_ones *v, enum onednn_side side, struct error *err)
{
	bool right = side == SIDE_RIGHT;
	const struct operand o = { .dtype = c->problem.operand[0].dtype, .constant = true };
	int64_t outputs = v->running ? v->length : 1;
	struct matrix m = dense_matrix(v, 1, right ? v->length : outputs, right ? outputs : v->length);
	struct onednn_arg *a = onednn_arg_add(c, right ? DNNL_ARG_WEIGHTS : DNNL_ARG_SRC, "ones", &o,
		shape_of(&m), right ? CHOICE_LIBRARY : CHOICE_NCX, err);
	if (!a)
		return -1;
	a->letters = "abc";
	a->fill = FILL_ONE;
	if (v->running)
		a->values = c->triangle = triangle_make(v->length, side);
	*(right ? &c->op.src1 : &c->op.src) = a->md;
	return 0;
}

/* Name of an operand's layout as the problem has it; the product has other dimensions. */
static void layout_name(const struct onednn_case *c, int i, enum onednn_choice choice, struct onednn_arg *a)
{
	struct problem_shape s = problem_operand_shape(&c->problem, i);
	char name[ONEDNN_LAYOUT_SIZE];
	onednn_md md = onednn_layout_md(&c->problem.operand[i], s.rank, s.dim, dnnl_f32, choice);
	snprintf(a->layout, sizeof(a->layout), "%s", onednn_layout_name(name, md, onednn_letters(s.rank)));
	onednn_md_free(md);
}

static struct onednn_arg *operand_add(struct onednn_case *c, int i, int arg, const struct matrix *m,
	enum onednn_choice choice, struct error *err)
{
	struct onednn_arg *a = onednn_arg_add_strided(
		c, arg, i ? "dst" : "src", &c->problem.operand[i], shape_of(m), m->lies, err);
	if (a)
		layout_name(c, i, choice, a);
	return a;
}

/* The problem becomes a reduction between the matrices, whose dimensions its epilogues have. */
static void problem_rewrite(struct problem *p, const struct onednn_ones *v, const struct matrix *from,
	const struct matrix *to)
{
	p->kernel = KERNEL_REDUCE;
	p->mode = v->factor == 1 ? MODE_REDUCE_SUM : MODE_REDUCE_MEAN;
	p->shape_count = 2;
	p->shape[0] = shape_of(from);
	p->shape[1] = shape_of(to);
}

int onednn_build_ones(
	struct onednn_case *c, enum onednn_choice choice, enum onednn_side side, struct error *err)
{
	struct onednn_ones v;
	bool right = side == SIDE_RIGHT;
	if (onednn_ones_view(&c->problem, choice, &v, err))
		return -1;
	bool inside = v.lies.kept < v.lies.length;
	if (right ? inside : v.running && !inside)
		return error_set(err, "only one side gives this sum without a transpose");
	int64_t outputs = v.running ? v.length : 1;
	struct matrix from = source_matrix(&v, side),
		to = dense_matrix(&v, v.batch, right ? v.kept : outputs, right ? outputs : v.kept);
	struct onednn_arg *a =
		operand_add(c, 0, right ? DNNL_ARG_SRC : DNNL_ARG_WEIGHTS, &from, choice, err);
	if (!a)
		return -1;
	a->source = true;
	a->fill = FILL_SIGNED;
	memcpy(a->plain_strides, from.at, (size_t)from.rank * sizeof(from.at[0]));
	*(right ? &c->op.src : &c->op.src1) = a->md;
	a = operand_add(c, 1, DNNL_ARG_DST, &to, choice, err);
	if (!a)
		return -1;
	c->op.dst = a->md;
	c->share = v.factor;
	problem_rewrite(&c->problem, &v, &from, &to);
	return ones_add(c, &v, side, err);
}
