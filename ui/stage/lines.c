/* The table of commands of the line that `:` opens. */
#include "config.h"

#include "ui/stage/lines.h"

#include "analyze/scenario/scenario.h"
#include "base/arena.h"

#include <stdio.h>
#include <string.h>

static const struct line_row fixed[] = {
	{ "view", "NAME", LINE_VIEW, 0, "shows a view: view problems" },
	{ "set", "WHAT-IF[=CHOICE],...", LINE_SET, 0,
		"switches what-ifs, as --what-if does: set fusion=pattern,parallel" },
	{ "device", "NAME", LINE_DEVICE, 0, "switches to a device, by its name in the devices view" },
	{ "beside", "NAME", LINE_BESIDE, 0,
		"marks a device, or removes its mark: the view scenarios compares the marked ones" },
	{ "batch", "N", LINE_BATCH, 0, "another batch size" },
	{ "dtype", "TYPE", LINE_DTYPE, 0, "sets the data type of the layers: dtype bf16" },
	{ "dim", "NAME=VALUE ...", LINE_DIM, 0, "sets values of symbolic dimensions together" },
	{ "filter", "[TEXT]", LINE_FILTER, 0, "only rows that contain the text; without one, all rows" },
	{ "search", "TEXT", LINE_SEARCH, 0, "to the next row that contains the text" },
	{ "sort", "ORDER", LINE_SORT, 0, "sorts the rows: sort cost" },
	{ "reverse", NULL, LINE_REQUEST, REQUEST_REVERSE, "reverses the order" },
	{ "layer", "N", LINE_LAYER, 0, "to a layer by its number; the number alone does the same" },
	{ "write", "FILE", LINE_WRITE, 0,
		"saves the view in the format of the name's suffix; write! replaces a file" },
	{ "open", "FILE", LINE_OPEN, 0, "another model; edit does the same" },
	{ "edit", "FILE", LINE_OPEN, 0, "another model, as open" },
	{ "theme", "NAME[,ROLE=COLOUR]", LINE_THEME, 0,
		"sets the colours of this session: theme light, theme dark,warning=208 bold" },
	{ "mouse", "[on|off]", LINE_MOUSE, 0, "uses the mouse, or leaves it to the terminal" },
	{ "copy", NULL, LINE_REQUEST, REQUEST_COPY_NAME, "copies the selected layer's name" },
	{ "measure", NULL, LINE_REQUEST, REQUEST_MEASURE_MISSING, "measures missing problems" },
	{ "again", NULL, LINE_REQUEST, REQUEST_MEASURE_LAYER,
		"measures the selected layer, or the marked ones, again" },
	{ "stop", NULL, LINE_REQUEST, REQUEST_CANCEL, "stops measuring" },
	{ "run", NULL, LINE_REQUEST, REQUEST_AGENT, "runs the whole model with an agent" },
	{ "messages", NULL, LINE_VIEW, 0, "shows all messages of this session in full" },
	{ "help", NULL, LINE_VIEW, 0, "shows the keys and these commands" },
	{ "quit", NULL, LINE_REQUEST, REQUEST_QUIT, "leaves at once, as quit! does; results are kept" },
};

#define FIXED_COUNT ((int)(sizeof(fixed) / sizeof(*fixed)))

static struct {
	struct arena arena;
	struct line_row *rows;
	int count;
} table;

/* "[off|all|epilogue]", "[off|BYTES]" */
static const char *choices_text(const struct what_if *w)
{
	struct str out = { 0 };
	for (int i = 0; i < what_if_choices(w); i++)
		str_addf(&out, "%s%s", i ? "|" : "[", w->choices[i]);
	str_addf(&out, "%s%s]", w->value ? "|" : "", w->value ? w->value : "");
	const char *kept = arena_strndup(&table.arena, out.p, out.n);
	str_free(&out);
	return kept;
}

const struct line_row *lines_table(int *count)
{
	int what_ifs;
	const struct what_if *w = what_if_table(&what_ifs);
	if (!table.count) {
		table.count = FIXED_COUNT + what_ifs;
		table.rows = ARENA_ARRAY(&table.arena, struct line_row, table.count);
		memcpy(table.rows, fixed, sizeof(fixed));
		for (int i = 0; i < what_ifs; i++)
			table.rows[FIXED_COUNT + i] = (struct line_row){ w[i].name, choices_text(&w[i]),
				LINE_WHAT_IF, i,
				arena_printf(&table.arena, "the what-if of key %.*s",
					(int)keys_of_what_if(i).n, keys_of_what_if(i).p) };
	}
	*count = table.count;
	return table.rows;
}

const struct line_row *lines_find(struct text name)
{
	int count, found[2] = { 0, 0 }; /* of the fixed ones, of what-ifs */
	const struct line_row *rows = lines_table(&count), *longer[2] = { NULL, NULL };
	for (int i = 0; i < count; i++) {
		int of = i >= FIXED_COUNT;
		if (text_is(name, rows[i].name))
			return &rows[i];
		if (name.n && name.n < strlen(rows[i].name) && memcmp(rows[i].name, name.p, name.n) == 0) {
			longer[of] = &rows[i];
			found[of]++;
		}
	}
	return found[0] == 1 ? longer[0] : found[0] == 0 && found[1] == 1 ? longer[1] : NULL;
}

char *line_shown(char *buf, const struct line_row *row)
{
	snprintf(buf, LINE_SHOWN, ":%s%s%s", row->name, row->argument ? " " : "",
		row->argument ? row->argument : "");
	return buf;
}
