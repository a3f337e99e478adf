/* JSON, by jansson, whose only home this is: other rooms include this header. Adds what the house needs:
 * unknown numbers (NaN) become null and back, bytes from models become valid UTF-8. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* null for NaN or infinity, an integer where the value is whole and below 2^53, else a real. */
json_t *json_number_or_null(double value);
/* NaN where the value is absent or no number. */
double json_number_or_nan(const json_t *value);
/* The cleaned text (text_clean). */
json_t *json_text(struct text t);
/* Cleans every string and key of a tree in place, at any depth. Only the string at the key `lines` keeps its
 * newlines (NULL: no string does). If two keys become equal, the later one stays. */
void json_clean(json_t *tree, const char *lines);
/* Parses JSON without duplicate keys and cleans it (json_clean). Returns NULL and sets `where` (may be NULL) where the
 * text is not that. */
json_t *json_load_clean(struct text t, const char *lines, json_error_t *where);
/* Returns a stored JSON object in the arena: the same bytes where it is clean, else with clean strings and sorted keys;
 * "{}" where the unclean text is not an object. */
const char *json_clean_object(struct arena *a, const char *text);
/* The string at key, or `otherwise` when absent or of another type. Owned by the object. */
const char *json_string_at(const json_t *object, const char *key, const char *otherwise);
int64_t json_int_at(const json_t *object, const char *key, int64_t otherwise);

#endif
