/* Change of device: the present one stays until the next one can be used. */
#include "config.h"

#include "session/session_private.h"

#include <string.h>

/* Cancels the runner's measurement without waiting for its end. */
static void seat_retire(struct session *s, struct seat *seat)
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
	for (struct seat **at = &s->leaving; *at;) {
		struct seat *seat = *at;
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

/* Makes it the present device. */
static void seat_take(struct session *s, struct seat *seat)
{
	struct seat *old = s->seat;
	session_analysis_drop(s);
	s->seat = seat;
	s->seen_planner = 0;
	s->device_changes++;
	s->stale = true;
	session_follow_device(s);
	seat_retire(s, old);
}

/* Switches to a device without a runner: succeeds or fails at once. */
static int choose_now(struct session *s, const struct session_device *d, struct error *err)
{
	struct seat *seat = seat_for(s->given, d);
	if (seat_open(seat, s->store, d, err) ||
		session_recorded_more(seat, s->current, &s->scenario, err)) {
		seat_free(seat);
		return -1;
	}
	seat_take(s, seat);
	return 0;
}

static void awaited_take(struct session *s)
{
	struct seat *next = s->awaited;
	s->awaited = NULL;
	seat_adopt(next, queue_device(next->queue));
	seat_take(s, next);
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
	struct seat *seat = seat_for(s->given, d);
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
