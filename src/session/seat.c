/* Devices of a session: opening them, and what each has of its own. */
#include "config.h"

#include "session/session_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct seat *seat_new(const struct config *config)
{
	struct seat *seat = base_calloc(1, sizeof(*seat));
	seat->key = "";
	seat->config = config;
	seat->results = results_new();
	seat->device.llc_bytes = NAN;
	seat->peaks = peaks_unknown();
	return seat;
}

struct seat *seat_for(const struct config *given, const struct session_device *d)
{
	struct seat *seat = seat_new(given);
	struct config *c = ARENA_NEW(&seat->arena, struct config);
	*c = *given;
	c->arena = (struct arena){ 0 }; /* borrowed, not owned */
	seat->key = c->device = arena_strndup(&seat->arena, d->key, strlen(d->key));
	seat->kind = d->kind;
	c->threads = d->kind == SESSION_RUNNER ? c->threads : 0;
	seat->config = c;
	return seat;
}

void seat_free(struct seat *seat)
{
	if (!seat)
		return;
	queue_free(seat->queue);
	planner_free(seat->planner);
	recorded_close(seat->recorded);
	results_free(seat->results);
	arena_free(&seat->arena);
	free(seat);
}

void seats_free(struct seat **list)
{
	while (*list) {
		struct seat *next = (*list)->next;
		seat_free(*list);
		*list = next;
	}
}

void seat_adopt(struct seat *seat, const struct device *d)
{
	seat->device = device_copy(&seat->arena, d);
	if (!*seat->device.name)
		seat->device.name = "?";
}

/* The CUDA runner plans for a described device; it needs no GPU for this. */
static struct planner *planner_make(struct seat *seat)
{
	const struct config_runner *runner = NULL;
	for (int i = 0; i < seat->config->runner_count && !runner; i++)
		if (strcmp(seat->config->runners[i].name, "cuda") == 0)
			runner = &seat->config->runners[i];
	int n = runner ? runner->argc : 1;
	const char **argv = ARENA_ARRAY(&seat->arena, const char *, n + 3);
	argv[0] = "benanza-runner-cuda";
	for (int i = 0; runner && i < n; i++)
		argv[i] = runner->argv[i];
	argv[n] = "--plan";
	argv[n + 1] = seat->described->path;
	argv[n + 2] = NULL;
	return planner_new(argv);
}

void seat_describe(struct seat *seat, const struct described *d)
{
	seat->described = d;
	seat->planner = planner_make(seat);
	struct device device = { .name = d->id,
		.model = d->name,
		.stack = "described, nothing measured",
		.runner = "",
		.version = "",
		.host = "",
		.attributes = "{}",
		.llc_bytes = d->l2_bytes,
		.has_matrix = peaks_have_matrix(&d->peaks) };
	seat_adopt(seat, &device);
}

static int open_recorded(struct seat *seat, struct store *store, const struct session_device *d,
	struct error *err)
{
	struct recorded *files;
	struct device *devices = NULL;
	int64_t *ids = NULL;
	int count = 0;
	if (d->id > 0) {
		if (store_devices(store, &seat->arena, &devices, &ids, &count, err))
			return -1;
		for (int i = 0; i < count; i++)
			if (ids[i] == d->id) {
				seat_adopt(seat, &devices[i]);
				return store_load(store, d->id, seat->results, err);
			}
		return error_set(err, "the database no longer has device %lld", (long long)d->id);
	}
	count = recorded_list(&seat->arena, &files);
	for (int i = 0; i < count; i++)
		if (strcmp(files[i].path, d->path) == 0) {
			seat_adopt(seat, &files[i].device);
			seat->recorded = recorded_open(&files[i]);
			return 0;
		}
	return error_set(err, "%s cannot be read any more", d->path);
}

int seat_open(struct seat *seat, struct store *store, const struct session_device *d, struct error *err)
{
	if (d->kind == SESSION_RECORDED)
		return open_recorded(seat, store, d, err);
	struct described *one = ARENA_NEW(&seat->arena, struct described);
	if (described_read(&seat->arena, d->path, one, err))
		return -1;
	seat_describe(seat, one);
	return 0;
}

void seat_renew_peaks(struct seat *seat)
{
	seat->peaks = seat->described ? seat->described->peaks :
		peaks_from_results(seat->results, &seat->device);
}

struct seat *seat_compared(struct session *s, const struct session_device *d)
{
	struct seat *seat = s->compared;
	struct error err = ERROR_NONE;
	while (seat && (seat->kind != d->kind || strcmp(seat->key, d->key) != 0))
		seat = seat->next;
	if (seat)
		return seat;
	seat = seat_for(s->given, d);
	seat->next = s->compared;
	s->compared = seat;
	if (seat_open(seat, s->store, d, &err))
		snprintf(seat->trouble, sizeof(seat->trouble), "%s", err.text);
	return seat;
}

void session_device_renewed(struct session *s)
{
	s->device_changes++;
	s->stale = true;
}

void session_device_adopt(struct session *s, const struct device *d)
{
	seat_adopt(s->seat, d);
	session_device_renewed(s);
}
