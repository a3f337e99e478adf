/* Sums as products with a matrix of ones in cuBLASLt. */
#include "config.h"

#include <string.h>

#include "base/arena.h"
#include "runner/measure/ones.h"
#include "runner/cublaslt/cublaslt_case.h"
#include "runner/gpu/cuda_work.h"
#include "runner/verify/fill.h"

/* Sums as products with ones. The source is batch x length x kept elements. Column-major, it is kept x length
 * if the kept elements are adjacent in memory ("columns"), else length x kept; the sums are kept x 1, so that
 * the source is A, transposed where its lines are dense, and the ones are B. Running sums of dense lines are
 * stored as length x kept: there the triangle is A. */

#define LONGEST ((int64_t)1 << 24) /* of a sum: its ones take 64 MiB in f32 */

static int refuse(const struct cublaslt_case *c, struct error *err)
{
	for (int i = 0; i < c->problem.epilogue_count; i++)
		if (c->problem.epilogue[i].kind != EPILOGUE_ELTWISE)
			return error_set(err, "only element-wise epilogues follow a product with ones");
	return 0;
}

/* True if the two layouts put equal indices at equal places, relative to the first element. */
static bool same_places(const struct cuda_layout *l, const int64_t *stride)
{
	for (int i = 0; i < l->shape.rank; i++)
		if (l->shape.dim[i] > 1 && l->stride[i] != stride[i])
			return false;
	return true;
}

/* The destination of sums is row-major; that of running sums lies as the source. */
static bool destination_fits(const struct cuda_layout *from, const struct cuda_layout *to, bool running)
{
	int64_t dense[PROBLEM_RANK], step = 1;
	for (int i = to->shape.rank - 1; i >= 0; i--) {
		dense[i] = step;
		step *= to->shape.dim[i];
	}
	return same_places(to, running ? from->stride : dense);
}

static struct cublaslt_matrix matrix(
	cudaDataType type, int64_t rows, int64_t cols, int64_t ld, int64_t batch)
{
	return (struct cublaslt_matrix){
		.type = type, .rows = rows, .cols = cols, .ld = cols == 1 ? rows : ld, .batch = batch
	};
}

int cublaslt_ones_make(struct cublaslt_case *c, struct error *err)
{
	const struct problem *p = &c->problem;
	struct cuda_layout from = cuda_operand_layout(p, 0, 0), to;
	struct ones_sum v;
	cudaDataType in, out;
	if (ones_view(p, from.stride, &v, err) || refuse(c, err))
		return -1;
	to = cuda_operand_layout(p, 1, 0);
	bool lines = v.lies.length == 1, columns = !lines && (v.lies.kept == 1 || v.kept == 1);
	if (!lines && !columns)
		return error_set(err, "only sums of dense rows or columns are products with ones");
	if (!destination_fits(&from, &to, v.running))
		return error_set(err, "only dense results in the source's order are products with ones");
	if (v.length > LONGEST)
		return error_set(err, "only sums of at most 2^24 values are one product with ones");
	if (cublaslt_type(from.dtype, &in) || cublaslt_type(to.dtype, &out))
		return error_set(err, "cuBLASLt has no type %s", dtype_name(to.dtype));
	c->ones = (struct cublaslt_ones){ .rows = v.length, .is_a = v.running && lines, .running = v.running,
		.left = columns, .factor = v.factor };
	struct cublaslt_matrix source = lines
		? matrix(in, v.length, v.kept, v.lies.kept, v.lies.batch)
		: matrix(in, v.kept, v.length, v.lies.length, v.lies.batch);
	struct cublaslt_matrix ones = matrix(in, v.length, v.running ? v.length : 1, v.length, 0);
	source.transposed = lines && !v.running;
	c->a = c->ones.is_a ? ones : source;
	c->b = c->ones.is_a ? source : ones;
	c->d = v.running ? source : matrix(in, v.kept, 1, v.kept, v.kept);
	c->d.type = out;
	c->c = c->d;
	c->m = c->d.rows;
	c->n = c->d.cols;
	c->k = v.length;
	c->batch = v.batch;
	return 0;
}

void *cublaslt_ones_values(const struct cublaslt_case *c, size_t *bytes)
{
	enum dtype t = c->problem.operand[0].dtype;
	int64_t rows = c->ones.rows, cols = c->ones.running ? rows : 1;
	size_t size = (size_t)(dtype_bits(t) / 8);
	*bytes = (size_t)(rows * cols) * size;
	char *values = base_calloc(*bytes, 1), one[8];
	fill_encode(1, t, one);
	/* D(i) = the sum of what is at most i: column i of B, row i of A */
	for (int64_t j = 0; j < cols; j++)
		for (int64_t i = 0; i < rows; i++)
			if (!c->ones.running || (c->ones.is_a ? j <= i : i <= j))
				memcpy(values + (size_t)(j * rows + i) * size, one, size);
	return values;
}
