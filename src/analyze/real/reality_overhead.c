/* What framework and profiler add to the layers of an execution, and what else than an algorithm may make
 * them slow. */
#include "config.h"

#include "analyze/real/reality_private.h"

#include <math.h>
#include <string.h>

#include "base/json.h"

#define ASSUMED_SHARE 0.05   /* the interval that is assumed for times without one */
#define LEAST_NS 2000.0      /* what framework and profiler add to a layer, if it is unknown or less */
#define SMALL 0.25           /* a layer whose cost is below this share of it is lost in it */
#define SMALL_TIMES 10       /* of it, by which such a layer may be longer (the first wakes threads) */
#define OVERLAP 1.02         /* rows that exceed the profiled run by more ran at the same time */

double reality_low(double ns, double lo)
{
	return isnan(lo) ? ns * (1 - ASSUMED_SHARE) : lo;
}

double reality_high(double ns, double hi)
{
	return isnan(hi) ? ns * (1 + ASSUMED_SHARE) : hi;
}

static double or_zero(double x)
{
	return isnan(x) ? 0 : x;
}

/* The time of a run outside its rows, less the part of the profiler's cost that is not in the rows. It stays
 * unknown, and is part of `unexplained`, if the source does not report it. */
void launch_sort(struct reality *y)
{
	const struct execution *e = y->execution;
	double rows = e->profiler_row_ns > 0 ? y->profiler_ns / e->profiler_row_ns : 0;
	double cost = fmax(0, or_zero(rows * (e->profiler_row_ns - e->profiler_inside_ns)));
	double runs = y->match->runs;
	if (!y->row_count || isnan(e->outside_ns))
		return;
	gap_add(&y->gaps[GAP_LAUNCH], fmax(0, e->outside_ns / runs - cost),
		isnan(e->outside_lo_ns) ? NAN : fmax(0, fmin(e->outside_lo_ns, e->outside_ns) / runs - cost),
		isnan(e->outside_hi_ns) ? NAN : fmax(0, fmax(e->outside_hi_ns, e->outside_ns) / runs - cost));
}

static json_t *settings_of(const struct execution *e)
{
	return *e->settings ? json_loads(e->settings, 0, NULL) : NULL;
}

/* The framework's part is what an empty layer takes. The profiler's part is that by which the rows exceed the
 * latency, at most what profiling a layer was predicted to cost. Rows of kernels are timed by the device and
 * contain neither. */
static void added_find(struct reality *y, double calls, bool layers)
{
	const struct execution *e = y->execution;
	json_t *settings = settings_of(e);
	double node = fmax(0, json_number_or_nan(json_object_get(settings, "node_ns")));
	double row = or_zero(e->profiler_row_ns), excess = or_zero(y->excess_ns) / fmax(calls, 1);
	json_decref(settings);
	y->added_ns = layers ? node + fmin(excess, row > 0 ? row : LEAST_NS) : 0;
	y->added_most_ns = layers ? fmax(LEAST_NS, node + row) : 0;
}

void overhead_find(struct reality *y)
{
	const struct execution *e = y->execution;
	double sum = 0, all = 0, calls = 0, launch = or_zero(y->gaps[GAP_LAUNCH].ns), runs = y->match->runs;
	bool layers = false;
	for (int i = 0; i < e->row_count; i++) {
		if (!y->traced[i] || isnan(e->rows[i].ns))
			continue;
		sum += row_corrected(y, i, e->rows[i].ns);
		all += e->rows[i].ns;
		calls += calls_of(&e->rows[i]) / runs;
		layers |= e->rows[i].level == LEVEL_LAYER;
	}
	double latency = e->stats.median; /* the rows' times are medians too */
	bool exceeds = y->from == MEASURED_LATENCY && sum + launch > reality_high(latency, e->stats.hi);
	y->overlaps = all > OVERLAP * e->profiled_ns;
	y->excess_ns = exceeds ? sum + launch - latency : NAN;
	added_find(y, calls, layers);
}

const char *reality_excess_text(struct arena *a, const struct reality *y)
{
	char rows[STR_QUANTITY], excess[STR_QUANTITY], run[STR_QUANTITY];
	double runs = y->match->runs;
	if (isnan(y->excess_ns))
		return NULL;
	const char *why = isnan(y->execution->profiled_ns) ? "the profiled run was slower, or rows overlap"
		: y->overlaps ? "rows ran at the same time" : arena_printf(a, "a profiled run takes %s",
		str_duration(run, y->execution->profiled_ns / runs));
	return arena_printf(a,
		"rows%s take %s, %s more than the median latency: %s. The gaps of layers are together too "
		"large by this time; unexplained is lower by it",
		isnan(y->gaps[GAP_LAUNCH].ns) ? "" : " and launch",
		str_duration(rows, y->execution->stats.median + y->excess_ns),
		str_duration(excess, y->excess_ns), why);
}

/* A layer that is small beside what is added to each cannot be judged by a profile, so nearly all of its gap
 * counts. */
double overhead_ns(const struct reality *y, const struct reality_group *g, double gap)
{
	double calls = 0;
	for (int i = 0; i < g->row_count; i++)
		calls += calls_of(&y->execution->rows[g->rows[i]]) / y->match->runs;
	bool small = g->cost_ns < SMALL * calls * y->added_most_ns;
	return fmin(gap, calls * (small ? SMALL_TIMES * y->added_most_ns : y->added_ns));
}

/* ---- other causes than algorithms ---- */

struct evidence {
	const struct reality *y;
	const json_t *settings, *options; /* of the execution; NULL: none */
	bool on_cpu, from_file;
};

static bool is_off(const struct evidence *x, const char *option)
{
	return !strcmp(json_string_at(x->options, option, ""), "0");
}

static const char *slow_profile(struct arena *a, const struct evidence *x)
{
	(void)a;
	return isnan(x->y->excess_ns) ? NULL : x->y->overlaps ? "rows overlap" : "profiled runs were slower";
}

static const char *disturbed(struct arena *a, const struct evidence *x)
{
	(void)a;
	return x->y->execution->stats.stop == STOP_DISTURBED ? "other work disturbed its samples" : NULL;
}

static const char *denormal(struct arena *a, const struct evidence *x)
{
	const struct execution *e = x->y->execution;
	(void)a;
	return x->on_cpu && e->output_compared && !e->output_finite ?
		"its outputs have denormal numbers (slow on processors), infinities or NaN" : NULL;
}

static const char *level(struct arena *a, const struct evidence *x)
{
	const char *name = json_string_at(x->settings, "level", "all");
	return strcmp(name, "all") != 0 ? arena_printf(a, "graph optimizations are %s", name) : NULL;
}

static const char *arena_off(struct arena *a, const struct evidence *x)
{
	(void)a;
	return is_off(x, "enable_cpu_mem_arena") || is_off(x, "enable_mem_pattern") ||
		is_off(x, "enable_mem_reuse") ? "memory is allocated in each run" : NULL;
}

static const char *sleeping(struct arena *a, const struct evidence *x)
{
	(void)a;
	return json_is_false(json_object_get(x->settings, "spinning")) ? "its threads sleep between layers" :
		NULL;
}

static const char *file(struct arena *a, const struct evidence *x)
{
	const char *threads = x->y->execution->threads ? "" : "threads, ";
	return x->on_cpu && x->from_file ? arena_printf(a, "the file does not say its %sgraph "
		"optimizations, memory arena, or whether numbers are denormal", threads) : NULL;
}

void doubt_find(struct arena *a, struct reality *y, const struct ground *g)
{
	static const char *(*const causes[])(struct arena *, const struct evidence *) = { denormal, level,
		arena_off, sleeping, slow_profile, disturbed, file };
	const char *source = y->execution->source, *stack = g->device ? g->device->stack : NULL;
	json_t *settings = settings_of(y->execution);
	const struct evidence x = { .y = y, .settings = settings,
		.options = json_object_get(settings, "options"),
		.on_cpu = !g->estimate && !(stack && strstr(stack, "CUDA")),
		.from_file = *source && strcmp(source, "agent") != 0 };
	struct str out = { 0 };
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]) && y->gaps[GAP_ALGORITHM].ns > 0; i++) {
		const char *why = causes[i](a, &x);
		if (why)
			str_addf(&out, "%s%s", out.n ? "; " : "", why);
	}
	y->slower_doubt = out.n ? text_clean(a, text_of(out.p)) : NULL;
	str_free(&out);
	json_decref(settings);
}
