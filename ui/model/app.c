/* What all of the explorer asks: the plan, texts without control characters, where lines break, notes. */
#include "config.h"

#include "ui/model/app.h"

#include "base/clock.h"
#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

const struct plan *app_plan(const struct app *app)
{
	return session_plan(app->session);
}

const char *app_clean(struct app *app, struct text t)
{
	return text_clean(&app->scratch, t);
}

const char *app_duration(struct app *app, double ns, bool guess)
{
	char text[STR_QUANTITY];
	return arena_printf(&app->scratch, "%s%s", guess && !isnan(ns) ? "~" : "", str_duration(text, ns));
}

int app_compare_numbers(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

size_t app_break(const char *text, int columns)
{
	const char *end = text, *blank = NULL, *next = text;
	while (*next) {
		if (*next == ' ' && next > text)
			blank = next;
		columns -= text_code_columns(text_decode(&next));
		if (columns < 0)
			return (size_t)((blank ? blank : end > text ? end : next) - text);
		end = next;
	}
	return (size_t)(end - text);
}

#define NOTE_COLUMNS 40 /* of the narrowest screen */

void app_note(struct app *app, bool bad, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(app->note, sizeof(app->note), fmt, ap);
	va_end(ap);
	app->note_bad = bad;
	app->note_ms = clock_ms();
	if (bad || canvas_columns(app->note) >= NOTE_COLUMNS) /* it may be cut */
		log_line("%s", app->note);
}
