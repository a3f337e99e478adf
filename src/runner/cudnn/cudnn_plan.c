/* Execution plans of cuDNN, kept by engine and knobs. */
#include "config.h"

#include "runner/cudnn/cudnn_plan.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/str.h"
#include "runner/cudnn/plan_cache.h"

cudnnBackendDescriptor_t cudnn_deviceprop_make(struct cudnn_bag *bag)
{
	const char *text = cuda_context()->deviceprop;
	if (!cuda_context()->planning)
		return NULL;
	cudnnBackendDescriptor_t d = CUDNN_NEW(bag, DEVICEPROP);
	CUDNN_PUT_ARRAY(bag, d, DEVICEPROP_JSON_REPRESENTATION, CHAR, (int64_t)strlen(text) + 1, text);
	cudnn_desc_finish(bag, d, "device properties");
	return d;
}

cudnnBackendDescriptor_t cudnn_engine_make(struct cudnn_graph *g, int64_t index)
{
	struct cudnn_bag *b = &g->bag;
	cudnnBackendDescriptor_t device = cudnn_deviceprop_make(b), engine = CUDNN_NEW(b, ENGINE);
	CUDNN_PUT(b, engine, ENGINE_OPERATION_GRAPH, BACKEND_DESCRIPTOR, g->graph);
	CUDNN_PUT(b, engine, ENGINE_GLOBAL_INDEX, INT64, index);
	if (device)
		CUDNN_PUT(b, engine, ENGINE_DEVICEPROP, BACKEND_DESCRIPTOR, device);
	cudnn_desc_finish(b, engine, "engine");
	return b->bad ? NULL : engine;
}

cudnnBackendDescriptor_t cudnn_config_make(struct cudnn_graph *g, cudnnBackendDescriptor_t engine,
	const struct cudnn_choice *choice)
{
	struct cudnn_bag *b = &g->bag;
	cudnnBackendDescriptor_t knob[CUDNN_KNOBS];
	engine = engine ? engine : cudnn_engine_make(g, choice->engine);
	for (int i = 0; i < choice->knob_count; i++) {
		knob[i] = CUDNN_NEW(b, KNOB_CHOICE);
		CUDNN_PUT(b, knob[i], KNOB_CHOICE_KNOB_TYPE, KNOB_TYPE, choice->knob[i].type);
		CUDNN_PUT(b, knob[i], KNOB_CHOICE_KNOB_VALUE, INT64, choice->knob[i].value);
		cudnn_desc_finish(b, knob[i], "knob choice");
	}
	cudnnBackendDescriptor_t config = CUDNN_NEW(b, ENGINECFG);
	CUDNN_PUT(b, config, ENGINECFG_ENGINE, BACKEND_DESCRIPTOR, engine);
	if (choice->knob_count)
		CUDNN_PUT_ARRAY(
			b, config, ENGINECFG_KNOB_CHOICES, BACKEND_DESCRIPTOR, choice->knob_count, knob);
	cudnn_desc_finish(b, config, "engine configuration");
	return b->bad ? NULL : config;
}

/* Begins a plan on the context's GPU. */
static cudnnBackendDescriptor_t plan_begin(struct cudnn_bag *bag)
{
	cudnnBackendDescriptor_t device = cudnn_deviceprop_make(bag), plan = CUDNN_NEW(bag, EXECUTION_PLAN);
	if (device)
		CUDNN_PUT(bag, plan, EXECUTION_PLAN_DEVICEPROP, BACKEND_DESCRIPTOR, device);
	if (!bag->bad && !cuda_context()->planning) {
		cudnnHandle_t handle = cudnn_handle(&bag->why);
		bag->bad = !handle;
		CUDNN_PUT(bag, plan, EXECUTION_PLAN_HANDLE, HANDLE, handle);
	}
	return plan;
}

/* Finalizes a plan and reads its workspace. Returns NULL on failure. */
static cudnnBackendDescriptor_t plan_end(struct cudnn_bag *bag, cudnnBackendDescriptor_t plan,
	double *workspace_bytes)
{
	int64_t bytes = 0;
	cudnn_desc_finish(bag, plan, "execution plan");
	bool known = cudnn_desc_get(bag, plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64,
		1, &bytes) == 1;
	*workspace_bytes = known ? (double)bytes : NAN;
	return bag->bad ? NULL : plan;
}

cudnnBackendDescriptor_t cudnn_plan_make(struct cudnn_bag *bag, cudnnBackendDescriptor_t config,
	double *workspace_bytes)
{
	cudnnBackendDescriptor_t plan = plan_begin(bag);
	CUDNN_PUT(bag, plan, EXECUTION_PLAN_ENGINE_CONFIG, BACKEND_DESCRIPTOR, config);
	return plan_end(bag, plan, workspace_bytes);
}

static void failed(struct cudnn_plan *plan, const char *why)
{
	bool memory = cudnn_error_is_memory(plan->graph.bag.status);
	bool unsupported = CUDNN_STATUS_CATEGORY((int)plan->graph.bag.status) ==
		CUDNN_STATUS_NOT_SUPPORTED;
	plan->status = memory ? STATUS_NO_MEMORY : unsupported ? STATUS_UNSUPPORTED : STATUS_FAILED;
	plan->d = NULL;
	error_set(&plan->why, "%s", why);
}

/* --- plans that are kept --- */

/* Returns the text that identifies the plan, malloc'd: the software, the device, the problem, and the
 * fingerprint of the graph, its engine and knobs as they were passed to cuDNN. */
static char *key_make(const struct cudnn_plan *plan)
{
	const struct cuda_context *c = cuda_context();
	struct str key = { 0 };
	char text[PROBLEM_TEXT_SIZE] = "";
	problem_format(&plan->problem, text, NULL);
	str_addf(&key, "cuDNN %d\n%s\n%s\n", cudnn_version(), c->software ? c->software : "",
		c->planning ? c->deviceprop : c->name);
	str_addf(&key, "sm %d, %d multiprocessors\n%s\n%016llx\n", c->sm, c->multiprocessors, text,
		(unsigned long long)plan->graph.bag.print);
	return key.p;
}

/* Makes the plan from the cache. Returns NULL, and leaves the bag as it was, if it is not there or cuDNN
 * refuses it. */
static cudnnBackendDescriptor_t kept_load(struct cudnn_plan *plan, const struct plan_cache *cache,
	const char *key)
{
	struct cudnn_bag *b = &plan->graph.bag;
	size_t size;
	int mark = b->count;
	char *json = plan_cache_load(cache, key, &size);
	if (!json)
		return NULL;
	cudnnBackendDescriptor_t d = plan_begin(b);
	CUDNN_PUT_ARRAY(b, d, EXECUTION_PLAN_JSON_REPRESENTATION, CHAR, (int64_t)size, json);
	free(json);
	d = plan_end(b, d, &plan->workspace_bytes);
	if (d && !isnan(plan->workspace_bytes))
		return d;
	cudnn_error_forget();
	cudnn_bag_cut(b, mark);
	return NULL;
}

static void kept_store(struct cudnn_plan *plan, const struct plan_cache *cache, const char *key)
{
	static atomic_flag logged = ATOMIC_FLAG_INIT;
	struct cudnn_bag *b = &plan->graph.bag;
	struct error why = ERROR_NONE;
	const cudnnBackendAttributeName_t json = CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION;
	int64_t size = cudnn_desc_get(b, plan->d, json, CUDNN_TYPE_CHAR, 0, NULL);
	if (size <= 0) /* engines that cannot be serialized */
		return;
	char *text = base_malloc((size_t)size);
	if (cudnn_desc_get(b, plan->d, json, CUDNN_TYPE_CHAR, size, text) == size &&
		plan_cache_store(cache, key, text, (size_t)size, &why) && !atomic_flag_test_and_set(&logged))
		log_line("compiled plans are not kept: %s", why.text);
	free(text);
}

struct cudnn_plan *cudnn_plan_new(const struct problem *p, const struct cudnn_choice *choice)
{
	struct cudnn_plan *plan = base_calloc(1, sizeof(*plan));
	struct error why = ERROR_NONE;
	const char *tag;
	plan->problem = *p;
	plan->workspace_bytes = NAN;
	if (cudnn_graph_build(&plan->graph, &plan->problem, choice->variant, &tag, &why) != 1) {
		failed(plan, why.text);
		return plan;
	}
	struct plan_cache cache = { .folder = "" };
	cudnnBackendDescriptor_t config = cudnn_config_make(&plan->graph, NULL, choice);
	if (choice->compiled)
		plan_cache_open(&cache);
	char *key = *cache.folder && config ? key_make(plan) : NULL;
	plan->d = key ? kept_load(plan, &cache, key) : NULL;
	if (config && !plan->d) {
		plan->d = cudnn_plan_make(&plan->graph.bag, config, &plan->workspace_bytes);
		if (key && plan->d)
			kept_store(plan, &cache, key);
	}
	free(key);
	if (!plan->d)
		failed(plan, plan->graph.bag.why.text);
	else if (isnan(plan->workspace_bytes))
		failed(plan, "cuDNN reports no workspace size for the plan");
	return plan;
}

void cudnn_plan_free(struct cudnn_plan *plan)
{
	if (plan)
		cudnn_graph_free(&plan->graph);
	free(plan);
}
