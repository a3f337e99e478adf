#include "config.h"

#include "runner/cudnn_merge.h"

#include <assert.h>
#include <string.h>

#define MATRIX_RANK 3
#define IMAGE_RANK 4

/* Dimensions of all operands side by side, aligned at their last. */
struct table {
	int rank, count;
	int64_t dim[CUDNN_RANK];                        /* of the operand that has most */
	bool has[CUDNN_MERGED][CUDNN_RANK];             /* the operand has that dimension, else it broadcasts */
	int64_t stride[CUDNN_MERGED][CUDNN_RANK];
};

static void table_fill(struct table *t, const struct cuda_layout *l, int count)
{
	t->count = count;
	for (int i = 0; i < count; i++)
		if (l[i].shape.rank > t->rank)
			t->rank = l[i].shape.rank;
	for (int j = 0; j < t->rank; j++)
		t->dim[j] = 1;
	for (int i = 0; i < count; i++)
		for (int j = t->rank - l[i].shape.rank, at = 0; j < t->rank; j++, at++)
			if (l[i].shape.dim[at] != 1) {
				t->dim[j] = l[i].shape.dim[at];
				t->has[i][j] = true;
				t->stride[i][j] = l[i].stride[at];
			}
}

static void dimension_move(struct table *t, int to, int from)
{
	t->dim[to] = t->dim[from];
	for (int i = 0; i < t->count; i++) {
		t->has[i][to] = t->has[i][from];
		t->stride[i][to] = t->stride[i][from];
	}
}

static void dimension_remove(struct table *t, int at)
{
	for (int j = at; j + 1 < t->rank; j++)
		dimension_move(t, j, j + 1);
	t->rank--;
}

/* Does dimension a lie outside of b, by the first operand that has both? */
static bool is_outside(const struct table *t, int a, int b)
{
	for (int i = 0; i < t->count; i++)
		if (t->has[i][a] && t->has[i][b])
			return t->stride[i][a] > t->stride[i][b];
	return true;
}

/* Outermost in memory first. */
static void dimensions_sort(struct table *t)
{
	for (int i = 1; i < t->rank; i++)
		for (int j = i; j > 0 && !is_outside(t, j - 1, j); j--) {
			int spare = CUDNN_RANK - 1;
			assert(t->rank < CUDNN_RANK);
			dimension_move(t, spare, j);
			dimension_move(t, j, j - 1);
			dimension_move(t, j - 1, spare);
		}
}

/* Do j and j + 1 lie in every operand as one dimension would? */
static bool is_one(const struct table *t, int j)
{
	for (int i = 0; i < t->count; i++)
		if (t->has[i][j] != t->has[i][j + 1] ||
			(t->has[i][j] && t->stride[i][j] != t->stride[i][j + 1] * t->dim[j + 1]))
			return false;
	return true;
}

static void dimensions_merge(struct table *t)
{
	for (int j = t->rank - 1; j >= 0; j--)
		if (t->dim[j] == 1)
			dimension_remove(t, j);
	if (t->rank < CUDNN_RANK)
		dimensions_sort(t);
	for (int j = t->rank - 2; j >= 0; j--)
		if (is_one(t, j)) {
			t->dim[j + 1] *= t->dim[j];
			dimension_remove(t, j);
		}
}

/* A tensor with channels last: the outermost first, the innermost second, the others behind. */
static int place_of(const struct table *t, bool matrices, int j)
{
	if (matrices)
		return MATRIX_RANK - t->rank + j;
	return j == t->rank - 1 ? 1 : j == 0 ? 0 : j + 1;
}

static struct cudnn_tensor operand_shape(const struct table *t, bool matrices, int i, enum dtype dtype)
{
	int least = matrices ? MATRIX_RANK : IMAGE_RANK;
	struct cudnn_tensor s = { .dtype = dtype, .rank = t->rank < least ? least : t->rank };
	int64_t whole = 1;
	bool used[CUDNN_RANK] = { false };
	for (int j = t->rank - 1; j >= 0; j--) { /* from the innermost in memory */
		int k = place_of(t, matrices, j);
		used[k] = true;
		s.dim[k] = t->has[i][j] ? t->dim[j] : 1;
		s.stride[k] = t->has[i][j] ? t->stride[i][j] : whole;
		if (s.dim[k] * s.stride[k] > whole)
			whole = s.dim[k] * s.stride[k];
	}
	/* ones: a channel that is none steps by 1, space by the channels, a batch over all */
	for (int k = 0; k < s.rank; k++)
		if (!used[k]) {
			s.dim[k] = 1;
			s.stride[k] = k == 0 || matrices ? whole : k == 1 ? 1 : s.dim[1] * s.stride[1];
		}
	return s;
}

void cudnn_merge(const struct cuda_layout *l, int count, bool images, struct cudnn_tensor *shape)
{
	struct table t = { 0 };
	assert(count <= CUDNN_MERGED);
	table_fill(&t, l, count);
	dimensions_merge(&t);
	for (int i = 0; i < count; i++)
		shape[i] = operand_shape(&t, !images && t.rank <= MATRIX_RANK, i, l[i].dtype);
}
