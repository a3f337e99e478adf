/* Names of kernels by the driver's functions for graph nodes. */
#include "config.h"

#include "runner/gpu/cuda_names.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"
#include "runner/gpu/cuda_context.h"
#include "runner/gpu/cuda_cupti.h"

#define NAME_SIZE 400
#define DRIVER_VERSION 12030 /* CUDA 12.3: the first driver that returns kernel names */

/* Functions of the driver: the CUDA runtime does not know the kernels that libraries launch with the driver
 * API. */
static struct {
	CUresult (*node)(CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2 *);
	CUresult (*function_name)(const char **, CUfunction);
	CUresult (*kernel_name)(const char **, CUkernel);
} driver;

static bool driver_find(void)
{
	static const struct {
		const char *name;
		void **to;
	} functions[] = {
		{ "cuGraphKernelNodeGetParams", (void **)&driver.node },
		{ "cuFuncGetName", (void **)&driver.function_name },
		{ "cuKernelGetName", (void **)&driver.kernel_name },
	};
	bool good = true;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]) && good; i++) {
		enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
		if (*functions[i].to)
			continue;
		good = cudaGetDriverEntryPointByVersion(functions[i].name, functions[i].to, DRIVER_VERSION,
			       cudaEnableDefault, &found) == cudaSuccess &&
			found == cudaDriverEntryPointSuccess && *functions[i].to;
		if (!good)
			*functions[i].to = NULL;
	}
	cudaGetLastError();
	return good;
}

static const char *kernel_name_of(cudaGraphNode_t node)
{
	CUDA_KERNEL_NODE_PARAMS_v2 p = { .func = NULL };
	const char *name = NULL;
	if (driver.node(node, &p) != CUDA_SUCCESS)
		return NULL;
	CUresult c = p.func ? driver.function_name(&name, p.func)
		: p.kern    ? driver.kernel_name(&name, p.kern)
			    : CUDA_ERROR_NOT_FOUND;
	return c == CUDA_SUCCESS ? name : NULL;
}

/* Adds the name of a graph node; nodes without work add nothing. Returns false if the node has no name. */
static bool name_add(cudaGraphNode_t node, struct str *names)
{
	enum cudaGraphNodeType type;
	char name[NAME_SIZE] = "";
	const char *raw = NULL;
	if (cudaGraphNodeGetType(node, &type) != cudaSuccess)
		return false;
	switch (type) {
	case cudaGraphNodeTypeKernel: raw = kernel_name_of(node); break;
	case cudaGraphNodeTypeMemcpy: raw = "[memcpy]"; break;
	case cudaGraphNodeTypeMemset: raw = "[memset]"; break;
	case cudaGraphNodeTypeEmpty:
	case cudaGraphNodeTypeEventRecord:
	case cudaGraphNodeTypeWaitEvent: return true;
	default: return false;
	}
	if (!raw)
		return false;
	cuda_cupti_name(raw, name, sizeof(name));
	str_addf(names, "%s%s", names->n ? "\n" : "", name);
	return true;
}

int cuda_names_of(cudaGraph_t graph, struct str *names, struct error *err)
{
	size_t count = 0;
	struct str found = { 0 };
	if (!driver_find())
		return error_set(err, "the driver returns no kernel names: it is older than CUDA 12.3");
	if (cuda_error(cudaGraphGetNodes(graph, NULL, &count), "cudaGraphGetNodes", err))
		return -1;
	cudaGraphNode_t *nodes = base_calloc(count ? count : 1, sizeof(cudaGraphNode_t));
	bool good = count > 0 && cudaGraphGetNodes(graph, nodes, &count) == cudaSuccess;
	for (size_t i = 0; i < count && good; i++)
		good = name_add(nodes[i], &found);
	cudaGetLastError();
	free(nodes);
	if (good && found.n)
		str_addf(names, "%s%s", names->n ? "\n" : "", found.p);
	str_free(&found);
	return good ? 0 : error_set(err, "the driver returns no names for some kernels of this algorithm");
}
