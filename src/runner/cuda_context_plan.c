#include "config.h"

#include "runner/cuda_context_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* data/devices/NAME.json: public figures of a GPU, and the properties that cuDNN wants to know to plan for it. */

#define MOST_BYTES 1e6 /* of the properties as text: they are some hundreds */

static double figure(const json_t *o, const char *key, double from, double to)
{
	double v = json_number_or_nan(json_object_get(o, key));
	return v >= from && v <= to ? v : NAN;
}

static int context_fill(struct cuda_context *c, struct arena *a, const json_t *o, struct error *err)
{
	const char *name = json_string_at(o, "name", "");
	const json_t *properties = json_object_get(o, "cudnn");
	double sm = figure(o, "sm", 30, 999);
	if (!*name || isnan(sm) || sm != floor(sm))
		return error_set(err, "wants \"name\" and \"sm\" (90 for compute capability 9.0)");
	if (!json_is_object(properties) || json_object_size(properties) == 0)
		return error_set(err, "wants \"cudnn\": the device's properties for cuDNN");
	char *text = json_dumps(properties, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!text || strlen(text) > MOST_BYTES) {
		free(text);
		return error_set(err, "its \"cudnn\" cannot be written as text");
	}
	c->deviceprop = arena_strndup(a, text, strlen(text));
	free(text);
	strncpy(c->name, text_clean(a, text_of(name)), sizeof(c->name) - 1);
	c->sm = (int)sm;
	c->caveat = text_clean(a, text_of(json_string_at(o, "caveat", "")));
	c->memory_bytes = figure(o, "memory_bytes", 1, 1e15);
	c->l2_bytes = figure(o, "l2_bytes", 1, 1e12);
	double multiprocessors = figure(o, "multiprocessors", 1, 1e6);
	c->multiprocessors = isnan(multiprocessors) ? 0 : (int)multiprocessors;
	c->clock_khz = figure(o, "clock_mhz", 1, 1e6) * 1e3;
	return 0;
}

int cuda_context_plan(const char *path, struct arena *a, struct cuda_context *c, json_t *attributes, struct error *err)
{
	static const char *const kept[] = { "arch", "sm", "caveat", "sources", "l2_bytes", "memory_bytes", "multiprocessors",
		"clock_mhz", "bandwidth_bytes_s", "peak_flops" };
	json_error_t at;
	json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, &at);
	if (!o)
		return at.line > 0 ? error_set(err, "%s:%d: %s", path, at.line, at.text) : error_set(err, "%s", at.text);
	if (context_fill(c, a, o, err)) {
		json_decref(o);
		return error_context(err, "%s: no description of a device", path);
	}
	json_object_set_new(attributes, "planned", json_true());
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (json_object_get(o, kept[i]))
			json_object_set(attributes, kept[i], json_object_get(o, kept[i]));
	json_decref(o);
	return 0;
}
