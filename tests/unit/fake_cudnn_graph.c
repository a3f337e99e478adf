#include "config.h"

#include "fake_cudnn_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "runner/cudnn/cudnn_library.h"

struct fake_cudnn_graph fake_cudnn_graph = { .silent = CUDNN_HEUR_MODES_COUNT };

/* The loader needs every function of the library; the legacy ones are never called here. */
void fake_unused(void);
void fake_unused(void)
{
	abort();
}
#define UNUSED(name) __asm__(".globl " #name "\n.set " #name ", fake_unused\n");
CUDNN_LEGACY_FUNCTIONS(UNUSED)

static cudnnStatus_t refuse(cudnnStatus_t status, const char *why)
{
	snprintf(fake_cudnn_graph.why, sizeof(fake_cudnn_graph.why), "Warning: %s; Reason: %s",
		cudnnGetErrorString(status), why);
	return status;
}

size_t cudnnGetVersion(void)
{
	return 91900;
}

const char *cudnnGetErrorString(cudnnStatus_t status)
{
	return status == CUDNN_STATUS_SUCCESS		  ? "CUDNN_STATUS_SUCCESS"
		: status == CUDNN_STATUS_NOT_SUPPORTED	  ? "CUDNN_STATUS_NOT_SUPPORTED"
		: status == CUDNN_STATUS_EXECUTION_FAILED ? "CUDNN_STATUS_EXECUTION_FAILED"
							  : "CUDNN_STATUS_BAD_PARAM";
}

void cudnnGetLastErrorString(char *message, size_t max_size)
{
	snprintf(message, max_size, "%s", fake_cudnn_graph.why);
	fake_cudnn_graph.why[0] = '\0';
}

cudnnStatus_t cudnnGraphVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnOpsVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCnnVersionCheck(void)
{
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnAdvVersionCheck(void)
{
	return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle)
{
	*handle = (cudnnHandle_t)(void *)&fake_cudnn_graph;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle)
{
	(void)handle;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream)
{
	(void)handle;
	fake_cudnn_graph.stream = stream;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t kind, cudnnBackendDescriptor_t *d)
{
	struct fake_node *n = base_calloc(1, sizeof(*n));
	n->kind = kind;
	fake_cudnn_graph.created++;
	*d = n;
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t d)
{
	struct fake_node *n = d;
	for (int i = 0; i < n->attribute_count; i++)
		free(n->attribute[i].bytes);
	free(n);
	fake_cudnn_graph.destroyed++;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- attributes ---- */

static size_t type_size(cudnnBackendAttributeType_t t)
{
	switch (t) {
	case CUDNN_TYPE_HANDLE:
	case CUDNN_TYPE_VOID_PTR:
	case CUDNN_TYPE_BACKEND_DESCRIPTOR:
		return sizeof(void *);
	case CUDNN_TYPE_BOOLEAN: return sizeof(bool);
	case CUDNN_TYPE_CHAR: return 1;
	case CUDNN_TYPE_INT64: case CUDNN_TYPE_DOUBLE: return 8;
	case CUDNN_TYPE_FRACTION: return sizeof(cudnnFraction_t);
	default: return 4;
	}
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t d, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *values)
{
	struct fake_node *n = d;
	if (n->finalized || fake_attribute(n, name) || n->attribute_count == FAKE_ATTRIBUTES)
		return refuse(CUDNN_STATUS_BAD_PARAM, "set twice, after finalizing, or too many");
	size_t size = type_size(type) * (size_t)count;
	struct fake_attribute *a = &n->attribute[n->attribute_count++];
	*a = (struct fake_attribute){
		.name = name, .type = type, .count = count, .bytes = base_malloc(size ? size : 1)
	};
	memcpy(a->bytes, values, size);
	return CUDNN_STATUS_SUCCESS;
}

const struct fake_attribute *fake_attribute(const struct fake_node *n, cudnnBackendAttributeName_t name)
{
	for (int i = 0; i < n->attribute_count; i++)
		if (n->attribute[i].name == name)
			return &n->attribute[i];
	return NULL;
}

const void *fake_values(const struct fake_node *n, cudnnBackendAttributeName_t name)
{
	const struct fake_attribute *a = fake_attribute(n, name);
	if (!a) {
		fprintf(stderr, "descriptor %d lacks attribute %d\n", (int)n->kind, (int)name);
		abort();
	}
	return a->bytes;
}

int64_t fake_int64(const struct fake_node *n, cudnnBackendAttributeName_t name, int64_t index)
{
	return ((const int64_t *)fake_values(n, name))[index];
}

struct fake_node *fake_link(const struct fake_node *n, cudnnBackendAttributeName_t name)
{
	struct fake_node *to = *(struct fake_node *const *)fake_values(n, name);
	if (!to || !to->finalized)
		abort();
	return to;
}

/* The engine takes even tiles with one stage, and the tile 5 with two. */
static bool refuses_knobs(const struct fake_node *config)
{
	const struct fake_attribute *knobs = fake_attribute(config, CUDNN_ATTR_ENGINECFG_KNOB_CHOICES);
	const struct fake_node *engine = fake_link(config, CUDNN_ATTR_ENGINECFG_ENGINE);
	fake_cudnn_graph.configs++;
	if (fake_int64(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0) == 0)
		return false;
	if (!knobs || knobs->count != 2)
		return true;
	struct fake_node *const *knob = knobs->bytes;
	int64_t tile = fake_int64(knob[0], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 0);
	int64_t stages = fake_int64(knob[1], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, 0);
	return stages == 1 ? tile % 2 != 0 : tile != 5;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t d)
{
	struct fake_node *n = d;
	if (n->finalized)
		return refuse(CUDNN_STATUS_BAD_PARAM, "finalized twice");
	bool is_plan = n->kind == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
	bool is_text = is_plan && fake_attribute(n, CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION);
	fake_cudnn_graph.loaded += is_text;
	fake_cudnn_graph.compiled += is_plan && !is_text;
	if (is_text && fake_cudnn_graph.load_status != CUDNN_STATUS_SUCCESS)
		return refuse(fake_cudnn_graph.load_status, "the text is of another version");
	if (is_plan && !is_text && fake_cudnn_graph.plan_status != CUDNN_STATUS_SUCCESS)
		return refuse(fake_cudnn_graph.plan_status, "as the test wanted");
	if (n->kind == CUDNN_BACKEND_TENSOR_DESCRIPTOR &&
		(fake_attribute(n, CUDNN_ATTR_TENSOR_DIMENSIONS)->count < 3 ||
			fake_attribute(n, CUDNN_ATTR_TENSOR_DIMENSIONS)->count !=
				fake_attribute(n, CUDNN_ATTR_TENSOR_STRIDES)->count))
		return refuse(CUDNN_STATUS_BAD_PARAM, "rank of a tensor");
	if (n->kind == CUDNN_BACKEND_ENGINE_DESCRIPTOR &&
		fake_int64(n, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0) % 12)
		return refuse(CUDNN_STATUS_NOT_SUPPORTED, "not an engine for this");
	if (n->kind == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR && refuses_knobs(n))
		return refuse(CUDNN_STATUS_NOT_SUPPORTED, "these knobs do not go together");
	if (n->kind == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR)
		n->graph = fake_link(fake_link(n, CUDNN_ATTR_ENGINECFG_ENGINE),
			CUDNN_ATTR_ENGINE_OPERATION_GRAPH);
	fake_cudnn_graph.packs += n->kind == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
	n->finalized = true;
	return CUDNN_STATUS_SUCCESS;
}

/* ---- attributes that can be read ---- */

static int64_t notes_give(uint32_t bits, int64_t room, int32_t *to)
{
	int64_t n = 0;
	for (int i = 0; i < 32; i++)
		if (bits >> i & 1 && n++ < room)
			to[n - 1] = i;
	return n;
}

static bool is_u8(const struct fake_node *tensor)
{
	return *(const cudnnDataType_t *)fake_values(tensor, CUDNN_ATTR_TENSOR_DATA_TYPE) == CUDNN_DATA_UINT8;
}

/* True if no engine takes the product: as the test wants it. */
static bool refuses_product(const struct fake_node *op)
{
	bool conv = op->kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
	if (!conv && op->kind != CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR)
		return false;
	const struct fake_node *x = fake_link(
		op, conv ? CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X : CUDNN_ATTR_OPERATION_MATMUL_ADESC);
	const struct fake_node *w = fake_link(
		op, conv ? CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W : CUDNN_ATTR_OPERATION_MATMUL_BDESC);
	bool outside = conv && fake_int64(x, CUDNN_ATTR_TENSOR_STRIDES, 1) != 1;
	return (fake_cudnn_graph.channels_last && outside) ||
		(fake_cudnn_graph.signed_only && (is_u8(x) || is_u8(w)));
}

/* True for an operand with one value per channel. */
static bool is_bias(const struct fake_node *op)
{
	const struct fake_attribute *b = fake_attribute(op, CUDNN_ATTR_OPERATION_POINTWISE_BDESC);
	const struct fake_node *t = b ? *(struct fake_node *const *)b->bytes : NULL;
	const struct fake_attribute *d = t ? fake_attribute(t, CUDNN_ATTR_TENSOR_DIMENSIONS) : NULL;
	return d && d->count > 3 && fake_int64(t, CUDNN_ATTR_TENSOR_DIMENSIONS, 1) > 1 &&
		fake_int64(t, CUDNN_ATTR_TENSOR_DIMENSIONS, 3) == 1;
}

static bool refuses(const struct fake_node *graph)
{
	const struct fake_attribute *ops = fake_attribute(graph, CUDNN_ATTR_OPERATIONGRAPH_OPS);
	bool any = false;
	for (int64_t i = 0; i < ops->count; i++) {
		const struct fake_node *op = ((struct fake_node *const *)ops->bytes)[i];
		if (refuses_product(op))
			return true;
		any |= op->kind == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR && is_bias(op);
	}
	return fake_cudnn_graph.needs_bias && ops->count > 1 && !any;
}

static int64_t configs_give(const struct fake_node *heuristics, int64_t room, cudnnBackendDescriptor_t *to)
{
	cudnnBackendHeurMode_t mode =
		*(const cudnnBackendHeurMode_t *)fake_values(heuristics, CUDNN_ATTR_ENGINEHEUR_MODE);
	if (mode == fake_cudnn_graph.silent ||
		refuses(fake_link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)))
		return 0;
	for (int64_t i = 0; i < 2 && i < room; i++) { /* the same result twice */
		struct fake_node *config = to[i];
		config->graph = fake_link(heuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
		config->mode = mode;
		config->finalized = true;
	}
	return 2;
}

static int64_t knobs_give(int64_t room, cudnnBackendDescriptor_t *to)
{
	for (int i = 0; i < 2 && i < room; i++) {
		static const int64_t value[] = { 4, 1 };
		static const cudnnBackendKnobType_t type[] = { CUDNN_KNOB_TYPE_TILE_SIZE,
			CUDNN_KNOB_TYPE_STAGES };
		cudnnBackendSetAttribute(
			to[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &type[i]);
		cudnnBackendSetAttribute(
			to[i], CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1, &value[i]);
	}
	return 2;
}

/* In descending order of type. */
static int64_t knob_infos_give(const struct fake_node *engine, int64_t room, cudnnBackendDescriptor_t *to)
{
	static const struct {
		cudnnBackendKnobType_t type;
		int64_t least, last, stride;
	} knob[] = { { CUDNN_KNOB_TYPE_STAGES, 1, 2, 1 }, { CUDNN_KNOB_TYPE_TILE_SIZE, 0, 5, 1 } };
	if (fake_int64(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0) == 0)
		return 0;
	for (int i = 0; i < 2 && i < room; i++) {
		cudnnBackendSetAttribute(
			to[i], CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &knob[i].type);
		cudnnBackendSetAttribute(
			to[i], CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, CUDNN_TYPE_INT64, 1, &knob[i].least);
		cudnnBackendSetAttribute(
			to[i], CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, CUDNN_TYPE_INT64, 1, &knob[i].last);
		cudnnBackendSetAttribute(
			to[i], CUDNN_ATTR_KNOB_INFO_STRIDE, CUDNN_TYPE_INT64, 1, &knob[i].stride);
	}
	return 2;
}

/* A plan's text names its engine, at a length of its own. */
static int64_t text_give(const struct fake_node *plan, int64_t room, char *to)
{
	char text[64];
	const struct fake_node *config = fake_link(plan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
	const struct fake_node *engine = fake_link(config, CUDNN_ATTR_ENGINECFG_ENGINE);
	int n = snprintf(text, sizeof(text), "{\"engine\": %d}",
		(int)fake_int64(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 0));
	memcpy(to ? to : text, text, (size_t)(n < room ? n : room));
	return n;
}

static bool given(const struct fake_node *n, cudnnBackendAttributeName_t name, int64_t room, int64_t *count,
	void *values)
{
	struct fake_node *const *first = values;
	switch (name) {
	case CUDNN_ATTR_ENGINEHEUR_RESULTS: *count = configs_give(n, room, values); return true;
	case CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
		*count = 1;
		*(int64_t *)values = fake_cudnn_graph.engines;
		return true;
	case CUDNN_ATTR_ENGINE_KNOB_INFO: *count = knob_infos_give(n, room, values); return true;
	case CUDNN_ATTR_ENGINECFG_KNOB_CHOICES: *count = knobs_give(room, values); return true;
	case CUDNN_ATTR_ENGINECFG_ENGINE:
		(*first)->graph = n->graph;
		(*first)->mode = n->mode;
		*count = 1;
		return true;
	case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
		*count = 1;
		*(int64_t *)values = n->mode == CUDNN_HEUR_MODE_FALLBACK ? 0 : 12;
		return true;
	case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
		*count = notes_give(fake_cudnn_graph.numerical, room, values);
		return true;
	case CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE:
		*count = notes_give(fake_cudnn_graph.behaviour, room, values);
		return true;
	case CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION: *count = text_give(n, room, values); return true;
	case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE: *count = 1; *(int64_t *)values = 512; return true;
	default: return false;
	}
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const d, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t room, int64_t *count, void *values)
{
	const struct fake_node *n = d;
	if (given(n, name, room, count, values))
		return CUDNN_STATUS_SUCCESS;
	const struct fake_attribute *a = fake_attribute(n, name);
	if (!a || a->type != type)
		return refuse(CUDNN_STATUS_BAD_PARAM, "no such attribute");
	*count = a->count;
	memcpy(values, a->bytes, type_size(type) * (size_t)(room < a->count ? room : a->count));
	return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendExecute(
	cudnnHandle_t handle, cudnnBackendDescriptor_t plan, cudnnBackendDescriptor_t pack)
{
	const struct fake_node *p = plan, *v = pack;
	fake_cudnn_graph.executed++;
	if (fake_cudnn_graph.execute_status != CUDNN_STATUS_SUCCESS)
		return refuse(fake_cudnn_graph.execute_status, "as the test wanted");
	if ((void *)handle != (void *)&fake_cudnn_graph || !p->finalized || !v->finalized)
		return refuse(CUDNN_STATUS_BAD_PARAM, "not finalized");
	if ((uintptr_t)*(void *const *)fake_values(v, CUDNN_ATTR_VARIANT_PACK_WORKSPACE) % 256)
		return refuse(CUDNN_STATUS_BAD_PARAM, "workspace");
	const struct fake_node *config = fake_link(p, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
	return fake_graph_execute(config->graph, v) ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}
