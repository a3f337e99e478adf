/* The table that a runner prints for a person. */
#include "config.h"

#include "runner/protocol/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/protocol/job.h"
#include "wire/wire.h"

struct table {
	FILE *out;
	const struct options *options;
	int rows;
	double rotated_bytes; /* minimum of the results in state net, INFINITY: none */
	bool bad; /* a check failed */
};

static bool never(void *user)
{
	(void)user;
	return false;
}

static void ignore_trying(void *user, const struct algorithm *a, enum cache c, enum launch l)
{
	(void)user;
	(void)a;
	(void)c;
	(void)l;
}

static void json_print(FILE *out, json_t *o)
{
	json_dumpf(o, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
	fputc('\n', out);
	json_decref(o);
}

static void row_print(struct table *t, const struct result *r)
{
	char cost[STR_QUANTITY], lo[STR_QUANTITY], hi[STR_QUANTITY], scratch[STR_QUANTITY];
	const struct algorithm *g = &r->algorithm;
	if (t->rows++ == 0)
		fprintf(t->out, "%4s  %-22s %-5s %-9s %9s  %-19s %5s %-9s  %-7s %-8s %9s  %s\n", "rank",
			"algorithm", "cache", "launch", "p10", "95% or (range)", "n", "stop", "matrix",
			"math", "workspace", "layouts");
	fprintf(t->out, "%4d  %-22s %-5s %-9s ", g->rank, *g->name ? g->name : "-", cache_name(r->cache),
		launch_name(r->launch));
	if (r->status != STATUS_OK) {
		fprintf(t->out, "%s: %s\n", status_name(r->status), r->why);
		return;
	}
	if (r->rotated_bytes > 0 && cache_plain(r->cache) == CACHE_NET)
		t->rotated_bytes = fmin(t->rotated_bytes, r->rotated_bytes);
	char interval[2 * STR_QUANTITY + 8];
	const struct sample_stats *s = &r->stats;
	bool is_range = s->stop == STOP_DISTURBED || s->n < STATS_COST_SAMPLES;
	snprintf(interval, sizeof(interval), is_range ? "(%s .. %s)" : "%s .. %s",
		str_duration(lo, stats_cost_lo(s)), str_duration(hi, stats_cost_hi(s)));
	fprintf(t->out, "%9s  %-19s %5lld %-9s  %-7s %-8s %9s  %s\n", str_duration(cost, stats_cost(s)),
		isnan(stats_cost_lo(s)) ? "-" : interval, (long long)s->n, stop_name(s->stop),
		matrix_name(g->matrix), g->math, str_bytes(scratch, g->workspace_bytes), g->layouts);
}

static void table_emit(void *user, const struct result *r, const struct samples *samples)
{
	struct table *t = user;
	(void)samples;
	if (t->options->json)
		json_print(t->out, wire_result_to_json(r));
	else if (r->status != STATUS_UNSUPPORTED)
		row_print(t, r);
	fflush(t->out);
}

static void table_list(void *user, const struct algorithm *a)
{
	struct table *t = user;
	char scratch[STR_QUANTITY];
	if (t->options->json) {
		char *line = wire_format(&(struct wire_message){ .type = WIRE_ALGORITHM, .algorithm = *a });
		fputs(line, t->out);
		free(line);
		return;
	}
	if (t->rows++ == 0)
		fprintf(t->out, "%4s  %-22s %-12s %-7s %-8s %9s  %-24s  %s\n", "rank", "algorithm", "library",
			"matrix", "math", "workspace", "layouts", "notes");
	fprintf(t->out, "%4d  %-22s %-12s %-7s %-8s %9s  %-24s  %s\n", a->rank, a->name, a->api,
		matrix_name(a->matrix), a->math, str_bytes(scratch, a->workspace_bytes), a->layouts,
		a->notes ? a->notes : "");
}

static void table_check(void *user, const struct algorithm *a, const struct check_finding *f)
{
	struct table *t = user;
	bool approximate = f->approximate && f->status == STATUS_MISTRUSTED;
	t->bad = t->bad || (f->status != STATUS_OK && !approximate);
	if (t->options->json) {
		char *line = wire_format(&(struct wire_message){ .type = WIRE_CHECK,
			.problem = t->options->problem,
			.algorithm = *a,
			.status = f->status,
			.worst = f->worst,
			.allowed = f->allowed,
			.what = f->why });
		fputs(line, t->out);
		free(line);
	} else if (approximate) {
		fprintf(t->out,
			"approximate  %s %s: worst error %.3g, allowed %.3g: %s; never accepted as a "
			"result\n",
			a->name, a->layouts, f->worst, f->allowed, f->approximate->reason);
	} else if (*f->why) {
		fprintf(t->out, "%s  %s %s: %s\n", f->status == STATUS_MISTRUSTED ? "WRONG" : "not checked",
			a->name, a->layouts, f->why);
	} else {
		fprintf(t->out, "%s  %s %s: worst error %.3g, allowed %.3g\n",
			f->status == STATUS_OK ? "good" : "WRONG", a->name, a->layouts, f->worst, f->allowed);
	}
}

static void heading_print(const struct options *o, const struct device *d, FILE *out)
{
	struct problem p;
	char flops[STR_QUANTITY], bytes[STR_QUANTITY];
	if (problem_parse(text_of(o->problem), &p, NULL))
		return;
	fprintf(out, "problem  %s\n", o->problem);
	fprintf(out, "work     %sFLOP, %s at least\n", str_count(flops, problem_flops(&p)),
		str_bytes(bytes, problem_bytes(&p)));
	fprintf(out, "device   %s; %s\n\n", d->model, d->stack);
}

static enum status problem_do(const struct options *o, const struct job *j, struct error *err)
{
	bool stopped;
	if (o->list || o->machine.plan)
		return job_list(j, err);
	return o->check ? job_check(j, err) : job_run(j, &stopped, err);
}

/* A plan says which libraries it could not ask: they may have algorithms on the device. */
static void table_others(void *user, const char *reasons)
{
	(void)user;
	fprintf(stderr, "%s: not in this list: %s\n", platform.program, reasons);
}

int table_problem(const struct options *o, const struct device *d, struct ahead *ahead, FILE *out)
{
	struct error err = ERROR_NONE;
	struct table t = { .out = out, .options = o, .rotated_bytes = INFINITY };
	int left_out = 0;
	struct job j = { .problem = o->problem,
		.device = d,
		.user = &t,
		.all = o->all,
		.most = (int)o->algorithms,
		.left_out = &left_out,
		.ahead = ahead,
		.budget_ns = (double)(o->budget_ms ? o->budget_ms : WIRE_BUDGET_MS) * 1e6,
		.cancelled = never,
		.trying = ignore_trying,
		.emit = table_emit,
		.list = table_list,
		.others = o->machine.plan ? table_others : NULL,
		.check = table_check };
	struct problem p;
	memcpy(j.caches, o->caches, sizeof(j.caches));
	memcpy(j.launches, o->launches, sizeof(j.launches));
	if (problem_parse(text_of(o->problem), &p, &err)) {
		fprintf(stderr, "%s: %s\n", platform.program, err.text);
		return EXIT_USAGE;
	}
	if (!o->json && !o->check)
		heading_print(o, d, out);
	if (ahead)
		ahead_prepare(ahead, &(struct ahead_job){ o->problem, o->all }, 1, never, NULL);
	enum status status = problem_do(o, &j, &err);
	char passed[STR_QUANTITY];
	if (!o->json && t.rotated_bytes < measure_enough_bytes(d->llc_bytes))
		fprintf(out,
			"\nnet: only %s of constant operands are read before one is used again, less than "
			"twice the\n"
			"last-level cache: some may have been read from the cache\n",
			str_bytes(passed, t.rotated_bytes));
	if (left_out)
		fprintf(stderr, "%s: %d algorithms are left out: more than are listed\n", platform.program,
			left_out);
	if (status != STATUS_OK)
		fprintf(stderr, "%s: %s: %s\n", platform.program, status_name(status), err.text);
	else if (*err.text && o->check)
		fprintf(stderr, "%s: %s\n", platform.program, err.text);
	if (platform.machine.is_alive && !platform.machine.is_alive())
		return EXIT_DEVICE;
	return status == STATUS_OK && !t.bad ? EXIT_DONE : EXIT_GAPS;
}
