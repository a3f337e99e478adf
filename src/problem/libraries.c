/* Reads the list of libraries out of a hello. */
#include "config.h"

#include "problem/libraries.h"

#include <string.h>

#include "base/json.h"

#define LIBRARIES_MOST 64
#define TRIED_MOST 96

static const char *text_at(struct arena *a, const json_t *o, const char *key)
{
	return text_clean(a, text_of(json_string_at(o, key, "")));
}

/* Joins the texts of an array. */
static const char *joined(struct arena *a, const json_t *list)
{
	struct str all = { 0 };
	size_t i;
	const json_t *one;
	json_array_foreach(list, i, one)
		if (json_is_string(one) && i < TRIED_MOST)
			str_addf(&all, "%s%s", all.n ? ", " : "", json_string_value(one));
	const char *text = text_clean(a, (struct text){ all.n ? all.p : "", all.n });
	str_free(&all);
	return text;
}

int libraries_of(const struct device *d, struct arena *a, struct library **list)
{
	json_t *attributes = d->attributes ? json_loads(d->attributes, 0, NULL) : NULL;
	const json_t *all = json_object_get(attributes, "libraries"), *one;
	int count = 0;
	size_t i;
	*list = ARENA_ARRAY(a, struct library, LIBRARIES_MOST);
	json_array_foreach(all, i, one) {
		const json_t *present = json_object_get(one, "present");
		if (count == LIBRARIES_MOST || !json_is_boolean(present) || !*json_string_at(one, "name", ""))
			continue;
		(*list)[count++] = (struct library){ .name = text_at(a, one, "name"),
			.present = json_is_true(present),
			.version = text_at(a, one, "version"),
			.path = text_at(a, one, "path"),
			.why = text_at(a, one, "why"),
			.fix = text_at(a, one, "fix"),
			.tried = joined(a, json_object_get(one, "tried")) };
	}
	json_decref(attributes);
	return count;
}

const char *library_missing(struct arena *a, const struct library *l)
{
	return arena_printf(a, "%s missing: %s%s%s", l->name, *l->why ? l->why : "reason unknown",
		*l->fix ? "; " : "", l->fix);
}
