/* Reads the JSON files of trtexec: profiles of layers and, as a second file, information about them. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/read/scan.h"
#include "profile/kinds/trtexec.h"

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

struct records {
	struct arena *a;
	struct execution *e;
	int capacity;
	double count; /* runs; NaN unknown */
};

/* {"name", "timeMs", "averageMs", "medianMs", "percentage"}; older versions have no median. timeMs is the sum
 * over `count` runs (samples/common/sampleReporting.cpp). */
static void add_layer(struct records *l, const json_t *v)
{
	struct execution_row *r = execution_add(l->a, l->e, &l->capacity);
	double median = json_number_or_nan(json_object_get(v, "medianMs"));
	double mean = json_number_or_nan(json_object_get(v, "averageMs"));
	double all = json_number_or_nan(json_object_get(v, "timeMs"));
	struct text name = layer_name(json_string_at(v, "name", ""));
	double ms = !isnan(median) ? median : !isnan(mean) ? mean : all / l->count;
	r->level = LEVEL_LAYER;
	r->name = arena_strndup(l->a, name.p, name.n);
	r->provider = "TensorRT";
	r->ns = profile_is_time(ms * MS) ? ms * MS : NAN;
	r->calls = 1;
}

static void add_record(void *user, struct text key, const json_t *v)
{
	struct records *l = user;
	(void)key;
	if (json_object_get(v, "name"))
		add_layer(l, v);
	else if (json_object_get(v, "count"))
		l->count = json_number_or_nan(json_object_get(v, "count"));
}

static int read_profile(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct records l = { .a = a, .e = e, .count = NAN };
	int got = scan_each(a, path, options, e, "record", add_record, &l, err);
	e->framework = "tensorrt";
	if (l.count > 0 && l.count < 1e15)
		e->settings = arena_printf(a, "{\"runs\":%.0f}", l.count);
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

void layer_information_begin(struct layer_information *i, struct arena *a, struct execution *e)
{
	*i = (struct layer_information){ .arena = a, .e = e };
	i->next = base_calloc((size_t)e->row_count + 1, sizeof(int));
	for (int row = e->row_count - 1; row >= 0; row--) {
		int64_t *at = hash_at(&i->first, text_of(e->rows[row].name));
		i->next[row] = (int)*at;
		*at = row;
	}
}

void layer_information_add(struct layer_information *i, const json_t *layer)
{
	const char *text =
		json_is_string(layer) ? json_string_value(layer) : json_string_at(layer, "Name", "");
	struct text name = layer_name(text);
	int64_t row = hash_find(&i->first, name);
	i->objects += json_is_object(layer);
	if (row < 0)
		return;
	i->found++;
	if (json_is_object(layer))
		complete(i->arena, &i->e->rows[row], layer);
	if (i->next[row] >= 0)
		*hash_at(&i->first, name) = i->next[row];
}

static const char only_names[] =
	"the layer information has only names; build with --profilingVerbosity=detailed";

int layer_information_end(struct layer_information *i)
{
	struct execution *e = i->e;
	e->dtype = profile_dtype(e, LEVEL_LAYER);
	for (int row = 0; row < e->row_count && !*e->math; row++)
		if (strstr(e->rows[row].kernel, "tf32"))
			e->math = "tf32";
	if (i->found && !i->objects)
		profile_add_gap(i->arena, e, only_names);
	else if (i->found && !strcmp(e->gaps, only_names)) /* of a list before this one */
		e->gaps = "";
	free(i->next);
	hash_free(&i->first);
	return i->found;
}

static void add_layers(void *user, struct text key, const json_t *v)
{
	if (v && text_is(key, "Layers"))
		layer_information_add(user, v);
}

static int read_layers(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct layer_information i;
	layer_information_begin(&i, a, e);
	int got = scan_each(a, path, options, e, "layer", add_layers, &i, err);
	if (!layer_information_end(&i) && got == 0)
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
