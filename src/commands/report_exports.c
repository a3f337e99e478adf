/* The forms in which the explorer saves an analysis: those of `bound`, with the rows that are shown. */
#include "config.h"

#include "commands/report.h"
#include "session/session_reality.h"
#include "table/tables/costs.h"

#include <string.h>

static void csv(struct session *s, const int *layers, int count, FILE *out)
{
	costs_csv(s, layers, count, true, out);
}

static void json(struct session *s, const int *layers, int count, FILE *out)
{
	const struct trust t = session_trust(s);
	json_t *all = report_bound_json(s, &t), *every = json_object_get(all, "layers");
	json_t *shown = json_array();
	for (int i = 0; i < count; i++)
		json_array_append(shown, json_array_get(every, (size_t)layers[i]));
	json_object_set_new(all, "layers", shown);
	report_json_line(all, out);
}

/* The graph is whole, whatever the list shows. */
static void dot(struct session *s, const int *layers, int count, FILE *out)
{
	(void)layers;
	(void)count;
	report_bound_dot(s, out);
}

static void html(struct session *s, const int *layers, int count, FILE *out)
{
	const struct trust t = session_trust(s);
	(void)layers;
	(void)count;
	report_bound_html(s, &t, out);
}

const struct session_export report_exports[] = { { "csv", csv }, { "json", json }, { "dot", dot },
	{ "html", html }, { 0 } };
