/* The executions that compare puts into tables. */
#include "config.h"

#include "commands/compare.h"
#include "commands/report.h"
#include "table/tables/xsp.h"

/* The execution that is compared, then the others of the command line, then those of the database. */
static struct report_analyses gather(struct arena *a, struct session *s, const struct options *o,
	struct execution *list, int count, const struct comparison *c, unsigned wanted)
{
	struct execution *more = NULL;
	const struct compare_options *own = o->own;
	int more_count = 0, n = 1;
	/* without files and --latency those of the database are already in the list */
	if (wanted & 1 && (o->argc > 1 || own->latency) && session_executions(s, a, &more, &more_count, NULL))
		more_count = 0;
	struct xsp_execution *all = ARENA_ARRAY(a, struct xsp_execution, count + more_count + 1);
	all[0] = (struct xsp_execution){ c->execution, c->match };
	for (int i = 0; i < count + more_count; i++) {
		const struct execution *e = i < count ? &list[i] : &more[i - count];
		if (e != c->execution)
			all[n++] = (struct xsp_execution){ e, match_execution(a, e, session_plan(s)) };
	}
	return (struct report_analyses){ .wanted = wanted, .executions = all, .count = n };
}

void compare_tables(struct arena *a, struct session *s, const struct options *o, struct execution *list,
	int count, const struct comparison *c)
{
	const struct compare_options *own = o->own;
	struct report_analyses r = { 0 };
	struct tree *tree = own->tree ? tree_of(a, c->reality, session_plan(s), session_analysis(s)) : NULL;
	if (own->analyses)
		r = gather(a, s, o, list, count, c, own->analyses);
	struct table t = { 0 };
	if (tree)
		tree_table(&t, s, tree);
	if (o->json) {
		json_t *all = report_compare_json(s, c);
		if (own->analyses)
			json_object_set_new(all, "analyses", report_analyses_json(s, &r));
		if (tree)
			json_object_set_new(all, "tree", table_tree_json(&t));
		report_json_line(all, stdout);
		table_free(&t);
		return;
	}
	if (own->analyses)
		(o->csv ? report_analyses_csv : report_analyses_text)(s, &r, stdout);
	if (own->analyses && tree && !o->csv)
		putchar('\n');
	if (tree && o->csv)
		table_print_csv(&t, true, stdout);
	else if (tree)
		table_print_text(&t, report_most(stdout), stdout);
	table_free(&t);
}
