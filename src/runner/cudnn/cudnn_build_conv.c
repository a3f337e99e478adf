/* Convolutions and matmuls with their epilogues: one main operation followed by pointwise ones. */
#include "config.h"

#include "runner/cudnn/cudnn_graph.h"

#define SPACE 3

/* Returns the problem's accumulator type; by default f32, s32 for 8-bit integers. */
static enum dtype accumulator_of(const struct problem *p)
{
	bool integer = p->operand[0].dtype == DTYPE_S8 || p->operand[0].dtype == DTYPE_U8;
	return p->accumulator != DTYPE_UNKNOWN ? p->accumulator : integer ? DTYPE_S32 : DTYPE_F32;
}

/* Copies one value per spatial dimension and returns their number. A single spatial dimension is preceded by
 * another with value `filler`. */
static int space_copy(const struct problem *p, const int64_t *from, int64_t filler, int64_t *to)
{
	int begin = p->spatial == 1 ? 1 : SPACE - p->spatial;
	for (int i = begin; i < SPACE; i++)
		to[i - begin] = i < SPACE - p->spatial ? filler : from[i];
	return SPACE - begin;
}

static cudnnBackendDescriptor_t convolution_make(struct cudnn_graph *g)
{
	struct cudnn_bag *b = &g->bag;
	const struct problem *p = g->p;
	int64_t pre[SPACE], post[SPACE], stride[SPACE], dilation[SPACE];
	space_copy(p, p->pad_begin, 0, pre);
	space_copy(p, p->pad_end, 0, post);
	space_copy(p, p->stride, 1, stride);
	int64_t dims = space_copy(p, p->dilation, 1, dilation);
	cudnnDataType_t type;
	cudnnConvolutionMode_t mode = CUDNN_CROSS_CORRELATION;
	if (!cudnn_data_type(g, accumulator_of(p), &type))
		return NULL;
	cudnnBackendDescriptor_t d = CUDNN_NEW(b, CONVOLUTION);
	CUDNN_PUT(b, d, CONVOLUTION_COMP_TYPE, DATA_TYPE, type);
	CUDNN_PUT(b, d, CONVOLUTION_CONV_MODE, CONVOLUTION_MODE, mode);
	CUDNN_PUT(b, d, CONVOLUTION_SPATIAL_DIMS, INT64, dims);
	CUDNN_PUT_ARRAY(b, d, CONVOLUTION_PRE_PADDINGS, INT64, dims, pre);
	CUDNN_PUT_ARRAY(b, d, CONVOLUTION_POST_PADDINGS, INT64, dims, post);
	CUDNN_PUT_ARRAY(b, d, CONVOLUTION_FILTER_STRIDES, INT64, dims, stride);
	CUDNN_PUT_ARRAY(b, d, CONVOLUTION_DILATIONS, INT64, dims, dilation);
	cudnn_desc_finish(b, d, "convolution");
	return d;
}

static struct cudnn_tensor spatial_bound(struct cudnn_graph *g, int operand, enum cudnn_role role)
{
	struct cuda_layout l = cuda_operand_layout(g->p, operand, 0);
	struct cudnn_tensor shape = cudnn_shape_spatial(&l, 4);
	return cudnn_tensor_bound(g, &shape, role, 0);
}

/* Returns the type of virtual tensors: run-time fusion needs f32 between operations, also with s32 sums. */
static enum dtype virtual_type(const struct problem *p)
{
	return accumulator_of(p) == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
}

/* The chain behind a convolution or matmul. 8-bit floats have scales: sums are multiplied by those of both
 * sources, then come the epilogues, then an 8-bit result is multiplied by its own. */
static void chain_make(struct cudnn_graph *g, struct cudnn_chain *chain, const struct cudnn_tensor *y,
	int channel, cudnn_shape *shape)
{
	float scale[CUDA_SCALES];
	g->factor = cuda_float8_scales(g->p, scale);
	for (int i = 0; i < 2; i++)
		if (scale[i] != 1)
			cudnn_chain_mode(g, chain, MODE_LINEAR_MAP, scale[i], 0);
	cudnn_chain_epilogues(g, chain, y, channel, shape);
	if (scale[2] != 1)
		cudnn_chain_mode(g, chain, MODE_LINEAR_MAP, scale[2], 0);
}

/* cuDNN's names of the attributes of a forward and a backward-data convolution. */
struct direction {
	cudnnBackendDescriptorType_t operation;
	cudnnBackendAttributeName_t how, source, weights, destination, alpha, beta;
	const char *name;
};
#define DIRECTION(kind, prefix, from, to, what)                                                              \
	{                                                                                                    \
		CUDNN_BACKEND_OPERATION_CONVOLUTION_##kind##_DESCRIPTOR,                                     \
			CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_CONV_DESC,                               \
			CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_##from,                                  \
			CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_W,                                       \
			CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_##to,                                    \
			CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_ALPHA,                                   \
			CUDNN_ATTR_OPERATION_CONVOLUTION_##prefix##_BETA, what                               \
	}
static const struct direction forward = DIRECTION(FORWARD, FORWARD, X, Y, "convolution forward operation");
static const struct direction backward =
	DIRECTION(BACKWARD_DATA, BWD_DATA, DY, DX, "convolution backward data operation");

static void convolve(struct cudnn_graph *g, const struct direction *to)
{
	struct cudnn_bag *b = &g->bag;
	struct cudnn_chain chain = { 0 };
	float alpha = 1, beta = 0;
	cudnnBackendDescriptor_t how = convolution_make(g);
	struct cudnn_tensor x = spatial_bound(g, 0, CUDNN_SOURCE), w = spatial_bound(g, 1, CUDNN_WEIGHTS);
	struct cudnn_tensor y = spatial_bound(g, 2, CUDNN_DESTINATION);
	chain_make(g, &chain, &y, 1, cudnn_shape_spatial);
	struct cudnn_tensor out = cudnn_chain_input(g, &chain, &y, virtual_type(g->p));
	cudnnBackendDescriptor_t op = cudnn_desc_make(b, to->operation, to->name);
	cudnn_desc_put(b, op, to->how, "how", CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &how);
	cudnn_desc_put(b, op, to->source, "source", CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &x.d);
	cudnn_desc_put(b, op, to->weights, "weights", CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &w.d);
	cudnn_desc_put(b, op, to->destination, "destination", CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &out.d);
	cudnn_desc_put(b, op, to->alpha, "alpha", CUDNN_TYPE_FLOAT, 1, &alpha);
	cudnn_desc_put(b, op, to->beta, "beta", CUDNN_TYPE_FLOAT, 1, &beta);
	cudnn_operation_add(g, op, to->name);
	cudnn_chain_add(g, &chain, &out, &y);
}

void cudnn_build_conv(struct cudnn_graph *g)
{
	convolve(g, &forward);
}

/* Variant for convolutions with a clip from 0 (relu6). Few of cuDNN's ready-made fusions support a relu with
 * an upper bound, and its run-time compiled engines do not; as a relu and a minimum it is an ordinary chain
 * to the latter. */
void cudnn_build_conv_steps(struct cudnn_graph *g)
{
	bool any = false;
	for (int i = 0; i < g->p->epilogue_count; i++)
		any = any || (g->p->epilogue[i].mode == MODE_CLIP && g->p->epilogue[i].alpha == 0);
	if (!any)
		cudnn_bag_refuse(&g->bag, "this convolution has only one graph");
	g->in_steps = true;
	cudnn_build_conv(g);
}

/* A transposed convolution is the data gradient of a convolution whose output is our source and whose input
 * is our destination, including the out_pad rows. Our weights (c, k/g, r, s) are the weights (k, c/g, r, s)
 * of that convolution. */
void cudnn_build_deconv(struct cudnn_graph *g)
{
	convolve(g, &backward);
}

void cudnn_matmul(struct cudnn_graph *g, enum dtype accumulator, const struct cudnn_tensor *x,
	const struct cudnn_tensor *w, const struct cudnn_tensor *y)
{
	struct cudnn_bag *b = &g->bag;
	cudnnDataType_t type;
	if (!cudnn_data_type(g, accumulator, &type))
		return;
	cudnnBackendDescriptor_t how = CUDNN_NEW(b, MATMUL);
	CUDNN_PUT(b, how, MATMUL_COMP_TYPE, DATA_TYPE, type);
	cudnn_desc_finish(b, how, "matmul");
	cudnnBackendDescriptor_t op = CUDNN_NEW(b, OPERATION_MATMUL);
	CUDNN_PUT(b, op, OPERATION_MATMUL_DESC, BACKEND_DESCRIPTOR, how);
	CUDNN_PUT(b, op, OPERATION_MATMUL_ADESC, BACKEND_DESCRIPTOR, x->d);
	CUDNN_PUT(b, op, OPERATION_MATMUL_BDESC, BACKEND_DESCRIPTOR, w->d);
	CUDNN_PUT(b, op, OPERATION_MATMUL_CDESC, BACKEND_DESCRIPTOR, y->d);
	cudnn_operation_add(g, op, "matmul operation");
}

static void dimension_drop(struct cudnn_tensor *t, int at)
{
	for (int i = at; i + 1 < t->rank; i++) {
		t->dim[i] = t->dim[i + 1];
		t->stride[i] = t->stride[i + 1];
	}
	t->rank--;
}

/* True if the rows of the innermost batch dimension follow one another in memory. */
static bool rows_follow(const struct cudnn_tensor *t)
{
	int r = t->rank;
	return t->dim[r - 3] == 1 || t->stride[r - 3] == t->stride[r - 2] * t->dim[r - 2];
}

/* Folds the innermost batch dimension into the rows if all its matrices use the same b, as frameworks do.
 * cuDNN takes only one batch dimension. Returns false if nothing was folded. */
static bool batch_fold(struct cudnn_tensor *x, struct cudnn_tensor *w, struct cudnn_tensor *y)
{
	struct cudnn_tensor *all[] = { x, w, y };
	int r = y->rank, k = r - 3;
	if (w->dim[k] != 1 || x->dim[k] != y->dim[k] || !rows_follow(x) || !rows_follow(y) ||
		(r == 3 && y->dim[0] == 1))
		return false;
	x->dim[r - 2] *= x->dim[k];
	y->dim[r - 2] *= y->dim[k];
	for (int i = 0; i < 3; i++)
		if (r > 3)
			dimension_drop(all[i], k);
		else
			all[i]->dim[0] = 1;
	return true;
}

/* Transposed operands are expressed with strides; batch dimensions of size 1 broadcast implicitly. */
void cudnn_build_matmul(struct cudnn_graph *g)
{
	struct cudnn_chain chain = { 0 };
	struct cudnn_tensor shape[3];
	for (int i = 0; i < 3; i++) {
		struct cuda_layout l = cuda_operand_layout(g->p, i, 0);
		shape[i] = cudnn_shape_of(&l, 3);
	}
	bool folded = false;
	while (batch_fold(&shape[0], &shape[1], &shape[2]))
		folded = true;
	struct cudnn_tensor x = cudnn_tensor_bound(g, &shape[0], CUDNN_SOURCE, 0);
	struct cudnn_tensor w = cudnn_tensor_bound(g, &shape[1], CUDNN_WEIGHTS, 0);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &shape[2], CUDNN_DESTINATION, 0);
	chain_make(g, &chain, &y, y.rank - 1, folded ? NULL : cudnn_shape_of);
	struct cudnn_tensor out = cudnn_chain_input(g, &chain, &y, virtual_type(g->p));
	cudnn_matmul(g, accumulator_of(g->p), &x, &w, &out);
	cudnn_chain_add(g, &chain, &out, &y);
}
