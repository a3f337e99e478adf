/* What limits the layers of a bound, and the memory that it needs. */
#include "config.h"

#include "analyze/bound/memory.h"
#include "commands/bench.h"
#include "commands/report.h"

#include <math.h>

static void memory_text(const struct session *s, FILE *out)
{
	struct memory_need m = memory_of(session_plan(s), session_analysis(s));
	char peak[STR_QUANTITY], part[STR_QUANTITY];
	fprintf(out, "memory        %s%s at the peak: weights ", m.unknown ? "at least " : "",
		str_bytes(peak, m.peak));
	fprintf(out, "%s, ", str_bytes(part, m.weights));
	fprintf(out, "live activations %s, ", str_bytes(part, m.activations));
	fprintf(out, "workspace %s", str_bytes(part, m.workspace));
	if (m.unknown)
		fprintf(out, " (unknown of %d layer%s)", m.unknown, m.unknown == 1 ? "" : "s");
	fputc('\n', out);
	struct str state = { 0 };
	analysis_cache_describe(session_analysis(s), &state);
	fprintf(out, "caches        %s\n", state.p);
	str_free(&state);
}

/* "limits  overhead 62% of the cost in 80 layers, memory 30% in 60, compute 8% in 3": the largest first. */
static void limit_totals_text(const struct session *s, FILE *out)
{
	struct limit_totals t = limit_totals_of(session_analysis(s), session_plan(s), session_peaks(s));
	const char *mark = analysis_share_mark(session_analysis(s));
	bool done[LIMIT_COUNT] = { [LIMIT_UNKNOWN] = true };
	if (!(t.known_ns > 0))
		return;
	for (int n = 1, most; n < LIMIT_COUNT; n++) {
		most = LIMIT_UNKNOWN;
		for (int by = 1; by < LIMIT_COUNT; by++)
			if (!done[by] && t.layers[by] && (!most || t.ns[by] > t.ns[most]))
				most = by;
		done[most] = true;
		if (most)
			fprintf(out, "%s%s %s%.3g%%%s in %d layer%s", n == 1 ? "limits        " : ", ",
				limit_name((enum limit_by)most), mark, 100 * t.ns[most] / t.all_ns,
				n == 1 ? " of the cost" : "", t.layers[most], t.layers[most] == 1 ? "" : "s");
	}
	if (t.layers[LIMIT_UNKNOWN])
		fprintf(out, ", unknown %s%.3g%%", mark, 100 * t.ns[LIMIT_UNKNOWN] / t.all_ns);
	fprintf(out, "%s\n", t.layers[LIMIT_OVERHEAD] ? "; a smaller data type does not reduce "
		"overhead" : "");
}

void report_bound_uses(const struct session *s, FILE *out)
{
	limit_totals_text(s, out);
	memory_text(s, out);
}

/* Of the noisy ones, if the interval is not wide without what other work may have added. */
struct report_lack report_lack_of(const struct session *s)
{
	const struct analysis *a = session_analysis(s);
	double down = a->total_ns - a->lo_ns, up = a->hi_ns - a->total_ns, most = REPORT_WIDE * a->total_ns;
	struct report_lack l = { .spent_s = NAN };
	if (a->estimated || !(fmax(down, up) > most))
		return l;
	bool shaky = report_disturbed(a) > 0 && fmax(down - a->load_ns, up) <= most;
	struct arena scratch = { 0 };
	int count, rows;
	const char **texts = session_problems(s, &scratch, &count);
	double spent_ns = 0;
	for (int i = 0; i < count; i++) {
		const struct result *const *r = results_of(session_results(s), texts[i], &rows);
		if (!rows || (shaky && !session_is_shaky(s, texts[i])))
			continue;
		l.problems++;
		for (int k = 0; k < rows; k++)
			spent_ns += r[k]->stats.spent > 0 ? r[k]->stats.spent : 0;
	}
	arena_free(&scratch);
	l.command = shaky ? "bench --shaky" : "bench --again";
	l.spent_s = spent_ns > 0 ? spent_ns / 1e9 : NAN;
	return l;
}

void report_lack_text(const struct session *s, FILE *out)
{
	struct report_lack l = report_lack_of(s);
	char time[STR_QUANTITY];
	if (!l.command)
		return;
	fprintf(out, "              wide: %d problem%s more samples on a quiet machine", l.problems,
		l.problems == 1 ? " needs" : "s need");
	if (!isnan(l.spent_s))
		fprintf(out, ", ~%s", str_duration(time, l.spent_s * 1e9));
	fprintf(out, ": benanza %s MODEL\n", l.command);
}
