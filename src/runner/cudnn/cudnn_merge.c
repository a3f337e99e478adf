/* Merges dimensions that are contiguous in all operands, because engines take few. Exact: the elements and
 * their order stay. */
#include "config.h"

#include "runner/cudnn/cudnn_merge.h"

#include <assert.h>
#include <string.h>

#define MATRIX_RANK 3
#define IMAGE_RANK 4

/* Steps: align the operands' dimensions at the last one; drop sizes of 1; sort from outermost to innermost in
 * memory; merge neighbors that are contiguous in every operand. Sorting is valid because the dimensions have
 * no meaning, as long as all operands are sorted alike. The remaining ones become matrices (batch, rows,
 * columns) or a channels-last tensor. */

/* Dimensions of all operands, aligned at the last one. */
struct table {
	int rank, count;
	int64_t dim[CUDNN_RANK];                        /* broadcast size */
	bool has[CUDNN_MERGED][CUDNN_RANK];             /* false: the operand broadcasts along it */
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

/* True if dimension a is outside of b in the first operand that has both; also if none has both. */
static bool is_outside(const struct table *t, int a, int b)
{
	for (int i = 0; i < t->count; i++)
		if (t->has[i][a] && t->has[i][b])
			return t->stride[i][a] > t->stride[i][b];
	return true;
}

/* Sorts from outermost to innermost in memory. */
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

/* True if dimensions j and j + 1 are contiguous, or both broadcast, in every operand. */
static bool is_mergeable(const struct table *t, int j)
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
		if (is_mergeable(t, j)) {
			t->dim[j + 1] *= t->dim[j];
			dimension_remove(t, j);
		}
}

/* Returns the index of dimension j in cuDNN's shape. Channels-last: outermost is 0, innermost is 1, others
 * follow. */
static int cudnn_index(const struct table *t, bool matrices, int j)
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
		int k = cudnn_index(t, matrices, j);
		used[k] = true;
		s.dim[k] = t->has[i][j] ? t->dim[j] : 1;
		s.stride[k] = t->has[i][j] ? t->stride[i][j] : whole;
		if (s.dim[k] * s.stride[k] > whole)
			whole = s.dim[k] * s.stride[k];
	}
	/* strides of added sizes of 1: batch over everything, channel 1, space over the channels */
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
