/* A table: what every report of rows is before it is printed. A producer (tables/) declares columns and fills
 * rows from the left; the printers (print.h) show any table as text, JSON, CSV or HTML. Unknown numbers are
 * NaN, unknown texts NULL. */
#ifndef TABLE_TABLE_H
#define TABLE_TABLE_H

#include "base/json.h"

#include <stdio.h>

/* What a column has. Texts stand at the left, numbers at the right. */
enum table_unit {
	TABLE_TEXT,     /* where it must be cut, it loses its end */
	TABLE_NAME,     /* a name or a path: where it must be cut, it is shortened in the middle */
	TABLE_INDEX,    /* an integer with all its digits: a batch, a layer, a count */
	TABLE_NUMBER,   /* three digits */
	TABLE_NS,       /* "1.29 ms" */
	TABLE_BYTES,    /* "9.19 MiB" */
	TABLE_QUANTITY, /* "4.09 G" */
	TABLE_SHARE,    /* 0 to 1: "12.3%" */
	TABLE_CHANGE,   /* a ratio as a difference: 1.123 is "+12.3%" */
	TABLE_RATIO,    /* "0.96" */
	TABLE_BOOL,     /* true is "*" in text */
	TABLE_INTERVAL, /* [lo, hi] in JSON */
	TABLE_BAR,      /* text only: a bar as long as its share of the largest number of the column */
	TABLE_JSON      /* JSON only: any value */
};

/* Which outputs have a column. */
enum {
	IN_TEXT = 1,
	IN_HTML = 2,
	IN_CSV = 4,
	IN_JSON = 8,
	IN_SHOWN = IN_TEXT | IN_HTML,
	IN_DATA = IN_CSV | IN_JSON,
	IN_ALL = IN_SHOWN | IN_DATA,
	IN_OPTIONAL = 16, /* JSON has its key only where the cell is known */
	IN_ALWAYS = 32,   /* text has it even if all its cells are unknown */
	IN_WRAP = 128,    /* the last column of text: it goes on below instead of being cut */
	IN_SPARE = 256,   /* text leaves it out where a line has no room for it */
	IN_TENTH = 512,   /* CSV has one digit after the point */
	IN_WHOLE = 64     /* CSV has all digits before the point; else ten digits */
};

struct table_column {
	const char *id;    /* in JSON and CSV: "bound_ns"; "a.b": b of the object a in JSON, and
			      b in CSV if JSON has the column too */
	const char *label; /* in text and HTML */
	enum table_unit unit;
	unsigned in;       /* IN_... */
};

struct table_cell {
	const char *text;     /* clean; of a number: shown instead of it, NULL: the number is shown */
	const char *mark;     /* shown before a number: "~" estimated, ">=" at least */
	double number;
	union {
		double other;  /* TABLE_INTERVAL: the upper end */
		json_t *json;  /* TABLE_JSON; the table owns it. NULL: unknown */
	};
};

enum {
	ROW_GROUP = 1,  /* text has a blank line before it */
	ROW_HIDDEN = 2, /* not in text and HTML */
	ROW_BRIEF = 4,  /* its JSON has the keys of known cells only */
	ROW_LINE = 8,   /* text only: a line of its own instead of cells, table_line */
	ROW_CSV = 16    /* only in CSV */
};
struct table_row {
	int flags;
	int depth; /* indents its first text */
};

struct table {
	struct arena arena;   /* of the texts that a producer makes */
	const char *title;    /* a line above it in text; NULL: none */
	const char *empty;    /* what text has instead of rows, such as what to do; NULL: the rows */
	unsigned wanted;      /* IN_... of the outputs that it is for: other columns are not kept. 0: all */
	bool ascii;           /* bars of # */
	int bar_end;          /* the column where bars end at the latest */
	struct table_column *columns;
	struct table_cell *cells; /* row by row */
	struct table_row *rows;
	const char **notes;   /* lines below it in text and HTML */
	int column_count, row_count, note_count;
	int column_capacity, row_capacity, note_capacity; /* private, as what follows */
	int *place, place_count, place_capacity; /* of each declared column: its index, -1: not kept */
	int at;               /* the declared column of the next cell */
	struct table_cell unkept;
	FILE *csv;            /* private: table_stream_csv */
};

#define TABLE_COLUMNS(t, array) table_columns((t), (array), (int)(sizeof(array) / sizeof((array)[0])))
/* All columns are declared before the first row. They are copied; id and label must outlive the table. */
void table_columns(struct table *t, const struct table_column *columns, int count);
/* Begins a row; its cells are filled from the left, the others are unknown. */
void table_row(struct table *t, int flags, int depth);
void table_line(struct table *t, int depth, const char *line);
/* Fill a cell. The texts must outlive the table. */
void table_text(struct table *t, const char *text);
void table_number(struct table *t, double number, const char *mark);
/* A number that text and HTML show as `shown`. */
void table_shown(struct table *t, double number, const char *shown);
void table_interval(struct table *t, double lo, double hi);
void table_json(struct table *t, json_t *json); /* takes the reference */
void table_skip(struct table *t, int count);
/* A line below the table; the format's result is copied. */
void table_note(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_clear(struct table *t); /* removes rows, and the texts in the arena */
void table_free(struct table *t);
const struct table_cell *table_cell(const struct table *t, int row, int column);

#endif
