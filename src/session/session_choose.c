/* Change of device. A seat has all state of one device: the session's own fields are the current seat; other
 * seats are awaited (their runner has not sent its hello) or leaving (their runner has not ended). */
#include "config.h"

#include "session/session_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "session/scenarios.h"

struct session_seat {
	struct session_seat *next;
	const char *key;
	const struct config *config; /* in the arena, or the one given to session_open */
	struct results *results;
	struct recorded_file *recorded;
	struct queue *queue;
	struct device device;
	struct arena arena;
	const struct described *described;
	struct planner *planner;
	char trouble[ERROR_TEXT_SIZE];
};

static void seat_free(struct session_seat *seat)
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

/* Moves the current device out of the session. */
static struct session_seat *seat_lift(struct session *s)
{
	struct session_seat *seat = base_calloc(1, sizeof(*seat));
	*seat = (struct session_seat){ .key = "",
		.config = s->config,
		.results = s->results,
		.recorded = s->recorded,
		.queue = s->queue,
		.device = s->device,
		.arena = s->device_arena,
		.described = s->described,
		.planner = s->planner };
	memcpy(seat->trouble, s->trouble, sizeof(seat->trouble));
	s->results = NULL;
	s->recorded = NULL;
	s->queue = NULL;
	s->planner = NULL;
	s->described = NULL;
	s->device_arena = (struct arena){ 0 };
	s->device = (struct device){ .llc_bytes = NAN };
	return seat;
}

/* Makes it the current device; the session has none. */
static void seat_set(struct session *s, struct session_seat *seat)
{
	s->config = seat->config;
	s->results = seat->results;
	s->recorded = seat->recorded;
	s->queue = seat->queue;
	s->device = seat->device;
	s->device_arena = seat->arena;
	s->described = seat->described;
	s->planner = seat->planner;
	memcpy(s->trouble, seat->trouble, sizeof(s->trouble));
	s->seen_planner = 0;
	s->asked = NULL;
	free(seat);
	session_follow_device(s);
}

/* A new seat with a configuration for the device. --threads applies to runners only, not to a recorded device
 * that the user selects. */
static struct session_seat *seat_new(const struct session *s, const struct session_device *d)
{
	struct session_seat *seat = base_calloc(1, sizeof(*seat));
	struct config *c = ARENA_NEW(&seat->arena, struct config);
	*c = *s->given;
	c->arena = (struct arena){ 0 }; /* borrowed, not owned */
	seat->key = c->device = arena_strndup(&seat->arena, d->key, strlen(d->key));
	c->threads = d->kind == SESSION_RUNNER ? c->threads : 0;
	seat->config = c;
	seat->results = results_new();
	seat->device.llc_bytes = NAN;
	return seat;
}

/* Cancels the runner's measurement without waiting for its end. */
static void seat_retire(struct session *s, struct session_seat *seat)
{
	if (!seat->queue || queue_status(seat->queue).idle) {
		seat_free(seat);
		return;
	}
	queue_cancel(seat->queue);
	seat->next = s->leaving;
	s->leaving = seat;
}

static void leaving_step(struct session *s)
{
	for (struct session_seat **at = &s->leaving; *at;) {
		struct session_seat *seat = *at;
		struct error err = ERROR_NONE;
		int came = queue_step(seat->queue, 0, &err);
		struct queue_status status = queue_status(seat->queue);
		if (came >= 0 && !status.idle) {
			at = &seat->next;
			continue;
		}
		*at = seat->next;
		seat_free(seat);
	}
}

/* A device that was opened to be compared. */
struct session_beside {
	struct session_beside *next;
	const char *key;
	enum session_device_kind kind;
	struct session_seat *seat; /* NULL while it is the current one, or if it cannot be opened */
	char why[ERROR_TEXT_SIZE];
	uint64_t version;          /* of its planner, when its total was taken */
};

static void besides_drop(struct session *s)
{
	while (s->beside) {
		struct session_beside *next = s->beside->next;
		seat_free(s->beside->seat);
		free(s->beside);
		s->beside = next;
	}
}

void session_device_free(struct session *s)
{
	besides_drop(s);
	seat_free(seat_lift(s));
	session_choose_leave(s);
	while (s->leaving) {
		struct session_seat *next = s->leaving->next;
		seat_free(s->leaving);
		s->leaving = next;
	}
}

/* ---- opening ---- */

static int open_recorded(struct session *s, const struct session_device *d, struct error *err)
{
	struct recorded *files;
	struct device *devices = NULL;
	int64_t *ids = NULL;
	int count = 0;
	if (d->id > 0) {
		if (store_devices(s->store, &s->device_arena, &devices, &ids, &count, err))
			return -1;
		for (int i = 0; i < count; i++)
			if (ids[i] == d->id) {
				session_device_adopt(s, &devices[i]);
				return store_load(s->store, d->id, s->results, err);
			}
		return error_set(err, "the database no longer has device %lld", (long long)d->id);
	}
	count = recorded_list(&s->device_arena, &files);
	for (int i = 0; i < count; i++)
		if (strcmp(files[i].path, d->path) == 0)
			return session_use_file(s, &files[i], err);
	return error_set(err, "%s cannot be read any more", d->path);
}

static int open_described(struct session *s, const struct session_device *d, struct error *err)
{
	struct described *one = ARENA_NEW(&s->device_arena, struct described);
	if (described_read(&s->device_arena, d->path, one, err))
		return -1;
	session_use_described(s, one);
	return 0;
}

/* ---- beside the present one ---- */

/* What belongs to the current device and is not in its seat. */
struct outside {
	struct peaks peaks;
	uint64_t seen_planner;
	const struct session_plan *asked;
	unsigned asked_variants;
};

static struct outside outside_of(const struct session *s)
{
	return (struct outside){ s->peaks, s->seen_planner, s->asked, s->asked_variants };
}

static void outside_set(struct session *s, const struct outside *o)
{
	s->peaks = o->peaks;
	s->seen_planner = o->seen_planner;
	s->asked = o->asked;
	s->asked_variants = o->asked_variants;
}

/* Opens the device in a seat of its own; the session keeps its own device. */
static void beside_open(struct session *s, struct session_beside *b, const struct session_device *d)
{
	struct error err = ERROR_NONE;
	struct outside own = outside_of(s);
	struct session_seat *present = seat_lift(s);
	seat_set(s, seat_new(s, d));
	s->trouble[0] = '\0';
	bool bad = d->kind == SESSION_RECORDED ? open_recorded(s, d, &err) : open_described(s, d, &err);
	b->seat = seat_lift(s);
	if (bad) {
		snprintf(b->why, sizeof(b->why), "%s", err.text);
		seat_free(b->seat);
		b->seat = NULL;
	}
	seat_set(s, present);
	outside_set(s, &own);
}

static struct session_beside *beside_of(struct session *s, const struct session_device *d)
{
	struct session_beside *b = s->beside;
	while (b && (b->kind != d->kind || strcmp(b->key, d->key) != 0))
		b = b->next;
	if (b)
		return b;
	b = base_calloc(1, sizeof(*b) + strlen(d->key) + 1);
	b->key = strcpy((char *)(b + 1), d->key);
	b->kind = d->kind;
	b->next = s->beside;
	s->beside = b;
	beside_open(s, b, d);
	return b;
}

struct scenario_total session_beside_total(
	struct session *s, const struct session_device *d, struct arena *a)
{
	struct scenario_total t = { .point = SWEEP_POINT_UNKNOWN };
	struct session_beside *b = d->kind == SESSION_RUNNER ? NULL : beside_of(s, d);
	if (!b || !b->seat) {
		t.elsewhere = !b;
		t.why = b ? arena_printf(a, "%s", b->why) : "its runner is not started";
		return t;
	}
	const struct config_scenario one = { .what_if = session_what_ifs(s, a) };
	struct outside own = outside_of(s);
	struct session_seat *present = seat_lift(s);
	seat_set(s, b->seat);
	s->peaks = s->described ? s->described->peaks : peaks_from_results(s->results, &s->device);
	t = scenarios_total(s, &one, a);
	b->version = s->planner ? planner_version(s->planner) : 0;
	b->seat = seat_lift(s);
	seat_set(s, present);
	outside_set(s, &own);
	return t;
}

bool session_beside_step(struct session *s)
{
	bool changed = false;
	for (struct session_beside *b = s->beside; b; b = b->next)
		if (b->seat && b->seat->planner) {
			planner_step(b->seat->planner, 0);
			changed |= planner_version(b->seat->planner) != b->version;
		}
	return changed;
}

bool session_beside_waits(const struct session *s)
{
	for (const struct session_beside *b = s->beside; b; b = b->next)
		if (b->seat && b->seat->planner && !planner_is_idle(b->seat->planner))
			return true;
	return false;
}

/* ---- choosing ---- */

/* Switches to a device without a runner: succeeds or fails at once. */
static int choose_now(struct session *s, const struct session_device *d, struct error *err)
{
	struct session_seat *old = seat_lift(s);
	seat_set(s, seat_new(s, d));
	s->trouble[0] = '\0';
	if (d->kind == SESSION_RECORDED ? open_recorded(s, d, err) : open_described(s, d, err)) {
		seat_free(seat_lift(s));
		seat_set(s, old);
		s->stale = true;
		return -1;
	}
	session_analysis_drop(s);
	s->stale = true;
	seat_retire(s, old);
	return 0;
}

static void awaited_take(struct session *s)
{
	struct session_seat *next = s->awaited, *old = seat_lift(s);
	s->awaited = NULL;
	seat_set(s, next);
	session_device_adopt(s, queue_device(s->queue));
	session_analysis_drop(s);
	seat_retire(s, old);
}

/* The runner does not answer: drops it with an error. */
static int awaited_fail(struct session *s, const char *why, struct error *err)
{
	error_set(err, "%s: %s", s->awaited->key, why && *why ? why : "the runner does not answer");
	session_choose_leave(s);
	return -1;
}

static int choose_runner(struct session *s, const struct session_device *d, struct error *err)
{
	struct session_seat *seat = seat_new(s, d);
	struct error trouble = ERROR_NONE;
	if (!queue_has_runner(seat->config)) {
		seat_free(seat);
		return error_set(err, "unknown runner %s", d->key);
	}
	seat->queue = queue_new(seat->config, s->store, seat->results);
	s->awaited = seat;
	queue_connect(seat->queue, 0, &trouble);
	if (!queue_device(seat->queue) && !queue_status(seat->queue).starting)
		return awaited_fail(s, trouble.text, err);
	return SESSION_AWAITED;
}

int session_choose(struct session *s, const struct session_device *d, struct error *err)
{
	session_choose_leave(s);
	return d->kind == SESSION_RUNNER ? choose_runner(s, d, err) : choose_now(s, d, err);
}

int session_choose_step(struct session *s, int timeout_ms, struct error *err)
{
	leaving_step(s);
	if (!s->awaited)
		return 0;
	struct error trouble = ERROR_NONE;
	struct queue *q = s->awaited->queue;
	int came = queue_step(q, timeout_ms, &trouble);
	if (came < 0 || (!queue_device(q) && !queue_status(q).starting))
		return awaited_fail(s, came < 0 ? trouble.text : queue_status(q).trouble, err);
	if (!queue_device(q))
		return 0;
	awaited_take(s);
	return 1;
}

const char *session_awaited(const struct session *s)
{
	return s->awaited ? s->awaited->key : NULL;
}

int session_awaited_fd(const struct session *s)
{
	return s->awaited ? queue_fd(s->awaited->queue) : -1;
}

const char *session_awaited_waits(const struct session *s)
{
	return s->awaited ? queue_status(s->awaited->queue).waiting : "";
}

void session_choose_leave(struct session *s)
{
	seat_free(s->awaited);
	s->awaited = NULL;
}
