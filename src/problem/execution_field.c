/* Rows with the offset and range of each field; the wire, the store and the export loop over them. */
#include "config.h"

#include "problem/execution_field.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static const char *status_word(int value)
{
	return status_name((enum status)value);
}

static const char *stop_word(int value)
{
	return stop_name((enum stop)value);
}

static const char *level_word(int value)
{
	return execution_level_name((enum execution_level)value);
}

#define FIELD_AT(k, t, field) .key = k, .type = t, .offset = offsetof(RECORD, field)
#define FIELD(k, t, field) { FIELD_AT(k, t, field) }
#define STATS(k, t, field) { FIELD_AT(k, t, stats.field), .unknown = -1, .in_stats = true }

#define RECORD struct execution

static const struct execution_field fields[] = {
	FIELD("source", FIELD_TEXT, source),
	FIELD("framework", FIELD_TEXT, framework),
	FIELD("version", FIELD_TEXT, version),
	FIELD("provider", FIELD_TEXT, provider),
	FIELD("device", FIELD_TEXT, device),
	FIELD("host", FIELD_TEXT, host),
	FIELD("threads", FIELD_INT, threads),
	FIELD("dtype", FIELD_TEXT, dtype),
	FIELD("math", FIELD_TEXT, math),
	FIELD("settings", FIELD_OBJECT, settings),
	FIELD("model", FIELD_TEXT, model),
	FIELD("model_hash", FIELD_TEXT, model_hash),
	FIELD("inputs", FIELD_NAMES, inputs),
	FIELD("batch", FIELD_INT64, batch),
	FIELD("requests", FIELD_INT, requests),
	{ FIELD_AT("status", FIELD_WORD, status), .name = status_word, .parse = status_parse },
	FIELD("why", FIELD_TEXT, why),
	STATS("n", FIELD_INT64, n),
	STATS("discarded", FIELD_INT64, discarded),
	STATS("executions", FIELD_INT64, executions),
	STATS("min_ns", FIELD_NUMBER, min),
	STATS("q1_ns", FIELD_NUMBER, q1),
	STATS("median_ns", FIELD_NUMBER, median),
	STATS("q3_ns", FIELD_NUMBER, q3),
	STATS("mean_ns", FIELD_NUMBER, mean),
	STATS("stdev_ns", FIELD_NUMBER, stdev),
	STATS("lo_ns", FIELD_NUMBER, lo),
	STATS("hi_ns", FIELD_NUMBER, hi),
	{ FIELD_AT("stop", FIELD_WORD, stats.stop), .name = stop_word, .parse = stop_parse,
		.in_stats = true },
	FIELD("p90_ns", FIELD_NUMBER, p90_ns),
	FIELD("p99_ns", FIELD_NUMBER, p99_ns),
	FIELD("items_per_s", FIELD_NUMBER, items_per_s),
	FIELD("load_ns", FIELD_NUMBER, load_ns),
	FIELD("first_ns", FIELD_NUMBER, first_ns),
	FIELD("copy_in_ns", FIELD_NUMBER, copy_in_ns),
	FIELD("copy_out_ns", FIELD_NUMBER, copy_out_ns),
	FIELD("floor_ns", FIELD_NUMBER, floor_ns),
	FIELD("profiled_ns", FIELD_NUMBER, profiled_ns),
	FIELD("outside_ns", FIELD_NUMBER, outside_ns),
	FIELD("outside_lo_ns", FIELD_NUMBER, outside_lo_ns),
	FIELD("outside_hi_ns", FIELD_NUMBER, outside_hi_ns),
	FIELD("profiler_row_ns", FIELD_NUMBER, profiler_row_ns),
	FIELD("profiler_inside_ns", FIELD_NUMBER, profiler_inside_ns),
	FIELD("memory_bytes", FIELD_NUMBER, memory_bytes),
	FIELD("output_error", FIELD_NUMBER, output_error),
	FIELD("output_compared", FIELD_FLAG, output_compared),
	FIELD("output_finite", FIELD_FLAG, output_finite),
	FIELD("measured_at", FIELD_INT64, measured_at),
	FIELD("gaps", FIELD_TEXT, gaps),
	{ FIELD_AT("p10_ns", FIELD_NUMBER, stats.p10), .in_stats = true, .schema = 4 },
	{ FIELD_AT("p10_lo_ns", FIELD_NUMBER, stats.p10_lo), .in_stats = true, .schema = 4 },
	{ FIELD_AT("p10_hi_ns", FIELD_NUMBER, stats.p10_hi), .in_stats = true, .schema = 4 },
	{ FIELD_AT("spent_ns", FIELD_NUMBER, stats.spent), .in_stats = true, .schema = 4 },
};

#undef RECORD
#define RECORD struct execution_row

static const struct execution_field row_fields[] = {
	{ FIELD_AT("level", FIELD_WORD, level), .name = level_word, .parse = execution_level_parse },
	{ FIELD_AT("parent", FIELD_INT, parent), .unknown = -1 },
	FIELD("name", FIELD_TEXT, name),
	FIELD("op", FIELD_TEXT, op),
	FIELD("provider", FIELD_TEXT, provider),
	FIELD("kernel", FIELD_LONG, kernel),
	FIELD("nodes", FIELD_NAMES, nodes),
	FIELD("inputs", FIELD_NAMES, inputs),
	FIELD("outputs", FIELD_NAMES, outputs),
	FIELD("shapes", FIELD_TEXT, shapes),
	FIELD("dtype", FIELD_TEXT, dtype),
	FIELD("ns", FIELD_NUMBER, ns),
	FIELD("lo_ns", FIELD_NUMBER, lo_ns),
	FIELD("hi_ns", FIELD_NUMBER, hi_ns),
	FIELD("calls", FIELD_NUMBER, calls),
	FIELD("start_ns", FIELD_NUMBER, start_ns),
	FIELD("output_bytes", FIELD_NUMBER, output_bytes),
	FIELD("flops", FIELD_NUMBER, flops),
	FIELD("read_bytes", FIELD_NUMBER, read_bytes),
	FIELD("write_bytes", FIELD_NUMBER, write_bytes),
	FIELD("occupancy", FIELD_NUMBER, occupancy),
	{ FIELD_AT("stream", FIELD_INT, stream), .unknown = -1 },
};

const struct execution_field *execution_fields(int *count)
{
	*count = sizeof(fields) / sizeof(fields[0]);
	return fields;
}

const struct execution_field *execution_row_fields(int *count)
{
	*count = sizeof(row_fields) / sizeof(row_fields[0]);
	return row_fields;
}

/* --- hostile numbers --- */

#define LATENCY_MIN_NS 1 /* of a whole model */
#define TIME_MAX_NS 1e15
#define AMOUNT_MAX 1e18 /* bytes, operations, items a second */
#define COUNT_MAX INT64_C(1000000000000)
#define DATE_MAX INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

static bool is_time(const char *key)
{
	size_t n = strlen(key);
	return n >= 2 && !strcmp(key + n - 2, "ns");
}

/* Returns what is wrong with the first number that is out of range, or NULL. */
static const char *numbers_fault(const void *of, const struct execution_field *f, int count)
{
	for (int i = 0; i < count; i++) {
		if (f[i].type != FIELD_NUMBER)
			continue;
		double x = *(const double *)(const void *)((const char *)of + f[i].offset);
		if (x < 0 || isinf(x))
			return "has a negative or infinite number";
		if (is_time(f[i].key) && x > TIME_MAX_NS)
			return "has a time above 1e15 ns (11 days)";
		if (x > AMOUNT_MAX)
			return "has a size or count above 1e18";
	}
	return NULL;
}

/* Returns true if a > b by more than the rounding error of a mean of equal samples; false if either is NaN.
 */
static bool exceeds(double a, double b)
{
	return a > b * (1 + 1e-9);
}

const char *execution_fault(const struct execution *e)
{
	const struct sample_stats *t = &e->stats;
	if (e->status != STATUS_OK)
		return isnan(t->median) ? NULL : "has a time though its status is not ok";
	if (t->median < LATENCY_MIN_NS)
		return t->median > 0 ? "has a latency below 1 ns" : "has a latency of zero";
	if (exceeds(t->min, t->q1) || exceeds(t->q1, t->median) || exceeds(t->median, t->q3) ||
		exceeds(t->min, t->median) || exceeds(t->median, e->p99_ns) || exceeds(e->p90_ns, e->p99_ns))
		return "has quantiles out of order";
	if (exceeds(t->lo, t->median) || exceeds(t->median, t->hi))
		return "has a median outside its interval";
	if (t->n < 0 || t->n > COUNT_MAX || t->discarded < 0 || t->discarded > COUNT_MAX)
		return "has a sample count out of range";
	if (e->measured_at < 0 || e->measured_at > DATE_MAX)
		return "has a date out of range (seconds since 1970 are expected)";
	return numbers_fault(e, fields, sizeof(fields) / sizeof(fields[0]));
}

const char *execution_row_fault(const struct execution_row *r, int index)
{
	if (r->parent < -1 || r->parent >= index)
		return "has a parent that is not a row before it";
	if (exceeds(r->lo_ns, r->ns) || exceeds(r->ns, r->hi_ns))
		return "has a median outside its interval";
	if (r->occupancy > 1)
		return "has an occupancy above 1";
	return numbers_fault(r, row_fields, sizeof(row_fields) / sizeof(row_fields[0]));
}
