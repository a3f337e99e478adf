/* JSON, by jansson, whose only home this is: other rooms include this header. Adds what the house needs:
 * unknown numbers (NaN) become null and back, bytes from models become valid UTF-8. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "base/str.h"

/* null for NaN or infinity, an integer where the value is whole and below 2^53, else a real. */
json_t *json_number_or_null(double value);
/* NaN where the value is absent or no number. */
double json_number_or_nan(const json_t *value);
/* The cleaned text (text_clean). */
json_t *json_text(struct text t);
/* The string at key, or `otherwise` when absent or of another type. Owned by the object. */
const char *json_string_at(const json_t *object, const char *key, const char *otherwise);
int64_t json_int_at(const json_t *object, const char *key, int64_t otherwise);

#endif
