/* Reads traces of PyTorch's profiler: JSON of the Chrome trace format, one event at a time. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/kinds/kineto.h"
#include "profile/read/scan.h"

#define TEXT_MOST 4096 /* bytes of a name or of shapes */
#define DEVICES_MOST 64
#define EXACT_MOST_US 1e12 /* larger times lose their fractions as ns in a double */

/* libkineto/src/output_json.cpp; the capital ones are of PyTorch 1.8 to 1.11. */
static const struct category {
	const char *name;
	enum kineto_kind kind;
} categories[] = {
	{ "cpu_op", KINETO_OP }, { "kernel", KINETO_KERNEL }, { "cuda_runtime", KINETO_RUNTIME },
	{ "cuda_driver", KINETO_RUNTIME }, { "gpu_memcpy", KINETO_MEMCPY }, { "gpu_memset", KINETO_MEMSET },
	{ "user_annotation", KINETO_NOTE }, { "Operator", KINETO_OP }, { "Kernel", KINETO_KERNEL },
	{ "Runtime", KINETO_RUNTIME }, { "Memcpy", KINETO_MEMCPY }, { "Memset", KINETO_MEMSET },
};

/* Events before Kineto (torch/autograd/profiler.py) have no "cat", but these as "pid". */
#define CPU_FUNCTIONS "\"CPU functions\""
#define CUDA_FUNCTIONS "\"CUDA functions\""
static const struct category old_op = { "", KINETO_OP }, old_kernel = { "", KINETO_KERNEL };

struct reading {
	struct kineto k;
	struct arena *a;
	struct str key;
	double base;    /* us, subtracted from all times */
	bool has_base;
	int order;
	int64_t old_ops; /* operators so far, in a trace from before Kineto */
	const char *devices[DEVICES_MOST]; /* names by id */
	int device;     /* of the first kernel; -1 */
};

static bool is_kineto(const struct profile_head *h)
{
	if (head_has_key(h, '{', "traceEvents") || head_has_key(h, '{', "deviceProperties"))
		return true;
	if (head_has_key(h, '[', "ph") && head_has_key(h, '[', "pid") &&
		(head_contains(h, CPU_FUNCTIONS) || head_contains(h, CUDA_FUNCTIONS)))
		return true;
	return head_has_key(h, '[', "ph") && head_has_key(h, '[', "ts") && head_contains(h, "\"cpu_op\"");
}

/* Returns the value of a key in the text of an event, found without parsing it, or NULL. */
static const char *find_value(struct text v, const char *quoted, size_t n)
{
	const char *p = memmem(v.p, v.n, quoted, n), *end = v.p + v.n;
	if (!p)
		return NULL;
	for (p += n; p < end && (*p == ' ' || *p == ':' || *p == '\n' || *p == '\t'); p++)
		;
	return p < end ? p : NULL;
}

#define FIND(v, key) find_value((v), "\"" key "\"", sizeof(key) + 1)

static const struct category *category_of(struct text v)
{
	const char *p = FIND(v, "cat"), *pid = p ? NULL : FIND(v, "pid");
	size_t rest = pid ? (size_t)(v.p + v.n - pid) : 0;
	if (rest > strlen(CPU_FUNCTIONS) && !memcmp(pid, CPU_FUNCTIONS, strlen(CPU_FUNCTIONS)))
		return &old_op;
	if (rest > strlen(CUDA_FUNCTIONS) && !memcmp(pid, CUDA_FUNCTIONS, strlen(CUDA_FUNCTIONS)))
		return &old_kernel;
	if (!p || *p != '"')
		return NULL;
	size_t left = (size_t)(v.p + v.n - ++p);
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++) {
		size_t n = strlen(categories[i].name);
		if (n < left && !memcmp(p, categories[i].name, n) && p[n] == '"')
			return &categories[i];
	}
	return NULL;
}

/* Returns true if the digits of the event's time alone prove that it is after the last kept one. */
static bool is_late(const struct reading *r, struct text v)
{
	const char *p = isinf(r->k.until) ? NULL : FIND(v, "ts");
	if (!p || *p < '0' || *p > '9')
		return false;
	return ((double)strtoll(p, NULL, 10) - r->base) * 1e3 > r->k.until;
}

static const char *const types[][2] = {
	{ "float", "f32" }, { "c10::Half", "f16" }, { "c10::BFloat16", "bf16" }, { "double", "f64" },
	{ "signed char", "s8" }, { "unsigned char", "u8" }, { "int", "s32" }, { "long", "s64" },
	{ "long int", "s64" }, { "bool", "bool" }, { "c10::Float8_e4m3fn", "f8e4m3" },
	{ "c10::Float8_e5m2", "f8e5m2" },
};

/* The members of an event that are used, as JSON text; n = 0: absent. In the order of event_keys and
 * arg_keys. */
enum field {
	PH,
	NAME,
	PID,
	TID,
	TS,
	DUR,
	ARGS,
	EXTERNAL_ID,
	OLD_EXTERNAL_ID,
	CORRELATION,
	DIMS,
	OLD_DIMS,
	TYPES,
	STREAM,
	DEVICE,
	OCCUPANCY,
	FIELD_COUNT
};
static const char *const field_keys[] = { "ph", "name", "pid", "tid", "ts", "dur", "args", "External id",
	"external id", "correlation", "Input Dims", "Input dims", "Input type", "stream", "device",
	"est. achieved occupancy %" };

/* Fills the fields from `first` to `last` from an object. Returns false if it is not valid JSON. */
static bool find_fields(
	struct scan *s, struct text object, struct text *fields, enum field first, enum field last)
{
	struct text key, value;
	int got;
	while ((got = scan_member(s, &object, &key, &value)) == 1)
		for (int i = first; i < (int)last; i++)
			if (text_is(key, field_keys[i])) {
				fields[i] = value;
				break;
			}
	return got == 0;
}

static int64_t integer_at(struct text value, int64_t otherwise)
{
	int64_t i;
	return text_to_int64(value, &i) ? i : otherwise;
}

static int small_integer(struct text value)
{
	int64_t i = integer_at(value, -1);
	return i >= 0 && i < 1 << 30 ? (int)i : -1;
}

/* Returns the type of the first tensor in ["float","float",""]. */
static const char *type_of(struct text list)
{
	json_t *names = list.n ? scan_json(list) : NULL;
	const char *found = "";
	for (size_t i = 0; i < json_array_size(names) && !*found; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		for (size_t j = 0; name && j < sizeof(types) / sizeof(types[0]); j++)
			if (!strcmp(types[j][0], name))
				found = types[j][1];
	}
	json_decref(names);
	return found;
}

/* Returns the text, cleaned and cut. */
static const char *keep(struct reading *r, struct text t)
{
	t.n = t.n < TEXT_MOST ? t.n : TEXT_MOST;
	return t.n ? text_clean(&r->k.texts, t) : "";
}

static int new_label(struct reading *r, enum kineto_kind kind, const struct text *f, struct text dims)
{
	struct kineto *k = &r->k;
	const char *name = scan_string(&k->texts, f[NAME], TEXT_MOST);
	if (!name)
		return -1;
	VEC_GROW(k->labels, k->label_count, k->label_capacity);
	k->labels[k->label_count] = (struct kineto_label){ kind, name, keep(r, dims), type_of(f[TYPES]),
		scan_number(f[OCCUPANCY]) / 100, small_integer(f[STREAM]), { "", 0 } };
	return k->label_count++;
}

/* Returns the label of an event, which it adds if it is new; -1 if the name is not valid. */
static int label_of(struct reading *r, enum kineto_kind kind, const struct text *f)
{
	struct text dims = kind != KINETO_OP ? TEXT("") : f[DIMS].n ? f[DIMS] : f[OLD_DIMS];
	char number = (char)('0' + kind);
	str_clear(&r->key);
	str_add(&r->key, &number, 1);
	str_add(&r->key, f[NAME].p, f[NAME].n);
	str_add(&r->key, dims.p, dims.n);
	struct text key = { r->key.p, r->key.n };
	int64_t found = hash_find(&r->k.names, key);
	if (found >= 0)
		return (int)found;
	int label = new_label(r, kind, f, dims);
	if (label >= 0) {
		key.p = arena_strndup(&r->k.texts, key.p, key.n);
		r->k.labels[label].key = key;
		*hash_at(&r->k.names, key) = label;
	}
	return label;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Drops the labels, with their texts, that no record uses. */
static void keep_labels(struct kineto *k)
{
	struct kineto_label *old = k->labels;
	struct arena texts = k->texts;
	int *index = base_calloc((size_t)k->label_count + 1, sizeof(int)); /* new index + 1; 0: dropped */
	hash_free(&k->names);
	k->names = (struct hash){ 0 };
	k->texts = (struct arena){ 0 };
	k->labels = NULL;
	k->label_count = k->label_capacity = 0;
	for (int i = 0; i < k->record_count; i++) {
		int *at = &index[k->records[i].label];
		if (!*at) {
			struct kineto_label l = old[k->records[i].label];
			l.name = arena_strndup(&k->texts, l.name, strlen(l.name));
			l.shapes = arena_strndup(&k->texts, l.shapes, strlen(l.shapes));
			l.key.p = arena_strndup(&k->texts, l.key.p, l.key.n);
			VEC_GROW(k->labels, k->label_count, k->label_capacity);
			k->labels[k->label_count] = l;
			*hash_at(&k->names, l.key) = k->label_count++;
			*at = k->label_count;
		}
		k->records[i].label = *at - 1;
	}
	arena_free(&texts);
	free(old);
	free(index);
}

static bool is_full(const struct kineto *k)
{
	return k->record_count >= KINETO_RECORDS_MOST || k->label_count >= KINETO_LABELS_MOST ||
		k->texts.total >= KINETO_TEXTS_MOST;
}

/* Drops the later half of the records, and from now on every event after the earlier half. */
static void keep_earliest(struct kineto *k)
{
	double *starts = base_malloc((size_t)k->record_count * sizeof(double));
	int kept = 0, half = k->record_count / 2;
	for (int i = 0; i < k->record_count; i++)
		starts[i] = k->records[i].start;
	qsort(starts, (size_t)k->record_count, sizeof(double), compare_doubles);
	k->until = starts[half - 1];
	free(starts);
	for (int i = 0; i < k->record_count && kept < half; i++)
		if (k->records[i].start <= k->until)
			k->records[kept++] = k->records[i];
	k->left_out += k->record_count - kept;
	k->record_count = kept;
	keep_labels(k);
}

/* Large times, since 1970, count from the first event that has one. */
static void set_base(struct reading *r, double ts)
{
	if (r->has_base || !(ts > EXACT_MOST_US))
		return;
	r->base = ts;
	r->has_base = true;
	for (int i = 0; i < r->k.record_count; i++)
		r->k.records[i].start -= ts * 1e3;
}

/* Drops the records that start a day or more from the middle one: their time is broken. */
static void drop_distant(struct kineto *k)
{
	int kept = 0;
	double *starts = base_malloc(((size_t)k->record_count + 1) * sizeof(double));
	for (int i = 0; i < k->record_count; i++)
		starts[i] = k->records[i].start;
	qsort(starts, (size_t)k->record_count, sizeof(double), compare_doubles);
	double middle = starts[k->record_count / 2];
	free(starts);
	for (int i = 0; i < k->record_count; i++)
		if (fabs(k->records[i].start - middle) < 86400e9)
			k->records[kept++] = k->records[i];
	k->odd += k->record_count - kept;
	k->record_count = kept;
}

/* old: the trace is from before Kineto. */
static void add_record(struct reading *r, struct scan *s, enum kineto_kind kind, bool old, struct text v)
{
	struct kineto *k = &r->k;
	struct text f[FIELD_COUNT] = { { "", 0 } };
	if (!find_fields(s, v, f, PH, ARGS + 1) ||
		(f[ARGS].n && !find_fields(s, f[ARGS], f, EXTERNAL_ID, FIELD_COUNT)))
		return;
	double ts = scan_number(f[TS]), dur = scan_number(f[DUR]);
	if (!text_is(f[PH], "\"X\""))
		return;
	if (!(fabs(ts) < 1e18) || !profile_is_time(dur * 1e3) || (ts == 0 && dur == 0)) {
		k->odd++;
		return;
	}
	set_base(r, ts);
	double start = (ts - r->base) * 1e3;
	if (start > k->until) {
		k->left_out++;
		return;
	}
	while (is_full(k) && k->record_count > 1)
		keep_earliest(k);
	int label = label_of(r, kind, f);
	if (label < 0) {
		scan_reject(s);
		return;
	}
	int64_t id = integer_at(f[EXTERNAL_ID].n ? f[EXTERNAL_ID] : f[OLD_EXTERNAL_ID], 0);
	k->old |= old;
	if (old) /* kernels follow their operator */
		id = r->old_ops += kind == KINETO_OP;
	uint32_t lane = (uint32_t)integer_at(f[TID], 0) * 2654435761u ^ (uint32_t)integer_at(f[PID], 0);
	VEC_GROW(k->records, k->record_count, k->record_capacity);
	k->records[k->record_count++] = (struct kineto_record){ start, dur * 1e3, id,
		integer_at(f[CORRELATION], 0), label, (int)(lane & 0x7fffffff), r->order++, -1 };
	if (kind == KINETO_KERNEL && r->device < 0)
		r->device = small_integer(f[DEVICE]);
}

static bool is_step(struct text v)
{
	return memmem(v.p, v.n, "\"ProfilerStep#", 14) != NULL;
}

static void add_event(struct reading *r, struct scan *s, struct text v)
{
	const struct category *c = category_of(v);
	if (!c)
		return;
	r->k.steps += c->kind == KINETO_NOTE && is_step(v);
	if (is_late(r, v)) {
		r->k.left_out++;
		return;
	}
	add_record(r, s, c->kind, c == &old_op || c == &old_kernel, v);
}

static void add_device(struct reading *r, struct scan *s, struct text v)
{
	json_t *tree = scan_parse(s, v);
	int64_t id = json_int_at(tree, "id", -1);
	if (id >= 0 && id < DEVICES_MOST)
		r->devices[id] = text_clean(r->a, text_of(json_string_at(tree, "name", "")));
	json_decref(tree);
}

static void finish(struct reading *r, const struct scan *s, struct execution *e)
{
	bool found = r->device >= 0 && r->device < DEVICES_MOST && r->devices[r->device];
	e->framework = "pytorch";
	e->device = found ? r->devices[r->device] : "";
	if (r->k.record_count)
		drop_distant(&r->k);
	kineto_gather(&r->k, r->a, e);
	profile_add_gap(r->a, e, scan_gap(s, r->a, "event"));
	if (r->k.odd)
		profile_add_gap(r->a, e, arena_printf(r->a, "%" PRId64 " event%s without a time", r->k.odd,
						  r->k.odd == 1 ? "" : "s"));
}

static int read_kineto(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct reading r = { .a = a, .device = -1, .k = { .until = INFINITY } };
	struct scan_item item;
	struct scan *s = scan_open(path, options, err);
	int got = -1;
	if (!s)
		return -1;
	while ((got = scan_next(s, &item, err)) == 1) {
		if (item.key.n == 0 || text_is(item.key, "traceEvents"))
			add_event(&r, s, item.value);
		else if (text_is(item.key, "deviceProperties"))
			add_device(&r, s, item.value);
	}
	if (got == 0)
		finish(&r, s, e);
	if (got == 0 && e->row_count == 0)
		got = error_set(err,
			"%s: no operator and no kernel in this trace%s%s; profile with "
			"activities=[CPU, CUDA]", path, *e->gaps ? ": " : "", e->gaps);
	scan_close(s);
	hash_free(&r.k.names);
	str_free(&r.key);
	free(r.k.labels);
	free(r.k.records);
	arena_free(&r.k.texts);
	return got;
}

const struct profile_reader profile_kineto = {
	.kind = PROFILE_KINETO, .is = is_kineto, .read = read_kineto, .packed = true
};
