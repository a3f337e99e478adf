#include "config.h"

#include "session/session_advice.h"
#include "session/session_private.h"
#include "session/session_reality.h"
#include "session/scenarios.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- dimensions ---- */

/* Copies the arrays with room for one more; the old ones stay valid, for undo. */
static void dims_copy(struct session *s)
{
	struct dim_binding *dims = ARENA_ARRAY(&s->dim_arena, struct dim_binding, s->dim_count + 1);
	const char **sources = ARENA_ARRAY(&s->dim_arena, const char *, s->dim_count + 1);
	for (int i = 0; i < s->dim_count; i++) {
		dims[i] = s->dims[i];
		sources[i] = s->dim_sources[i];
	}
	s->dims = dims;
	s->dim_sources = sources;
}

static void dims_put(struct session *s, struct text name, int64_t value, const char *source)
{
	int at = 0;
	while (at < s->dim_count && !text_equal(s->dims[at].name, name))
		at++;
	if (at == s->dim_count) {
		dims_copy(s);
		s->dims[s->dim_count++].name =
			(struct text){ arena_strndup(&s->dim_arena, name.p, name.n), name.n };
	}
	s->dims[at].value = value;
	s->dim_sources[at] = source;
}

/* Moves the dimensions and the model's path to a new arena; the old one is the caller's, for undo. */
static void dims_move(struct session *s)
{
	s->dim_arena = (struct arena){ 0 };
	dims_copy(s);
	for (int i = 0; i < s->dim_count; i++)
		s->dims[i].name.p = arena_strndup(&s->dim_arena, s->dims[i].name.p, s->dims[i].name.n);
	s->options.model_path = arena_strndup(
		&s->dim_arena, s->options.model_path, strlen(s->options.model_path));
}

const char *session_dim_source(const struct session *s, struct text name)
{
	for (int i = 0; i < s->dim_count; i++)
		if (text_equal(s->dims[i].name, name))
			return s->dim_sources[i];
	return "";
}

/* True if a declared shape of the model has a dimension of that name. */
static bool model_has_dim(const struct model *m, struct text name)
{
	for (int i = 0; i < m->graph->value_count; i++) {
		const struct shape *shape = &m->graph->values[i].shape;
		for (int j = 0; j < shape->rank; j++)
			if (shape->dims[j].kind == DIM_SYMBOLIC &&
				text_equal(dim_expression(shape->dims[j]), name))
				return true;
	}
	return false;
}

/* Key of a model's dimensions in the database: the real path of its file; NULL if it has none. */
static char *model_key(const struct session *s, struct arena *a)
{
	char *real = strcmp(s->options.model_path, "-") != 0 ? realpath(s->options.model_path, NULL) : NULL;
	char *key = real ? arena_strndup(a, real, strlen(real)) : NULL;
	free(real);
	return key;
}

static void dims_recall(struct session *s)
{
	struct arena a = { 0 };
	const char *key = model_key(s, &a);
	char *text = s->store && key ? store_dims_get(s->store, &a, key) : NULL;
	json_t *dims = text ? json_loads(text, 0, NULL) : NULL, *value;
	const char *name;
	json_object_foreach(dims, name, value)
		if (json_is_integer(value) && model_has_dim(s->model, text_of(name)))
			dims_put(s, text_of(name), json_integer_value(value), "remembered");
	json_decref(dims);
	arena_free(&a);
}

/* Names that are not valid UTF-8 cannot be JSON keys and are not remembered. */
static void dims_remember(struct session *s, const struct dim_binding *dims, int count)
{
	struct arena a = { 0 };
	const char *key = s->store && s->options.db == SESSION_DB_WRITE && count ? model_key(s, &a) : NULL;
	if (!key)
		return;
	char *text = store_dims_get(s->store, &a, key);
	json_t *object = text ? json_loads(text, 0, NULL) : NULL;
	if (!json_is_object(object)) {
		json_decref(object);
		object = json_object();
	}
	for (int i = 0; i < count; i++)
		json_object_set_new(object, arena_strndup(&a, dims[i].name.p, dims[i].name.n),
			json_integer(dims[i].value));
	char *line = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
	struct error err;
	if (line && store_dims_put(s->store, key, line, &err))
		log_line("dimensions are not remembered: %s", err.text);
	free(line);
	json_decref(object);
	arena_free(&a);
}

/* Reads the files beside the model. */
static int sidecars_gather(struct session *s, struct error *err)
{
	struct dim_binding *sidecar = NULL;
	int count = 0;
	if (strcmp(s->options.model_path, "-") != 0 &&
		config_sidecar(s->options.model_path, &s->dim_arena, &sidecar, &count, err))
		return -1;
	for (int i = 0; i < count; i++)
		dims_put(s, sidecar[i].name, sidecar[i].value, "sidecar");
	/* dims of the configuration are for all models: names that this model does not have are ignored */
	for (int i = 0; i < s->config->dim_count; i++)
		if (model_has_dim(s->model, s->config->dims[i].name))
			dims_put(s, s->config->dims[i].name, s->config->dims[i].value, "config");
	dims_recall(s);
	for (int i = 0; i < s->options.dim_count; i++)
		dims_put(s, s->options.dims[i].name, s->options.dims[i].value, "--dim");
	return 0;
}

/* The initial value of the what-if assume. */
static bool assume_meant(const struct session *s)
{
	struct scenario said = scenario_default();
	said.assume = session_assumes(s);
	if (s->given->what_if)
		scenario_parse(&said, s->given->what_if, NULL);
	return said.assume;
}

/* The what-ifs of the options and the configuration. */
static int what_ifs_begin(struct session *s, struct error *err)
{
	const struct config *c = s->given;
	s->scenario = scenario_default();
	s->scenario.best = !c->algorithms || strcmp(c->algorithms, "preferred") != 0;
	s->matrix_given = scenarios_say_matrix(c->what_if);
	return c->what_if ? scenario_parse(&s->scenario, c->what_if, err) : 0;
}

void session_reset_what_ifs(struct session *s)
{
	what_ifs_begin(s, NULL); /* session_open has read them */
	s->scenario.assume = assume_meant(s);
	s->stale = true;
}

/* ---- opening, closing ---- */

static int db_open(struct session *s, struct error *err)
{
	const char *path = s->config->db ? s->config->db : config_default_db(&s->dim_arena);
	bool read_only = s->options.db == SESSION_DB_READ;
	struct stat st;
	if (read_only && ((stat(path, &st) && errno == ENOENT) || (S_ISREG(st.st_mode) && st.st_size == 0)))
		return 0;
	enum store_fault fault = STORE_FAULT_OTHER;
	struct error why = ERROR_NONE;
	s->store = store_open_or(path, read_only, &fault, &why);
	bool tries = s->options.db == SESSION_DB_TRY;
	if (tries)
		s->options.db = SESSION_DB_WRITE;
	if (s->store || (read_only && fault == STORE_FAULT_EMPTY))
		return 0;
	if (!tries || (fault != STORE_FAULT_FULL && (s->config->db || fault != STORE_FAULT_UNWRITABLE)))
		return error_set(err, "%s", why.text);
	snprintf(s->unkept, sizeof(s->unkept), "%s", why.text);
	s->options.db = SESSION_DB_READ;
	s->store = store_open(path, true, &why);
	return 0;
}

/* A model_operators: those of the user and those that are built in. */
static const char *known_operator(const void *with, struct text domain, struct text name, int64_t opset)
{
	const struct session *s = with;
	const struct op *own = op_own_find(&s->operators, domain, name);
	return own ? op_own_place(own) : op_exists(domain, name, opset) ? "" : NULL;
}

/* Reads the operators beside the model, then the model; by the configuration, operators go before functions
 * of their name. s->model changes only if all went well. */
static int model_open(struct session *s, struct error *err)
{
	bool expand = strcmp(s->given->functions, "expand") == 0;
	if (session_operators_gather(s, err))
		return -1;
	struct model *m = model_load_over(s->options.model_path, expand ? NULL : known_operator, s, err);
	if (!m)
		return -1;
	s->model = m;
	return 0;
}

struct session *session_open(struct config *config, const struct session_options *o, struct error *err)
{
	struct session *s = base_calloc(1, sizeof(*s));
	s->config = s->given = config;
	s->options = *o;
	s->results = results_new();
	s->device.llc_bytes = NAN;
	s->peaks = peaks_unknown();
	session_file_note(s, o->model_path);
	int bad = model_open(s, err);
	if (!bad)
		bad = db_open(s, err);
	if (!bad)
		bad = what_ifs_begin(s, err);
	s->gpu_asked = described_is_named(config);
	if (!bad)
		bad = sidecars_gather(s, err);
	if (!bad)
		s->scenario.assume = assume_meant(s);
	if (bad) {
		session_close(s);
		return NULL;
	}
	return s;
}

static void plan_drop(struct session_plan *sp)
{
	session_real_free(sp->real);
	fusion_free(sp->fusion);
	plan_free(sp->plan);
	free(sp->assumed);
	free(sp);
}

static void plans_free(struct session *s)
{
	for (int i = 0; i < s->plan_count; i++)
		plan_drop(s->plans[i]);
	s->plan_count = 0;
	s->current = NULL;
	s->asked = NULL;
	memset(s->trimmed_types, 0, sizeof(s->trimmed_types));
}

static void analysis_clear(struct session *s)
{
	arena_clear(&s->analysis_arena);
	s->analysis = NULL;
	s->effects = NULL;
	s->effect_count = 0;
	session_reality_drop(s);
}

void session_analysis_drop(struct session *s)
{
	analysis_clear(s);
	session_advice_cancel(s);
	arena_free(&s->analysis_arena);
	analyzer_free(s->analyzer);
	s->analyzer = NULL;
}

int session_turn_to(struct session *s, const char *model_path, struct error *err)
{
	struct session before = *s;
	session_file_note(s, model_path);
	s->options.model_path = model_path;
	s->dims = NULL;
	s->dim_count = 0;
	if (model_open(s, err) || sidecars_gather(s, err)) {
		if (s->model != before.model)
			model_free(s->model);
		s->model = before.model;
		s->model_bytes = before.model_bytes;
		s->model_date_ns = before.model_date_ns;
		s->options = before.options;
		s->dims = before.dims;
		s->dim_sources = before.dim_sources;
		s->dim_count = before.dim_count;
		arena_free(&s->operators_arena);
		s->operators = before.operators;
		s->operators_arena = before.operators_arena;
		return -1;
	}
	session_analysis_drop(s);
	session_sweep_drop(s);
	session_hash_drop(s);
	session_assume_drop(s);
	plans_free(s);
	s->repeats_due = 0;
	model_free(before.model);
	arena_free(&before.operators_arena);
	s->scenario.assume = assume_meant(s);
	s->stale = true;
	return 0;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	session_analysis_drop(s);
	session_sweep_drop(s);
	session_hash_drop(s);
	session_device_free(s);
	plans_free(s);
	session_assume_drop(s);
	free(s->plans);
	session_digests_free(s);
	if (s->store)
		store_close(s->store);
	if (s->model)
		model_free(s->model);
	arena_free(&s->dim_arena);
	arena_free(&s->operators_arena);
	free(s);
}

/* ---- plans ---- */

/* What a plan of few bits has beside them: what engines for GPUs use there; on CPUs the model's own. */
static enum dtype rest_type(const struct session *s)
{
	return session_on_gpu(s) ? DTYPE_F16 : DTYPE_UNKNOWN;
}

static struct session_plan *plan_make(struct session *s, int64_t batch, enum dtype dtype, struct error *err)
{
	struct plan_options o = {
		.dtype = dtype, .rest = rest_type(s), .batch = batch,
		.binding_count = s->dim_count, .bindings = s->dims,
		.shape_count = s->options.shape_count, .shapes = s->options.shapes,
		.value_count = s->options.value_count, .values = s->options.values,
		.trial = s->plan_count > 0, /* the first plan has said which values have no effect */
		.operators = &s->operators,
	};
	struct plan *plan = session_plan_build(s, &o, err);
	if (!plan)
		return NULL;
	struct session_plan *made = base_calloc(1, sizeof(*made));
	*made = (struct session_plan){ .batch = batch, .dtype =
			plan->own_types && plan->mixed ? DTYPE_UNKNOWN : plan->dtype,
		.plan = plan, .used = ++s->plan_uses };
	if (session_assume_plan(s, made, err)) {
		plan_drop(made);
		return NULL;
	}
	VEC_GROW(s->plans, s->plan_count, s->plan_capacity);
	s->plans[s->plan_count++] = made;
	return made;
}

/* Frees what belongs to the model of before. */
static void model_leave(struct session *s, const struct session *before)
{
	struct session old = *before;
	session_analysis_drop(s);
	session_sweep_drop(s);
	session_hash_drop(s);
	plans_free(&old);
	free(old.plans);
	session_assume_drop(&old);
	model_free(old.model);
	arena_free(&old.dim_arena);
	arena_free(&old.operators_arena);
	s->asked = NULL;
	s->scenario.assume = session_assumes(s);
}

int session_replace(struct session *s, const char *model_path, int64_t batch, enum dtype dtype,
	struct error *err)
{
	struct session before = *s;
	s->dim_arena = (struct arena){ 0 };
	s->options.model_path = arena_strndup(&s->dim_arena, model_path, strlen(model_path));
	s->options.dim_count = s->options.shape_count = s->options.value_count = s->options.assume_count = 0;
	s->plans = NULL;
	s->current = NULL;
	s->assumed = NULL;
	s->dims = NULL;
	s->operators_arena = (struct arena){ 0 };
	memset(s->trimmed_types, 0, sizeof(s->trimmed_types));
	s->plan_count = s->plan_capacity = s->assumed_count = s->assumed_capacity = s->dim_count = 0;
	session_file_note(s, model_path);
	s->model = NULL;
	struct session_plan *made = model_open(s, err) || sidecars_gather(s, err) ? NULL :
		plan_make(s, batch, dtype, err);
	if (!made) {
		if (s->model)
			model_free(s->model);
		free(s->plans);
		arena_free(&s->dim_arena);
		arena_free(&s->operators_arena);
		*s = before;
		return -1;
	}
	model_leave(s, &before);
	s->current = made;
	s->stale = true;
	return 0;
}

static bool rest_fits(const struct session *s, const struct plan *p)
{
	return !plan_is_few(p) || p->rest == plan_rest(p->own, rest_type(s));
}

static struct session_plan *plan_find(struct session *s, int64_t batch, enum dtype dtype)
{
	for (int i = 0; i < s->plan_count; i++) {
		struct session_plan *p = s->plans[i];
		if (p->batch != batch || (dtype ? p->dtype != dtype : !p->plan->own_types) ||
			!rest_fits(s, p->plan))
			continue;
		p->used = ++s->plan_uses;
		return p;
	}
	return NULL;
}

void session_plans_trim(struct session *s)
{
	for (;;) {
		int layers = 0, oldest = -1;
		for (int i = 0; i < s->plan_count; i++) {
			if (s->plans[i] == s->current || s->plans[i]->held)
				continue;
			layers += s->plans[i]->plan->layer_count;
			if (oldest < 0 || s->plans[i]->used < s->plans[oldest]->used)
				oldest = i;
		}
		if (layers <= SESSION_PLANS_LAYERS)
			return;
		session_types_note(s->trimmed_types, s->plans[oldest]);
		if (s->asked == s->plans[oldest])
			s->asked = NULL;
		plan_drop(s->plans[oldest]);
		s->plans[oldest] = s->plans[--s->plan_count];
	}
}

struct session_plan *session_plan_of(struct session *s, int64_t batch, enum dtype dtype, struct error *err)
{
	struct session_plan *found = plan_find(s, batch, dtype);
	return found ? found : plan_make(s, batch, dtype, err);
}

void session_set_distance(struct session *s)
{
	if (s->queue && s->current)
		queue_set_distance(s->queue, s->current->plan->reuse_bytes, s->scenario.huge_pages);
}

int session_select(struct session *s, int64_t batch, enum dtype dtype, struct error *err)
{
	struct session_plan *found = plan_find(s, batch, dtype);
	if (!found) {
		if (!(found = plan_make(s, batch, dtype, err)))
			return -1;
		if (!s->current && session_check_options(s, found->plan, err)) {
			plans_free(s);
			return -1;
		}
		dims_remember(s, s->options.dims, s->options.dim_count); /* the model accepts them */
	}
	if (found != s->current)
		session_analysis_drop(s); /* it points into the plan */
	s->current = found;
	s->stale = true;
	session_set_distance(s);
	return 0;
}

void session_follow_device(struct session *s)
{
	struct error err = ERROR_NONE;
	if (s->current && !rest_fits(s, s->current->plan) &&
		session_select(s, s->current->batch, s->current->dtype, &err))
		log_line("%s", err.text);
}

#define BATCH_MAX 65536 /* as of --batch */

static bool batch_is_valid(const struct session *s, const struct session_plan *made)
{
	bool had_batch = s->current && s->current->plan->batch > 0;
	return made->plan->batch <= BATCH_MAX && (made->plan->batch > 0 || !had_batch);
}

int session_bind(struct session *s, const struct dim_binding *dims, int count, struct error *err)
{
	return session_set(s, session_batch(s), session_dtype(s), dims, count, err);
}

int session_set(struct session *s, int64_t batch, enum dtype dtype, const struct dim_binding *dims, int count,
	struct error *err)
{
	if (!count)
		return session_select(s, batch, dtype, err);
	struct session before = *s;
	for (int i = 0; i < count; i++)
		if (dims[i].value < 0)
			return error_set(err, "a dimension cannot be negative");
	dims_move(s);
	for (int i = 0; i < count; i++)
		dims_put(s, dims[i].name, dims[i].value, "entered");
	struct session_plan *made = plan_make(s, batch, dtype, err);
	if (made && !batch_is_valid(s, made)) {
		s->plan_count--;
		plan_drop(made);
		made = NULL;
		error_set(err, "batch must be 1-%d", BATCH_MAX);
	}
	if (!made) { /* the model rejects the values: nothing changes */
		arena_free(&s->dim_arena);
		s->dim_arena = before.dim_arena;
		s->options.model_path = before.options.model_path;
		s->dims = before.dims;
		s->dim_sources = before.dim_sources;
		s->dim_count = before.dim_count;
		return -1;
	}
	dims_remember(s, dims, count);
	session_analysis_drop(s);
	session_sweep_drop(s); /* its problems have the sizes of before */
	s->plan_count--; /* keep the new plan, which is the last */
	plans_free(s);
	s->plans[s->plan_count++] = made;
	s->current = made;
	s->stale = true;
	arena_free(&before.dim_arena);
	return 0;
}

const char *session_model_name(const struct session *s)
{
	return strcmp(s->model->path, "-") == 0 ? "standard input" : s->model->path;
}

int session_check_bound(const struct session *s, struct error *err)
{
	const struct plan *p = s->current->plan;
	if (!p->unbound_count)
		return 0;
	struct arena a = { 0 };
	bool one = p->unbound_count == 1;
	error_set(err, "%s: %d dimension%s not bound; add %s", session_model_name(s), p->unbound_count,
		one ? " is" : "s are", plan_needs_line(p, &a));
	arena_free(&a);
	return -1;
}

/* ---- analysis ---- */

static bool analyze_anew(struct session *s)
{
	session_set_distance(s);
	if (s->sweep.variants != scenario_variants(&s->scenario))
		session_sweep_drop(s);
	if (s->queue && !s->device.name && queue_device(s->queue))
		session_device_adopt(s, queue_device(s->queue));
	struct error trouble = ERROR_NONE;
	if (s->stale && session_recorded_more(s, &trouble)) {
		log_line("%s", trouble.text);
		snprintf(s->trouble, sizeof(s->trouble), "%s", trouble.text);
	}
	if (s->besides_due && s->queue)
		session_measure_besides(s);
	uint64_t version = results_version(s->results),
		 planned = s->planner ? planner_version(s->planner) : 0;
	if (!s->current ||
		(s->analysis && !s->stale && version == s->seen_version && planned == s->seen_planner))
		return false;
	analysis_clear(s);
	if (!s->matrix_given)
		s->scenario.matrix = session_matrix_meant(s);
	int64_t begin = clock_ms();
	s->peaks = s->described ? s->described->peaks : peaks_from_results(s->results, &s->device);
	struct ground ground = session_ground(s);
	if (!s->analyzer)
		s->analyzer = analyzer_new();
	s->analysis = analyzer_run(s->analyzer, &s->analysis_arena, &ground, &s->scenario);
	what_if_table(&s->effect_count);
	s->effects = ARENA_ARRAY(&s->analysis_arena, struct what_if_effect, s->effect_count);
	for (int i = 0; i < s->effect_count; i++)
		analyzer_effect_begin(s->analyzer, &ground, &s->scenario, i, &s->effects[i]);
	s->seen_version = version;
	s->seen_planner = planned;
	s->stale = false;
	int64_t left = begin + s->effects_ms - clock_ms();
	if (!s->effects_ms || left > 0)
		session_effects_step(s, s->effects_ms ? (int)left : INT_MAX);
	return true;
}

bool session_refresh(struct session *s)
{
	bool anew = analyze_anew(s);
	session_repeat_when_idle(s);
	return analyze_anew(s) || anew; /* another plan was selected meanwhile */
}

bool session_is_analyzed(const struct session *s)
{
	return s->current && s->analysis && !s->stale &&
		(s->device.name || !s->queue || !queue_device(s->queue));
}

bool session_effects_step(struct session *s, int ms)
{
	int64_t begin = clock_ms();
	if (!s->analysis || s->stale || results_version(s->results) != s->seen_version)
		return false;
	struct ground ground = session_ground(s);
	for (int i = 0; i < s->effect_count; i++) {
		if (!s->effects[i].pending)
			continue;
		if (clock_ms() - begin >= ms)
			return true;
		analyzer_effect(s->analyzer, &ground, &s->scenario, i, &s->effects[i]);
	}
	bool more = session_reality_pending(s);
	while (more && clock_ms() - begin < ms)
		more = session_reality_go_on(s);
	return more;
}

/* ---- planning for a described device ---- */

/* Sends all problems of a plan and layout to the planner once; called at every key press. */
static void plan_ask(struct session *s)
{
	if (s->asked == s->current && s->asked_variants == scenario_variants(&s->scenario))
		return;
	struct arena a = { 0 };
	int count;
	const char **texts = analyze_problems_in(&a, s->current->plan, session_fusion(s), true,
		scenario_variants(&s->scenario), &count);
	for (int i = 0; i < count; i++)
		planner_ask(s->planner, texts[i]);
	arena_free(&a);
	s->asked = s->current;
	s->asked_variants = scenario_variants(&s->scenario);
}

bool session_plan_step(struct session *s, int timeout_ms)
{
	if (!s->planner || !s->current)
		return false;
	plan_ask(s);
	planner_step(s->planner, timeout_ms);
	const struct device *d = planner_device(s->planner);
	if (d && !*s->device.runner) { /* its hello has just arrived */
		s->device.runner = d->runner;
		s->device.version = d->version;
		s->device.stack = arena_printf(&s->device_arena, "planned by %s", d->stack);
		s->stale = true;
	}
	return !planner_is_idle(s->planner);
}

const struct planned *session_planned(const struct session *s, const char *problem)
{
	return s->planner && problem ? planner_of(s->planner, problem) : NULL;
}
