/* Reads and writes the messages of agents: the request, the files of the model, the execution and its rows.
 */
#include "config.h"

#include "wire/wire_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problem/execution_field.h"

#define RANK_MAX 64

/* --- base64 (RFC 4648) --- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static json_t *base64_to_json(struct text t)
{
	const unsigned char *in = (const unsigned char *)t.p;
	char *out = base_malloc((t.n + 2) / 3 * 4 + 1);
	size_t n = 0;
	for (size_t i = 0; i < t.n; i += 3) {
		size_t left = t.n - i;
		unsigned v = (unsigned)in[i] << 16 | (left > 1 ? in[i + 1] : 0u) << 8 |
			     (left > 2 ? in[i + 2] : 0u);
		for (size_t k = 0; k < 4; k++)
			out[n++] = k > left ? '=' : digits[v >> (18 - 6 * k) & 63];
	}
	json_t *text = json_stringn(out, n);
	free(out);
	return text;
}

/* Decodes a base64 text. Returns the number of bytes; -1 if the text is not base64. */
static int base64_parse(struct text t, struct arena *a, struct text *bytes)
{
	size_t padding = t.n && t.p[t.n - 1] == '=' ? 1 + (t.n > 1 && t.p[t.n - 2] == '=') : 0, n = 0;
	if (t.n % 4)
		return -1;
	char *out = arena_alloc(a, t.n / 4 * 3 + 1);
	for (size_t i = 0; i < t.n; i += 4) {
		unsigned v = 0;
		for (size_t k = i; k < i + 4; k++) {
			bool pad = k >= t.n - padding;
			const char *digit = pad ? digits : memchr(digits, t.p[k], 64);
			if (!digit)
				return -1;
			v = v << 6 | (unsigned)(digit - digits);
		}
		for (int shift = 16; shift >= 0; shift -= 8)
			out[n++] = (char)(v >> shift & 255);
	}
	*bytes = (struct text){ out, n - padding };
	return 0;
}

/* --- fields --- */

/* Returns a list of names separated by '\n' as an array. */
static json_t *names_to_json(const char *names)
{
	json_t *list = json_array();
	for (const char *at = names ? names : ""; *at;) {
		size_t n = strcspn(at, "\n");
		if (n)
			json_array_append_new(list, json_text((struct text){ at, n }));
		at += n + (at[n] == '\n');
	}
	return list;
}

static int names_from_json(const json_t *o, const char *key, struct arena *a, const char **names,
	struct error *err)
{
	const json_t *list = json_object_get(o, key), *v;
	size_t i;
	int bad = 0;
	*names = "";
	if (!list || json_is_null(list))
		return 0;
	if (!json_is_array(list))
		return error_set(err, "\"%s\" is not a list of names", key);
	struct str all = { 0 };
	json_array_foreach(list, i, v)
	{
		size_t n = json_is_string(v) ? json_string_length(v) : WIRE_NAME_MAX + 1;
		bad |= n > WIRE_NAME_MAX || all.n + n >= WIRE_LONG_MAX;
		if (bad)
			break;
		if (n && all.n)
			str_puts(&all, "\n");
		str_add(&all, json_string_value(v), n);
	}
	if (bad)
		error_set(err, "\"%s\" contains a value that is not a name, or more than %d bytes", key,
			WIRE_LONG_MAX);
	else if (all.n)
		*names = arena_strndup(a, all.p, all.n);
	str_free(&all);
	return bad ? -1 : 0;
}

static json_t *object_to_json(const char *text)
{
	json_t *o = text && *text ? json_load_clean(text_of(text), NULL, NULL) : NULL;
	if (json_is_object(o))
		return o;
	json_decref(o);
	return json_object();
}

/* Sets *text to the object at key as compact JSON, "" if it is absent. */
static int object_from_json(const json_t *o, const char *key, struct arena *a, const char **text,
	struct error *err)
{
	const json_t *v = json_object_get(o, key);
	*text = "";
	if (!v || json_is_null(v))
		return 0;
	if (!json_is_object(v))
		return error_set(err, "\"%s\" is not an object", key);
	char *dump = json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS);
	size_t n = dump ? strlen(dump) : 0;
	if (n && n <= WIRE_LONG_MAX)
		*text = arena_strndup(a, dump, n);
	free(dump);
	return n && n <= WIRE_LONG_MAX ? 0 : error_set(err, "\"%s\" is longer than %d bytes", key,
		WIRE_LONG_MAX);
}

int wire_get_int(const json_t *o, const char *key, int otherwise, int *n, struct error *err)
{
	int64_t value;
	if (wire_get_count(o, key, otherwise, &value, err))
		return -1;
	if (value > INT32_MAX)
		return error_set(err, "\"%s\" is out of range", key);
	*n = (int)value;
	return 0;
}

static json_t *field_to_json(const struct execution_field *f, const void *at)
{
	switch (f->type) {
	case FIELD_TEXT:
	case FIELD_LONG:
		return json_text(text_of(*(const char *const *)at));
	case FIELD_NAMES:
		return names_to_json(*(const char *const *)at);
	case FIELD_OBJECT:
		return object_to_json(*(const char *const *)at);
	case FIELD_NUMBER:
		return json_number_or_null(*(const double *)at);
	case FIELD_INT:
		return *(const int *)at == f->unknown ? json_null() : json_integer(*(const int *)at);
	case FIELD_INT64:
		return *(const int64_t *)at == f->unknown ? json_null() : json_integer(*(const int64_t *)at);
	case FIELD_FLAG:
		return json_boolean(*(const bool *)at);
	case FIELD_WORD:
		return json_string(f->name(*(const int *)at));
	}
	return json_null();
}

static int field_from_json(const struct execution_field *f, const json_t *o, struct arena *a, void *at,
	struct error *err)
{
	switch (f->type) {
	case FIELD_TEXT:
		return wire_get_text(o, f->key, at, err);
	case FIELD_LONG:
		return wire_get_long_text(o, f->key, WIRE_LONG_MAX, at, err);
	case FIELD_NAMES:
		return names_from_json(o, f->key, a, at, err);
	case FIELD_OBJECT:
		return object_from_json(o, f->key, a, at, err);
	case FIELD_NUMBER:
		return wire_get_amount(o, f->key, at, err);
	case FIELD_INT:
		return wire_get_int(o, f->key, f->unknown, at, err);
	case FIELD_INT64:
		return wire_get_count(o, f->key, f->unknown, at, err);
	case FIELD_FLAG:
		*(bool *)at = json_is_true(json_object_get(o, f->key));
		return 0;
	case FIELD_WORD:
		return wire_get_word(o, f->key, f->parse, -1, at, err);
	}
	return 0;
}

static json_t *fields_to_json(const void *of, const struct execution_field *f, int count)
{
	json_t *o = json_object();
	for (int i = 0; i < count; i++)
		if (!f[i].in_stats)
			json_object_set_new(o, f[i].key,
				field_to_json(&f[i], (const char *)of + f[i].offset));
	return o;
}

static int fields_from_json(const json_t *o, struct arena *a, void *of, const struct execution_field *f,
	int count, struct error *err)
{
	for (int i = 0; i < count; i++)
		if (!f[i].in_stats && field_from_json(&f[i], o, a, (char *)of + f[i].offset, err))
			return -1;
	return 0;
}

/* --- execution and row --- */

/* An execution without its rows, and a row, as JSON and back; texts are in the arena. */
static json_t *wire_execution_to_json(const struct execution *e)
{
	int count;
	const struct execution_field *f = execution_fields(&count);
	json_t *o = fields_to_json(e, f, count);
	if (e->status == STATUS_OK && !isnan(e->stats.median))
		json_object_set_new(o, "stats", wire_stats_to_json(&e->stats));
	return o;
}

static int wire_execution_from_json(const json_t *o, struct arena *a, struct execution *e, struct error *err)
{
	int count;
	const struct execution_field *f = execution_fields(&count);
	*e = execution_new();
	if (!json_is_object(o))
		return error_set(err, "\"execution\" is not an object");
	if (fields_from_json(o, a, e, f, count, err))
		return -1;
	const json_t *stats = json_object_get(o, "stats");
	bool by_agent = strcmp(e->source, "agent") == 0;
	if (e->status != STATUS_OK || (!stats && !by_agent))
		return 0;
	return by_agent ? wire_stats_from_json(stats, &e->stats, err)
			: wire_stats_read(stats, &e->stats, err);
}

static json_t *wire_row_to_json(const struct execution_row *r)
{
	int count;
	const struct execution_field *f = execution_row_fields(&count);
	return fields_to_json(r, f, count);
}

static int wire_row_from_json(const json_t *o, struct arena *a, struct execution_row *r, struct error *err)
{
	int count;
	const struct execution_field *f = execution_row_fields(&count);
	*r = execution_row_new();
	if (!json_is_object(o))
		return error_set(err, "\"row\" is not an object");
	return fields_from_json(o, a, r, f, count, err);
}

int wire_execution_format(const struct wire_message *m, json_t *o)
{
	if (m->trial)
		json_object_set_new(o, "trial", wire_trial_to_json(m->trial));
	return json_object_set_new(o, "execution", wire_execution_to_json(m->execution));
}

int wire_execution_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	struct execution *e = ARENA_NEW(&m->arena, struct execution);
	const json_t *trial = json_object_get(o, "trial");
	m->execution = e;
	if (trial && !json_is_null(trial)) {
		struct wire_trial *t = ARENA_NEW(&m->arena, struct wire_trial);
		m->trial = t;
		if (wire_trial_from_json(trial, t, err))
			return error_context(err, "trial");
	}
	return wire_execution_from_json(json_object_get(o, "execution"), &m->arena, e, err);
}

int wire_row_format(const struct wire_message *m, json_t *o)
{
	return json_object_set_new(o, "row", wire_row_to_json(m->row));
}

int wire_row_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	struct execution_row *r = ARENA_NEW(&m->arena, struct execution_row);
	m->row = r;
	return wire_row_from_json(json_object_get(o, "row"), &m->arena, r, err);
}

/* --- files --- */

/* Checks a SHA-256, because it becomes a file name in the cache of an agent. */
static int get_hash(const json_t *o, const char **hash, struct error *err)
{
	if (wire_get_text(o, "sha256", hash, err))
		return -1;
	return strlen(*hash) == WIRE_HASH && strspn(*hash, "0123456789abcdef") == WIRE_HASH
		       ? 0
		       : error_set(err, "\"sha256\" is not a hash of %d hexadecimal digits", WIRE_HASH);
}

int wire_need_format(const struct wire_message *m, json_t *o)
{
	wire_set_text(o, "sha256", m->sha256);
	json_object_set_new(o, "offset", json_integer(m->offset));
	return json_object_set_new(o, "bytes", json_integer(m->bytes));
}

int wire_need_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	if (get_hash(o, &m->sha256, err) || wire_get_count(o, "offset", 0, &m->offset, err) ||
		wire_get_count(o, "bytes", 0, &m->bytes, err))
		return -1;
	return m->bytes >= 1 && m->bytes <= WIRE_CHUNK
		       ? 0
		       : error_set(err, "\"bytes\" must be 1 to %d", WIRE_CHUNK);
}

int wire_file_format(const struct wire_message *m, json_t *o)
{
	wire_set_text(o, "sha256", m->sha256);
	if (m->what && *m->what)
		return wire_set_text(o, "why", m->what);
	json_object_set_new(o, "offset", json_integer(m->offset));
	return json_object_set_new(o, "data", base64_to_json(m->data));
}

int wire_file_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	const char *data;
	if (get_hash(o, &m->sha256, err) || wire_get_text(o, "why", &m->what, err))
		return -1;
	if (*m->what)
		return 0;
	if (wire_get_count(o, "offset", 0, &m->offset, err) ||
		wire_get_long_text(o, "data", WIRE_LINE_MAX, &data, err))
		return -1;
	if (!*data || base64_parse(text_of(data), &m->arena, &m->data) || m->data.n > WIRE_CHUNK)
		return error_set(err, "\"data\" is not the base64 of 1 to %d bytes", WIRE_CHUNK);
	return 0;
}

/* --- the request --- */

static json_t *parts_to_json(const struct wire_model *r)
{
	json_t *list = json_array();
	for (int i = 0; i < r->external_count; i++) {
		json_t *one = json_object();
		wire_set_text(one, "name", r->external[i].name);
		json_object_set_new(one, "bytes", json_integer(r->external[i].bytes));
		wire_set_text(one, "sha256", r->external[i].sha256);
		json_array_append_new(list, one);
	}
	return list;
}

json_t *wire_inputs_to_json(const struct wire_input *inputs, int count)
{
	json_t *list = json_array();
	for (int i = 0; i < count; i++) {
		const struct wire_input *in = &inputs[i];
		json_t *one = json_object(), *shape = json_array();
		for (int d = 0; d < in->rank; d++)
			json_array_append_new(shape, json_integer(in->shape[d]));
		wire_set_text(one, "name", in->name);
		wire_set_text(one, "dtype", in->dtype);
		json_object_set_new(one, "shape", shape);
		json_object_set_new(one, "low", json_number_or_null(in->low));
		json_object_set_new(one, "high", json_number_or_null(in->high));
		json_array_append_new(list, one);
	}
	return list;
}

int wire_model_format(const struct wire_model *r, json_t *o)
{
	json_t *model = json_object();
	wire_set_text(model, "path", r->path);
	wire_set_text(model, "sha256", r->sha256);
	json_object_set_new(model, "bytes", json_integer(r->bytes));
	json_object_set_new(model, "external", parts_to_json(r));
	json_object_set_new(model, "inputs", wire_inputs_to_json(r->inputs, r->input_count));
	json_object_set_new(model, "seed", json_integer(r->seed));
	json_object_set_new(model, "batch", r->batch ? json_integer(r->batch) : json_null());
	wire_set_text(model, "provider", r->provider);
	wire_set_text(model, "dtype", r->dtype);
	if (r->own_type)
		json_object_set_new(model, "own_type", json_true());
	json_object_set_new(model, "threads", json_integer(r->threads));
	wire_set_text(model, "level", r->level);
	json_object_set_new(model, "requests", json_integer(r->requests));
	json_object_set_new(model, "io_binding", json_boolean(r->io_binding));
	json_object_set_new(model, "profile", json_boolean(r->profile));
	json_object_set_new(model, "compare", json_boolean(r->compare));
	json_object_set_new(model, "options", object_to_json(r->options));
	if (r->change)
		json_object_set_new(model, "try", wire_try_to_json(r->change));
	return json_object_set_new(o, "model", model);
}

bool wire_part_is_below(const char *name)
{
	for (const char *part = name;; part++) {
		size_t n = strcspn(part, "/");
		if (!n || *part == '.' || memchr(part, '\\', n))
			return false;
		part += n;
		if (!*part)
			return true;
	}
}

/* Reads one file of external data. */
static int part_from_json(const json_t *o, struct wire_part *part, struct error *err)
{
	if (!json_is_object(o))
		return error_set(err, "is not an object");
	if (wire_get_text(o, "name", &part->name, err) || get_hash(o, &part->sha256, err) ||
		wire_get_count(o, "bytes", 0, &part->bytes, err))
		return -1;
	return wire_part_is_below(part->name) ? 0 : error_set(err,
		"\"name\" is missing or not a path below the model's directory: \"%.60s\"", part->name);
}

static int parts_from_json(const json_t *list, struct arena *a, struct wire_model *r, struct error *err)
{
	size_t n = json_array_size(list);
	struct wire_part *parts = ARENA_ARRAY(a, struct wire_part, n);
	for (size_t i = 0; i < n; i++)
		if (part_from_json(json_array_get(list, i), &parts[i], err))
			return error_context(err, "external data");
	r->external = parts;
	r->external_count = (int)n;
	return 0;
}

static int input_from_json(const json_t *o, struct arena *a, struct wire_input *in, struct error *err)
{
	const json_t *shape = json_object_get(o, "shape");
	size_t rank = json_array_size(shape);
	if (!json_is_object(o) || (shape && !json_is_array(shape)) || rank > RANK_MAX)
		return error_set(err, "is not an object with a \"shape\" of at most %d numbers", RANK_MAX);
	int64_t *dims = ARENA_ARRAY(a, int64_t, rank);
	for (size_t d = 0; d < rank; d++) {
		const json_t *v = json_array_get(shape, d);
		dims[d] = json_integer_value(v);
		if (!json_is_integer(v) || dims[d] < 0)
			return error_set(err, "\"shape\" contains a value that is not an integer >= 0");
	}
	in->shape = dims;
	in->rank = (int)rank;
	in->low = json_number_or_nan(json_object_get(o, "low"));
	in->high = json_number_or_nan(json_object_get(o, "high"));
	if (wire_get_text(o, "name", &in->name, err))
		return -1;
	return wire_get_text(o, "dtype", &in->dtype, err);
}

int wire_inputs_from_json(const json_t *list, struct arena *a, const struct wire_input **inputs, int *count,
	struct error *err)
{
	size_t n = json_array_size(list);
	struct wire_input *all = ARENA_ARRAY(a, struct wire_input, n);
	for (size_t i = 0; i < n; i++)
		if (input_from_json(json_array_get(list, i), a, &all[i], err))
			return error_context(err, "input");
	*inputs = all;
	*count = (int)n;
	return 0;
}

static int level_parse(const char *level)
{
	static const char *const levels[] = { "all", "extended", "basic", "none" };
	for (int i = 0; i < 4; i++)
		if (strcmp(level, levels[i]) == 0)
			return i;
	return -1;
}

int wire_get_level(const json_t *o, const char **level, struct error *err)
{
	int word;
	return wire_get_text(o, "level", level, err) ? -1 :
		wire_get_word(o, "level", level_parse, 0, &word, err);
}

/* The optional key `try`. */
static int change_from_json(const json_t *o, struct arena *a, struct wire_model *r, struct error *err)
{
	const json_t *change = json_object_get(o, "try");
	if (!change || json_is_null(change))
		return 0;
	struct wire_try *t = ARENA_NEW(a, struct wire_try);
	r->change = t;
	return wire_try_from_json(change, a, t, err) ? error_context(err, "try") : 0;
}

static int request_from_json(const json_t *o, struct arena *a, struct wire_model *r, struct error *err)
{
	if (wire_get_text(o, "path", &r->path, err) || get_hash(o, &r->sha256, err) ||
		wire_get_count(o, "bytes", 0, &r->bytes, err) ||
		parts_from_json(json_object_get(o, "external"), a, r, err) ||
		wire_inputs_from_json(
			json_object_get(o, "inputs"), a, &r->inputs, &r->input_count, err) ||
		wire_get_count(o, "seed", 1, &r->seed, err) ||
		wire_get_count(o, "batch", 0, &r->batch, err) ||
		wire_get_text(o, "provider", &r->provider, err) ||
		wire_get_text(o, "dtype", &r->dtype, err) || wire_get_level(o, &r->level, err) ||
		wire_get_int(o, "threads", 0, &r->threads, err) ||
		wire_get_int(o, "requests", 1, &r->requests, err) ||
		object_from_json(o, "options", a, &r->options, err) || change_from_json(o, a, r, err))
		return -1;
	if (r->bytes < 1 || r->requests < 1)
		return error_set(err, "\"bytes\" or \"requests\" is missing or 0");
	r->dtype = *r->dtype ? r->dtype : "f32";
	r->level = *r->level ? r->level : "all";
	r->own_type = json_is_true(json_object_get(o, "own_type"));
	r->io_binding = json_is_true(json_object_get(o, "io_binding"));
	r->profile = json_is_true(json_object_get(o, "profile"));
	r->compare = json_is_true(json_object_get(o, "compare"));
	return 0;
}

int wire_model_parse(const json_t *o, struct wire_message *m, struct error *err)
{
	const json_t *model = json_object_get(o, "model");
	if (!model)
		return 0;
	struct wire_model *r = ARENA_NEW(&m->arena, struct wire_model);
	m->model = r;
	if (!json_is_object(model))
		return error_set(err, "\"model\" is not an object");
	return request_from_json(model, &m->arena, r, err) ? error_context(err, "model") : 0;
}
