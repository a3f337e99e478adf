/* The request for an agent: the model's files, inputs with shapes and ranges, settings. Indices into a
 * table must lie in it, or the framework fails. */
#include "config.h"

#include "session/session_agent.h"
#include "session/session_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/folder.h"
#include "base/log.h"
#include "store/executions.h"

#define BUDGET_TIMES 25 /* time for the samples of a whole model, in budgets of one algorithm */
#define BUDGET_MOST_MS 3600000

struct session_agent {
	struct arena arena;
	struct session *session;
	struct agent *agent;
	const char *name;
	struct agent_request request;
	struct wire_model model;
	struct wire_try change; /* of a trial: model.change points to it */
	struct execution known, made; /* found in the database; sent by the agent */
	bool again, is_known, is_missing, running;
};

/* --- the request --- */

/* Returns the number of rows of the constant table that an integer input indexes through a Gather; 0 if it
 * indexes no table. */
static int64_t table_rows(const struct plan *p, int value)
{
	const struct plan_value *v = &p->values[value];
	for (int i = 0; i < v->consumer_count; i++) {
		const struct plan_layer *l = &p->layers[v->consumers[i]];
		if (!plan_layer_is(l, "Gather") || l->input_count < 2 || l->inputs[1] != value ||
			l->inputs[0] < 0)
			continue;
		const struct plan_value *table = &p->values[l->inputs[0]];
		if (table->shape.rank > 0 && table->shape.dims[0].kind == DIM_KNOWN)
			return table->shape.dims[0].value;
	}
	return 0;
}

/* Sets the range of an integer input: indices lie in their table; an input with a single --value has that
 * value. */
static void set_range(const struct session *s, const struct plan *p, int value, struct wire_input *in)
{
	int64_t rows = table_rows(p, value);
	in->low = in->high = NAN;
	if (!dtype_is_float(dtype_parse(text_of(in->dtype))) && rows > 0) {
		in->low = 0;
		in->high = (double)(rows - 1);
	}
	for (int i = 0; i < s->subject->given.value_count; i++)
		if (text_equal(s->subject->given.values[i].name, p->values[value].name) &&
			s->subject->given.values[i].count == 1)
			in->low = in->high = s->subject->given.values[i].numbers[0];
}

static int make_input(const struct session *s, const struct plan *p, struct arena *a, int value,
	struct wire_input *in, struct error *err)
{
	const struct plan_value *v = &p->values[value];
	enum dtype own = p->graph->values[value].dtype; /* not that of -t */
	const char *name = arena_strndup(a, v->name.p, v->name.n);
	int64_t *dims = ARENA_ARRAY(a, int64_t, v->shape.rank > 0 ? v->shape.rank : 1);
	if (v->kind != VALUE_TENSOR || v->shape.rank < 0)
		return error_set(err, "%s: input %s is not a tensor of a known shape: agents cannot run it",
			session_model_name(s), name);
	for (int i = 0; i < v->shape.rank; i++) {
		if (v->shape.dims[i].kind != DIM_KNOWN)
			return error_set(err, "%s: input %s has an unknown dimension; give it with --input",
				session_model_name(s), name);
		dims[i] = v->shape.dims[i].value;
	}
	*in = (struct wire_input){ .name = name, .dtype = dtype_name(own), .rank = v->shape.rank,
		.shape = dims };
	set_range(s, p, value, in);
	return 0;
}

static int make_inputs(struct session_agent *a, const struct plan *p, const struct wire_input **list,
	int *count, struct error *err)
{
	struct wire_input *inputs = ARENA_ARRAY(&a->arena, struct wire_input, p->graph->input_count + 1);
	for (int i = 0; i < p->graph->input_count; i++)
		if (make_input(a->session, p, &a->arena, p->graph->inputs[i], &inputs[i], err))
			return -1;
	*list = inputs;
	*count = p->graph->input_count;
	return 0;
}

static int make_file(struct session_agent *a, const char *path, struct wire_part *part, struct error *err)
{
	char digest[DIGEST_SIZE];
	if (session_digest(a->session, path, digest, &part->bytes, err))
		return -1;
	part->sha256 = arena_printf(&a->arena, "%s", digest);
	return 0;
}

/* The path of an external file of the model, which is in its folder or below, also where links lead. NULL on
 * errors. */
static const char *external_path(struct arena *a, const struct model *m, int i, struct error *err)
{
	const char *path = model_external_path(m, i, a), *name = text_clean(a, m->externals[i]);
	if (wire_part_is_below(arena_strndup(a, m->externals[i].p, m->externals[i].n)) &&
		folder_holds(m->path, path))
		return path;
	error_set(err, "%s: its external data %s is outside the model's directory; agents read only files "
		"in or below it: put the file itself there", m->path, name);
	return NULL;
}

/* The model's file and its external data. */
static int make_files(struct session_agent *a, struct error *err)
{
	const struct model *m = a->session->subject->model;
	const char *absolute = realpath(m->path, NULL);
	struct wire_part whole = { 0 };
	struct wire_part *parts = ARENA_ARRAY(&a->arena, struct wire_part, m->external_count + 1);
	const char **paths = ARENA_ARRAY(&a->arena, const char *, m->external_count + 1);
	a->model.path = arena_printf(&a->arena, "%s", absolute ? absolute : m->path);
	free((void *)(uintptr_t)absolute);
	if (make_file(a, m->path, &whole, err))
		return -1;
	a->model.sha256 = whole.sha256;
	a->model.bytes = whole.bytes;
	for (int i = 0; i < m->external_count; i++) {
		parts[i].name = arena_strndup(&a->arena, m->externals[i].p, m->externals[i].n);
		paths[i] = external_path(&a->arena, m, i, err);
		if (!paths[i])
			return -1;
		if (make_file(a, paths[i], &parts[i], err))
			return error_context(err, "external data");
	}
	a->model.external = parts;
	a->model.external_count = m->external_count;
	a->request.externals = paths;
	return 0;
}

/* The change of a trial, with the inputs of its batch. */
static int make_change(struct session_agent *a, const struct wire_try *change, struct error *err)
{
	struct variant_ground g;
	a->change = *change;
	a->change.move = arena_printf(&a->arena, "%s", change->move);
	a->change.provider = arena_printf(&a->arena, "%s", change->provider);
	a->model.change = &a->change;
	a->model.profile = a->model.compare = false;
	if (!change->batch)
		return 0;
	struct variant v = session_variant(a->session);
	v.batch = change->batch;
	int bad = variant_open(a->session, &v, &g, err) ||
		make_inputs(a, g.on.plan, &a->change.inputs, &a->change.input_count, err);
	variant_close(&g);
	return bad ? -1 : 0;
}

/* The options for the framework as a JSON object, with its keys in order; "": none. */
static const char *options_text(struct session_agent *a)
{
	const json_t *options = a->session->options.agent_options;
	char *text = options ? json_dumps(options, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	const char *kept = arena_printf(&a->arena, "%s", text ? text : "");
	free(text);
	return kept;
}

static int make_request(struct session_agent *a, const char *provider, struct error *err)
{
	struct session *s = a->session;
	const struct plan *p = s->current->plan;
	int64_t budget = s->seat->config->budget_ms * BUDGET_TIMES;
	/* of several types, and of integers, frameworks keep what the file has */
	bool own = p->own_types && !p->mixed && p->own != DTYPE_F32 && dtype_is_float(p->own);
	const char *base = strrchr(s->subject->model->path, '/');
	base = base ? base + 1 : s->subject->model->path;
	a->model = (struct wire_model){ .seed = 1, .batch = p->batch, .provider = provider,
		.dtype = dtype_name(p->own_types && !own ? DTYPE_F32 : p->dtype), .own_type = own,
		.level = "all",
		.threads = s->seat->config->threads,
		.requests = s->options.requests ? s->options.requests : 1, .profile = true, .compare = true,
		.options = options_text(a) };
	if (session_check_bound(s, err) || make_files(a, err) ||
		make_inputs(a, p, &a->model.inputs, &a->model.input_count, err))
		return -1;
	size_t n = strlen(base);
	a->request.name = text_clean(&a->arena,
		(struct text){ base, n > 5 && strcmp(base + n - 5, ".onnx") == 0 ? n - 5 : n });
	const char *payload = arena_printf(&a->arena, "%.200s sha256=%s %s %s", a->request.name,
		a->model.sha256, *provider ? provider : "-", a->model.dtype);
	char *fits = arena_alloc(&a->arena, PROBLEM_TEXT_SIZE);
	a->request.payload = text_fit(fits, PROBLEM_TEXT_SIZE, text_clean(&a->arena, text_of(payload)));
	a->request.model = &a->model;
	a->request.budget_ms = budget < BUDGET_MOST_MS ? budget : BUDGET_MOST_MS;
	return 0;
}

const struct config_runner *session_agent_find(const struct config *c, struct text name, struct error *err)
{
	const char *colon = name.n ? memchr(name.p, ':', name.n) : NULL;
	struct text wanted = { name.p, colon ? (size_t)(colon - name.p) : name.n };
	const struct config_runner *r = config_agent(c, wanted);
	struct str list = { 0 };
	for (int i = 0; i < c->agent_count && !r; i++)
		str_addf(&list, "%s%s", i ? ", " : "", c->agents[i].name);
	if (!r)
		error_set(err, "unknown agent %.*s (configured: %s); add it under agents: in the "
			"configuration", wanted.n < 60 ? (int)wanted.n : 60, name.p,
			list.n ? list.p : "none");
	str_free(&list);
	return r;
}

int session_agents_again(struct session *s, struct error *err)
{
	return config_agents_again(s->given, err);
}

int session_agent_prepare(struct session *s, struct error *err)
{
	const struct model *m = s->subject->model;
	struct arena a = { 0 };
	int more = strcmp(m->path, "-") != 0 ? session_digest_step(s, m->path, err) : 0;
	for (int i = 0; i < m->external_count && !more; i++) {
		const char *path = external_path(&a, m, i, err);
		more = path ? session_digest_step(s, path, err) : -1;
	}
	arena_free(&a);
	return more;
}

static struct session_agent *start(struct session *s, const char *name, bool again,
	const struct wire_try *change, bool *bad, struct error *err)
{
	const char *colon = strchr(name, ':'), *provider = colon ? colon + 1 : "";
	*bad = true;
	if (strcmp(s->subject->model->path, "-") == 0) {
		error_set(err, "standard input: agents run model files; give the model's path");
		return NULL;
	}
	const struct config_runner *r = session_agent_find(s->given, text_of(name), err);
	if (!r)
		return NULL;
	struct session_agent *a = base_calloc(1, sizeof(*a));
	a->session = s;
	a->name = arena_printf(&a->arena, "%s", name);
	a->again = again;
	if (make_request(a, arena_printf(&a->arena, "%s", provider), err) == 0 &&
		(!change || make_change(a, change, err) == 0)) {
		*bad = false;
		a->agent = agent_start(r, err);
	}
	if (!a->agent) {
		session_agent_free(a);
		return NULL;
	}
	return a;
}

struct session_agent *session_agent_start(
	struct session *s, const char *name, bool again, bool *bad, struct error *err)
{
	return start(s, name, again, NULL, bad, err);
}

struct session_agent *session_agent_try(struct session *s, const char *name, const struct wire_try *change,
	bool *bad, struct error *err)
{
	return start(s, name, true, change, bad, err);
}

/* --- running --- */

/* Returns the text of execution.inputs: "data:f32:1x3x224x224". */
static const char *inputs_text(struct session_agent *a)
{
	struct str out = { 0 };
	for (int i = 0; i < a->model.input_count; i++) {
		const struct wire_input *in = &a->model.inputs[i];
		str_addf(&out, "%s%s:%s:", i ? "\n" : "", in->name, in->dtype);
		for (int d = 0; d < in->rank; d++)
			str_addf(&out, "%s%lld", d ? "x" : "", (long long)in->shape[d]);
	}
	const char *text = arena_printf(&a->arena, "%s", out.p ? out.p : "");
	str_free(&out);
	return text;
}

/* Returns the key `request` of the settings: the requested values. The values that a framework reports may
 * differ (an unreported type, its own number of threads). */
static json_t *request_json(const struct session_agent *a)
{
	const struct wire_model *m = &a->model;
	const struct wire_try *t = &a->change; /* zeros without a trial */
	int threads = t->threads ? t->threads : m->threads;
	json_t *o = json_pack("{s:s, s:s, s:i, s:i}", "dtype", t->dtype && *t->dtype ? t->dtype : m->dtype,
		"level", t->level && *t->level ? t->level : m->level, "requests", m->requests, "threads",
		threads ? threads : agent_device(a->agent)->threads);
	if (*m->options)
		json_object_set(o, "options", (json_t *)(uintptr_t)a->session->options.agent_options);
	if (m->change)
		json_object_set_new(o, "try", json_text(text_of(t->move)));
	return o;
}

/* Returns true if the settings are those of the request. Settings without a request (an agent started by
 * hand) must agree with what the execution reports. */
static bool same_request(const struct session_agent *a, const struct execution *e)
{
	json_t *settings = *e->settings ? json_loads(e->settings, 0, NULL) : NULL, *wanted = request_json(a);
	const json_t *asked = json_object_get(settings, "request");
	bool same = asked ? json_equal(asked, wanted)
			  : strcmp(e->dtype, a->model.dtype) == 0 &&
			(e->requests ? e->requests : 1) == a->model.requests &&
			e->threads == json_int_at(wanted, "threads", 0) &&
			strcmp(json_string_at(settings, "level", ""), a->model.level) == 0;
	const json_t *options = json_object_get(settings, "options");
	const json_t *own = json_object_get(wanted, "options");
	same = same && (options ? own && json_equal(options, own) : asked || !own);
	json_decref(settings);
	json_decref(wanted);
	return same;
}

/* Looks for a successful execution of the same request in the database. */
static bool find_known(struct session_agent *a)
{
	struct arena scratch = { 0 };
	struct execution *list;
	int count;
	const struct device *hello = agent_device(a->agent);
	struct agent_description d = agent_describe(&scratch, hello);
	const struct executions_wanted wanted = { .model_hash = a->model.sha256, .device = hello->model,
		.framework = d.framework };
	const char *inputs = inputs_text(a), *provider = a->model.provider;
	if (!*provider)
		provider = arena_strndup(&scratch, d.providers, strcspn(d.providers, ","));
	if (!a->again && a->session->store &&
		store_executions_load(a->session->store, &wanted, &scratch, &list, &count, NULL) == 0)
		for (int i = 0; i < count && !a->is_known; i++) {
			const struct execution *e = &list[i];
			a->is_known = e->status == STATUS_OK && strcmp(e->source, "agent") == 0 &&
				      strcmp(e->version, d.version) == 0 && e->batch == a->model.batch &&
				      strcmp(e->inputs, inputs) == 0 &&
				      strcmp(e->provider, provider) == 0 && same_request(a, e);
			if (a->is_known)
				a->known = execution_copy(&a->arena, e);
		}
	arena_free(&scratch);
	return a->is_known;
}

/* Submits the request after the hello, unless the framework is missing or the execution is in the database.
 */
static enum agent_state begin(struct session_agent *a, struct error *err)
{
	struct arena scratch = { 0 };
	const struct device *hello = agent_device(a->agent);
	struct agent_description d = agent_describe(&scratch, hello);
	a->is_missing = jobs_contain(hello->jobs, JOB_MODEL) && *d.framework && !*d.version;
	if (a->is_missing)
		agent_not_installed(a->name, &d, err);
	arena_free(&scratch);
	if (a->is_missing)
		return AGENT_FAILED;
	if (find_known(a))
		return AGENT_ENDED;
	a->running = true;
	agent_run(a->agent, &a->request);
	return AGENT_WORKS;
}

/* Sets a->made: the agent's execution, with the request in its settings, and the date of this machine, as
 * results have it: the clocks of other hosts may be wrong. */
static void complete(struct session_agent *a)
{
	a->made = *agent_execution(a->agent);
	a->made.measured_at = (int64_t)time(NULL);
	json_t *settings = *a->made.settings ? json_loads(a->made.settings, 0, NULL) : json_object();
	if (json_is_object(settings)) {
		json_object_set_new(settings, "request", request_json(a));
		char *text = json_dumps(settings, JSON_COMPACT);
		a->made.settings = arena_printf(&a->arena, "%s", text);
		free(text);
	}
	json_decref(settings);
}

static void keep(struct session_agent *a)
{
	struct error err = ERROR_NONE;
	struct store *store = a->session->store;
	complete(a);
	if (a->model.change && !session_agent_trial(a)) /* nothing was measured */
		return;
	if (store && a->session->options.db == SESSION_DB_WRITE &&
		store_keep_execution(store, &a->made, &err) < 0)
		log_line("%s", err.text);
}

enum agent_state session_agent_step(struct session_agent *a, int timeout_ms, struct error *err)
{
	enum agent_state state = agent_step(a->agent, timeout_ms, err);
	if (state == AGENT_READY && !a->running)
		return begin(a, err);
	if (state == AGENT_ENDED)
		keep(a);
	return state;
}

void session_agent_cancel(struct session_agent *a)
{
	agent_cancel(a->agent);
}

void session_agent_free(struct session_agent *a)
{
	if (!a)
		return;
	agent_free(a->agent);
	arena_free(&a->arena);
	free(a);
}

const char *session_agent_name(const struct session_agent *a)
{
	return a->name;
}

const struct execution *session_agent_execution(const struct session_agent *a)
{
	return a->is_known ? &a->known : &a->made;
}

const struct wire_trial *session_agent_trial(const struct session_agent *a)
{
	bool compared = a->made.output_compared && !isnan(a->made.output_error);
	return a->model.change && a->made.status == STATUS_OK && compared ? agent_trial(a->agent) : NULL;
}

const struct device *session_agent_device(const struct session_agent *a)
{
	return agent_device(a->agent);
}

bool session_agent_is_known(const struct session_agent *a)
{
	return a->is_known;
}

bool session_agent_is_missing(const struct session_agent *a)
{
	return a->is_missing;
}

struct agent_progress session_agent_progress(const struct session_agent *a)
{
	return agent_progress(a->agent);
}

int session_agent_fd(const struct session_agent *a)
{
	return agent_fd(a->agent);
}

/* --- the hello --- */

struct agent_description agent_describe(struct arena *a, const struct device *hello)
{
	struct str providers = { 0 };
	json_t *o = json_loads(hello->attributes, 0, NULL);
	const json_t *one;
	size_t i;
	struct agent_description d = { .framework = arena_printf(a, "%s", json_string_at(o, "framework", "")),
		.version = arena_printf(a, "%s", json_string_at(o, "version", "")),
		.executable = arena_printf(a, "%s", json_string_at(o, "executable", "")) };
	json_array_foreach(json_object_get(o, "providers"), i, one)
		if (json_is_string(one))
			str_addf(&providers, "%s%s", providers.n ? ", " : "", json_string_value(one));
	d.providers = arena_printf(a, "%s", providers.p ? providers.p : "");
	str_free(&providers);
	json_decref(o);
	return d;
}

int agent_not_installed(const char *name, const struct agent_description *d, struct error *err)
{
	if (strcmp(d->framework, "tensorrt") == 0) /* trtexec is a program, not a package */
		return error_set(err,
			"the agent %s: trtexec is not found; install TensorRT and put its directory "
			"into PATH (env: of the agent, in the configuration)",
			name);
	return error_set(err,
		"the agent %s: %s is not installed for %s; install it, or set python: in the configuration "
		"to an "
		"interpreter that has it",
		name, d->framework, *d->executable ? d->executable : "its interpreter");
}
