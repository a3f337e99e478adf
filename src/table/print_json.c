/* Tables as JSON: an object a row. Unknown values are null. */
#include "config.h"

#include "table/print.h"

#include <math.h>
#include <string.h>

void report_json_line(json_t *object, FILE *out)
{
	json_dumpf(object, out, JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENCODE_ANY);
	json_decref(object);
	fputc('\n', out);
}

json_t *report_json_text(const char *text)
{
	return text && *text ? json_text(text_of(text)) : json_null();
}

json_t *report_json_interval(double lo, double hi)
{
	return isnan(lo) || isnan(hi) ? json_null() :
		json_pack("[o,o]", json_number_or_null(lo), json_number_or_null(hi));
}

json_t *report_json_names(const char *list)
{
	json_t *array = json_array();
	while (*list) {
		size_t n = strcspn(list, ",");
		if (n)
			json_array_append_new(array, json_stringn(list, n));
		list += n + (list[n] == ',');
	}
	return array;
}

static bool is_known(const struct table_column *c, const struct table_cell *x)
{
	return c->unit == TABLE_JSON ? x->json != NULL : table_is_text(c) ? x->text != NULL :
		!isnan(x->number);
}

static json_t *cell_json(const struct table_column *c, const struct table_cell *x)
{
	if (!is_known(c, x))
		return json_null();
	switch (c->unit) {
	case TABLE_TEXT:
	case TABLE_NAME: return json_text(text_of(x->text));
	case TABLE_BOOL: return json_boolean(x->number > 0);
	case TABLE_INTERVAL: return report_json_interval(x->number, x->other);
	case TABLE_JSON: return json_incref(x->json);
	default: return json_number_or_null(x->number);
	}
}

/* Sets "b" of the object "a" for the id "a.b". */
static void put(json_t *o, const char *id, json_t *value)
{
	const char *dot = strchr(id, '.');
	if (!dot) {
		json_object_set_new(o, id, value);
		return;
	}
	struct arena a = { 0 };
	const char *name = arena_strndup(&a, id, (size_t)(dot - id));
	if (!json_object_get(o, name))
		json_object_set_new(o, name, json_object());
	put(json_object_get(o, name), dot + 1, value);
	arena_free(&a);
}

json_t *table_row_json(const struct table *t, int row)
{
	json_t *o = json_object();
	for (int k = 0; k < t->column_count; k++) {
		const struct table_column *c = &t->columns[k];
		const struct table_cell *x = table_cell(t, row, k);
		bool always = !(c->in & IN_OPTIONAL || t->rows[row].flags & ROW_BRIEF);
		if (c->in & IN_JSON && (always || is_known(c, x)))
			put(o, c->id, cell_json(c, x));
	}
	return o;
}

json_t *table_rows_json(const struct table *t)
{
	json_t *rows = json_array();
	for (int i = 0; i < t->row_count; i++)
		if (!(t->rows[i].flags & (ROW_LINE | ROW_CSV)))
			json_array_append_new(rows, table_row_json(t, i));
	return rows;
}

void table_print_json(const struct table *t, FILE *out)
{
	for (int i = 0; i < t->row_count; i++)
		if (!(t->rows[i].flags & (ROW_LINE | ROW_CSV)))
			report_json_line(table_row_json(t, i), out);
}

/* The row *at with those below it; *at becomes the next one. */
static json_t *node_json(const struct table *t, int *at)
{
	int depth = t->rows[*at].depth;
	json_t *o = table_row_json(t, (*at)++), *children = json_array();
	while (*at < t->row_count && t->rows[*at].depth > depth)
		json_array_append_new(children, node_json(t, at));
	json_object_set_new(o, "children", children);
	return o;
}

json_t *table_tree_json(const struct table *t)
{
	int at = 0;
	return node_json(t, &at);
}
