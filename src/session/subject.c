/* A model of a session: its file, the files beside it, the values of its dimensions, its plans. */
#include "config.h"

#include "session/session_private.h"

#include "base/log.h"

#include <stdlib.h>
#include <string.h>

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
static char *model_key(const struct session_subject *u, struct arena *a)
{
	char *real = strcmp(u->given.model_path, "-") != 0 ? realpath(u->given.model_path, NULL) : NULL;
	char *key = real ? arena_strndup(a, real, strlen(real)) : NULL;
	free(real);
	return key;
}

static void dims_recall(const struct session *s, struct session_subject *u)
{
	struct arena a = { 0 };
	const char *key = model_key(u, &a);
	char *text = s->store && key ? store_dims_get(s->store, &a, key) : NULL;
	json_t *dims = text ? json_loads(text, 0, NULL) : NULL, *value;
	const char *name;
	json_object_foreach(dims, name, value)
		if (json_is_integer(value) && model_has_dim(u->model, text_of(name)))
			sizes_put(u->sizes, text_of(name), json_integer_value(value), "remembered");
	json_decref(dims);
	arena_free(&a);
}

void session_dims_remember(struct session *s, const struct dim_binding *dims, int count)
{
	struct arena a = { 0 };
	const char *key =
		s->store && s->options.db == SESSION_DB_WRITE && count ? model_key(s->subject, &a) : NULL;
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

/* ---- opening ---- */

/* A model_operators: those of the user and those that are built in. */
static const char *known_operator(const void *with, struct text domain, struct text name, int64_t opset)
{
	const struct session_subject *u = with;
	const struct op *own = op_own_find(&u->operators, domain, name);
	return own ? op_own_place(own) : op_exists(domain, name, opset) ? "" : NULL;
}

int subject_gather(const struct session *s, struct session_subject *u, struct error *err)
{
	const struct config *c = s->given;
	struct dim_binding *sidecar = NULL;
	int count = 0;
	if (strcmp(u->given.model_path, "-") != 0 &&
		config_sidecar(u->given.model_path, &u->sizes->arena, &sidecar, &count, err))
		return -1;
	for (int i = 0; i < count; i++)
		sizes_put(u->sizes, sidecar[i].name, sidecar[i].value, "sidecar");
	/* dims of the configuration are for all models: names that this model does not have are ignored */
	for (int i = 0; i < c->dim_count; i++)
		if (model_has_dim(u->model, c->dims[i].name))
			sizes_put(u->sizes, c->dims[i].name, c->dims[i].value, "config");
	dims_recall(s, u);
	for (int i = 0; i < u->given.dim_count; i++)
		sizes_put(u->sizes, u->given.dims[i].name, u->given.dims[i].value, "--dim");
	return 0;
}

struct session_subject *subject_load(
	const struct session *s, const struct session_options *o, struct error *err)
{
	struct session_subject *u = base_calloc(1, sizeof(*u));
	bool expand = strcmp(s->given->functions, "expand") == 0;
	u->given = *o;
	u->sizes = base_calloc(1, sizeof(*u->sizes));
	u->given.model_path = arena_strndup(&u->arena, o->model_path, strlen(o->model_path));
	session_file_note(u, o->model_path);
	u->operators.next = &s->given->operators;
	if (!config_operators(o->model_path, &u->arena, &u->operators, err))
		u->model = model_load_over(u->given.model_path, expand ? NULL : known_operator, u, err);
	if (u->model)
		return u;
	subject_free(u);
	return NULL;
}

struct session_subject *subject_open(
	const struct session *s, const struct session_options *o, struct error *err)
{
	struct session_subject *u = subject_load(s, o, err);
	if (!u || !subject_gather(s, u, err))
		return u;
	subject_free(u);
	return NULL;
}

void subject_free(struct session_subject *u)
{
	if (!u)
		return;
	plans_keep(u, NULL);
	free(u->plans);
	free(u->assumed);
	arena_free(&u->taken_arena);
	if (u->model)
		model_free(u->model);
	sizes_free(u->sizes);
	arena_free(&u->arena);
	free(u);
}

