/* Sliding windows: pooling, and resampling with fractional strides. */
#include "config.h"

#include "runner/cudnn/cudnn_graph.h"

#define SPACE 3

struct window {
	cudnnResampleMode_t mode;
	cudnnPaddingMode_t padding;
	int64_t dims;
	cudnnFraction_t size[SPACE], pre[SPACE], post[SPACE], stride[SPACE];
};

static cudnnFraction_t fraction(int64_t numerator, int64_t denominator)
{
	int64_t a = numerator < 0 ? -numerator : numerator, b = denominator;
	while (b) {
		int64_t rest = a % b;
		a = b;
		b = rest;
	}
	return a ? (cudnnFraction_t){ numerator / a, denominator / a } : (cudnnFraction_t){ 0, 1 };
}

static struct cudnn_tensor spatial_shape(const struct problem *p, int operand)
{
	struct cuda_layout l = cuda_operand_layout(p, operand, 0);
	return cudnn_shape_spatial(&l, 4);
}

static cudnnBackendDescriptor_t window_make(struct cudnn_graph *g, const struct window *w)
{
	struct cudnn_bag *b = &g->bag;
	cudnnDataType_t type = CUDNN_DATA_FLOAT;
	cudnnBackendDescriptor_t d = CUDNN_NEW(b, RESAMPLE);
	CUDNN_PUT(b, d, RESAMPLE_MODE, RESAMPLE_MODE, w->mode);
	CUDNN_PUT(b, d, RESAMPLE_COMP_TYPE, DATA_TYPE, type);
	CUDNN_PUT(b, d, RESAMPLE_PADDING_MODE, PADDING_MODE, w->padding);
	CUDNN_PUT(b, d, RESAMPLE_SPATIAL_DIMS, INT64, w->dims);
	CUDNN_PUT_ARRAY(b, d, RESAMPLE_WINDOW_DIMS, FRACTION, w->dims, w->size);
	CUDNN_PUT_ARRAY(b, d, RESAMPLE_PRE_PADDINGS, FRACTION, w->dims, w->pre);
	CUDNN_PUT_ARRAY(b, d, RESAMPLE_POST_PADDINGS, FRACTION, w->dims, w->post);
	CUDNN_PUT_ARRAY(b, d, RESAMPLE_STRIDES, FRACTION, w->dims, w->stride);
	cudnn_desc_finish(b, d, "resample");
	return d;
}

static void window_add(struct cudnn_graph *g, const struct window *w)
{
	struct cudnn_bag *b = &g->bag;
	struct cudnn_chain chain = { 0 };
	cudnnBackendDescriptor_t how = window_make(g, w);
	struct cudnn_tensor xs = spatial_shape(g->p, 0), ys = spatial_shape(g->p, 1);
	struct cudnn_tensor x = cudnn_tensor_bound(g, &xs, CUDNN_SOURCE, 0);
	struct cudnn_tensor y = cudnn_tensor_bound(g, &ys, CUDNN_DESTINATION, 0);
	cudnn_chain_epilogues(g, &chain, &y, 1, cudnn_shape_spatial);
	struct cudnn_tensor out = cudnn_chain_input(g, &chain, &y, DTYPE_F32);
	cudnnBackendDescriptor_t op = CUDNN_NEW(b, OPERATION_RESAMPLE_FWD);
	CUDNN_PUT(b, op, OPERATION_RESAMPLE_FWD_DESC, BACKEND_DESCRIPTOR, how);
	CUDNN_PUT(b, op, OPERATION_RESAMPLE_FWD_XDESC, BACKEND_DESCRIPTOR, x.d);
	CUDNN_PUT(b, op, OPERATION_RESAMPLE_FWD_YDESC, BACKEND_DESCRIPTOR, out.d);
	cudnn_operation_add(g, op, "resample operation");
	cudnn_chain_add(g, &chain, &out, &y);
}

/* Sets the number of spatial dimensions (at least 2) and returns the first one's index in the problem's
 * arrays. For a 1-D problem this index is not in use. */
static int space_begin(const struct problem *p, struct window *w)
{
	w->dims = p->spatial == 1 ? 2 : p->spatial;
	return SPACE - (int)w->dims;
}

void cudnn_build_pool(struct cudnn_graph *g)
{
	const struct problem *p = g->p;
	bool max = p->mode == MODE_MAX;
	struct window w = { .padding = max ? CUDNN_NEG_INF_PAD : CUDNN_ZERO_PAD,
		.mode = max			      ? CUDNN_RESAMPLE_MAXPOOL
			: p->mode == MODE_AVG_INCLUDE ? CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING
						      : CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING };
	int begin = space_begin(p, &w);
	for (int i = begin; i < SPACE; i++) {
		bool is_there = i >= SPACE - p->spatial;
		w.size[i - begin] = fraction(is_there ? p->kernel_size[i] : 1, 1);
		w.pre[i - begin] = fraction(is_there ? p->pad_begin[i] : 0, 1);
		w.post[i - begin] = fraction(is_there ? p->pad_end[i] : 0, 1);
		w.stride[i - begin] = fraction(is_there ? p->stride[i] : 1, 1);
		if (is_there && p->dilation[i] != 1)
			cudnn_bag_refuse(&g->bag, "cuDNN's pooling has no dilation");
	}
	window_add(g, &w);
}

/* cuDNN 9 resamples with windows of two pixels and stride in/out that start half a pixel before the source,
 * in all modes; the trailing pad follows from the output size. For an output of twice the size, window o
 * begins in the pixel (o - 1) / 2, rounded down: that is the lower of the two that half-pixel centers weigh,
 * but asymmetric coordinates (o / 2) could weigh the same two. The weights are not documented: the check on
 * the GPU shows whether they are those of the problem (half-pixel centers). */
void cudnn_build_resample(struct cudnn_graph *g)
{
	const struct problem *p = g->p;
	struct window w = { .padding = CUDNN_EDGE_VAL_PAD,
		.mode = p->mode == MODE_LINEAR ? CUDNN_RESAMPLE_BILINEAR : CUDNN_RESAMPLE_NEAREST };
	if (p->mode == MODE_CUBIC)
		cudnn_bag_refuse(&g->bag, "cuDNN has no cubic resampling");
	int begin = space_begin(p, &w);
	for (int i = begin; i < SPACE; i++) {
		int64_t in = i >= SPACE - p->spatial ? p->in[i] : 1,
			out = i >= SPACE - p->spatial ? p->out[i] : 1;
		bool moves = in != out;
		w.size[i - begin] = fraction(moves ? 2 : 1, 1);
		w.stride[i - begin] = fraction(in, out);
		w.pre[i - begin] = fraction(moves, 2);
		/* in + pre + post - size = (out - 1) in/out */
		w.post[i - begin] = moves ? fraction(3 * out - 2 * in, 2 * out) : fraction(0, 1);
	}
	window_add(g, &w);
}
