/* Reads the times of runs that trtexec exports; they complete a profile of layers. */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/read/reader.h"
#include "profile/read/scan.h"

#define MS 1e6

static bool is_times(const struct profile_head *h)
{
	return head_has_key(h, '[', "latencyMs") && head_has_key(h, '[', "computeMs");
}

static bool is_summary(const struct profile_head *h)
{
	return head_has_key(h, '{', "performance_summary");
}

/* The parts of a run: time on the device, copies of inputs and outputs. */
enum part { COMPUTE, H2D, D2H, PART_COUNT };
static const char *const times_keys[] = { "computeMs", "h2dMs", "d2hMs" };
static const char *const summary_keys[] = { "GPU Compute Time", "H2D Latency", "D2H Latency" };

struct times {
	double *ns;
	int64_t n, capacity;
};

static void add_run(void *user, struct text key, const json_t *v)
{
	struct times *parts = user;
	(void)key;
	for (int i = 0; i < PART_COUNT; i++) {
		struct times *t = &parts[i];
		double ms = json_number_or_nan(json_object_get(v, times_keys[i]));
		if (!profile_is_time(ms * MS))
			continue;
		VEC_GROW(t->ns, t->n, t->capacity);
		t->ns[t->n++] = ms * MS;
	}
}

static void set_times(struct execution *e, const struct times *parts)
{
	double *const copies[] = { NULL, &e->copy_in_ns, &e->copy_out_ns };
	struct samples samples = { 0 };
	for (int i = H2D; i < PART_COUNT; i++) {
		samples_set(&samples, parts[i].ns, parts[i].n);
		*copies[i] = samples_quantile(&samples, 0.5);
	}
	samples_free(&samples);
	profile_latency(e, parts[COMPUTE].ns, parts[COMPUTE].n);
}

static int read_times(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	struct times parts[PART_COUNT] = { { 0 } };
	int got = scan_each(a, path, options, e, "run", add_run, parts, err);
	e->framework = "tensorrt";
	if (got == 0 && parts[COMPUTE].n == 0)
		got = error_set(err, "%s: has no run%s%s; run trtexec --exportTimes again", path,
			*e->gaps ? ": " : "", e->gaps);
	else if (got == 0)
		set_times(e, parts);
	for (int i = 0; i < PART_COUNT; i++)
		free(parts[i].ns);
	return got;
}

/* Minimum, maximum, mean, median in ms, then the percentiles 90, 95 and 99; older versions have only 99. */
enum { MIN, MEAN = 2, MEDIAN, P90, P99 = -1 };

static double summary_ns(const json_t *summary, enum part part, int which)
{
	const json_t *numbers = json_object_get(summary, summary_keys[part]);
	size_t n = json_array_size(numbers);
	if (n < 5 || (which == P90 && n < 7))
		return NAN;
	double ms = json_number_or_nan(json_array_get(numbers, which == P99 ? n - 1 : (size_t)which));
	return profile_is_time(ms * MS) ? ms * MS : NAN;
}

static void set_summary(struct execution *e, const json_t *v)
{
	e->stats.min = summary_ns(v, COMPUTE, MIN);
	e->stats.mean = summary_ns(v, COMPUTE, MEAN);
	e->stats.median = summary_ns(v, COMPUTE, MEDIAN);
	e->p90_ns = summary_ns(v, COMPUTE, P90);
	e->p99_ns = summary_ns(v, COMPUTE, P99);
	e->copy_in_ns = summary_ns(v, H2D, MEDIAN);
	e->copy_out_ns = summary_ns(v, D2H, MEDIAN);
}

struct summary {
	struct arena *a;
	struct execution *e;
};

static void add_part(void *user, struct text key, const json_t *v)
{
	const struct summary *s = user;
	const char *device = json_string_at(v, "Selected Device", "");
	if (text_is(key, "performance_summary"))
		set_summary(s->e, v);
	else if (text_is(key, "device_information") && *device)
		s->e->device = arena_printf(s->a, "%s", device);
}

static int read_summary(struct arena *a, const char *path, const struct profile_options *options,
	struct execution *e, struct error *err)
{
	int got = scan_each(a, path, options, e, "part", add_part, &(struct summary){ a, e }, err);
	e->framework = "tensorrt";
	if (got == 0 && isnan(e->stats.median))
		got = error_set(err, "%s: has no \"GPU Compute Time\"%s%s; make it again with TREx", path,
			*e->gaps ? ": " : "", e->gaps);
	return got;
}

const struct profile_reader profile_trtexec_times = {
	.kind = PROFILE_TRTEXEC_TIMES, .is = is_times, .read = read_times, .packed = true, .alone = true,
	.completes = 1u << PROFILE_TRTEXEC
};
const struct profile_reader profile_trtexec_summary = { .kind = PROFILE_TRTEXEC_SUMMARY,
	.is = is_summary,
	.read = read_summary,
	.packed = true,
	.alone = true,
	.completes = 1u << PROFILE_TRTEXEC };
