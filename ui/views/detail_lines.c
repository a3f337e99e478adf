/* Lines of the details page: headings, texts, each with what Enter opens. */
#include "config.h"

#include "ui/views/detail.h"

void detail_add(struct page *d, enum style style, int jump, const char *text)
{
	page_add(d, 0, style, text)->item = jump;
}

void detail_heading(struct page *d, const char *text)
{
	if (d->count)
		detail_add(d, STYLE_NORMAL, -1, "");
	ADD(d, STYLE_HEADER, -1, " %s", text);
}

void detail_wrapped(struct page *d, enum style style, const char *indent, const char *text)
{
	int room = d->width - canvas_columns(indent) - 1;
	room = room < 8 ? 8 : room;
	for (struct text part; page_part(&text, room, &part);)
		ADD(d, style, -1, "%s%.*s", indent, (int)part.n, part.p);
}

const char *detail_clean(struct page *d, struct text t)
{
	return text_clean(&d->arena, t);
}
