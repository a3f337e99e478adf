/* Wrappers of jansson: numbers that may be NaN, and texts whose bytes may be no UTF-8. */
#include "config.h"

#include "base/json.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_number_or_null(double value)
{
	if (!isfinite(value))
		return json_null();
	if (value == floor(value) && fabs(value) < 9007199254740992.0)
		return json_integer((json_int_t)value);
	return json_real(value);
}

double json_number_or_nan(const json_t *value)
{
	return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *json_text(struct text t)
{
	struct arena a = { 0 };
	json_t *s = json_string(text_clean(&a, t));
	arena_free(&a);
	return s;
}

static void json_clean_string(json_t *value, bool lines)
{
	struct text t = { json_string_value(value), json_string_length(value) };
	if (text_is_clean(t))
		return;
	char *out = base_malloc(t.n + 1);
	size_t n = lines ? text_clean_lines_to(out, t) : text_clean_to(out, t);
	json_string_setn_nocheck(value, out, n);
	free(out);
}

/* jansson cannot rename a key: the value moves to a new key. */
static void json_clean_keys(json_t *object)
{
	const char *key;
	json_t *value;
	void *next;
	json_object_foreach_safe(object, next, key, value) {
		if (text_is_clean(text_of(key)))
			continue;
		char *out = base_malloc(strlen(key) + 1);
		text_clean_to(out, text_of(key));
		json_object_set(object, out, value);
		json_object_del(object, key);
		free(out);
	}
}

void json_clean(json_t *tree, const char *lines)
{
	const char *key;
	json_t *value;
	size_t i;
	if (json_is_string(tree))
		json_clean_string(tree, false);
	json_array_foreach(tree, i, value)
		json_clean(value, lines);
	if (!json_is_object(tree))
		return;
	json_clean_keys(tree);
	json_object_foreach(tree, key, value) {
		if (json_is_string(value))
			json_clean_string(value, lines && strcmp(key, lines) == 0);
		else
			json_clean(value, lines);
	}
}

/* JSON text without a backslash has no escapes, so its strings are clean if the text itself is. */
static bool json_is_clean(struct text t)
{
	while (t.n && t.p[t.n - 1] == '\n')
		t.n--;
	return (t.n == 0 || !memchr(t.p, '\\', t.n)) && text_is_clean(t);
}

json_t *json_load_clean(struct text t, const char *lines, json_error_t *where)
{
	json_t *tree = json_loadb(t.p, t.n, JSON_REJECT_DUPLICATES, where);
	if (tree && !json_is_clean(t))
		json_clean(tree, lines);
	return tree;
}

const char *json_clean_object(struct arena *a, const char *text)
{
	struct text t = text_of(text);
	if (json_is_clean(t))
		return arena_strndup(a, t.p, t.n);
	json_t *o = json_load_clean(t, NULL, NULL);
	char *out = json_is_object(o) ? json_dumps(o, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	const char *clean = out ? arena_strndup(a, out, strlen(out)) : "{}";
	json_decref(o);
	free(out);
	return clean;
}

const char *json_string_at(const json_t *object, const char *key, const char *otherwise)
{
	const char *s = json_string_value(json_object_get(object, key));
	return s ? s : otherwise;
}

int64_t json_int_at(const json_t *object, const char *key, int64_t otherwise)
{
	const json_t *v = json_object_get(object, key);
	return json_is_integer(v) ? json_integer_value(v) : otherwise;
}
