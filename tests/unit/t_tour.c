/* The table of the tour: each key that it names exists where it is named, and each text fits. */
#include "tap.h"

#include "ui/frame/tour.h"
#include "ui/model/app.h"
#include "ui/views/view.h"

#include <string.h>

#define LINE 76  /* columns of text in an 80-column box */
#define LINES 4

/* The keys in braces do something in the view. */
static void named(const struct tour_step *step, const struct view *view)
{
	for (const char *p = step->text; (p = strchr(p, '{')); p++) {
		size_t n = strcspn(p + 1, "}");
		struct text name = { p + 1, n };
		const struct key_row *row = keys_find(view, keys_parse(name));
		ok(row != NULL, "%s: %.*s is a key of %s", step->title, (int)n, p + 1, view->name);
	}
}

static int lines_of(const char *text)
{
	int count = 0;
	char plain[1024];
	size_t n = 0;
	for (; *text && n + 1 < sizeof(plain); text++)
		if (*text != '{' && *text != '}')
			plain[n++] = *text;
	plain[n] = '\0';
	for (const char *p = plain; *p; count++) {
		p += app_break(p, LINE);
		p += strspn(p, " ");
	}
	return count;
}

int main(void)
{
	int count = 0;
	for (const struct tour_step *step; (step = tour_step(count)); count++) {
		const struct view *view = views_find(step->view);
		ok(view && strcmp(view->name, step->view) == 0, "%s: %s is a view", step->title, step->view);
		if (!view)
			continue;
		const struct key_row *row = keys_find(view, keys_parse(text_of(step->keys)));
		ok(row != NULL, "%s: %s is a key of it", step->title, step->keys);
		bool last = !tour_step(count + 1);
		is_int(row && row->request == REQUEST_CLOSE, last, "%s: leaves", step->title);
		ok(strcmp(step->keys, "n") != 0, "%s: n skips", step->title);
		ok(lines_of(step->text) <= LINES, "%s: %d lines", step->title, lines_of(step->text));
		named(step, view);
	}
	ok(count >= 10 && count <= 14, "%d steps", count);
	return done_testing();
}
