/* The plan's graph for Graphviz. The colour of a layer is its cost beside the highest one, in five steps that
 * differ in lightness; the cost is in its label too. */
#include "config.h"

#include "commands/report.h"

#include <math.h>
#include <string.h>

#define STEPS 5

/* OrRd of ColorBrewer: readable without colour vision, and in print. */
static const struct {
	const char *fill, *ink;
} steps[STEPS] = { { "#fef0d9", "#000000" }, { "#fdcc8a", "#000000" }, { "#fc8d59", "#000000" },
	{ "#d7301f", "#ffffff" }, { "#7f0000", "#ffffff" } };

/* A clean text inside a string of the language. */
static void quoted(FILE *out, const char *clean)
{
	for (; *clean; clean++) {
		if (*clean == '"' || *clean == '\\')
			fputc('\\', out);
		fputc(*clean, out);
	}
}

static double most_ns(const struct analysis *a)
{
	double most = 0;
	for (int i = 0; i < a->layer_count; i++)
		most = a->layers[i].ns > most ? a->layers[i].ns : most;
	return most;
}

static bool is_guess(const struct layer_cost *c)
{
	return cost_is_guess(c);
}

static void cost(const struct session *s, const struct layer_cost *c, const int *numbers, FILE *out)
{
	char text[STR_QUANTITY];
	if (c->origin == ORIGIN_FUSED && c->group)
		fprintf(out, "fused into %d", numbers[c->group->layers[0]]);
	else if (c->folded)
		fputs("folded", out);
	else if (c->origin == ORIGIN_FREE)
		fputs("free", out);
	else if (isnan(c->ns))
		fprintf(out, "cost unknown: %s", origin_name(c->origin));
	else
		fprintf(out, "%s%s, %s%.1f%%%s", is_guess(c) ? "~" : "", str_duration(text, c->ns),
			analysis_share_mark(session_analysis(s)),
			100 * c->ns / session_analysis(s)->sequential_ns,
			c->mistrusted ? " suspect" : "");
}

static void node(const struct session *s, const int *numbers, int i, double most, FILE *out)
{
	const struct plan_layer *l = &session_plan(s)->layers[i];
	const struct layer_cost *c = &session_analysis(s)->layers[i];
	struct arena a = { 0 };
	int step = c->ns > 0 && most > 0 ? (int)(STEPS * c->ns / most) : 0;
	step = step < STEPS ? step : STEPS - 1;
	bool works = c->ns > 0;
	fprintf(out, "  l%d [label=\"%d ", i, numbers[i]);
	quoted(out, text_cut(&a, text_clean(&a, l->name), 60, true));
	fputs("\\n", out);
	quoted(out, text_cut(&a, text_clean(&a, l->node->op), 40, false));
	fputs("\\n", out);
	cost(s, c, numbers, out);
	fprintf(out, "\", fillcolor=\"%s\", fontcolor=\"%s\"%s%s];\n", works ? steps[step].fill : "#ffffff",
		works ? steps[step].ink : "#000000", isnan(c->ns) ? ", style=\"filled,dashed\"" : "",
		session_analysis(s)->complete && c->critical ? ", penwidth=3" : "");
	arena_free(&a);
}

static void title(const struct session *s, double most, FILE *out)
{
	const struct analysis *an = session_analysis(s);
	struct arena a = { 0 };
	char bound[STR_QUANTITY], least[STR_QUANTITY], highest[STR_QUANTITY], on[160];
	char types[PLAN_TYPES_SIZE];
	fputs("  label=\"", out);
	quoted(out, text_clean(&a, text_of(session_model(s)->path)));
	fprintf(out, ", batch %lld, %s, on ", (long long)session_plan(s)->batch,
		plan_types_text(session_plan(s), types));
	quoted(out,
		text_clean(&a, text_of(session_device(s)->model ? session_device(s)->model : "no device")));
	scenario_text(session_scenario(s), on, sizeof(on));
	if (an->estimated && !isnan(an->total_ns))
		fprintf(out, "\\nlower bound %s, estimate %s%s", str_duration(least, an->bound_ns),
			analysis_mark(an), str_duration(bound, an->total_ns));
	else
		fprintf(out, "\\nlower bound %s%s", analysis_mark(an),
			isnan(an->total_ns) ? "unknown" : str_duration(bound, an->total_ns));
	fprintf(out, "; what-ifs: %s\\nfill: cost, from white (none) to dark (%s); "
		     "dashed: cost unknown; ~: estimate or proxy%s\";\n",
		on[0] ? on : "all off", most > 0 ? str_duration(highest, most) : "unknown",
		an->complete ? "; thick border: on the longest path" : "");
	arena_free(&a);
}

void report_bound_dot(const struct session *s, FILE *out)
{
	const struct plan *p = session_plan(s);
	struct arena kept = { 0 };
	int total, *numbers = session_numbers(p, &kept, &total);
	double most = most_ns(session_analysis(s));
	fputs("digraph model {\n  node [shape=box, style=filled, fontname=\"Helvetica\", fontsize=10];\n"
	      "  labelloc=t; fontname=\"Helvetica\";\n", out);
	title(s, most, out);
	for (int i = 0; i < p->layer_count; i++)
		if (numbers[i])
			node(s, numbers, i, most, out);
	for (int i = 0; i < p->layer_count; i++)
		for (int k = 0; numbers[i] && k < p->layers[i].succ_count; k++)
			if (numbers[p->layers[i].succs[k]])
				fprintf(out, "  l%d -> l%d;\n", i, p->layers[i].succs[k]);
	fputs("}\n", out);
	arena_free(&kept);
}
