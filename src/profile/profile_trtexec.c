#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/reader.h"
#include "profile/scan.h"

#define MS 1e6

static bool is_profile(const struct profile_head *h)
{
	return head_has_key(h, '[', "timeMs") && head_has_key(h, '[', "name");
}

static bool is_layers(const struct profile_head *h)
{
	return head_has_key(h, '{', "Layers");
}

static const char *keep(struct arena *a, const char *s)
{
	return *s ? arena_strndup(a, s, strlen(s)) : "";
}

/* Returns the name without " [profile 1]", which marks layers of further optimization profiles. */
static struct text layer_name(const char *name)
{
	static const char mark[] = " [profile ";
	const char *at = NULL, *next = name;
	while ((next = strstr(next, mark)))
		at = next++;
	bool marked = at && at[strcspn(at, "]")] == ']' && !at[strcspn(at, "]") + 1];
	return (struct text){ name, marked ? (size_t)(at - name) : strlen(name) };
}

/* {"name", "timeMs", "averageMs", "medianMs", "percentage"}; older versions have no median. timeMs is the sum
 * over `count` runs (samples/common/sampleReporting.cpp). */
static void add_layer(struct arena *a, struct execution *e, int *capacity, const json_t *v, double count)
{
	struct execution_row *r = execution_add(a, e, capacity);
	double median = json_number_or_nan(json_object_get(v, "medianMs"));
	double mean = json_number_or_nan(json_object_get(v, "averageMs"));
	double all = json_number_or_nan(json_object_get(v, "timeMs"));
	struct text name = layer_name(json_string_at(v, "name", ""));
	double ms = !isnan(median) ? median : !isnan(mean) ? mean : all / count;
	r->level = LEVEL_LAYER;
	r->name = arena_strndup(a, name.p, name.n);
	r->provider = "TensorRT";
	r->ns = profile_is_time(ms * MS) ? ms * MS : NAN;
	r->calls = 1;
}

static int read_profile(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct scan_item item;
	struct scan *s = scan_open(path, options, err);
	int got = -1, capacity = 0;
	double count = NAN;
	if (!s)
		return -1;
	while ((got = scan_next(s, &item, err)) == 1) {
		json_t *v = scan_parse(s, item.value);
		if (json_object_get(v, "name"))
			add_layer(a, e, &capacity, v, count);
		else if (json_object_get(v, "count"))
			count = json_number_or_nan(json_object_get(v, "count"));
		json_decref(v);
	}
	e->framework = "tensorrt";
	if (count > 0 && count < 1e15)
		e->settings = arena_printf(a, "{\"runs\":%.0f}", count);
	profile_add_gap(a, e, scan_gap(s, a, "record"));
	scan_close(s);
	if (got == 0 && e->row_count == 0)
		got = error_set(err, "%s: has no layer%s%s; run trtexec --exportProfile again", path,
			*e->gaps ? ": " : "", e->gaps);
	return got;
}

/* Returns the names, separated by newlines, in "[ONNX Layer: a]", a separator (0x1e between groups, 0x1f
 * within, '?' after cleaning), "[ONNX Layer: b]". A name may have brackets: it ends at the last one before
 * the next mark. */
static const char *nodes_of(struct arena *a, const char *metadata)
{
	static const char mark[] = "[ONNX Layer: ";
	struct str names = { 0 };
	const char *at = strstr(metadata, mark);
	while (at) {
		const char *from = at + sizeof(mark) - 1, *next = strstr(from, mark);
		const char *end = next ? next : from + strlen(from);
		while (end > from && *end != ']')
			end--;
		if (end > from) {
			str_puts(&names, names.n ? "\n" : "");
			str_add(&names, from, (size_t)(end - from));
		}
		at = next;
	}
	const char *kept = names.n ? arena_strndup(a, names.p, names.n) : "";
	str_free(&names);
	return kept;
}

/* TensorRT's words for element types in "Row major linear FP32", "Half(64,1:8,...)". The first match counts.
 */
static const char *const types[][2] = {
	{ "BF16", "bf16" }, { "BFloat16", "bf16" }, { "FP16", "f16" }, { "Half", "f16" }, { "FP8", "f8e4m3" },
	{ "Int8", "s8" }, { "Int4", "s4" }, { "Int32", "s32" }, { "Int64", "s64" }, { "Bool", "bool" },
	{ "FP4", "f4e2m1" }, { "FP32", "f32" }, { "Float", "f32" },
};

/* Returns the type of the first input; TF32 appears only in the name of the kernel. */
static const char *type_of(const json_t *inputs, const char *kernel)
{
	const char *format = json_string_at(json_array_get(inputs, 0), "Format/Datatype", "");
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strstr(format, types[i][0]))
			return !strcmp(types[i][1], "f32") && strstr(kernel, "tf32") ? "tf32" : types[i][1];
	return "";
}

static const char *names_of(struct arena *a, const json_t *tensors)
{
	struct str names = { 0 };
	for (size_t i = 0; i < json_array_size(tensors); i++) {
		const json_t *t = json_array_get(tensors, i);
		const char *name = json_is_string(t) ? json_string_value(t) : json_string_at(t, "Name", "");
		if (*name)
			str_addf(&names, "%s%s", names.n ? "\n" : "", name);
	}
	const char *kept = names.n ? arena_strndup(a, names.p, names.n) : "";
	str_free(&names);
	return kept;
}

/* "[1,3,224,224] Row major linear FP32; [...] ..." */
static const char *shapes_of(struct arena *a, const json_t *tensors)
{
	struct str shapes = { 0 };
	for (size_t i = 0; i < json_array_size(tensors); i++) {
		const json_t *t = json_array_get(tensors, i), *dims = json_object_get(t, "Dimensions");
		char *text = dims ? json_dumps(dims, JSON_COMPACT) : NULL;
		if (text)
			str_addf(&shapes, "%s%s %s", shapes.n ? "; " : "", text,
				json_string_at(t, "Format/Datatype", ""));
		free(text);
	}
	const char *kept = shapes.n ? arena_strndup(a, shapes.p, shapes.n) : "";
	str_free(&shapes);
	return kept;
}

static void complete(struct arena *a, struct execution_row *r, const json_t *v)
{
	const json_t *inputs = json_object_get(v, "Inputs"), *outputs = json_object_get(v, "Outputs");
	r->op = keep(a, json_string_at(v, "LayerType", ""));
	r->kernel = keep(a, json_string_at(v, "TacticName", ""));
	r->inputs = names_of(a, inputs);
	r->outputs = names_of(a, outputs);
	r->shapes = shapes_of(a, inputs);
	r->dtype = type_of(inputs, r->kernel);
	if (strcmp(json_string_at(v, "Origin", ""), "REFORMAT"))
		r->nodes = nodes_of(a, json_string_at(v, "Metadata", ""));
}

/* Rows by name. Names can repeat: rows with one name form a list in order. */
struct names {
	struct hash first; /* name -> row */
	int *next;         /* per row: the next of the same name, or -1 */
};

static struct names names_index(const struct execution *e)
{
	struct names n = { .next = base_calloc((size_t)e->row_count + 1, sizeof(int)) };
	for (int i = e->row_count - 1; i >= 0; i--) {
		int64_t *at = hash_at(&n.first, text_of(e->rows[i].name));
		n.next[i] = (int)*at;
		*at = i;
	}
	return n;
}

/* Returns true if the layer is in the profile. A layer with a repeated name takes the next row of that name.
 */
static bool add_information(struct arena *a, struct execution *e, struct names *n, const json_t *v)
{
	const char *text = json_is_string(v) ? json_string_value(v) : json_string_at(v, "Name", "");
	struct text name = layer_name(text);
	int64_t row = hash_find(&n->first, name);
	if (row < 0)
		return false;
	if (json_is_object(v))
		complete(a, &e->rows[row], v);
	if (n->next[row] >= 0)
		*hash_at(&n->first, name) = n->next[row];
	return true;
}

static int read_layers(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct scan_item item;
	struct scan *s = scan_open(path, options, err);
	struct names names;
	int got = -1, objects = 0, found = 0;
	if (!s)
		return -1;
	names = names_index(e);
	while ((got = scan_next(s, &item, err)) == 1) {
		json_t *v = text_is(item.key, "Layers") ? scan_parse(s, item.value) : NULL;
		objects += json_is_object(v);
		found += v && add_information(a, e, &names, v);
		json_decref(v);
	}
	e->dtype = profile_dtype(e, LEVEL_LAYER);
	for (int i = 0; i < e->row_count && !*e->math; i++)
		if (strstr(e->rows[i].kernel, "tf32"))
			e->math = "tf32";
	profile_add_gap(a, e, scan_gap(s, a, "layer"));
	if (found && !objects)
		profile_add_gap(a, e,
			"the layer information has only names; build with --profilingVerbosity=detailed");
	free(names.next);
	hash_free(&names.first);
	scan_close(s);
	if (got == 0 && !found)
		got = error_set(err,
			"%s: has no layer of the profile%s%s; give the files of one run of trtexec", path,
			*e->gaps ? ": " : "", e->gaps);
	return got;
}

const struct profile_reader profile_trtexec = {
	.kind = PROFILE_TRTEXEC, .is = is_profile, .read = read_profile, .packed = true
};
const struct profile_reader profile_trtexec_layers = {
	.kind = PROFILE_TRTEXEC_LAYERS, .is = is_layers, .read = read_layers, .packed = true,
	.completes = 1u << PROFILE_TRTEXEC | 1u << PROFILE_TRTEXEC_LOG | 1u << PROFILE_NSYS
};
