/* The form of batch, data type and dimensions, drawn over the view. */
#include "config.h"

#include "ui/frame/frame.h"

#include <string.h>

#define FORM_WIDTH 72
#define FORM_VALUE_COLUMNS 12
#define FORM_SOURCE_COLUMNS 14

static void draw_field(const struct prompt *q, int index, struct area line)
{
	const struct form_field *f = &q->fields[index];
	bool here = index == q->field;
	int source = line.width < 50 ? 10 : FORM_SOURCE_COLUMNS;
	int value = line.width - FORM_VALUE_COLUMNS - source, range = line.width;
	if (line.width >= 64) {
		range = line.width - 17;
		value -= 17;
	}
	const char *text = here ? q->text : f->text;
	bool changed = here ? strcmp(text, f->before) != 0 : form_changed(f);
	canvas_put(line, 0, 0, STYLE_BOLD, here ? '>' : ' ');
	canvas_fit(line, 2, 0, value - 3, here ? STYLE_BOLD : STYLE_NORMAL, f->shown);
	int used = canvas_fit_tail(line, value, 0, FORM_VALUE_COLUMNS - 2,
		here && !q->untouched ? STYLE_BOLD : STYLE_NORMAL, text);
	if (here) {
		canvas_put(line, value + used, 0, STYLE_REVERSE, ' ');
		canvas_cursor(line, value + used, 0);
	}
	if (!here && !text[0])
		canvas_put(line, value, 0, STYLE_WARN, '?');
	canvas_fit(line, value + FORM_VALUE_COLUMNS, 0, source, STYLE_DIM,
		changed && (here || f->own || !form_is_sum(f)) ? "* changed" : f->source);
	if (range < line.width)
		canvas_fit(line, range, 0, line.width - range, STYLE_DIM, form_range(f));
}

/* Which field it is, what it takes, and keys that a click presses too. */
void form_draw_keys(struct app *app, struct area line)
{
	static const struct key_row keys[] = {
		{ "Tab", REQUEST_DOWN, 0, KEYS_MOVE, "next", .name = "" },
		{ "Enter", REQUEST_OPEN, 0, KEYS_MOVE, "applies all", .name = "" },
		{ "Esc", REQUEST_BACK, 0, KEYS_MOVE, "or q leaves", .name = "" },
	};
	const struct prompt *q = &app->stage->prompt;
	const char *here = arena_printf(&app->scratch, "%d of %d  %s", q->field + 1, q->field_count,
		form_range(&q->fields[q->field]));
	int x = 1 + canvas_fit(line, 1, 0, line.width - 1, STYLE_DIM, here);
	app->stage->spot_count = 0; /* nothing else takes clicks */
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		int columns = canvas_columns(keys[i].keys) + 1 + canvas_columns(keys[i].text);
		spot_add(app, line, x + 2, columns, &keys[i]);
		x += 2 + canvas_fit(line, x + 2, 0, line.width - x - 2, STYLE_BOLD, keys[i].keys);
		x += 1 + canvas_fit(line, x + 1, 0, line.width - x - 1, STYLE_NORMAL, keys[i].text);
	}
}

void form_draw(struct app *app, struct area body)
{
	struct prompt *q = &app->stage->prompt;
	int width = body.width < FORM_WIDTH ? body.width : FORM_WIDTH;
	int height = q->field_count + 2 < body.height ? q->field_count + 2 : body.height;
	struct area box = canvas_part(body, (body.width - width) / 2, (body.height - height) / 2, width,
		height);
	for (int y = 0; y < height; y++)
		canvas_fill(box, 0, y, width, STYLE_NORMAL, ' ');
	canvas_border(box, STYLE_DIM);
	canvas_text(box, 2, 0, STYLE_BOLD, " Batch, data type, dimensions ");
	int rows = height - 2, top = q->field < rows ? 0 : q->field - rows + 1;
	q->fields_at = canvas_part(box, 2, 1, width - 4, rows);
	q->field_top = top;
	for (int y = 0; y < rows && top + y < q->field_count; y++)
		draw_field(q, top + y, canvas_part(box, 2, 1 + y, width - 4, 1));
}
