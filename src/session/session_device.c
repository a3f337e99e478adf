/* Connecting to the device of the configuration: its runner, else its records, else its description. */
#include "config.h"

#include "session/session_private.h"

#include <stdlib.h>
#include <string.h>

/* The least match that counts. A runner that does not answer stands for its own device only: "-d cpu" is not
 * the results of another machine that has "cpu" somewhere in its model. */
static enum recorded_match least_match(const struct config *c)
{
	return c->device && queue_has_runner(c) ? RECORDED_WHOLE : RECORDED_PART;
}

/* Index of the recorded device that matches best; -1: none, -2: several (listed in `which`). */
static int device_choose(const struct config *c, const struct device *devices, const int64_t *ids, int count,
	struct str *which)
{
	for (int wanted = RECORDED_WHOLE; wanted >= (int)least_match(c); wanted--) {
		int found = -1, matching = 0;
		str_free(which);
		*which = (struct str){ 0 };
		for (int i = 0; i < count; i++) {
			if ((int)recorded_matches(c, &devices[i], ids[i]) != wanted)
				continue;
			str_addf(which, "%s%lld (%s, %s)", matching++ ? ", " : "", (long long)ids[i],
				devices[i].model, devices[i].stack);
			found = i;
		}
		if (matching)
			return matching == 1 ? found : -2;
	}
	return -1;
}

#define RECORDED_SEVERAL (-3) /* several recorded devices match */

/* Uses a file of the data directory; 1: none matches. */
static int connect_file(struct session *s, const char *trouble, struct error *err)
{
	struct recorded *list;
	struct str which = { 0 };
	if (!s->seat->config->device) /* used only if selected with -d */
		return 1;
	int count = recorded_list(&s->seat->arena, &list);
	int found = recorded_choose(s->seat->config, list, count, least_match(s->seat->config), &which);
	if (found == -2)
		error_set(err, "%s; several recorded devices match, choose one with -d PART-OF-ITS-STACK: %s",
			trouble,
			which.p);
	str_free(&which);
	if (found < 0)
		return found == -2 ? RECORDED_SEVERAL : 1;
	session_device_adopt(s, &list[found].device);
	s->seat->recorded = recorded_open(&list[found]);
	return session_recorded_more(s->seat, s->current, &s->scenario, err) ? SESSION_UNREADABLE : 0;
}

/* Uses the results of a device without a runner, from the database or from the files of the program. */
static int connect_records(struct session *s, const char *trouble, struct error *err)
{
	struct device *devices = NULL;
	int64_t *ids = NULL;
	int count = 0;
	struct str which = { 0 };
	if (s->store && store_devices(s->store, &s->seat->arena, &devices, &ids, &count, err))
		return SESSION_UNREADABLE;
	int found = device_choose(s->seat->config, devices, ids, count, &which);
	int other = found == -1 ? connect_file(s, trouble, err) : 1;
	if (found == -2)
		error_set(err, "%s; several devices in the database match, choose one with -d NUMBER: %s",
			trouble, which.p);
	else if (found < 0 && other == 1)
		error_set(err, "%s; the database has no results of %.60s", trouble,
			s->seat->config->device ? s->seat->config->device : "any device");
	str_free(&which);
	if (found < 0)
		return found == -2 ? RECORDED_SEVERAL : other == 1 ? -1 : other;
	session_device_adopt(s, &devices[found]);
	return store_load(s->store, ids[found], s->seat->results, err) ? SESSION_UNREADABLE : 0;
}

static int connect_recorded(struct session *s, const char *trouble, struct error *err)
{
	int recorded = connect_records(s, trouble, err);
	return recorded == RECORDED_SEVERAL ? -1 : recorded;
}

const char *session_other_records(struct session *s, struct arena *a)
{
	struct device *devices = NULL;
	int64_t *ids = NULL;
	int count = 0;
	struct str line = { 0 };
	if (!s->store || !s->seat->device.name || results_problem_count(s->seat->results) ||
		store_devices(s->store, a, &devices, &ids, &count, NULL))
		return NULL;
	for (int i = 0; i < count; i++)
		if (strcmp(devices[i].model, s->seat->device.model) == 0)
			str_addf(&line, "%s-d %lld (%s)",
				line.n ? ", " : "no results of this device; other stacks have some: ",
				(long long)ids[i], devices[i].stack);
	const char *kept = line.n ? arena_strndup(a, line.p, line.n) : NULL;
	str_free(&line);
	return kept;
}

/* 0: the requested device is described. 1: it is not. -1: its description cannot be read. */
static int connect_described(struct session *s, struct error *err)
{
	struct seat *seat = s->seat;
	struct described *d = ARENA_NEW(&seat->arena, struct described);
	int found = seat->config->device ? described_find(&seat->arena, seat->config->device, d, err) : 0;
	if (found <= 0)
		return found < 0 ? -1 : 1;
	seat_describe(seat, d);
	session_device_renewed(s);
	return 0;
}

/* The runner or described device whose name is like the one that was asked for, or NULL. */
static const char *device_nearest(struct session *s)
{
	struct error ignored = ERROR_NONE;
	struct described *list;
	struct word_nearest near = { .word = s->seat->config->device };
	int count;
	for (int i = 0; i < s->seat->config->runner_count; i++)
		word_try(&near, s->seat->config->runners[i].name);
	if (!described_list(&s->seat->arena, &list, &count, &ignored))
		for (int i = 0; i < count; i++)
			word_try(&near, list[i].id);
	return near.best;
}

/* No runner has this name: tries recorded devices, then described ones. */
static int connect_without_runner(struct session *s, struct error *err)
{
	struct error trouble = ERROR_NONE;
	const char *unknown = queue_unknown_runner(s->seat->config, &s->seat->arena);
	const char *place = config_place(s->given, "device", &s->seat->arena);
	if (s->seat->config->device)
		error_set(&trouble, "%s %.60s: no runner has this name%s%s", place ? place : "-d",
			s->seat->config->device, unknown ? ": " : "", unknown ? unknown : "");
	else
		error_set(&trouble, "there is no runner");
	struct error none = ERROR_NONE;
	int recorded = connect_records(s, trouble.text, &none);
	int described = recorded == -1 ? connect_described(s, err) : 0;
	const char *near = described > 0 && s->seat->config->device ? device_nearest(s) : NULL;
	if (near)
		error_set(err, "%s, and it is not a described device; did you mean %s?", none.text, near);
	else if (recorded != -1 ? recorded : described > 0)
		error_set(err, "%s%s", none.text, described > 0 && s->seat->config->device ?
			", and it is not a described device; see benanza devices" : "");
	return recorded == RECORDED_SEVERAL ? -1 : recorded != -1 ? recorded : described < 0 ?
		SESSION_UNREADABLE : -described;
}

static int connect_device(struct session *s, int timeout_ms, struct error *err)
{
	struct error trouble = ERROR_NONE;
	if (!queue_has_runner(s->seat->config))
		return connect_without_runner(s, err);
	s->seat->queue = queue_new(s->seat->config, s->store, s->seat->results);
	if (timeout_ms == 0)
		return 0;
	queue_set_stop(s->seat->queue, s->options.stop);
	queue_set_report(s->seat->queue, s->options.say);
	if (queue_connect(s->seat->queue, timeout_ms, &trouble) == 0) {
		session_device_adopt(s, queue_device(s->seat->queue));
		return 0;
	}
	bool unreadable = queue_device(s->seat->queue) != NULL, stopped = s->options.stop && *s->options.stop;
	queue_free(s->seat->queue);
	s->seat->queue = NULL;
	if (unreadable || stopped) {
		error_set(err, "%s", trouble.text);
		return unreadable ? SESSION_UNREADABLE : -1;
	}
	snprintf(s->seat->trouble, sizeof(s->seat->trouble), "%s", trouble.text);
	return connect_recorded(s, trouble.text, err);
}

int session_connect(struct session *s, int timeout_ms, struct error *err)
{
	int bad = connect_device(s, timeout_ms, err);
	session_follow_device(s);
	return bad;
}

int session_give_up_runner(struct session *s, struct error *err)
{
	struct error trouble = ERROR_NONE;
	struct queue_status status = queue_status(s->seat->queue);
	error_set(&trouble, "%s", status.trouble && status.trouble[0] ? status.trouble :
		"the runner does not answer");
	queue_free(s->seat->queue);
	s->seat->queue = NULL;
	snprintf(s->seat->trouble, sizeof(s->seat->trouble), "%s", trouble.text);
	int bad = connect_recorded(s, trouble.text, err);
	session_follow_device(s);
	return bad;
}
