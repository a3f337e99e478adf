/* Reads the log of trtexec: tables of layers, lists of layers, latencies. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/read/lines.h"
#include "profile/kinds/trtexec.h"

/* What trtexec --dumpProfile prints: a table of layers, in one of two forms, after "[date-time] [I] ", which
 * what gathers logs may precede:
 *   === Profile (1055 iterations ) ===
 *      Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %
 *      Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer
 * The names are right of the numbers in newer versions, left of them in older ones; those before 8.4 have no
 * median. The summary has the latency: "GPU Compute Time: min = 1 ms, ... median = 2 ms ...". With
 * --dumpLayerInfo, or --verbose, the layers stand before it, one a line (layer_of, old_layer_of). */
#define MS 1e6
#define COLUMNS_MOST 4 /* of numbers */
#define TITLE "=== Profile ("
#define DEVICE "Selected Device:"
#define LAYERS_MOST (1 << 20)

struct log {
	struct arena *a;
	struct execution *e;
	int room;
	int columns;     /* of numbers; 0: outside of the table */
	bool name_first;
	double count;    /* iterations; NaN: unknown */
	json_t *layers;  /* of the last list */
	bool names;      /* in a list of names */
	bool bare;       /* the lines of the table have no severity */
	bool total;      /* the table has its last row */
};

static bool is_log(const struct profile_head *h)
{
	return head_contains(h, "TensorRT.trtexec") || head_contains(h, TITLE);
}

static struct text from(struct text t, const char *at)
{
	return (struct text){ at, t.n - (size_t)(at - t.p) };
}

/* Returns the place of the words in the text, or NULL. */
static const char *find(struct text t, const char *words)
{
	return t.n ? memmem(t.p, t.n, words, strlen(words)) : NULL;
}

/* Returns the message: the line without what ends with "[I] ", the severity, and "[TRT] ". */
static struct text message_of(struct text line)
{
	for (size_t i = 0; i + 2 < line.n; i++)
		if (line.p[i] == '[' && line.p[i + 2] == ']' && strchr("IVWEF", line.p[i + 1]) &&
			(i + 3 == line.n || line.p[i + 3] == ' ')) {
			line = from(line, line.p + i + 3 + (i + 3 < line.n));
			return text_begins(line, "[TRT] ") ? from(line, line.p + 6) : line;
		}
	return line;
}

/* Takes a word off the end of the text, or off its begin. */
static struct text take_word(struct text *t, bool from_end)
{
	*t = text_trim(*t);
	size_t n = 0;
	while (n < t->n && (from_end ? t->p[t->n - 1 - n] : t->p[n]) != ' ')
		n++;
	struct text word = { from_end ? t->p + t->n - n : t->p, n };
	t->p += from_end ? 0 : n;
	t->n -= n;
	return word;
}

/* Adds a row of the table. Returns false for another line, which ends it. */
static bool add_layer(struct log *t, struct text line)
{
	double numbers[COLUMNS_MOST];
	int numeric = 0;
	for (int i = 0; i < t->columns; i++) {
		int at = t->name_first ? t->columns - 1 - i : i;
		numbers[at] = text_number(take_word(&line, t->name_first));
		numeric += !isnan(numbers[at]);
	}
	struct text name = text_trim(line);
	t->total |= numeric && text_is(name, "Total");
	if (!name.n || !numeric || text_is(name, "Total")) /* a number of a row may be damaged, but not all */
		return name.n > 0 && numeric;
	struct execution_row *r = execution_add(t->a, t->e, &t->room);
	double ms = t->columns == COLUMNS_MOST ? numbers[2] : numbers[1];
	r->level = LEVEL_LAYER;
	r->name = text_clean(t->a, name);
	r->provider = "TensorRT";
	r->ns = profile_is_time(ms * MS) ? ms * MS : NAN;
	r->calls = 1;
	return true;
}

/* ---- layers ---- */

/* Returns what is between the key and `end`, or the end of the text; an empty text without the key. */
static struct text between(struct text t, const char *key, const char *end)
{
	const char *at = find(t, key);
	struct text value = at ? from(t, at + strlen(key)) : (struct text){ "", 0 };
	const char *to = end ? find(value, end) : NULL;
	return to ? (struct text){ value.p, (size_t)(to - value.p) } : value;
}

static json_t *clean_string(struct text t)
{
	struct str s = { 0 };
	str_add_clean(&s, text_trim(t));
	json_t *string = json_string(s.n ? s.p : "");
	str_free(&s);
	return string;
}

/* Adds a tensor: its name, format, and dimensions as text, "1,3,224,224". */
static void add_tensor(json_t *tensors, struct text name, struct text format, struct text dims)
{
	struct str list = { 0 };
	str_addf(&list, "[%.*s]", (int)(dims.n < 4096 ? dims.n : 0), dims.p);
	json_t *tensor = json_object(), *sizes = json_loadb(list.p, list.n, 0, NULL);
	json_object_set_new(tensor, "Name", clean_string(name));
	json_object_set_new(tensor, "Format/Datatype", clean_string(format));
	if (sizes)
		json_object_set_new(tensor, "Dimensions", sizes);
	json_array_append_new(tensors, tensor);
	str_free(&list);
}

/* "{ Name: x, Location: Device, Dimensions: [1,3], Format/Datatype: Half }, ..." */
static json_t *tensors_of(struct text list)
{
	static const char mark[] = "{ Name: ";
	json_t *tensors = json_array();
	for (const char *at; (at = find(list, mark));) {
		list = from(list, at + sizeof(mark) - 1);
		struct text one = between(list, "", mark);
		struct text name = between(between(one, "", ", Dimensions: "), "", ", Location: ");
		add_tensor(tensors, name, between(one, "Format/Datatype: ", " }"),
			between(one, "Dimensions: [", "]"));
	}
	return tensors;
}

/* "Name: a + b, LayerType: CaskConvolution, Inputs: [ tensors], Outputs: [ tensors], ..., TacticName: sm80_x,
 * ..., Metadata: [ONNX Layer: a][ONNX Layer: b]". Returns NULL for another line. */
static json_t *layer_of(struct text line)
{
	static const char type[] = ", LayerType: ", inputs[] = "Inputs: [", outputs[] = "], Outputs: [";
	struct text rest = between(line, type, NULL);
	const char *at = find(line, "Name: "), *end = find(line, type);
	if (!at || !end || at > end)
		return NULL;
	json_t *layer = json_object();
	json_object_set_new(layer, "Name", clean_string(between(line, "Name: ", type)));
	json_object_set_new(layer, "LayerType", clean_string(between(rest, "", ", ")));
	json_object_set_new(layer, "Inputs", tensors_of(between(rest, inputs, outputs)));
	json_object_set_new(layer, "Outputs", tensors_of(between(rest, outputs, NULL)));
	json_object_set_new(layer, "TacticName", clean_string(between(rest, ", TacticName: ", ", ")));
	json_object_set_new(layer, "Origin", clean_string(between(rest, ", Origin: ", ", ")));
	json_object_set_new(layer, "Metadata", clean_string(between(rest, ", Metadata: ", NULL)));
	return layer;
}

/* "x[Half(1,3,224,224)], y[...]"; newer ones: "x (Half[1,3,224,224]), ..." */
static json_t *old_tensors_of(struct text list)
{
	json_t *tensors = json_array();
	while (list.n) {
		struct text one = between(list, "", ", ");
		size_t n = one.n, next = one.n + 2;
		bool round = n && one.p[n - 1] == ')';
		while (n && one.p[n - 1] != (round ? '(' : '['))
			n--;
		struct text format = { one.p + n, one.n - n };
		if (n > 1)
			add_tensor(tensors, (struct text){ one.p, n - 1 }, format,
				between(format, round ? "[" : "(", round ? "]" : ")"));
		list = next < list.n ? from(list, list.p + next) : (struct text){ "", 0 };
	}
	return tensors;
}

/* Before 8.4, with --verbose: "Layer(CaskConvolution): a + b, Tactic: 0x1, x[Half(1,3)] -> y[Half(1,8)]" */
static json_t *old_layer_of(struct text line)
{
	struct text type = between(line, "Layer(", "): "), rest = between(line, "Layer(", NULL);
	if (!type.n || find(type, " ") || type.n + 3 > rest.n)
		return NULL;
	rest = from(rest, rest.p + type.n + 3);
	struct text name = between(rest, "", find(rest, ", Tactic: ") ? ", Tactic: " : ", ");
	rest = find(rest, ", Tactic: ") ? between(between(rest, ", Tactic: ", NULL), ", ", NULL) :
					  between(rest, ", ", NULL);
	json_t *layer = json_object();
	json_object_set_new(layer, "Name", clean_string(name));
	json_object_set_new(layer, "LayerType", clean_string(type));
	json_object_set_new(layer, "Inputs", old_tensors_of(between(rest, "", " -> ")));
	json_object_set_new(layer, "Outputs", old_tensors_of(between(rest, " -> ", NULL)));
	return layer;
}

/* Takes a line of a list of layers, which may be names alone, up to an empty line or "Bindings:". A message
 * of many lines has the severity before its first one. Returns false for another line. */
static bool take_layer(struct log *t, struct text whole)
{
	struct text line = message_of(whole);
	bool heading = find(line, "Layer Information:");
	if (heading || text_is(line, "Layers:")) { /* the last one of several lists counts */
		json_array_clear(t->layers);
		t->names = !heading;
		return true;
	}
	t->names = t->names && text_trim(line).n && !text_begins(line, "Bindings:");
	json_t *layer = layer_of(whole);
	layer = layer ? layer : old_layer_of(whole);
	layer = layer || !t->names ? layer : clean_string(line);
	if (layer && json_array_size(t->layers) < LAYERS_MOST)
		json_array_append(t->layers, layer);
	bool is_layer = layer;
	json_decref(layer);
	return is_layer;
}

static void complete(struct log *t)
{
	struct layer_information i;
	size_t at;
	json_t *layer;
	if (!json_array_size(t->layers))
		return;
	layer_information_begin(&i, t->a, t->e);
	json_array_foreach(t->layers, at, layer)
		layer_information_add(&i, layer);
	layer_information_end(&i);
}

/* ---- summary ---- */

/* "min = 1.2 ms, max = 2 ms, mean = 1 ms, median = 1.5 ms, percentile(99%) = 2 ms" */
static double value_after(struct arena *a, struct text line, const char *word)
{
	const char *text = arena_strndup(a, line.p, line.n), *at = strstr(text, word);
	char *end = NULL;
	double ms = at ? strtod(at + strlen(word), &end) : NAN;
	return end && *end == ' ' && ms > 0 && profile_is_time(ms * MS) ? ms * MS : NAN;
}

static void read_summary(struct arena *a, struct execution *e, struct text line)
{
	static const char *const begins[] = { "GPU Compute Time: ", "H2D Latency: ", "D2H Latency: " };
	double *const medians[] = { &e->stats.median, &e->copy_in_ns, &e->copy_out_ns };
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (text_begins(line, begins[i]))
			*medians[i] = value_after(a, line, "median = ");
}

static void read_line(struct log *t, struct text whole)
{
	struct text line = t->bare && t->columns ? whole : message_of(whole);
	bool heading = text_contains(line, TEXT("Time")) && text_contains(line, TEXT("Layer")) &&
		text_contains(line, TEXT("Avg."));
	if (text_begins(line, TITLE)) { /* the last one of several tables counts */
		t->e->row_count = t->columns = t->total = 0;
		t->bare = line.n == whole.n;
		struct text count = from(line, line.p + strlen(TITLE));
		t->count = text_number(take_word(&count, false));
	}
	if (text_begins(line, DEVICE))
		t->e->device = text_clean(t->a, text_trim(from(line, line.p + strlen(DEVICE))));
	if (heading && !isnan(t->count)) {
		t->columns = text_contains(line, TEXT("Median")) ? 4 : 3;
		t->name_first = text_trim(line).p[0] == 'L';
	} else if (t->columns && !add_layer(t, line))
		t->columns = 0;
	else if (!t->columns && !take_layer(t, whole))
		read_summary(t->a, t->e, line);
}

static int read_log(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct log t = { .a = a, .e = e, .count = NAN };
	struct text line;
	struct lines *l = lines_open(path, options, err);
	int got = -1;
	if (!l)
		return -1;
	t.layers = json_array();
	while ((got = lines_next(l, &line, err)) == 1)
		read_line(&t, line);
	e->framework = "tensorrt";
	if (t.count > 0 && t.count < 1e15)
		e->settings = arena_printf(a, "{\"runs\":%.0f}", t.count);
	complete(&t);
	json_decref(t.layers);
	if (lines_is_cut(l) && !t.total)
		profile_add_gap(a, e, "truncated");
	lines_close(l);
	if (got == 0 && e->row_count == 0 && isnan(e->stats.median))
		got = error_set(
			err, "%s: has neither layers nor a latency; run trtexec with --dumpProfile", path);
	return got;
}

const struct profile_reader profile_trtexec_log = {
	.kind = PROFILE_TRTEXEC_LOG, .is = is_log, .read = read_log, .packed = true
};
