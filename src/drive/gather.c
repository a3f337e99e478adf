/* Checks that the messages of an execution come in their order. */
#include "config.h"

#include "drive/gather.h"

#include <inttypes.h>

#include "problem/execution_field.h"

#define BYTES_MAX (256 << 20) /* of one execution */

static int take_row(struct gather *g, const struct wire_message *m, struct error *err)
{
	if (!g->open || g->id != m->id)
		return error_set(err, "a row without its execution");
	if (g->execution.row_count >= EXECUTION_ROWS_MAX || g->arena.total > BYTES_MAX)
		return error_set(err, "an execution with more than %d rows or %d MiB", EXECUTION_ROWS_MAX,
			BYTES_MAX >> 20);
	struct execution_row copy = execution_row_copy(&g->arena, m->row);
	*execution_add(&g->arena, &g->execution, &g->capacity) = copy;
	return 0;
}

int gather_take(struct gather *g, const struct wire_message *m, struct error *err)
{
	if (m->type == WIRE_ROW)
		return take_row(g, m, err);
	if (g->open)
		return error_set(err, "a second execution before the end of the first");
	gather_clear(g);
	g->execution = execution_copy(&g->arena, m->execution);
	g->execution.row_count = 0;
	if (m->trial) {
		g->trial = ARENA_NEW(&g->arena, struct wire_trial);
		*g->trial = *m->trial;
	}
	g->id = m->id;
	g->open = true;
	return 0;
}

const char *gather_end(struct gather *g)
{
	const char *fault = execution_fault(&g->execution);
	struct execution base = execution_new();
	g->open = false;
	if (g->trial && !fault) {
		base.stats = g->trial->base;
		fault = execution_fault(&base);
	}
	for (int i = 0; i < g->execution.row_count && !fault; i++) {
		const struct execution_row *r = &g->execution.rows[i];
		if ((fault = execution_row_fault(r, i)))
			fault = arena_printf(&g->arena, "row %d (%.200s) %s", i, r->name, fault);
	}
	return fault;
}

void gather_mistrust(struct gather *g, const char *why)
{
	const struct execution from = g->execution;
	struct execution *e = &g->execution;
	*e = execution_new();
	e->source = from.source;
	e->framework = from.framework;
	e->version = from.version;
	e->provider = from.provider;
	e->device = from.device;
	e->host = from.host;
	e->threads = from.threads;
	e->dtype = from.dtype;
	e->math = from.math;
	e->settings = from.settings;
	e->model = from.model;
	e->model_hash = from.model_hash;
	e->inputs = from.inputs;
	e->batch = from.batch;
	e->requests = from.requests;
	e->status = STATUS_MISTRUSTED;
	g->trial = NULL;
	e->why = arena_printf(&g->arena, "%s", why);
}

void gather_clear(struct gather *g)
{
	arena_free(&g->arena);
	*g = (struct gather){ .execution = execution_new() };
}
