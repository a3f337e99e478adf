/* Reads and writes trials: the change in a request, and what was measured in turn. */
#include "config.h"

#include "wire/wire_private.h"

#include <math.h>

static void set_word(json_t *o, const char *key, const char *word)
{
	if (word && *word)
		wire_set_text(o, key, word);
}

json_t *wire_try_to_json(const struct wire_try *t)
{
	json_t *o = json_object();
	wire_set_text(o, "move", t->move);
	set_word(o, "provider", t->provider);
	set_word(o, "dtype", t->dtype);
	set_word(o, "level", t->level);
	set_word(o, "pages", t->pages);
	if (t->threads)
		json_object_set_new(o, "threads", json_integer(t->threads));
	if (t->batch)
		json_object_set_new(o, "batch", json_integer(t->batch));
	if (t->input_count)
		json_object_set_new(o, "inputs", wire_inputs_to_json(t->inputs, t->input_count));
	return o;
}

int wire_try_from_json(const json_t *o, struct arena *a, struct wire_try *t, struct error *err)
{
	if (!json_is_object(o))
		return error_set(err, "is not an object");
	if (wire_get_text(o, "move", &t->move, err) || wire_get_text(o, "provider", &t->provider, err) ||
		wire_get_text(o, "dtype", &t->dtype, err) || wire_get_level(o, &t->level, err) ||
		wire_get_text(o, "pages", &t->pages, err) ||
		wire_get_int(o, "threads", 0, &t->threads, err) ||
		wire_get_count(o, "batch", 0, &t->batch, err) ||
		wire_inputs_from_json(
			json_object_get(o, "inputs"), a, &t->inputs, &t->input_count, err))
		return -1;
	return *t->move ? 0 : error_set(err, "\"move\" is missing");
}

json_t *wire_trial_to_json(const struct wire_trial *t)
{
	json_t *o = json_object();
	json_object_set_new(o, "base", wire_stats_to_json(&t->base));
	json_object_set_new(o, "gain", json_number_or_null(t->gain));
	json_object_set_new(o, "gain_lo", json_number_or_null(t->lo));
	json_object_set_new(o, "gain_hi", json_number_or_null(t->hi));
	json_object_set_new(o, "rounds", json_integer(t->rounds));
	return o;
}

int wire_trial_from_json(const json_t *o, struct wire_trial *t, struct error *err)
{
	*t = (struct wire_trial){ .base = wire_stats_unknown(), .gain = NAN, .lo = NAN, .hi = NAN };
	if (!json_is_object(o))
		return error_set(err, "is not an object");
	if (wire_stats_from_json(json_object_get(o, "base"), &t->base, err) ||
		wire_get_amount(o, "gain", &t->gain, err) || wire_get_amount(o, "gain_lo", &t->lo, err) ||
		wire_get_amount(o, "gain_hi", &t->hi, err) ||
		wire_get_count(o, "rounds", 0, &t->rounds, err))
		return -1;
	if (!(t->gain > 0) || isinf(t->gain) || t->rounds < 1)
		return error_set(err, "\"gain\" or \"rounds\" is not a number above 0");
	return t->lo > t->gain || t->hi < t->gain ? error_set(err, "\"gain\" is outside its interval") : 0;
}
