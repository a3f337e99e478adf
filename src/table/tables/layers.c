/* The table of a model's layers. CSV has each layer of each graph, by its path; people see what runs, bodies
 * below their layers. */
#include "config.h"

#include "table/print.h"
#include "table/tables/layers.h"
#include "table/tables/total.h"

#include <math.h>

static const struct table_column columns[] = {
	{ "layer", "layer", TABLE_INDEX, IN_SHOWN },
	{ "index", "", TABLE_INDEX, IN_CSV },
	{ "name", "name", TABLE_NAME, IN_SHOWN | IN_CSV },
	{ "op", "op", TABLE_TEXT, IN_SHOWN | IN_CSV },
	{ "domain", "", TABLE_TEXT, IN_CSV },
	{ "class", "class", TABLE_TEXT, IN_SHOWN | IN_CSV },
	{ "inputs", "", TABLE_TEXT, IN_CSV },
	{ "outputs", "output", TABLE_TEXT, IN_SHOWN | IN_CSV },
	{ "flops", "FLOP", TABLE_QUANTITY, IN_SHOWN | IN_CSV | IN_WHOLE | IN_ALWAYS },
	{ "bytes", "bytes", TABLE_BYTES, IN_SHOWN | IN_CSV | IN_WHOLE | IN_ALWAYS },
	{ "distinct", "", TABLE_INDEX, IN_CSV },
	{ "problem", "", TABLE_TEXT, IN_CSV },
	{ "what", "problem", TABLE_TEXT, IN_SHOWN | IN_WRAP },
	{ "proxy", "", TABLE_INDEX, IN_CSV },
	{ "estimated", "", TABLE_INDEX, IN_CSV },
	{ "path", "", TABLE_TEXT, IN_CSV },
	{ "times", "", TABLE_INDEX, IN_CSV | IN_WHOLE },
	{ "number", "", TABLE_INDEX, IN_CSV },
};

/* "1x64x56x56 1x64x56x56" */
static const char *shapes_text(struct arena *a, const struct plan *p, const int *values, int count)
{
	struct str s = { 0 };
	for (int i = 0; i < count; i++)
		if (values[i] >= 0) {
			str_puts(&s, s.n ? " " : "");
			plan_value_add_text(&s, &p->values[values[i]]);
		}
	const char *text = arena_strndup(a, s.p ? s.p : "", s.n);
	str_free(&s);
	return text;
}

/* The problem, or the reason for its absence, and what the what-if fold says of the layer. */
static const char *what_text(struct arena *a, const struct plan *p, const struct plan_layer *l)
{
	const struct plan_problem *problem = plan_layer_problem(p, l);
	const char *text = problem ? problem->text : l->why ? text_clean(a, text_of(l->why)) : "";
	if (problem && l->proxy)
		text = arena_printf(a, "~%s", text);
	if (l->fold != FOLD_NONE)
		text = arena_printf(a, "%s%s%s)", text, plan_layer_folds(l) ? " (-w fold: " :
			l->why ? " (" : "(", plan_fold_text(p, l, a));
	return text;
}

static void layer_fill(
	struct table *t, const struct plan *p, const struct plan_layer *l, int number, bool csv)
{
	bool mark = l->upto || l->at_least;
	table_shown(t, number ? number : NAN, number ? NULL : "-");
	table_number(t, l->index, "");
	table_text(t, text_clean(&t->arena, l->name));
	table_text(t, text_clean(&t->arena, l->node->op));
	table_text(t, csv ? text_clean(&t->arena, l->node->domain) : NULL);
	table_text(t, op_class_name(l->class));
	table_text(t, csv ? shapes_text(&t->arena, p, l->inputs, l->input_count) : NULL);
	table_text(t, shapes_text(&t->arena, p, l->outputs, l->output_count));
	table_number(t, l->flops, mark && l->flops > 0 ? "~" : "");
	table_number(t, l->bytes, mark && l->bytes > 0 ? "~" : "");
}

/* ---- for people ---- */

/* How often a body runs, as text. */
static const char *times_text(struct arena *a, const struct plan_layer *l, const struct plan *body)
{
	char number[STR_QUANTITY];
	if (isnan(body->times))
		return l->at_least && l->body_count == 2 ? "taken or not" : "unknown how often";
	return body->times == 1 ? "once" : arena_printf(a, "%s times", str_count(number, body->times));
}

static void layers_fill(struct table *t, const struct plan *p, int depth, bool constants)
{
	for (int i = 0, number = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		bool folded = plan_layer_is_folded(p, l);
		number += !folded;
		if (folded && !constants)
			continue;
		table_row(t, 0, depth);
		layer_fill(t, p, l, folded ? 0 : number, false);
		table_skip(t, 2);
		table_text(t, what_text(&t->arena, p, l));
		for (int j = 0; j < l->body_count; j++) { /* bodies that do not run follow, one line each */
			const struct plan *body = &l->bodies[j];
			if (body->times == 0)
				continue;
			table_line(t, depth, arena_printf(&t->arena, "         %s, %s:",
				text_clean(&t->arena, body->role), times_text(&t->arena, l, body)));
			layers_fill(t, body, depth + 1, constants);
		}
		for (int j = 0; j < l->body_count; j++)
			if (l->bodies[j].times == 0)
				table_line(t, depth, arena_printf(&t->arena,
					"         %s, does not run: %d layer%s",
					text_clean(&t->arena, l->bodies[j].role), l->bodies[j].layer_count,
					l->bodies[j].layer_count == 1 ? "" : "s"));
	}
}

void layers_table(struct table *t, const struct session *s, bool constants)
{
	TABLE_COLUMNS(t, columns);
	layers_fill(t, session_plan(s), 0, constants);
}

/* ---- CSV ---- */

/* path: "12.", "12.then_branch.3."; times: how often it runs in one inference; NaN: unknown. */
static void layers_stream(struct table *t, const struct plan *top, const struct plan *p, const char *path,
	double times)
{
	struct arena a = { 0 };
	int total, *numbers = session_numbers(p, &a, &total);
	for (int i = 0; i < p->layer_count; i++) {
		const struct plan_layer *l = &p->layers[i];
		const struct plan_problem *problem = plan_layer_problem(p, l);
		table_row(t, 0, 0);
		plan_cells(t, top);
		layer_fill(t, p, l, numbers[i], true);
		table_number(t, problem ? l->problem : NAN, "");
		table_text(t, problem ? problem->text : NULL);
		table_skip(t, 1);
		table_number(t, l->proxy, "");
		table_number(t, l->upto || l->at_least, "");
		table_text(t, arena_printf(&t->arena, "%s%d", path, l->index));
		table_number(t, times, "");
		table_number(t, numbers[i] ? numbers[i] : NAN, "");
		for (int j = 0; j < l->body_count; j++) {
			const struct plan *body = &l->bodies[j];
			bool never = times == 0 || body->times == 0;
			layers_stream(t, top, body, arena_printf(&a, "%s%d.%s.", path, l->index,
				text_clean(&a, body->role)), never ? 0 : times * body->times);
		}
	}
	arena_free(&a);
}

void layers_print_csv(const struct session *s, bool header, FILE *out)
{
	struct table t = { .wanted = IN_CSV };
	plan_columns(&t);
	TABLE_COLUMNS(&t, columns);
	table_stream_csv(&t, header, out);
	layers_stream(&t, session_plan(s), session_plan(s), "", 1);
	table_stream_row(&t);
	table_free(&t);
}
