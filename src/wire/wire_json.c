/* Reads and writes single keys of messages, and statistics. */
#include "config.h"

#include "wire/wire_private.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int wire_set_text(json_t *o, const char *key, const char *s)
{
	return json_object_set_new(o, key, json_text(text_of(s)));
}

int wire_get_long_text(const json_t *o, const char *key, size_t most, const char **s, struct error *err)
{
	const json_t *v = json_object_get(o, key);
	*s = "";
	if (!v || json_is_null(v))
		return 0;
	if (!json_is_string(v))
		return error_set(err, "\"%s\" is not a string", key);
	if (json_string_length(v) > most)
		return error_set(err, "\"%s\" is longer than %zu bytes", key, most);
	*s = json_string_value(v);
	return 0;
}

int wire_get_text(const json_t *o, const char *key, const char **s, struct error *err)
{
	return wire_get_long_text(o, key, WIRE_NAME_MAX, s, err);
}

int wire_get_count(const json_t *o, const char *key, int64_t otherwise, int64_t *n, struct error *err)
{
	const json_t *v = json_object_get(o, key);
	*n = otherwise;
	if (!v || json_is_null(v))
		return 0;
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return error_set(err, "\"%s\" is not an integer >= 0", key);
	*n = json_integer_value(v);
	return 0;
}

int wire_get_amount(const json_t *o, const char *key, double *x, struct error *err)
{
	const json_t *v = json_object_get(o, key);
	*x = NAN;
	if (!v || json_is_null(v))
		return 0;
	if (!json_is_number(v) || !(json_number_value(v) >= 0))
		return error_set(err, "\"%s\" is not a number >= 0", key);
	*x = json_number_value(v);
	return 0;
}

int wire_get_word(const json_t *o, const char *key, int (*parse)(const char *), int otherwise, int *word,
	struct error *err)
{
	const char *s;
	if (wire_get_text(o, key, &s, err))
		return -1;
	*word = *s ? parse(s) : otherwise;
	return *word < 0 ? error_set(err, "\"%s\" has the unknown value \"%.60s\"", key, s) : 0;
}

/* The times of struct sample_stats, in the order of the JSON text and of the struct. */
static const struct stats_field {
	const char *key;
	size_t offset;
	bool may_lack; /* 0 means unknown, and the key is left out */
} stats_fields[] = {
	{ "min_ns", offsetof(struct sample_stats, min), false },
	{ "q1_ns", offsetof(struct sample_stats, q1), false },
	{ "median_ns", offsetof(struct sample_stats, median), false },
	{ "q3_ns", offsetof(struct sample_stats, q3), false },
	{ "mean_ns", offsetof(struct sample_stats, mean), false },
	{ "stdev_ns", offsetof(struct sample_stats, stdev), false },
	{ "lo_ns", offsetof(struct sample_stats, lo), false },
	{ "hi_ns", offsetof(struct sample_stats, hi), false },
	{ "p10_ns", offsetof(struct sample_stats, p10), true },
	{ "p10_lo_ns", offsetof(struct sample_stats, p10_lo), true },
	{ "p10_hi_ns", offsetof(struct sample_stats, p10_hi), true },
	{ "spent_ns", offsetof(struct sample_stats, spent), true },
};
#define STATS_FIELDS (sizeof(stats_fields) / sizeof(stats_fields[0]))

static double *stats_at(struct sample_stats *s, size_t i)
{
	return (double *)((char *)s + stats_fields[i].offset);
}

json_t *wire_stats_to_json(const struct sample_stats *s)
{
	struct sample_stats copy = *s;
	json_t *o = json_object();
	json_object_set_new(o, "n", json_integer(s->n));
	json_object_set_new(o, "discarded", json_integer(s->discarded));
	json_object_set_new(o, "executions", json_integer(s->executions));
	for (size_t i = 0; i < STATS_FIELDS; i++)
		if (!stats_fields[i].may_lack || *stats_at(&copy, i) > 0)
			json_object_set_new(o, stats_fields[i].key, json_number_or_null(*stats_at(&copy, i)));
	json_object_set_new(o, "stop", json_string(stop_name(s->stop)));
	return o;
}

int wire_stats_read(const json_t *o, struct sample_stats *s, struct error *err)
{
	int stop;
	if (!json_is_object(o))
		return error_set(err, "the status is ok, but \"stats\" is missing");
	if (wire_get_count(o, "n", 0, &s->n, err) || wire_get_count(o, "discarded", 0, &s->discarded, err) ||
		wire_get_count(o, "executions", 1, &s->executions, err) ||
		wire_get_word(o, "stop", stop_parse, STOP_NONE, &stop, err))
		return error_context(err, "stats");
	s->stop = (enum stop)stop;
	for (size_t i = 0; i < STATS_FIELDS; i++)
		if (wire_get_amount(o, stats_fields[i].key, stats_at(s, i), err))
			return error_context(err, "stats");
	if (s->lo > s->median || s->hi < s->median || s->min > s->median)
		return error_set(err, "stats: the median is outside its interval");
	if (s->p10_lo > s->p10 || s->p10_hi < s->p10 || s->p10 > s->median)
		return error_set(
			err, "stats: the 10th percentile is outside its interval or above the median");
	return 0;
}

int wire_stats_from_json(const json_t *o, struct sample_stats *s, struct error *err)
{
	if (wire_stats_read(o, s, err))
		return -1;
	if (s->n < 1 || s->executions < 1 || isnan(s->median))
		return error_set(err,
			"stats: the status is ok, but \"n\", \"executions\" or \"median_ns\" is missing");
	return 0;
}

struct sample_stats wire_stats_unknown(void)
{
	struct sample_stats s = { 0 };
	for (size_t i = 0; i < STATS_FIELDS; i++)
		*stats_at(&s, i) = NAN;
	return s;
}

char *wire_line(json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(o);
	size_t n = text ? strlen(text) : 0;
	char *line = base_malloc(n + 2);
	if (n)
		memcpy(line, text, n);
	memcpy(line + n, "\n", 2);
	free(text);
	return line;
}
