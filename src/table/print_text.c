/* Tables as text: every column as wide as its cells. On a terminal the texts share what the numbers leave,
 * the shorter ones first. */
#include "config.h"

#include "table/lines.h"
#include "table/print.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2          /* blanks between columns */
#define TEXT_WIDE 100  /* in files and pipes a longer text widens its own row only */
#define TEXT_USEFUL 16 /* columns of a text that are worth a further column */
#define TEXT_LEAST 10  /* columns that a text keeps */
#define NAMES_MOST 500 /* names that are shortened so that they stay different: takes the square of it */
#define WRAP_LEAST 20  /* columns that a wrapped text keeps */
#define BAR_MOST 30
#define BAR_LEAST 4

bool table_is_text(const struct table_column *c)
{
	return c->unit == TABLE_TEXT || c->unit == TABLE_NAME;
}

static const char *percent(char *buf, enum table_unit unit, double x)
{
	if (unit == TABLE_CHANGE)
		snprintf(buf, STR_QUANTITY, "%+.1f%%", 100 * (x - 1));
	else if (x > 0 && x < 0.0005)
		snprintf(buf, STR_QUANTITY, "%.1g%%", 100 * x);
	else
		snprintf(buf, STR_QUANTITY, "%.1f%%", 100 * x);
	return buf;
}

static const char *number_text(char *buf, enum table_unit unit, double x)
{
	if (isnan(x))
		return "-";
	switch (unit) {
	case TABLE_NS: return str_duration(buf, x == 0 ? 0 : x);
	case TABLE_BYTES: return str_bytes(buf, x);
	case TABLE_QUANTITY: return str_count(buf, x);
	case TABLE_RATIO: return str_ratio(buf, x);
	case TABLE_SHARE:
	case TABLE_CHANGE: return percent(buf, unit, x);
	case TABLE_INDEX: snprintf(buf, STR_QUANTITY, "%lld", (long long)x); break;
	default: snprintf(buf, STR_QUANTITY, "%.3g", x);
	}
	return buf;
}

const char *table_quantity(struct arena *a, enum table_unit unit, double number)
{
	char buf[STR_QUANTITY];
	const char *text = number_text(buf, unit, number);
	return arena_strndup(a, text, strlen(text));
}

const char *table_cell_text(struct arena *a, const struct table_column *c, const struct table_cell *x)
{
	char buf[STR_QUANTITY];
	if (x->text)
		return x->text;
	if (c->unit == TABLE_BOOL || c->unit == TABLE_BAR)
		return x->number > 0 ? "*" : "";
	const char *text = table_is_text(c) ? "-" : number_text(buf, c->unit, x->number);
	return *x->mark ? arena_printf(a, "%s%s", x->mark, text) : arena_strndup(a, text, strlen(text));
}

/* The table as it is printed: the columns that have something, and the texts of all cells. */
struct sheet {
	const struct table *t;
	struct arena *arena;
	int count, *column, *width; /* of the columns shown */
	const char **cells;         /* row by row */
	int bar, indented;          /* among the columns shown; -1: no such column */
	int wrap;                   /* the last column if it is wrapped, the columns of a line; 0 else */
	int depth;                  /* of the deepest row */
	int widest;                 /* columns of a text that widens its column */
};

static bool is_printed(const struct table *t, int row)
{
	return !(t->rows[row].flags & (ROW_HIDDEN | ROW_LINE | ROW_CSV));
}

static bool is_shown(const struct table *t, int k)
{
	const struct table_column *c = &t->columns[k];
	bool known = c->in & IN_ALWAYS;
	for (int i = 0; c->in & IN_TEXT && i < t->row_count && !known; i++)
		if (is_printed(t, i)) {
			const struct table_cell *x = table_cell(t, i, k);
			known = c->unit == TABLE_BOOL ? x->number > 0 :
				!isnan(x->number) || (x->text && *x->text);
		}
	return c->in & IN_TEXT && known;
}

static const struct table_column *column_of(const struct sheet *s, int at)
{
	return &s->t->columns[s->column[at]];
}

static const char **cell_of(const struct sheet *s, int row, int at)
{
	return &s->cells[(size_t)row * (size_t)s->count + (size_t)at];
}

static void cell_write(struct sheet *s, int row, int at)
{
	const char **cell = cell_of(s, row, at);
	*cell = table_cell_text(s->arena, column_of(s, at), table_cell(s->t, row, s->column[at]));
	if (at == s->indented && s->t->rows[row].depth)
		*cell = arena_printf(s->arena, "%*s%s", 2 * s->t->rows[row].depth, "", *cell);
	int columns = text_columns(*cell);
	if (columns > s->width[at] && (columns <= s->widest || column_of(s, at)->in & IN_WRAP))
		s->width[at] = columns;
}

static void cells_write(struct sheet *s)
{
	for (int at = 0; at < s->count; at++)
		s->width[at] = at == s->bar ? 0 : text_columns(column_of(s, at)->label);
	for (int i = 0; i < s->t->row_count; i++) {
		if (!is_printed(s->t, i))
			continue;
		s->depth = s->t->rows[i].depth > s->depth ? s->t->rows[i].depth : s->depth;
		for (int at = 0; at < s->count; at++)
			if (at != s->bar)
				cell_write(s, i, at);
	}
}

static void bars_write(struct sheet *s, int room)
{
	double most = 0;
	int k = s->column[s->bar], width = room > BAR_MOST ? BAR_MOST : room < BAR_LEAST ? 0 : room;
	for (int i = 0; i < s->t->row_count; i++)
		most = fmax(most, table_cell(s->t, i, k)->number);
	for (int i = 0; i < s->t->row_count; i++) {
		double share = table_cell(s->t, i, k)->number / most;
		struct str bar = { 0 };
		for (int n = isnan(share) ? 0 : (int)lround(width * share); n > 0; n--)
			str_puts(&bar, s->t->ascii ? "#" : "\u2588");
		*cell_of(s, i, s->bar) = arena_strndup(s->arena, bar.p ? bar.p : "", bar.n);
		str_free(&bar);
	}
	s->width[s->bar] = width;
}

static int total_width(const struct sheet *s)
{
	int total = 0;
	for (int at = 0; at < s->count; at++)
		total += s->width[at] < 0 || (at == s->bar && !s->width[at]) ? 0 :
			s->width[at] + (at ? GAP : 0);
	return total;
}

static int longest_word(const struct sheet *s, int at)
{
	int longest = 0;
	for (int i = 0; i < s->t->row_count; i++) {
		if (!is_printed(s->t, i))
			continue;
		for (const char *word = *cell_of(s, i, at); *word; word += strspn(word, " ")) {
			size_t n = strcspn(word, " ");
			int columns = text_columns(arena_strndup(s->arena, word, n));
			longest = columns > longest ? columns : longest;
			word += n;
		}
	}
	return longest;
}

/* The last column takes what the others leave of a line; where that is too little, it stands below. */
static void wrap_last(struct sheet *s, int line)
{
	int last = s->count - 1;
	if (last < 0 || !(column_of(s, last)->in & IN_WRAP))
		return;
	int left = line - total_width(s) + s->width[last];
	if (left >= s->width[last])
		return;
	s->wrap = line;
	s->width[last] = left < WRAP_LEAST || left < longest_word(s, last) ? -1 : left;
}

static const char *text_short(struct arena *a, const struct table_column *c, const char *text, int width)
{
	return c->unit == TABLE_NAME ? text_cut_path(a, text, width, "..") : text_cut(a, text, width, false);
}

static void column_cut(struct sheet *s, int at, int width)
{
	int n = s->t->row_count;
	s->width[at] = width;
	if (column_of(s, at)->unit == TABLE_NAME && n <= NAMES_MOST && !s->depth) {
		const char **names = ARENA_ARRAY(s->arena, const char *, n + 1);
		for (int i = 0; i < n; i++)
			names[i] = is_printed(s->t, i) ? *cell_of(s, i, at) : "";
		text_cut_names(s->arena, names, n, width);
		for (int i = 0; i < n; i++)
			*cell_of(s, i, at) = names[i];
		return;
	}
	for (int i = 0; i < n; i++) {
		int indent = at == s->indented && is_printed(s->t, i) ? 2 * s->t->rows[i].depth : 0;
		if (is_printed(s->t, i) && text_columns(*cell_of(s, i, at)) > width)
			*cell_of(s, i, at) = arena_printf(s->arena, "%*s%s", indent, "",
				text_short(s->arena, column_of(s, at), *cell_of(s, i, at) + indent,
					width > indent ? width - indent : 1));
	}
}

/* Leaves out spare columns, the last first, while the table is too wide with its texts cut. */
static void columns_drop(struct sheet *s, int most)
{
	for (int last = s->count - 1; last >= 0; last--) {
		int least = total_width(s);
		for (int at = 0; at < s->count; at++)
			if (table_is_text(column_of(s, at)) && s->width[at] > TEXT_USEFUL)
				least -= s->width[at] - TEXT_USEFUL;
		if (least <= most)
			return;
		if (column_of(s, last)->in & IN_SPARE)
			s->width[last] = -1;
	}
}

/* Cuts texts that are wider than a line, where columns go on below anyway. */
static void columns_limit(struct sheet *s, int most)
{
	int room = most - 2 * GAP > TEXT_LEAST ? most - 2 * GAP : TEXT_LEAST;
	for (int at = 0; at < s->count; at++)
		if (table_is_text(column_of(s, at)) && s->width[at] > room)
			column_cut(s, at, room);
}

/* Cuts the columns of texts until the table fits: the shorter ones keep their width while they can. */
static void columns_fit(struct sheet *s, int most)
{
	int left = most - total_width(s), texts = 0, spare = 0;
	for (int at = 0; at < s->count; at++)
		if (table_is_text(column_of(s, at)) && s->width[at] > TEXT_LEAST)
			spare += s->width[at] - TEXT_LEAST;
	if (left + spare < 0) {
		columns_limit(s, most);
		return;
	}
	bool *settled = ARENA_ARRAY(s->arena, bool, s->count + 1);
	for (int at = 0; at < s->count; at++) {
		settled[at] = !table_is_text(column_of(s, at)) || s->width[at] < 0;
		texts += !settled[at];
		left += settled[at] ? 0 : s->width[at];
	}
	for (int round = texts; round > 0; round--) {
		int least = -1;
		for (int at = 0; at < s->count; at++)
			if (!settled[at] && (least < 0 || s->width[at] < s->width[least]))
				least = at;
		int share = left / round < TEXT_LEAST ? TEXT_LEAST : left / round;
		if (s->width[least] > share)
			column_cut(s, least, share);
		left -= s->width[least];
		settled[least] = true;
	}
}

static void cell_add(struct str *line, const struct table_column *c, const char *text, int width, bool first)
{
	static const char blanks[] = "                                ";
	int pad = width - text_columns(text);
	bool left = table_is_text(c) || c->unit == TABLE_BAR || c->unit == TABLE_BOOL;
	if (!first)
		str_add(line, blanks, GAP);
	if (left)
		str_puts(line, text);
	for (int n; pad > 0; pad -= n) {
		n = pad < (int)sizeof(blanks) - 1 ? pad : (int)sizeof(blanks) - 1;
		str_add(line, blanks, (size_t)n);
	}
	if (!left)
		str_puts(line, text);
}

static void line_trim(struct str *line)
{
	while (line->n && line->p[line->n - 1] == ' ')
		line->p[--line->n] = '\0';
}

/* Columns for which a line has no room go on below it. */
static void line_print(const struct sheet *s, struct str *line, int row, int most, FILE *out)
{
	str_clear(line);
	int last = s->count - 1, used = 0;
	for (int at = 0; at < s->count; at++) {
		const char *text = row >= 0 ? *cell_of(s, row, at) : s->width[at] < 0 ? "" :
			text_cut(s->arena, column_of(s, at)->label, s->width[at], false);
		if (at == last && s->wrap && row >= 0 && *text) {
			bool below = s->width[last] < 0;
			int begin = below ? 2 * GAP : total_width(s) - s->width[last];
			if (below)
				line_trim(line);
			fprintf(out, "%s%s%*s", line->p ? line->p : "", below ? "\n" : "",
				below ? begin : at ? GAP : 0, "");
			report_wrapped(text, begin, s->wrap, out);
			return;
		}
		if (s->width[at] < 0 || (at == s->bar && !s->width[at]))
			continue;
		bool below = used && used + GAP + s->width[at] > most;
		if (below) {
			line_trim(line);
			str_addf(line, "\n%*s", 2 * GAP, "");
		}
		bool end = at == last && table_is_text(column_of(s, at)); /* no blanks after it */
		cell_add(line, column_of(s, at), text, end ? 0 : s->width[at], !used || below);
		used = s->width[at] + (below ? 2 * GAP : used ? used + GAP : 0);
	}
	line_trim(line);
	fprintf(out, "%s\n", line->p ? line->p : "");
}

static bool has_labels(const struct sheet *s)
{
	for (int at = 0; at < s->count; at++)
		if (*column_of(s, at)->label)
			return true;
	return false;
}

static void rows_print(const struct sheet *s, int most, FILE *out)
{
	struct str line = { 0 };
	for (int i = has_labels(s) ? -1 : 0; i < s->t->row_count; i++) {
		const struct table_row *row = i < 0 ? NULL : &s->t->rows[i];
		if (i > 0 && row->flags & ROW_GROUP)
			fputc('\n', out);
		if (row && row->flags & ROW_LINE)
			fprintf(out, "%*s%s\n", 2 * row->depth, "", table_cell(s->t, i, 0)->text);
		else if (!row || is_printed(s->t, i))
			line_print(s, &line, i, most, out);
	}
	str_free(&line);
}

static void sheet_print(struct sheet *s, int most, FILE *out)
{
	const struct table *t = s->t;
	for (int k = 0; k < t->column_count; k++) {
		if (!is_shown(t, k))
			continue;
		if (t->columns[k].unit == TABLE_BAR)
			s->bar = s->count;
		else if (s->indented < 0 && table_is_text(&t->columns[k]))
			s->indented = s->count;
		s->column[s->count++] = k;
	}
	s->cells = ARENA_ARRAY(s->arena, const char *, (size_t)t->row_count * (size_t)s->count + 1);
	cells_write(s);
	if (s->bar >= 0)
		bars_write(s, (t->bar_end < most ? t->bar_end : most) - total_width(s) - GAP);
	wrap_last(s, most < INT_MAX ? most : report_columns(out));
	if (total_width(s) > most)
		columns_drop(s, most);
	if (total_width(s) > most)
		columns_fit(s, most);
	rows_print(s, most, out);
}

void table_print_text(const struct table *t, int most, FILE *out)
{
	struct arena a = { 0 };
	struct sheet s = { .t = t, .arena = &a, .bar = -1, .indented = -1,
		.widest = most < WIDTH_PIPE ? INT_MAX : TEXT_WIDE };
	s.column = ARENA_ARRAY(&a, int, t->column_count + 1);
	s.width = ARENA_ARRAY(&a, int, t->column_count + 1);
	if (t->title)
		fprintf(out, "%s\n", t->title);
	if (t->empty)
		report_wrapped(t->empty, 0, report_columns(out), out);
	else
		sheet_print(&s, most, out);
	for (int i = 0; i < t->note_count; i++)
		report_wrapped(t->notes[i], 0, report_columns(out), out);
	arena_free(&a);
}
