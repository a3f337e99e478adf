/* cuDNN's graphs: the kernels that have one, and how they are built. */
#include "config.h"

#include "runner/cudnn/cudnn_graph.h"

#include <string.h>

static const struct cudnn_builder builders[] = {
	{ KERNEL_CONV, "", cudnn_build_conv },
	{ KERNEL_CONV, "steps:", cudnn_build_conv_steps },
	{ KERNEL_DECONV, "", cudnn_build_deconv },
	{ KERNEL_MATMUL, "", cudnn_build_matmul },
	{ KERNEL_POOL, "", cudnn_build_pool },
	{ KERNEL_RESAMPLE, "", cudnn_build_resample },
	{ KERNEL_BATCHNORM, "", cudnn_build_batchnorm },
	{ KERNEL_LAYERNORM, "", cudnn_build_norm },
	{ KERNEL_RMSNORM, "", cudnn_build_norm },
	{ KERNEL_INSTANCENORM, "", cudnn_build_norm },
	{ KERNEL_ELTWISE, "", cudnn_build_eltwise },
	{ KERNEL_BINARY, "", cudnn_build_binary },
	{ KERNEL_SELECT, "", cudnn_build_select },
	{ KERNEL_CAST, "", cudnn_build_identity },
	{ KERNEL_TRANSPOSE, "", cudnn_build_identity },
	{ KERNEL_REDUCE, "", cudnn_build_reduce },
	{ KERNEL_CONCAT, "", cudnn_build_concat },
	{ KERNEL_ATTENTION, "", cudnn_build_attention },
	{ KERNEL_ATTENTION, "sdpa:", cudnn_build_sdpa },
};

/* --- shapes --- */

/* --- tensors --- */

/* --- the graph --- */

static void graph_finish(struct cudnn_graph *g)
{
	struct cudnn_bag *b = &g->bag;
	cudnnHandle_t handle = NULL;
	if (!b->bad && !cuda_context()->planning && !(handle = cudnn_handle(&b->why)))
		b->bad = true;
	g->graph = CUDNN_NEW(b, OPERATIONGRAPH);
	CUDNN_PUT_ARRAY(
		b, g->graph, OPERATIONGRAPH_OPS, BACKEND_DESCRIPTOR, g->operation_count, g->operation);
	if (handle)
		CUDNN_PUT(b, g->graph, OPERATIONGRAPH_HANDLE, HANDLE, handle);
	cudnn_desc_finish(b, g->graph, "operation graph");
}

int cudnn_graph_build(
	struct cudnn_graph *g, const struct problem *p, int variant, const char **tag, struct error *err)
{
	const struct cudnn_builder *builder = NULL;
	bool any = false;
	memset(g, 0, sizeof(*g));
	for (size_t i = 0; i < sizeof(builders) / sizeof(builders[0]) && !builder; i++)
		if (builders[i].kernel == p->kernel) {
			any = true;
			if (variant-- == 0)
				builder = &builders[i];
		}
	if (!builder)
		return any ? 0 : error_set(err, "the cuDNN graph API has no %s", kernel_name(p->kernel));
	if (problem_weight_blocks(p))
		return error_set(err, "only own kernels have scales in blocks");
	const struct cudnn_api *api = cudnn_library(err);
	if (!api)
		return -1;
	*tag = builder->tag;
	g->p = p;
	cudnn_bag_open(&g->bag, api);
	cudnn_error_forget();
	builder->build(g);
	graph_finish(g);
	return g->bag.bad ? error_set(err, "%s", g->bag.why.text) : 1;
}

void cudnn_graph_free(struct cudnn_graph *g)
{
	cudnn_bag_free(&g->bag);
}
