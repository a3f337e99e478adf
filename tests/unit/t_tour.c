/* The table of the tour: each key that it names exists where it is named, and each text fits. */
#include "tap.h"

#include "config/config.h"
#include "ui/frame/tour.h"
#include "ui/model/app.h"
#include "ui/views/view.h"

#include <stdio.h>
#include <string.h>

#define LINE 76  /* columns of text in an 80-column box */
#define LINES 4

/* The keys in braces do something in the view. */
static void named(const struct tour_step *step, const struct view *view)
{
	for (const char *p = step->text; (p = strchr(p, '{')); p++) {
		char name[32];
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(p + 1, "}"), p + 1);
		const struct key_row *row = keys_named(name);
		struct key_pair keys = keys_parse(text_of(row ? row->first : ""));
		bool known =
			row && row->letter ? keys_begins(view, keys.first) : keys_find(view, keys) != NULL;
		ok(keys.first && known, "%s: %s is a key of %s", step->title, name, view->name);
	}
}

static int lines_of(const struct tour_step *step)
{
	int count = 0;
	struct str text = { 0 };
	tour_text(step, &text);
	for (const char *p = text.p; *p; count++) {
		p += app_break(p, LINE);
		p += strspn(p, " ");
	}
	str_free(&text);
	return count;
}

/* With other keys the steps ask for these. */
static void rebound(void)
{
	static const struct config_word words[] = { { .name = "open", .value = "z", .line = 1 },
		{ .name = "gains", .value = "%a", .line = 2 },
		{ .name = "fusion", .value = "X", .line = 3 } };
	struct error err = ERROR_NONE;
	char buf[TOUR_KEYS];
	struct key_pair keys;
	struct str text = { 0 };
	is_str(tour_keys(tour_step(0), &keys, buf), "Enter", "the first step");
	is_str(tour_keys(tour_step(2), &keys, buf), "$f", "the third step");
	ok(keys_bind(words, 3, &err) == 0, "other keys %s", err.text);
	is_str(tour_keys(tour_step(0), &keys, buf), "z", "the first step asks for another key");
	ok(keys.first == 'z' && !keys.second, "which is pressed");
	is_str(tour_keys(tour_step(2), &keys, buf), "%X", "the third for a pair of other keys");
	tour_text(tour_step(2), &text);
	ok(strstr(text.p, "% and the key of a what-if") != NULL, "and its text names the first");
	str_free(&text);
	is_str(key_named("measure"), "b", "keys that are not configured stay");
	is_str(key_named("devices"), "D", "a letter is shown before a digit");
}

int main(void)
{
	int count = 0;
	views_register();
	for (const struct tour_step *step; (step = tour_step(count)); count++) {
		const struct view *view = views_find(step->view);
		ok(view && strcmp(view->name, step->view) == 0, "%s: %s is a view", step->title, step->view);
		if (!view)
			continue;
		char buf[TOUR_KEYS];
		struct key_pair keys;
		tour_keys(step, &keys, buf);
		const struct key_row *row = keys_find(view, keys);
		ok(row != NULL, "%s: %s is a key of it", step->title, buf);
		bool last = !tour_step(count + 1);
		is_int(row && row->request == REQUEST_CLOSE, last, "%s: leaves", step->title);
		ok(strcmp(buf, "n") != 0, "%s: n skips", step->title);
		ok(lines_of(step) <= LINES, "%s: %d lines", step->title, lines_of(step));
		named(step, view);
	}
	rebound();
	ok(count >= 10 && count <= 14, "%d steps", count);
	return done_testing();
}
