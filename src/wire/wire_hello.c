/* The hello of a runner: its device, and the kinds of jobs that it answers. */
#include "config.h"

#include "wire/wire_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX 32 /* kinds of jobs that a hello may list */

/* The list of a device's kinds of jobs: "problem model". */
static json_t *jobs_to_json(const char *jobs)
{
	json_t *list = json_array();
	for (const char *at = jobs && *jobs ? jobs : JOB_PROBLEM; *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");
		json_array_append_new(list, json_text((struct text){ at, n }));
		at += n;
	}
	return list;
}

/* Reads the list; "problem" without one, as sent by runners of earlier versions. */
static int jobs_from_json(const json_t *list, struct arena *a, const char **jobs, struct error *err)
{
	const json_t *v;
	size_t i;
	*jobs = JOB_PROBLEM;
	if (!list)
		return 0;
	if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > JOBS_MAX)
		return error_set(err, "\"jobs\" is not a list of 1 to %d kinds of jobs", JOBS_MAX);
	struct str text = { 0 };
	json_array_foreach(list, i, v)
	{
		if (!json_is_string(v) || !job_kind_is_valid(json_string_value(v))) {
			str_free(&text);
			return error_set(
				err, "\"jobs\" contains something that is not the name of a kind of jobs");
		}
		str_addf(&text, "%s%s", i ? " " : "", json_string_value(v));
	}
	*jobs = arena_strndup(a, text.p, text.n);
	str_free(&text);
	return 0;
}

char *wire_hello(const struct device *d)
{
	json_t *o = json_object();
	wire_set_text(o, "magic", WIRE_MAGIC);
	json_object_set_new(o, "protocol", json_integer(WIRE_VERSION));
	wire_set_text(o, "runner", d->runner);
	wire_set_text(o, "version", d->version);
	wire_set_text(o, "name", d->name);
	wire_set_text(o, "model", d->model);
	wire_set_text(o, "stack", d->stack);
	json_object_set_new(o, "threads", json_integer(d->threads));
	json_object_set_new(o, "llc_bytes", json_number_or_null(d->llc_bytes));
	json_object_set_new(o, "has_matrix", json_boolean(d->has_matrix));
	if (d->distances)
		json_object_set_new(o, "distances", json_true());
	if (d->huge_pages)
		json_object_set_new(o, "huge_pages", json_true());
	wire_set_text(o, "host", d->host);
	json_object_set_new(o, "jobs", jobs_to_json(d->jobs));
	json_t *attributes = d->attributes ? json_loads(d->attributes, 0, NULL) : NULL;
	json_object_set_new(o, "attributes", attributes ? attributes : json_object());
	return wire_line(o);
}

static int hello_string(const json_t *o, const char *key, struct arena *a, const char **s, struct error *err)
{
	if (wire_get_text(o, key, s, err))
		return -1;
	*s = arena_strndup(a, *s, strlen(*s));
	return 0;
}

static int hello_read(const json_t *o, struct arena *a, struct device *d, struct error *err)
{
	int64_t protocol, threads;
	if (wire_get_count(o, "protocol", 0, &protocol, err))
		return -1;
	if (protocol != WIRE_VERSION)
		return error_set(err,
			"the runner uses protocol %" PRId64
			", this benanza uses %d: install the same version of both",
			protocol, WIRE_VERSION);
	*d = (struct device){ 0 };
	if (hello_string(o, "runner", a, &d->runner, err) ||
		hello_string(o, "version", a, &d->version, err) ||
		hello_string(o, "name", a, &d->name, err) || hello_string(o, "model", a, &d->model, err) ||
		hello_string(o, "stack", a, &d->stack, err) || hello_string(o, "host", a, &d->host, err) ||
		wire_get_count(o, "threads", 0, &threads, err) ||
		wire_get_amount(o, "llc_bytes", &d->llc_bytes, err))
		return -1;
	if (jobs_from_json(json_object_get(o, "jobs"), a, &d->jobs, err))
		return -1;
	if (!*d->name || !*d->model || !*d->stack)
		return error_set(err, "the device's \"name\", \"model\" or \"stack\" is missing");
	if (threads > INT32_MAX)
		return error_set(err, "\"threads\" is out of range");
	d->threads = (int)threads;
	d->has_matrix = json_is_true(json_object_get(o, "has_matrix"));
	d->distances = json_is_true(json_object_get(o, "distances"));
	d->huge_pages = d->distances && json_is_true(json_object_get(o, "huge_pages"));
	const json_t *attributes = json_object_get(o, "attributes");
	char *text = json_is_object(attributes) ?
		json_dumps(attributes, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	size_t n = text ? strlen(text) : 0;
	d->attributes = n && n <= WIRE_LONG_MAX ? arena_strndup(a, text, n) : "{}";
	free(text);
	return n <= WIRE_LONG_MAX ? 0 : error_set(err, "\"attributes\" is longer than %d bytes",
		WIRE_LONG_MAX);
}

int wire_parse_hello(const char *line, struct arena *a, struct device *d, struct error *err)
{
	size_t n = strlen(line);
	if (n > WIRE_LINE_MAX)
		return 0;
	json_t *o = json_load_clean((struct text){ line, n }, NULL, NULL);
	int got = 0;
	if (json_is_object(o) && strcmp(json_string_at(o, "magic", ""), WIRE_MAGIC) == 0)
		got = hello_read(o, a, d, err) ? error_context(err, "hello") : 1;
	json_decref(o);
	return got;
}

int wire_find_hello(struct text line, struct arena *a, struct device *d, size_t *at, struct error *err)
{
	static const char begin[] = WIRE_HELLO_BEGIN;
	*at = 0;
	int got = wire_parse_hello(line.p, a, d, err);
	const char *hello = got ? NULL : memmem(line.p, line.n, begin, sizeof(begin) - 1);
	if (!hello)
		return got;
	*at = (size_t)(hello - line.p);
	return wire_parse_hello(hello, a, d, err);
}
