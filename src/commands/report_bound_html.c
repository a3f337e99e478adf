/* The bound as a page that stands alone: no font, no picture, no script from elsewhere, and a policy that
 * forbids them; its own script sorts tables. It says what each number is of and how it was made. */
#include "config.h"

#include "commands/report.h"
#include "commands/report_html.h"
#include "table/tables/costs.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char style[] =
	"body{font:15px/1.45 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem;"
	"color:#1b1f24;background:#fff}"
	"h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}h2{font-size:1.15rem;margin:2rem 0 .5rem}"
	".t{overflow-x:auto}table{border-collapse:collapse;width:100%}th,td{text-align:left;"
	"vertical-align:top;padding:.2rem .6rem .2rem 0;border-bottom:1px solid #d8dee4}"
	"thead{display:table-header-group}thead th{cursor:pointer}"
	"th[aria-sort=ascending]::after{content:\" \\25b2\"}"
	"th[aria-sort=descending]::after{content:\" \\25bc\"}"
	"tr{break-inside:avoid}"
	"td.n,th.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}"
	"td.w{overflow-wrap:anywhere;min-width:9em}td.l{min-width:16em}"
	".bar{display:block;height:.45rem;margin-left:auto;background:#b35900;"
	"print-color-adjust:exact;-webkit-print-color-adjust:exact}"
	"dt{font-weight:600}dd{margin:0 0 .5rem}.big{font-size:2rem;margin:.4rem 0}.bad{font-weight:600}"
	"figure{margin:1rem 0;break-inside:avoid}figcaption{margin-bottom:.3rem}svg{width:100%;height:auto;"
	"font:11px system-ui,sans-serif;print-color-adjust:exact;-webkit-print-color-adjust:exact}"
	"svg text{fill:#57606a;stroke:#fff;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}"
	".a{stroke:#57606a}.g{stroke:#e6eaef}"
	".c{stroke:#0550ae;stroke-width:1.5;fill:none}"
	".d{fill:#b35900;fill-opacity:.6;stroke:#fff}.b{fill:#d9a066;stroke:#fff;stroke-width:.3}"
	".k{fill:#8a4500;stroke:#fff;stroke-width:.3}rect.n{fill:#2f7d4f}.m{stroke:#1b1f24;stroke-width:2}"
	".i{stroke:#0550ae;stroke-width:2}"
	"@media print{body{margin:0;max-width:none;font-size:9pt}h2{break-after:avoid}@page{margin:12mm}"
	"table.s{font-size:7pt}.s th,.s td{padding:.1rem .4rem .1rem 0}.s td.w,td.l{min-width:0}"
	".s .bar{height:.25rem}}";

/* A row of a table of two columns. */
static void fact(FILE *out, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void fact(FILE *out, const char *name, const char *fmt, ...)
{
	va_list args;
	char *line;
	size_t n;
	FILE *f = open_memstream(&line, &n);
	if (!f)
		return;
	va_start(args, fmt);
	vfprintf(f, fmt, args);
	va_end(args);
	fclose(f);
	fprintf(out, "<tr><th scope=\"row\">%s</th><td class=\"w\">", name);
	html_untrusted(out, text_of(line));
	fputs("</td></tr>\n", out);
	free(line);
}

const char *html_date(char *buf, size_t size, int64_t at)
{
	struct tm t;
	time_t seconds = (time_t)at;
	if (at <= 0 || !gmtime_r(&seconds, &t) || !strftime(buf, size, "%Y-%m-%d %H:%M UTC", &t))
		snprintf(buf, size, "unknown");
	return buf;
}

/* When the measurements in the total were made, from the first to the last, and of how many samples. */
static void measured_when(const struct analysis *a, FILE *out)
{
	int64_t first = 0, last = 0, least = 0, most = 0;
	char from[32], to[32];
	for (int i = 0; i < a->layer_count; i++) {
		const struct result *r = a->layers[i].result;
		if (!r)
			continue;
		first = r->measured_at && (!first || r->measured_at < first) ? r->measured_at : first;
		last = r->measured_at > last ? r->measured_at : last;
		least = !least || r->stats.n < least ? r->stats.n : least;
		most = r->stats.n > most ? r->stats.n : most;
	}
	if (most)
		fact(out, "samples", "%lld to %lld of each measurement; the table of layers has the numbers",
			(long long)least, (long long)most);
	if (first)
		fact(out, "measured", "%s to %s", html_date(from, sizeof(from), first),
			html_date(to, sizeof(to), last));
	else
		fact(out, "measured", "this total contains no measurement");
}

static void coverage(const struct session *s, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	const struct coverage *c = &a->coverage;
	struct arena scratch = { 0 };
	int shown; /* without those that only compute constants, which count as free */
	session_numbers(session_plan(s), &scratch, &shown);
	arena_free(&scratch);
	fact(out, "coverage",
		"%d layers: %d measured, %d by proxy, %d estimated, %d given, %d fused, %d free, %d not "
		"measured, %d unsupported%s",
		shown, c->measured, c->proxy, c->estimated, c->assumed, c->fused,
		c->free - (c->layers - shown), c->missing, c->unsupported,
		a->complete ? "" : ": the total has gaps, and is \"at least\"");
	if (!isnan(c->flops_measured_share))
		fact(out, "measured work", "%.1f%% of the FLOPs", 100 * c->flops_measured_share);
}

static void about(const struct session *s, const struct trust *t, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	const struct plan *p = session_plan(s);
	const struct device *d = session_device(s);
	struct str line = { 0 }, interval = { 0 };
	char on[160], now[32], types[PLAN_TYPES_SIZE];
	fputs("<h2>About this report</h2>\n<table><tbody>\n", out);
	fact(out, "model", "%s, %d nodes", session_model(s)->path, session_model(s)->graph->node_count);
	session_dims_describe(s, &line);
	fact(out, "dimensions", "%s", line.n ? line.p : "none are symbolic");
	str_clear(&line);
	session_operators_describe(s, false, &line);
	if (line.n)
		fact(out, "operators described", "%s", line.p);
	str_clear(&line);
	fact(out, "type", "%s", plan_types_text(p, types));
	fact(out, "device", "%s", d->model ? d->model : "none");
	fact(out, "stack", "%s", d->stack && *d->stack ? d->stack : "unknown");
	if (session_described(s))
		fact(out, "described only", "nothing was measured on this device: all times are estimates");
	scenario_text(&a->scenario, on, sizeof(on));
	fact(out, "what-ifs on", "%s", on[0] ? on : "none");
	str_clear(&line);
	analysis_cache_describe(a, &line);
	fact(out, "cache state", "%s", line.p);
	coverage(s, out);
	report_interval(a, &interval);
	fact(out, "interval", "%s", interval.p);
	trust_describe(t, 1000, trust_commands, &line);
	fact(out, "trust", "%s", line.p);
	measured_when(a, out);
	fact(out, "written", "%s by %s", html_date(now, sizeof(now), time(NULL)), PACKAGE_STRING);
	fputs("</tbody></table>\n", out);
	str_free(&line);
	str_free(&interval);
}

static void head(const struct session *s, FILE *out)
{
	const struct analysis *a = session_analysis(s);
	const char *slash = strrchr(session_model(s)->path, '/');
	char bound[STR_QUANTITY], other[STR_QUANTITY];
	bool parallel = a->scenario.parallel;
	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src 'unsafe-inline'; script-src %s\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<title>", html_sort_source);
	html_untrusted(out, text_of(session_model(s)->path));
	fprintf(out, ": lower bound</title>\n<style>%s</style></head><body>\n"
		"<h1>Lower bound of the latency of ", style);
	html_untrusted(out, text_of(slash ? slash + 1 : session_model(s)->path));
	fputs("</h1>\n<p class=\"big\">", out);
	if (isnan(a->total_ns))
		fputs("unknown: nothing is measured", out);
	else
		fprintf(out, "%s%s", a->estimated ? a->complete ? "" : "at least " : analysis_mark(a),
			str_duration(bound, a->bound_ns));
	if (a->estimated && !isnan(a->total_ns))
		fprintf(out, ", estimate %s%s", analysis_mark(a), str_duration(bound, a->total_ns));
	fputs("</p>\n", out);
	if (!isnan(a->total_ns))
		fprintf(out, "<p>%s; %s: %s%s. No program that uses this library on this device, with only "
			"the what-ifs in use, should be faster than the bound%s.</p>\n",
			report_bound_kind(a), parallel ? "sequential" : "parallel", analysis_other_mark(a),
			str_duration(other, parallel ? a->sequential_ns : a->parallel_ns),
			a->estimated ? "; the estimate is the expected latency of frameworks" : "");
}

static void what_ifs(const struct session *s, FILE *out)
{
	struct table t = { 0 };
	effects_table(&t, s, IN_HTML);
	fputs("<h2>What if</h2>\n", out);
	table_print_html(&t, out);
	table_free(&t);
}

static void layers(const struct session *s, FILE *out)
{
	const struct plan *p = session_plan(s);
	struct table t = { 0 };
	int total, count = 0, *numbers = session_numbers(p, &t.arena, &total);
	int *listed = ARENA_ARRAY(&t.arena, int, p->layer_count + 1);
	for (int i = 0; i < p->layer_count; i++)
		if (numbers[i])
			listed[count++] = i;
	costs_columns(&t, "name");
	costs_rows(&t, s, listed, count, IN_HTML);
	fprintf(out, "<h2>Layers</h2>\n<p>%d layers; %d more only compute constants.</p>\n", total,
		p->layer_count - total);
	table_print_html(&t, out);
	table_free(&t);
}

static void methods(const struct session *s, FILE *out)
{
	fputs("<h2>Where the numbers come from</h2>\n<dl>\n"
	      "<dt>lower bound</dt><dd>The sum of the layers' costs (parallel: the longest path, or the time "
	      "of the busiest resource), each the cost of the fastest algorithm that the "
	      "what-ifs allow.</dd>\n"
	      "<dt>measured</dt><dd>The layer's problem ran alone, repeatedly, on the device; the cost is "
	      "the median, the interval its 95% confidence interval (the range of 2 to 5 samples). Layers "
	      "with the same problem share one measurement.</dd>\n"
	      "<dt>noisy</dt><dd>Other work disturbed the machine; all samples count, and the interval "
	      "covers them.</dd>\n"
	      "<dt>suspect</dt><dd>Faster than the measured peaks allow: the measurement or a peak "
	      "is wrong.</dd>\n"
	      "<dt>proxy</dt><dd>Another problem of the same size was measured in its place, marked ~.</dd>\n"
	      "<dt>estimated</dt><dd>Not measured: from the device's peaks and the share of them that real "
	      "kernels reach, marked ~; the interval covers 80% of real kernels.</dd>\n"
	      "<dt>free, fused</dt><dd>No kernel runs for the layer; its work is in another layer's "
	      "kernel.</dd>\n"
	      "<dt>not measured, unsupported</dt><dd>The cost is unknown and not in the total, which is then "
	      "\"at least\".</dd>\n"
	      "<dt>bound by</dt><dd>The peak that limits the layer, and the share of it that the layer "
	      "reaches. ?: above the measured peak: the measurement is noisy, or that peak is too low. "
	      "overhead: the share of the cost that the layer takes without any work.</dd>\n", out);
	if (session_analysis(s)->scenario.layouts == LAYOUTS_FREE)
		fputs("<dt>not included</dt><dd>Conversions between the layouts of neighbouring layers.</dd>"
		      "\n", out);
	fputs("</dl>\n", out);
}

void report_bound_html(struct session *s, const struct trust *t, FILE *out)
{
	head(s, out);
	about(s, t, out);
	report_advice_html(s, out);
	what_ifs(s, out);
	report_charts_html(s, out);
	layers(s, out);
	methods(s, out);
	fprintf(out, "<script>%s</script>\n</body></html>\n", html_sort_script);
}
