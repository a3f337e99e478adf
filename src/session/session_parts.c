/* What a session has, for readers. */
#include "config.h"

#include "session/session_advice.h"
#include "session/session_private.h"

const struct plan *session_plan(const struct session *s)
{
	return s->current ? s->current->plan : NULL;
}

int64_t session_batch(const struct session *s)
{
	return s->current ? s->current->batch : 0;
}

enum dtype session_dtype(const struct session *s)
{
	return s->current ? s->current->dtype : DTYPE_UNKNOWN;
}

const char *session_type_name(const struct session *s, enum dtype dtype)
{
	return dtype || !s->current ? dtype_name(dtype) : plan_type_name(s->current->plan);
}

const struct fusion *plan_fusion(struct session_plan *sp)
{
	if (!sp->fusion)
		sp->fusion = fusion_find(sp->plan);
	return sp->fusion;
}

const struct fusion *session_fusion(const struct session *s)
{
	return plan_fusion(s->current);
}

const struct assumption *session_assumed(const struct session *s)
{
	return s->current && s->current->assumed_count ? s->current->assumed : NULL;
}

const struct scenario *session_scenario(const struct session *s)
{
	return &s->scenario;
}

const struct analysis *session_analysis(const struct session *s)
{
	return s->analysis;
}

const struct what_if_effect *session_effects(const struct session *s, int *count)
{
	*count = s->effect_count;
	return s->effects;
}

const struct what_if_effect *session_effect(const struct session *s, const struct what_if *row)
{
	for (int i = 0; i < s->effect_count; i++)
		if (s->effects[i].row == row)
			return &s->effects[i];
	return NULL;
}

const struct peaks *session_peaks(const struct session *s)
{
	return &s->seat->peaks;
}

struct limit session_limit(const struct session *s, const struct layer_cost *c, const char *problem)
{
	return limit_of(c, problem, &s->seat->peaks, &s->scenario, s->analysis->cache);
}

const struct device *session_device(const struct session *s)
{
	return &s->seat->device;
}

uint64_t session_device_changes(const struct session *s)
{
	return s->device_changes;
}

const struct described *session_described(const struct session *s)
{
	return s->seat->described;
}

bool session_is_recorded(const struct session *s)
{
	return s->seat->recorded;
}

bool session_is_changing(const struct session *s)
{
	return s->awaited || s->leaving;
}

const char *session_unkept(const struct session *s)
{
	return s->unkept;
}

const char *session_trouble(const struct session *s)
{
	return s->seat->trouble;
}

struct results *session_results(const struct session *s)
{
	return s->seat->results;
}

struct queue *session_queue(const struct session *s)
{
	return s->seat->queue;
}

struct planner *session_planner(const struct session *s)
{
	return s->seat->planner;
}

struct store *session_store(const struct session *s)
{
	return s->store;
}

const char *const *session_reads(
	const struct session *s, const char *const *more, int count, struct arena *a)
{
	const struct model *m = s->subject->model;
	int external = m ? m->external_count : 0, n = 0;
	const char **list = ARENA_ARRAY(a, const char *, count + external + 10);
	for (int i = 0; i < count; i++)
		list[n++] = more[i];
	for (int i = 0; i < external; i++)
		list[n++] = model_external_path(m, i, a);
	if (m) {
		list[n++] = m->path;
		list[n++] = config_beside_path(a, m->path, ".yaml");
		list[n++] = config_beside_path(a, m->path, ".ops.yaml");
	}
	if (s->seat->config->path)
		list[n++] = s->seat->config->path;
	if (s->seat->described)
		list[n++] = s->seat->described->path;
	const char *saved = config_saved_path(a), *db = s->given->db ? s->given->db : config_default_db(a);
	if (saved)
		list[n++] = saved;
	list[n++] = db;
	list[n++] = arena_printf(a, "%s-wal", db);
	list[n++] = arena_printf(a, "%s-shm", db);
	list[n] = NULL;
	return list;
}

const struct model *session_model(const struct session *s)
{
	return s->subject->model;
}

const char *session_model_path(const struct session *s)
{
	return s->subject->given.model_path;
}

struct config *session_given(const struct session *s)
{
	return s->given;
}

const struct config *session_config(const struct session *s)
{
	return s->seat->config;
}

const struct session_export *session_exports(const struct session *s)
{
	return s->exports;
}

bool session_advice_is_begun(const struct session *s)
{
	return s->advice;
}

int session_sweep_count(const struct session *s)
{
	return s->sweep.count;
}

void session_sweep_point(const struct session *s, int i, int64_t *batch, enum dtype *dtype)
{
	*batch = s->sweep.points[i].batch;
	*dtype = s->sweep.points[i].dtype;
}

bool seat_on_gpu(const struct session *s, const struct seat *seat)
{
	return seat->device.name ? seat->described || !seat->device.threads : s->gpu_asked;
}
