/* db export --as google-benchmark: JSON as Google Benchmark writes it, for its tools (compare.py). */
#include "config.h"

#include "commands/db_google.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "wire/wire.h"

static void text_print(const char *text)
{
	json_t *word = json_text(text_of(text));
	char *line = json_dumps(word, JSON_ENCODE_ANY);
	fputs(line, stdout);
	free(line);
	json_decref(word);
}

/* Without the newline at its end. */
static void line_print(char *line)
{
	printf("%.*s", (int)strcspn(line, "\n"), line);
	free(line);
}

/* Of the device's machine; its processors and caches are not recorded in this form. */
void db_google_begin(struct db_google_file *f, const struct device *d)
{
	char date[32];
	time_t now = time(NULL);
	struct tm at;
	f->begun = true;
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S+00:00", gmtime_r(&now, &at));
	printf("{\n\"context\": {\"date\": \"%s\", \"host_name\": ", date);
	text_print(d->host);
	fputs(", \"executable\": ", stdout);
	text_print(d->runner);
	printf(", \"library_build_type\": \"release\", \"device\": ");
	text_print(d->model);
	fputs(", \"stack\": ", stdout);
	text_print(d->stack);
	fputs(",\n\"benanza\": ", stdout);
	line_print(wire_hello(d));
	fputs("},\n\"benchmarks\": [", stdout);
}

static void name_of(struct str *name, const struct result *r)
{
	const struct algorithm *a = &r->algorithm;
	str_addf(name, "%s/%s/%s", r->problem, *a->api ? a->api : "-", *a->name ? a->name : "-");
	if (*a->layouts)
		str_addf(name, "/%s", a->layouts);
	if (*a->math)
		str_addf(name, "/%s", a->math);
	str_addf(name, "/%s/%s", cache_name(r->cache), launch_name(r->launch));
	for (char *at = name->p; *at; at++)
		*at = *at == ' ' ? ',' : *at;
}

/* Up to the times. aggregate "": a run. */
static void entry_begin(
	struct db_google_file *f, const struct result *r, const char *name, const char *aggregate)
{
	bool whole = *aggregate;
	printf("%s\n{\"name\": ", f->count++ ? "," : "");
	struct str full = { 0 };
	str_addf(&full, "%s%s%s", name, whole ? "_" : "", aggregate);
	text_print(full.p);
	str_free(&full);
	fputs(", \"run_name\": ", stdout);
	text_print(name);
	printf(", \"run_type\": \"%s\", \"repetitions\": %lld, ", whole ? "aggregate" : "iteration",
		(long long)(whole ? r->stats.n : 1));
	if (whole)
		printf("\"aggregate_name\": \"%s\", \"aggregate_unit\": \"time\", ", aggregate);
	else
		printf("\"repetition_index\": 0, ");
	printf("\"threads\": 1, ");
}

/* cpu_time: of the host, which either enqueued the execution or waited for it. */
static void times_print(const struct result *r, double ns, int64_t iterations)
{
	printf("\"iterations\": %lld, \"real_time\": %.17g, \"cpu_time\": %.17g, \"time_unit\": \"ns\"",
		(long long)iterations, ns, r->enqueue_ns > 0 ? r->enqueue_ns : ns);
}

/* The result itself, so that db import can read all of it. */
static void own_print(const struct result *r, bool finished)
{
	struct wire_message m = { .type = WIRE_RESULT, .id = 1, .problem = "", .what = "", .result = *r };
	char *line = wire_format(&m);
	size_t n = strcspn(line, "\n");
	printf(",\n\"benanza\": %.*s, \"finished\": %s}", (int)n - 1, line, finished ? "true" : "false");
	free(line);
}

static void aggregate_print(
	struct db_google_file *f, const struct result *r, const char *name, const char *aggregate, double ns)
{
	if (isnan(ns))
		return;
	entry_begin(f, r, name, aggregate);
	times_print(r, ns, r->stats.n);
	fputs("}", stdout);
}

void db_google_result(struct db_google_file *f, const struct result *r, bool finished)
{
	const struct sample_stats *s = &r->stats;
	struct str name = { 0 };
	name_of(&name, r);
	bool several = r->status == STATUS_OK && s->n > 1;
	if (several) {
		aggregate_print(f, r, name.p, "mean", s->mean);
		if (!(r->enqueue_ns > 0)) /* whose deviation is unknown */
			aggregate_print(f, r, name.p, "stddev", s->stdev);
	}
	entry_begin(f, r, name.p, several ? "median" : "");
	if (r->status != STATUS_OK) {
		struct str why = { 0 };
		str_addf(&why, "%s%s%s", status_name(r->status), *r->why ? ": " : "", r->why);
		printf("\"error_occurred\": true, \"error_message\": ");
		text_print(why.p);
		printf(", \"iterations\": 0, \"real_time\": 0.0, \"cpu_time\": 0.0, \"time_unit\": \"ns\"");
		str_free(&why);
	} else {
		times_print(r, s->median, several ? s->n : s->executions);
	}
	own_print(r, finished);
	fputs("}", stdout);
	str_free(&name);
}

void db_google_end(struct db_google_file *f)
{
	if (f->begun)
		puts("\n]\n}");
}
