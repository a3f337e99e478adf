/* The choices of an engine's knobs that are tried, each kept if cuDNN accepts it. */
#include "config.h"

#include "runner/cudnn/cudnn_engines.h"

#include <stdlib.h>

#include "base/arena.h"
#include "runner/measure/sweep.h"

/* The values of one knob that are tried. */
struct axis {
	cudnnBackendKnobType_t type;
	int count;
	int64_t value[CUDNN_KNOB_INDICES];
};

struct engine {
	cudnnBackendDescriptor_t d;
	struct cudnn_notes notes;
	int knob_count;
	struct axis knob[CUDNN_KNOBS];
};

static uint32_t notes_bits(struct cudnn_bag *bag, cudnnBackendDescriptor_t engine,
	cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type)
{
	int32_t note[32]; /* both enumerations are ints */
	uint32_t bits = 0;
	int64_t n = cudnn_desc_get(bag, engine, name, type, 32, note);
	for (int64_t i = 0; i < n && i < 32; i++)
		if (note[i] >= 0 && note[i] < 32)
			bits |= 1u << note[i];
	return bits;
}

struct cudnn_notes cudnn_notes_read(struct cudnn_bag *bag, cudnnBackendDescriptor_t engine)
{
	return (struct cudnn_notes){
		.numerical = notes_bits(
			bag, engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE),
		.behaviour = notes_bits(
			bag, engine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_TYPE_BEHAVIOR_NOTE)
	};
}

int64_t cudnn_engine_count(struct cudnn_graph *g)
{
	int64_t count = 0;
	cudnn_desc_get(&g->bag, g->graph, CUDNN_ATTR_OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, CUDNN_TYPE_INT64, 1,
		&count);
	return count;
}

bool cudnn_engine_supports(struct cudnn_graph *g, int64_t index)
{
	int mark = g->bag.count;
	bool does = cudnn_engine_make(g, index) != NULL;
	cudnn_error_forget();
	cudnn_bag_cut(&g->bag, mark);
	return does;
}

/* Reads a knob's type and range. Returns false if cuDNN gives none: the knob is then left to the engine. */
static bool axis_read(struct cudnn_bag *b, cudnnBackendDescriptor_t info, struct axis *to)
{
	int64_t least, last, stride;
	if (cudnn_desc_get(b, info, CUDNN_ATTR_KNOB_INFO_TYPE, CUDNN_TYPE_KNOB_TYPE, 1, &to->type) != 1 ||
		cudnn_desc_get(b, info, CUDNN_ATTR_KNOB_INFO_MINIMUM_VALUE, CUDNN_TYPE_INT64, 1, &least) !=
			1 ||
		cudnn_desc_get(b, info, CUDNN_ATTR_KNOB_INFO_MAXIMUM_VALUE, CUDNN_TYPE_INT64, 1, &last) !=
			1 ||
		cudnn_desc_get(b, info, CUDNN_ATTR_KNOB_INFO_STRIDE, CUDNN_TYPE_INT64, 1, &stride) != 1)
		return false;
	to->count = sweep_values(
		least, last, stride, to->value, least == 0 ? CUDNN_KNOB_INDICES : CUDNN_KNOB_AMOUNTS);
	return to->count > 0;
}

static int axis_compare(const void *a, const void *b)
{
	const struct axis *x = a, *y = b;
	return (x->type > y->type) - (x->type < y->type);
}

/* Returns NULL if the engine does not support the graph. Its descriptor stays in the graph's bag. */
static struct engine *engine_open(struct cudnn_graph *g, int64_t index)
{
	struct cudnn_bag *b = &g->bag;
	cudnnBackendDescriptor_t engine = cudnn_engine_make(g, index), info[CUDNN_KNOBS];
	int mark = b->count;
	struct engine *e = NULL;
	if (engine) {
		e = base_calloc(1, sizeof(*e));
		e->d = engine;
		e->notes = cudnn_notes_read(b, engine);
		for (int i = 0; i < CUDNN_KNOBS; i++)
			info[i] = CUDNN_NEW(b, KNOB_INFO);
		int64_t n = cudnn_desc_get(b, engine, CUDNN_ATTR_ENGINE_KNOB_INFO,
			CUDNN_TYPE_BACKEND_DESCRIPTOR, CUDNN_KNOBS, info);
		for (int64_t i = 0; i < n && i < CUDNN_KNOBS; i++)
			e->knob_count += axis_read(b, info[i], &e->knob[e->knob_count]);
		qsort(e->knob, (size_t)e->knob_count, sizeof(*e->knob), axis_compare);
		cudnn_bag_cut(b, mark);
	}
	return e;
}

/* Visits a choice if cuDNN accepts it. Returns whether it did. */
static bool choice_try(struct cudnn_graph *g, const struct engine *e, const struct cudnn_choice *choice,
	void (*visit)(void *user, const struct cudnn_choice *choice, struct cudnn_notes notes,
		cudnnBackendDescriptor_t config),
	void *user)
{
	int mark = g->bag.count;
	cudnnBackendDescriptor_t config = cudnn_config_make(g, e->d, choice);
	if (config)
		visit(user, choice, e->notes, config);
	cudnn_error_forget();
	cudnn_bag_cut(&g->bag, mark);
	return config != NULL;
}

void cudnn_engine_sweep(struct cudnn_graph *g, int64_t index, int most,
	void (*visit)(void *user, const struct cudnn_choice *choice, struct cudnn_notes notes,
		cudnnBackendDescriptor_t config),
	void *user)
{
	int mark = g->bag.count;
	struct engine *e = engine_open(g, index);
	struct cudnn_choice choice = { .engine = index };
	struct sweep sweep;
	int size[CUDNN_KNOBS], accepted = 0;
	cudnn_error_forget();
	if (!e) {
		cudnn_bag_cut(&g->bag, mark);
		return;
	}
	for (int i = 0; i < e->knob_count; i++)
		size[i] = e->knob[i].count;
	choice.knob_count = e->knob_count;
	sweep_open(&sweep, size, e->knob_count, CUDNN_ENGINE_TRIES);
	while (accepted < most && sweep_next(&sweep)) {
		for (int i = 0; i < e->knob_count; i++)
			choice.knob[i] = (struct cudnn_knob){ e->knob[i].type,
				e->knob[i].value[sweep.at[i]] };
		accepted += choice_try(g, e, &choice, visit, user);
	}
	choice.knob_count = 0;
	if (!accepted && e->knob_count)
		choice_try(g, e, &choice, visit, user);
	cudnn_bag_cut(&g->bag, mark);
	free(e);
}
