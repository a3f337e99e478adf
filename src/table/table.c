/* Tables: columns, rows and cells as a producer fills them. */
#include "config.h"

#include "table/table.h"
#include "table/print.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

void table_columns(struct table *t, const struct table_column *columns, int count)
{
	for (int i = 0; i < count; i++) {
		bool kept = !t->wanted || columns[i].in & t->wanted;
		VEC_GROW(t->place, t->place_count, t->place_capacity);
		t->place[t->place_count++] = kept ? t->column_count : -1;
		if (!kept)
			continue;
		VEC_GROW(t->columns, t->column_count, t->column_capacity);
		t->columns[t->column_count++] = columns[i];
	}
}

static struct table_cell *row_cells(const struct table *t, int row)
{
	return &t->cells[(size_t)row * (size_t)t->column_count];
}

const struct table_cell *table_cell(const struct table *t, int row, int column)
{
	return row_cells(t, row) + column;
}

void table_clear(struct table *t)
{
	for (int i = 0; i < t->row_count; i++)
		for (int k = 0; k < t->column_count; k++)
			if (t->columns[k].unit == TABLE_JSON)
				json_decref(row_cells(t, i)[k].json);
	t->row_count = 0;
	arena_clear(&t->arena);
}

void table_row(struct table *t, int flags, int depth)
{
	if (t->csv)
		table_stream_row(t);
	if (t->row_count == t->row_capacity) {
		t->row_capacity = t->row_capacity ? 2 * t->row_capacity : 16;
		t->cells = base_realloc(t->cells,
			sizeof(*t->cells) * (size_t)t->row_capacity * (size_t)t->column_count);
		t->rows = base_realloc(t->rows, sizeof(*t->rows) * (size_t)t->row_capacity);
	}
	t->rows[t->row_count] = (struct table_row){ flags, depth };
	t->at = 0;
	struct table_cell *cells = row_cells(t, t->row_count++);
	for (int i = 0; i < t->column_count; i++)
		cells[i] = (struct table_cell){ .mark = "", .number = NAN };
}

static struct table_cell *next(struct table *t)
{
	assert(t->row_count && t->at < t->place_count);
	int place = t->place[t->at++];
	return place < 0 ? &t->unkept : row_cells(t, t->row_count - 1) + place;
}

void table_line(struct table *t, int depth, const char *line)
{
	table_row(t, ROW_LINE, depth);
	row_cells(t, t->row_count - 1)->text = line;
}

void table_text(struct table *t, const char *text)
{
	next(t)->text = text;
}

void table_number(struct table *t, double number, const char *mark)
{
	struct table_cell *c = next(t);
	c->number = number;
	c->mark = isnan(number) ? "" : mark;
}

void table_shown(struct table *t, double number, const char *shown)
{
	struct table_cell *c = next(t);
	c->number = number;
	c->text = shown;
}

void table_interval(struct table *t, double lo, double hi)
{
	struct table_cell *c = next(t);
	c->number = lo;
	c->other = hi;
}

void table_json(struct table *t, json_t *json)
{
	struct table_cell *c = next(t);
	if (c == &t->unkept)
		json_decref(json);
	else
		c->json = json;
}

void table_skip(struct table *t, int count)
{
	t->at += count;
}

void table_note(struct table *t, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *text = arena_alloc(&t->arena, (size_t)n + 1);
	vsnprintf(text, (size_t)n + 1, fmt, again);
	va_end(again);
	va_end(ap);
	VEC_GROW(t->notes, t->note_count, t->note_capacity);
	t->notes[t->note_count++] = text;
}

void table_free(struct table *t)
{
	table_clear(t);
	free(t->cells);
	free(t->columns);
	free(t->place);
	free(t->rows);
	free(t->notes);
	arena_free(&t->arena);
	*t = (struct table){ 0 };
}
