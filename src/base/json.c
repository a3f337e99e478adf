#include "config.h"

#include "base/json.h"

#include "base/arena.h"

#include <math.h>

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
