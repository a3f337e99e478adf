/* JSON. The only header that includes jansson. Adds two conventions: unknown numbers (NaN) are written as
 * null and read back as NaN, and bytes from models become valid UTF-8. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* null for NaN and infinity, an integer if the value is integral and below 2^53, else a real. */
json_t *json_number_or_null(double value);
/* NaN if the value is absent or not a number. */
double json_number_or_nan(const json_t *value);
/* A JSON string of the cleaned text (text_clean). */
json_t *json_text(struct text t);
/* Cleans every string and key of a tree in place, at any depth. Only the string at the key `lines` keeps its
 * newlines (NULL: no string does). If two keys become equal, the renamed one stays. */
void json_clean(json_t *tree, const char *lines);
/* Parses JSON without duplicate keys and cleans it (json_clean). Otherwise returns NULL and sets `where` (may
 * be NULL). */
json_t *json_load_clean(struct text t, const char *lines, json_error_t *where);
/* Returns a stored JSON object, in the arena: the same bytes if it is clean, else with clean strings and
 * sorted keys; "{}" if the unclean text is not an object. */
const char *json_clean_object(struct arena *a, const char *text);
/* The string at the key, owned by the object; `otherwise` if it is absent or of another type. */
const char *json_string_at(const json_t *object, const char *key, const char *otherwise);
int64_t json_int_at(const json_t *object, const char *key, int64_t otherwise);

#endif
