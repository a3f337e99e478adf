/* Reads data/devices/NAME.json: published figures of a GPU, and the device properties that cuDNN needs to
 * plan for it. */
#include "config.h"

#include "runner/gpu/cuda_context_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES 1e6 /* maximum length of the properties as text; usually a few hundred bytes */

static double figure(const json_t *o, const char *key, double from, double to)
{
	double v = json_number_or_nan(json_object_get(o, key));
	return v >= from && v <= to ? v : NAN;
}

#define MOST_TEXT 255 /* maximum length of a device name, as in CUDA; cuDNN crashes on much longer ones */

/* The device properties that cuDNN reads (CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION of 9.19) and their valid
 * ranges. */
static const struct property {
	const char *key;
	enum { PROPERTY_NUMBER, PROPERTY_TEXT, PROPERTY_THREE } kind;
	double least, most;
} properties[] = {
	{ "cudaDeviceId", PROPERTY_NUMBER, 0, 1e6 },
	{ "deviceName", PROPERTY_TEXT, 1, MOST_TEXT },
	{ "deviceVer", PROPERTY_NUMBER, 300, 9999 },
	{ "driverVer", PROPERTY_NUMBER, 0, INT32_MAX },
	{ "isTccDriver", PROPERTY_NUMBER, 0, 1 },
	{ "l2CacheSize", PROPERTY_NUMBER, 0, INT32_MAX },
	{ "maxBlockSize", PROPERTY_THREE, 1, INT32_MAX },
	{ "maxGridSize", PROPERTY_THREE, 1, INT32_MAX },
	{ "maxCtasPerSM", PROPERTY_NUMBER, 1, 1e6 },
	{ "maxRegistersPerSM", PROPERTY_NUMBER, 1, INT32_MAX },
	{ "maxSharedMemoryPerBlock", PROPERTY_NUMBER, 1, INT32_MAX },
	{ "maxSharedMemoryPerBlockOptin", PROPERTY_NUMBER, 1, INT32_MAX },
	{ "maxThreadsPerBlock", PROPERTY_NUMBER, 1, 1e6 },
	{ "maxThreadsPerSM", PROPERTY_NUMBER, 1, 1e6 },
	{ "memClockRateKHz", PROPERTY_NUMBER, 0, INT32_MAX },
	{ "multiProcessorCount", PROPERTY_NUMBER, 1, 1e6 },
	{ "pciDeviceId", PROPERTY_NUMBER, 0, INT32_MAX },
	{ "regsPerBlock", PROPERTY_NUMBER, 1, INT32_MAX },
	{ "reservedSharedMemoryPerBlock", PROPERTY_NUMBER, 0, INT32_MAX },
	{ "smClockRateKHz", PROPERTY_NUMBER, 0, INT32_MAX },
	{ "supportCoopLaunch", PROPERTY_NUMBER, 0, 1 },
	{ "totalGlobalMem", PROPERTY_NUMBER, 1, 1e15 },
	{ "warpSize", PROPERTY_NUMBER, 1, 1024 },
};

static bool property_is_whole(const json_t *v, const struct property *p)
{
	return json_is_integer(v) && (double)json_integer_value(v) >= p->least &&
		(double)json_integer_value(v) <= p->most;
}

static int property_judge(const json_t *o, const struct property *p, struct error *err)
{
	const json_t *v = json_object_get(o, p->key);
	if (p->kind == PROPERTY_TEXT) {
		double n = (double)json_string_length(v); /* 0 if it is not a string */
		return n >= p->least && n <= p->most ? 0 :
			error_set(err, "\"cudnn\": \"%s\" must be a string of 1 to %d bytes", p->key,
				MOST_TEXT);
	}
	bool good = p->kind == PROPERTY_NUMBER ? property_is_whole(v, p) : json_array_size(v) == 3;
	for (size_t i = 0; p->kind == PROPERTY_THREE && i < 3; i++)
		good = good && property_is_whole(json_array_get(v, i), p);
	return good ? 0 : error_set(err, "\"cudnn\": \"%s\" must be %s from %.0f to %.0f", p->key,
		p->kind == PROPERTY_THREE ? "an array of three integers" : "an integer", p->least, p->most);
}

/* Validates the properties, because cuDNN only returns BAD_PARAM for invalid ones, or aborts. */
static int properties_judge(const json_t *o, int sm, struct error *err)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (property_judge(o, &properties[i], err))
			return -1;
	int64_t version = json_int_at(o, "deviceVer", 0);
	return version == sm * 10 ? 0 :
		error_set(err, "\"sm\" is %d, but \"cudnn\": \"deviceVer\" is %lld; it must be %d", sm,
			(long long)version, sm * 10);
}

static int context_fill(struct cuda_context *c, struct arena *a, const json_t *o, struct error *err)
{
	const char *name = json_string_at(o, "name", "");
	const json_t *known = json_object_get(o, "cudnn");
	double sm = figure(o, "sm", 30, 999);
	if (!*name || isnan(sm) || sm != floor(sm))
		return error_set(err, "it needs \"name\" and \"sm\" (90 for compute capability 9.0)");
	if (!json_is_object(known) || json_object_size(known) == 0)
		return error_set(err, "it needs \"cudnn\", the device properties for cuDNN");
	if (properties_judge(known, (int)sm, err))
		return -1;
	char *text = json_dumps(known, JSON_COMPACT | JSON_ENSURE_ASCII);
	if (!text || strlen(text) > MOST_BYTES) {
		free(text);
		return error_set(err, "\"cudnn\" is too long");
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

int cuda_context_plan(
	const char *path, struct arena *a, struct cuda_context *c, json_t *attributes, struct error *err)
{
	static const char *const kept[] = { "arch", "sm", "caveat", "sources", "l2_bytes", "memory_bytes",
		"multiprocessors", "clock_mhz", "bandwidth_bytes_s", "peak_flops" };
	json_error_t at;
	json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, &at);
	if (!o)
		return at.line > 0 ? error_set(err, "%s:%d: %s", path, at.line, at.text)
				   : error_set(err, "%s", at.text);
	if (context_fill(c, a, o, err)) {
		json_decref(o);
		return error_context(err, "%s: not a valid device description", path);
	}
	json_object_set_new(attributes, "planned", json_true());
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (json_object_get(o, kept[i]))
			json_object_set(attributes, kept[i], json_object_get(o, kept[i]));
	json_decref(o);
	return 0;
}
