/* The dimensions and strides of the product that stands for a sum. */
#include "config.h"

#include "runner/onednn/onednn_ones.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/onednn/onednn_case_private.h"

/* --- which problems --- */

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
	const struct problem *p, enum onednn_choice choice, struct ones_sum *v, struct error *err)
{
	int64_t stride[ONEDNN_RANK];
	struct problem_shape from = problem_operand_shape(p, 0), to = problem_operand_shape(p, 1);
	enum layout layout = p->operand[0].layout;
	bool last = layout == LAYOUT_NXC || (layout == LAYOUT_ANY && choice == CHOICE_NXC);
	(last ? onednn_strides_nxc : onednn_strides_ncx)(from.rank, from.dim, stride);
	if (ones_view(p, stride, v, err) || refuse(p, err))
		return -1;
	if ((last || p->operand[1].layout == LAYOUT_NXC) && !is_one_order(&to))
		return error_set(
			err, "only results that are the same in both layouts are products with ones");
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
static struct matrix source_matrix(const struct ones_sum *v, enum onednn_side side)
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
static struct matrix dense_matrix(const struct ones_sum *v, int64_t batch, int64_t rows, int64_t columns)
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
	struct onednn_case *c, const struct ones_sum *v, enum onednn_side side, struct error *err)
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
static void problem_rewrite(struct problem *p, const struct ones_sum *v, const struct matrix *from,
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
	struct ones_sum v;
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
