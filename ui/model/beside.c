/* Devices that the user marked to be compared. */
#include "config.h"

#include "ui/model/beside.h"

#include <string.h>

/* A copy of the device in the arena, as far as it is compared and shown. */
static struct session_device copy_of(struct arena *a, const struct session_device *d)
{
	return (struct session_device){ .kind = d->kind, .id = d->id, .key = arena_printf(a, "%s", d->key),
		.model = arena_printf(a, "%s", d->model), .stack = arena_printf(a, "%s", d->stack),
		.path = arena_printf(a, "%s", d->path), .command = "" };
}

/* Removes a mark, and with it the memory of its device. */
static void remove_at(struct beside *b, int at)
{
	struct arena kept = { 0 };
	memmove(&b->list[at], &b->list[at + 1], (size_t)(--b->count - at) * sizeof(*b->list));
	for (int i = 0; i < b->count; i++)
		b->list[i] = copy_of(&kept, &b->list[i]);
	arena_free(&b->arena);
	b->arena = kept;
}

static bool is_same(const struct session_device *a, const struct session_device *b)
{
	return a->kind == b->kind && a->id == b->id && strcmp(a->key, b->key) == 0 &&
		strcmp(a->path, b->path) == 0;
}

int app_beside_at(const struct app *app, const struct session_device *d)
{
	for (int i = 0; i < app->beside.count; i++)
		if (is_same(&app->beside.list[i], d))
			return i;
	return -1;
}

/* 1: it is marked now; 0: not any more; -1: BESIDE_MOST are marked. */
static int toggle(struct app *app, const struct session_device *d)
{
	struct beside *b = &app->beside;
	int at = app_beside_at(app, d);
	if (at < 0 && b->count == BESIDE_MOST)
		return -1;
	app->generation++;
	if (at >= 0) {
		remove_at(b, at);
		return 0;
	}
	b->list[b->count++] = copy_of(&b->arena, d);
	return 1;
}

bool app_beside_add(struct app *app, const struct session_device *d)
{
	return app_beside_at(app, d) >= 0 || toggle(app, d) > 0;
}

void app_beside_clear(struct app *app)
{
	app->generation += app->beside.count > 0;
	app->beside.count = 0;
}

void app_beside_toggle(struct app *app, const struct session_device *d)
{
	const char *key = app_clean(app, text_of(d->key));
	int marked = toggle(app, d);
	if (marked < 0)
		app_note(app, false, "%d devices are marked, the maximum", BESIDE_MOST);
	else
		app_note(app, false, "%s %s; %d marked: gs compares them with the one in use", key,
			marked ? "is marked" : "is not marked any more", app->beside.count);
}
