/* The table of the analyses: columns, needed levels, and the functions that fill them. */
#include "config.h"

#include "analyze/tables/xsp.h"

#include <math.h>
#include <string.h>

#include "analyze/tables/xsp_private.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

#define INDEX { "layer", "layer", XSP_INDEX }
#define NAME { "name", "name", XSP_TEXT }
#define TYPE { "type", "type", XSP_TEXT }
#define LATENCY { "latency_ns", "latency", XSP_NS }
#define SHARE { "share", "share", XSP_SHARE }
#define COUNT { "count", "count", XSP_COUNT }
#define MEMORY { "output_bytes", "memory", XSP_BYTES }
#define LAYER_NAME { "layer_name", "layer", XSP_TEXT }
#define FLOPS { "flops", "FLOP", XSP_FLOPS }
#define READS { "read_bytes", "reads", XSP_BYTES }
#define WRITES { "write_bytes", "writes", XSP_BYTES }
#define OCCUPANCY { "occupancy", "occup.", XSP_SHARE }
#define INTENSITY { "flops_per_byte", "FLOP/B", XSP_INTENSITY }
#define THROUGHPUT { "flops_s", "FLOP/s", XSP_RATE }
#define LIMIT { "bound_by", "limit", XSP_TEXT }

static const struct xsp_column model_columns[] = { { "framework", "framework", XSP_TEXT },
	{ "dtype", "type", XSP_TEXT }, { "batch", "batch", XSP_INDEX }, LATENCY,
	{ "items_s", "items/s", XSP_PER_S }, { "optimal", "optimal", XSP_TEXT } };
static const struct xsp_column layers_columns[] = { INDEX, NAME, TYPE, { "shape", "output", XSP_TEXT },
	LATENCY, MEMORY };
static const struct xsp_column layer_latency_columns[] = { INDEX, NAME, LATENCY, SHARE };
static const struct xsp_column layer_memory_columns[] = { INDEX, NAME, MEMORY, SHARE };
static const struct xsp_column layer_types_columns[] = { TYPE, COUNT, SHARE };
static const struct xsp_column type_latency_columns[] = { TYPE, COUNT, LATENCY, SHARE };
static const struct xsp_column type_memory_columns[] = { TYPE, COUNT, MEMORY, SHARE };
static const struct xsp_column kernels_columns[] = { NAME, LAYER_NAME, LATENCY, FLOPS, READS, WRITES,
	OCCUPANCY };
static const struct xsp_column kernel_roofline_columns[] = { NAME, LATENCY, INTENSITY, THROUGHPUT, LIMIT };
static const struct xsp_column kernel_names_columns[] = { NAME, COUNT, LATENCY, SHARE, FLOPS, READS, WRITES,
	OCCUPANCY };
static const struct xsp_column layer_kernels_columns[] = { INDEX, NAME, { "kernels", "kernels", XSP_COUNT },
	{ "layer_ns", "layer", XSP_NS }, { "kernel_ns", "kernels", XSP_NS }, OCCUPANCY, INTENSITY, LIMIT };
static const struct xsp_column layer_metrics_columns[] = { INDEX, NAME, FLOPS, READS, WRITES };
static const struct xsp_column layer_device_columns[] = { INDEX, NAME, { "layer_ns", "layer", XSP_NS },
	{ "kernel_ns", "device", XSP_NS }, { "other_ns", "other", XSP_NS },
	{ "kernel_share", "device", XSP_SHARE } };
static const struct xsp_column layer_roofline_columns[] = { INDEX, NAME, TYPE, LATENCY, INTENSITY, THROUGHPUT,
	{ "roofline_share", "of roof", XSP_SHARE }, LIMIT };
static const struct xsp_column model_kernels_columns[] = { { "model_ns", "model", XSP_NS },
	{ "kernel_ns", "kernels", XSP_NS }, SHARE, FLOPS, READS, WRITES, OCCUPANCY, INTENSITY, THROUGHPUT,
	LIMIT };

#define COSTS COUNT, LATENCY, SHARE, { "preferred_ns", "preferred", XSP_NS }, LIMIT
static const struct xsp_column by_type_columns[] = { TYPE, COSTS };
static const struct xsp_column by_scope_columns[] = { { "scope", "scope", XSP_TEXT }, COSTS };
static const struct xsp_column by_class_columns[] = { { "class", "class", XSP_TEXT }, COSTS };
static const struct xsp_column by_limit_columns[] = { { "limited_by", "limited by", XSP_TEXT }, COSTS };
static const struct xsp_column distribution_columns[] = { { "cost_share", "of the cost", XSP_SHARE },
	{ "layers", "layers", XSP_COUNT }, { "layer_share", "of layers", XSP_SHARE },
	{ "least_ns", "least", XSP_NS }, { "sum_ns", "sum", XSP_NS } };
static const struct xsp_column gains_columns[] = { INDEX, NAME, LATENCY,
	{ "preferred_ns", "pref.", XSP_NS }, { "gain_fusion_ns", "fusion", XSP_NS },
	{ "gain_matrix_ns", "matrix", XSP_NS }, { "gain_algorithm_ns", "algo", XSP_NS },
	{ "gain_launch_ns", "launch", XSP_NS }, { "gain_math_ns", "math", XSP_NS },
	{ "gain_layout_ns", "layout", XSP_NS } };
_Static_assert(COUNT_OF(gains_columns) <= XSP_GAINS_FIRST + XSP_GAINS_MAX, "gains of what-ifs");

#define ROW(id, name, fill, levels, from_bound, title)                                                       \
	{ id, name, title, levels, from_bound, false, fill##_columns, COUNT_OF(fill##_columns),              \
		xsp_fill_##fill }
#define BOUND(id, name, fill, title)                                                                         \
	{ id, name, title, XSP_LAYER, true, true, fill##_columns, COUNT_OF(fill##_columns), xsp_fill_##fill }
static const struct xsp_analysis analyses[] = {
	ROW("A1", "model", model, XSP_MODEL, false, "latency and throughput over the batch"),
	ROW("A2", "layers", layers, XSP_LAYER, true, "output, latency and memory of the layers"),
	ROW("A3", "layer-latency", layer_latency, XSP_LAYER, true,
		"latency of the layers in execution order"),
	ROW("A4", "layer-memory", layer_memory, XSP_LAYER, false, "memory allocated by the layers"),
	ROW("A5", "layer-types", layer_types, XSP_LAYER, true, "number of layers by type"),
	ROW("A6", "type-latency", type_latency, XSP_LAYER, true, "latency by layer type"),
	ROW("A7", "type-memory", type_memory, XSP_LAYER, false, "allocated memory by layer type"),
	ROW("A8", "kernels", kernels, XSP_KERNEL, false, "latency and counters of the kernels"),
	ROW("A9", "kernel-roofline", kernel_roofline, XSP_KERNEL, false, "roofline of the kernels"),
	ROW("A10", "kernel-names", kernel_names, XSP_KERNEL, false, "kernels by name"),
	ROW("A11", "layer-kernels", layer_kernels, XSP_LAYER | XSP_KERNEL, false, "kernels by layer"),
	ROW("A12", "layer-metrics", layer_metrics, XSP_LAYER | XSP_KERNEL, false,
		"operations and memory traffic by layer, from counters"),
	ROW("A13", "layer-device", layer_device, XSP_LAYER | XSP_KERNEL, false,
		"time on the device and off it, by layer"),
	ROW("A14", "layer-roofline", layer_roofline, XSP_LAYER, true, "roofline of the layers"),
	ROW("A15", "model-kernels", model_kernels, XSP_MODEL | XSP_KERNEL, false,
		"kernels of the whole model"),
	BOUND("B1", "by-type", by_type, "costs by operator type"),
	BOUND("B2", "by-scope", by_scope, "costs by the first parts of the layers' names"),
	BOUND("B3", "by-class", by_class, "costs by class"),
	BOUND("B4", "distribution", distribution, "numbers of layers and their share of the cost"),
	BOUND("B5", "gains", gains, "best and preferred cost, gain of each what-if"),
	BOUND("B6", "by-limit", by_limit, "costs by what limits the layers"),
};

const struct xsp_analysis *xsp_analyses(int *count)
{
	*count = COUNT_OF(analyses);
	return analyses;
}

const char *xsp_unit_name(enum xsp_unit u)
{
	static const char *const names[] = { [XSP_TEXT] = "text",
		[XSP_INDEX] = "index",
		[XSP_COUNT] = "count",
		[XSP_NS] = "ns",
		[XSP_BYTES] = "bytes",
		[XSP_SHARE] = "share",
		[XSP_FLOPS] = "flops",
		[XSP_RATE] = "flops_s",
		[XSP_INTENSITY] = "flops_per_byte",
		[XSP_PER_S] = "items_s" };
	return names[u];
}

static bool is_offered(const struct xsp_analysis *x, bool bound)
{
	return bound ? x->from_bound : !x->bound_alone;
}

/* Returns the available analyses as a list for an error. */
static void list_names(bool bound, struct str *out)
{
	for (int i = 0; i < COUNT_OF(analyses); i++)
		if (is_offered(&analyses[i], bound))
			str_addf(out, "%s%s %s", out->n ? ", " : "", analyses[i].id, analyses[i].name);
}

static int unknown(struct text word, bool bound, bool exists, struct error *err)
{
	struct str names = { 0 };
	list_names(bound, &names);
	error_set(err, "--analysis %.*s: %s; use all, %s", (int)word.n, word.p,
		!exists ? "no such analysis" :
		bound   ? "needs an execution (benanza compare)" :
			  "needs only the bound (benanza bound)",
		names.p);
	str_free(&names);
	return -1;
}

int xsp_parse(const char *list, bool bound, unsigned *wanted, struct error *err)
{
	unsigned found = 0;
	for (const char *p = list;; p++) {
		struct text word = { p, strcspn(p, ",") };
		int at = -1;
		for (int i = 0; i < COUNT_OF(analyses); i++) {
			struct text id = text_of(analyses[i].id);
			bool same = id.n == word.n && text_contains(word, id);
			if (same || text_is(word, analyses[i].name))
				at = i;
			if (text_is(word, "all") && is_offered(&analyses[i], bound))
				found |= 1u << i;
		}
		if (!text_is(word, "all") && (at < 0 || !is_offered(&analyses[at], bound)))
			return unknown(word, bound, at >= 0, err);
		if (at >= 0)
			found |= 1u << at;
		p += word.n;
		if (!*p)
			break;
	}
	*wanted = found;
	return 0;
}

/* ---- tables ---- */

void xsp_row(struct xsp_table *t)
{
	int columns = t->analysis->column_count;
	if (t->row_count == t->capacity) {
		int larger = t->capacity ? 2 * t->capacity : 32;
		struct xsp_cell *cells = ARENA_ARRAY(t->arena, struct xsp_cell, larger * columns);
		if (t->row_count)
			memcpy(cells, t->cells, sizeof(*cells) * (size_t)(t->row_count * columns));
		t->cells = cells;
		t->capacity = larger;
	}
	t->at = t->row_count++ * columns;
	for (int i = 0; i < columns; i++)
		t->cells[t->at + i] = (struct xsp_cell){ .text = "", .number = NAN };
}

void xsp_text(struct xsp_table *t, const char *text)
{
	t->cells[t->at++].text = text;
}

void xsp_estimate(struct xsp_table *t, double number, bool estimated)
{
	t->cells[t->at].estimated = estimated && !isnan(number);
	t->cells[t->at++].number = number;
}

void xsp_number(struct xsp_table *t, double number)
{
	xsp_estimate(t, number, false);
}

const struct xsp_cell *xsp_cell(const struct xsp_table *t, int row, int column)
{
	return &t->cells[row * t->analysis->column_count + column];
}

static const char *missing(const struct xsp_analysis *x, const struct xsp_levels *l)
{
	bool bound = !l->in->execution_count;
	if (!bound && x->bound_alone)
		return "needs only the bound: benanza bound MODEL --analysis";
	if (bound && !x->from_bound)
		return "needs an execution: benanza compare MODEL PROFILE";
	if (bound)
		return l->in->bound ? NULL : "the bound is unknown: run benanza bench MODEL";
	if (x->levels & XSP_MODEL && !l->model)
		return "level model is missing: the latency of runs without a profiler (--latency 41.2ms)";
	if (x->levels & XSP_LAYER && !l->layer)
		return "level layer is missing: a profile of layers (ONNX Runtime's, trtexec "
		       "--exportProfile, "
		       "NVTX ranges in nsys)";
	if (x->levels & XSP_KERNEL && !l->kernel)
		return "level kernel is missing: a profile of kernels (nsys, the PyTorch profiler, "
		       "ONEDNN_VERBOSE=1)";
	return NULL;
}

static const char *text_keep(struct arena *a, const char *text)
{
	return !text || !*text ? text : arena_strndup(a, text, strlen(text));
}

/* The table with its texts in arena a, without what it was made from. */
static struct xsp_table *table_keep(struct arena *a, const struct xsp_table *t)
{
	struct xsp_table *kept = ARENA_NEW(a, struct xsp_table);
	int count = t->row_count * t->analysis->column_count;
	*kept = *t;
	kept->arena = a;
	kept->capacity = t->row_count;
	kept->note = text_keep(a, t->note);
	kept->cells = ARENA_ARRAY(a, struct xsp_cell, count);
	for (int i = 0; i < count; i++) {
		kept->cells[i] = t->cells[i];
		kept->cells[i].text = text_keep(a, t->cells[i].text);
	}
	return kept;
}

struct xsp_table *xsp_analyze(
	struct arena *a, const struct xsp_analysis *analysis, const struct xsp_input *in)
{
	struct arena scratch = { 0 };
	struct xsp_levels l = { .in = in, .arena = &scratch };
	struct xsp_table t = { .analysis = analysis, .note = "", .arena = &scratch };
	xsp_gather(&l);
	t.missing = missing(analysis, &l);
	if (!t.missing)
		analysis->fill(&t, &l);
	struct xsp_table *kept = table_keep(a, &t);
	arena_free(&scratch);
	return kept;
}
