/* Copies of the selected layer, for the clipboard. */
#include "config.h"

#include "ui/frame/frame.h"
#include "ui/screen/clipboard.h"

#include <string.h>

void copy_layer(struct app *app, bool problem)
{
	const struct plan_layer *l = app_layer(app, app->layer);
	const char *what = problem ? "problem" : "name";
	if (!l) {
		app_note(app, false, "no layer is selected");
		return;
	}
	const char *text = problem ? app_problem(app, app->layer) : app_clean(app, l->name);
	if (!text || !text[0]) {
		app_note(app, false, "this layer has no %s to copy", what);
		return;
	}
	text = app_clean(app, text_of(text));
	size_t n = strlen(text);
	if (n > CLIPBOARD_BYTES) {
		app_note(app, true, "the %s has %zu bytes, more than %d: nothing was copied", what, n,
			CLIPBOARD_BYTES);
		return;
	}
	str_clear(&app->stage->copy);
	str_add(&app->stage->copy, text, n);
	app_note(app, false, "copied the %s: %s", what, text);
}
