/* Lists the devices that can be chosen, without starting a runner. */
#include "config.h"

#include "session/session_private.h"

#include <stdlib.h>
#include <string.h>

struct listing {
	const struct session *s;
	struct arena *arena;
	struct session_device *list;
	int count, capacity;
};

static const char *kept(struct listing *l, const char *text)
{
	return text ? arena_strndup(l->arena, text, strlen(text)) : "";
}

static struct session_device *listing_add(struct listing *l, enum session_device_kind kind, const char *key)
{
	VEC_GROW(l->list, l->count, l->capacity);
	struct session_device *d = &l->list[l->count++];
	*d = (struct session_device){
		.kind = kind, .key = kept(l, key), .model = "", .stack = "", .command = "", .path = ""
	};
	return d;
}

static const char *words_joined(struct listing *l, const struct config_runner *r)
{
	const char *line = "";
	for (int i = 0; i < r->argc; i++)
		line = arena_printf(l->arena, "%s%s%s", line, i ? " " : "", r->argv[i]);
	return line;
}

/* True if the runner is in use: with a queue, the configured one, or the first. */
static void list_runners(struct listing *l)
{
	const struct session *s = l->s;
	const struct seat *seat = s->seat;
	for (int i = 0; i < s->given->runner_count; i++) {
		const struct config_runner *r = &s->given->runners[i];
		const char *key = queue_uses_runner(s->given, r) ? s->given->device : r->name;
		struct session_device *d = listing_add(l, SESSION_RUNNER, key);
		d->command = words_joined(l, r);
		d->in_use = seat->queue &&
			(seat->config->device ? queue_uses_runner(seat->config, r) : i == 0);
		if (d->in_use && seat->device.name) {
			d->model = kept(l, seat->device.model);
			d->stack = kept(l, seat->device.stack);
		}
	}
}

static void recorded_add(struct listing *l, const char *key, const struct device *of,
	const char *path, int64_t id)
{
	const struct seat *seat = l->s->seat;
	for (int i = 0; i < l->count; i++) /* results in the database take precedence over the program's
					      files */
		if (l->list[i].kind == SESSION_RECORDED && strcmp(l->list[i].model, of->model) == 0 &&
			strcmp(l->list[i].stack, of->stack) == 0)
			return;
	struct session_device *d = listing_add(l, SESSION_RECORDED, key);
	d->model = kept(l, of->model);
	d->stack = kept(l, of->stack);
	d->path = kept(l, path);
	d->id = id;
	d->in_use = !seat->queue && !seat->described && seat->device.name &&
		    strcmp(seat->device.model, of->model) == 0 && strcmp(seat->device.stack, of->stack) == 0;
}

static int list_recorded(struct listing *l, struct error *err)
{
	struct device *devices = NULL;
	int64_t *ids = NULL;
	struct recorded *files;
	int count = 0;
	int bad = l->s->store ? store_devices(l->s->store, l->arena, &devices, &ids, &count, err) : 0;
	for (int i = 0; i < count && !bad; i++)
		recorded_add(l, arena_printf(l->arena, "%lld", (long long)ids[i]), &devices[i], "", ids[i]);
	count = recorded_list(l->arena, &files);
	for (int i = 0; i < count; i++)
		recorded_add(l, files[i].device.model, &files[i].device, files[i].path, 0);
	return bad;
}

static void described_add(struct listing *l, const struct described *of)
{
	const struct session *s = l->s;
	for (int i = 0; i < l->count; i++)
		if (l->list[i].kind == SESSION_DESCRIBED && strcmp(l->list[i].path, of->path) == 0)
			return;
	struct session_device *d = listing_add(l, SESSION_DESCRIBED, of->id);
	d->described = *of;
	d->model = of->name;
	d->path = of->path;
	d->in_use = s->seat->described && strcmp(s->seat->described->path, of->path) == 0;
}

/* Described devices of the data directory, and a file given with -d. */
static int list_described(struct listing *l, struct error *err)
{
	struct described *all, named;
	int count, bad = described_list(l->arena, &all, &count, err);
	for (int i = 0; i < count; i++)
		described_add(l, &all[i]);
	struct error none = ERROR_NONE;
	if (l->s->given->device && strchr(l->s->given->device, '.') &&
		described_find(l->arena, l->s->given->device, &named, &none) == 1)
		described_add(l, &named);
	return bad;
}

int session_devices(const struct session *s, struct arena *a, struct session_device **list, struct error *err)
{
	struct listing l = { .s = s, .arena = a };
	struct error records = ERROR_NONE, descriptions = ERROR_NONE;
	list_runners(&l);
	list_recorded(&l, &records);
	list_described(&l, &descriptions);
	error_set(err, "%s%s%s", records.text, records.text[0] && descriptions.text[0] ? "; " : "",
		descriptions.text);
	*list = ARENA_ARRAY(a, struct session_device, l.count);
	for (int i = 0; i < l.count; i++)
		(*list)[i] = l.list[i];
	free(l.list);
	return l.count;
}
