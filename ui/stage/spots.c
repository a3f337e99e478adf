/* Where on the screen something stands that a click chooses; remembered while it is drawn. */
#include "config.h"

#include "ui/stage/stage.h"

#define ITEMS_MAX 20000

void spot_add(struct app *app, struct area line, int x, int width, const struct key_row *row)
{
	struct stage *s = app->stage;
	width = x + width > line.width ? line.width - x : width;
	if (s->spot_count < SPOTS_MAX && width > 0 && line.height > 0)
		s->spots[s->spot_count++] = (struct spot){ line.x + x, line.y, width, *row };
}

void app_order_spot(struct app *app, struct area line, int x, int width, int order)
{
	spot_add(app, line, x, width, &(struct key_row){ .keys = "", .request = REQUEST_ORDER,
		.argument = order, .text = "", .name = "" });
}

void app_item(struct app *app, struct area a, int x, int y, int width, int item)
{
	struct stage *s = app->stage;
	const struct chart_item *last = s->item_count ? &s->items[s->item_count - 1] : NULL;
	struct chart_item one = { a.x + x, a.y + y, width > 1 ? width : 1, item };
	if (!s->mouse || s->item_count == ITEMS_MAX ||
		(last && last->x == one.x && last->y == one.y && last->width == one.width))
		return;
	VEC_GROW(s->items, s->item_count, s->item_capacity);
	s->items[s->item_count++] = one;
}
