#include "config.h"

#include "session/session_private.h"

#include <stdlib.h>
#include <string.h>

void session_device_adopt(struct session *s, const struct device *d)
{
	s->device = device_copy(&s->device_arena, d);
	s->device_changes++;
	if (!*s->device.name)
		s->device.name = "?";
	s->stale = true;
	session_follow_device(s);
}

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

int session_recorded_more(struct session *s, struct error *err)
{
	if (!s->recorded || !s->current)
		return 0;
	struct arena a = { 0 };
	int count, peaks;
	const char **texts = analyze_problems_in(&a, s->current->plan, session_fusion(s), true,
		PROBLEMS_NXC | PROBLEMS_PADDED, &count);
	const char **more = peaks_problems_of_all(&a, &peaks),
		**all = ARENA_ARRAY(&a, const char *, count + peaks);
	memcpy(all, texts, (size_t)count * sizeof(*all));
	memcpy(all + count, more, (size_t)peaks * sizeof(*all));
	count += peaks;
	int bad = recorded_load(s->recorded, all, count, s->results, err);
	texts = bad ? NULL : session_besides(s, &a, &count); /* they depend on the results of the others */
	if (texts && count)
		bad = recorded_load(s->recorded, texts, count, s->results, err);
	arena_free(&a);
	return bad;
}

int session_use_file(struct session *s, const struct recorded *one, struct error *err)
{
	session_device_adopt(s, &one->device);
	s->recorded = recorded_open(one);
	return session_recorded_more(s, err) ? SESSION_UNREADABLE : 0;
}

#define RECORDED_SEVERAL (-3) /* several recorded devices match */

/* Uses a file of the data directory; 1: none matches. */
static int connect_file(struct session *s, const char *trouble, struct error *err)
{
	struct recorded *list;
	struct str which = { 0 };
	if (!s->config->device) /* used only if selected with -d */
		return 1;
	int count = recorded_list(&s->device_arena, &list);
	int found = recorded_choose(s->config, list, count, least_match(s->config), &which);
	if (found == -2)
		error_set(err, "%s; several recorded devices match, choose one with -d PART-OF-ITS-STACK: %s",
			trouble,
			which.p);
	str_free(&which);
	if (found < 0)
		return found == -2 ? RECORDED_SEVERAL : 1;
	return session_use_file(s, &list[found], err);
}

/* Uses the results of a device without a runner, from the database or from the files of the program. */
static int connect_records(struct session *s, const char *trouble, struct error *err)
{
	struct device *devices = NULL;
	int64_t *ids = NULL;
	int count = 0;
	struct str which = { 0 };
	if (s->store && store_devices(s->store, &s->device_arena, &devices, &ids, &count, err))
		return SESSION_UNREADABLE;
	int found = device_choose(s->config, devices, ids, count, &which);
	int other = found == -1 ? connect_file(s, trouble, err) : 1;
	if (found == -2)
		error_set(err, "%s; several devices in the database match, choose one with -d NUMBER: %s",
			trouble, which.p);
	else if (found < 0 && other == 1)
		error_set(err, "%s; the database has no results of %.60s", trouble,
			s->config->device ? s->config->device : "any device");
	str_free(&which);
	if (found < 0)
		return found == -2 ? RECORDED_SEVERAL : other == 1 ? -1 : other;
	session_device_adopt(s, &devices[found]);
	return store_load(s->store, ids[found], s->results, err) ? SESSION_UNREADABLE : 0;
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
	if (!s->store || !s->device.name || results_problem_count(s->results) ||
		store_devices(s->store, a, &devices, &ids, &count, NULL))
		return NULL;
	for (int i = 0; i < count; i++)
		if (strcmp(devices[i].model, s->device.model) == 0)
			str_addf(&line, "%s-d %lld (%s)",
				line.n ? ", " : "no results of this device; other stacks have some: ",
				(long long)ids[i], devices[i].stack);
	const char *kept = line.n ? arena_strndup(a, line.p, line.n) : NULL;
	str_free(&line);
	return kept;
}

/* The CUDA runner plans for a described device; it needs no GPU for this. */
static struct planner *planner_make(struct session *s)
{
	const struct config_runner *runner = NULL;
	for (int i = 0; i < s->config->runner_count && !runner; i++)
		if (strcmp(s->config->runners[i].name, "cuda") == 0)
			runner = &s->config->runners[i];
	int n = runner ? runner->argc : 1;
	const char **argv = ARENA_ARRAY(&s->device_arena, const char *, n + 3);
	argv[0] = "benanza-runner-cuda";
	for (int i = 0; runner && i < n; i++)
		argv[i] = runner->argv[i];
	argv[n] = "--plan";
	argv[n + 1] = s->described->path;
	argv[n + 2] = NULL;
	return planner_new(argv);
}

void session_use_described(struct session *s, const struct described *d)
{
	s->described = d;
	s->planner = planner_make(s);
	struct device device = { .name = d->id,
		.model = d->name,
		.stack = "described, nothing measured",
		.runner = "",
		.version = "",
		.host = "",
		.attributes = "{}",
		.llc_bytes = d->l2_bytes,
		.has_matrix = peaks_have_matrix(&d->peaks) };
	session_device_adopt(s, &device);
}

/* 0: the requested device is described. 1: it is not. -1: its description cannot be read. */
static int connect_described(struct session *s, struct error *err)
{
	struct described *d = ARENA_ARRAY(&s->device_arena, struct described, 1);
	int found = s->config->device ? described_find(&s->device_arena, s->config->device, d, err) : 0;
	if (found <= 0)
		return found < 0 ? -1 : 1;
	session_use_described(s, d);
	return 0;
}

/* The runner or described device whose name is like the one that was asked for, or NULL. */
static const char *device_nearest(struct session *s)
{
	struct error ignored = ERROR_NONE;
	struct described *list;
	struct word_nearest near = { .word = s->config->device };
	int count;
	for (int i = 0; i < s->config->runner_count; i++)
		word_try(&near, s->config->runners[i].name);
	if (!described_list(&s->device_arena, &list, &count, &ignored))
		for (int i = 0; i < count; i++)
			word_try(&near, list[i].id);
	return near.best;
}

/* No runner has this name: tries recorded devices, then described ones. */
static int connect_without_runner(struct session *s, struct error *err)
{
	struct error trouble = ERROR_NONE;
	const char *unknown = queue_unknown_runner(s->config, &s->device_arena);
	const char *place = config_place(s->given, "device", &s->device_arena);
	if (s->config->device)
		error_set(&trouble, "%s %.60s: no runner has this name%s%s", place ? place : "-d",
			s->config->device, unknown ? ": " : "", unknown ? unknown : "");
	else
		error_set(&trouble, "there is no runner");
	struct error none = ERROR_NONE;
	int recorded = connect_records(s, trouble.text, &none);
	int described = recorded == -1 ? connect_described(s, err) : 0;
	const char *near = described > 0 && s->config->device ? device_nearest(s) : NULL;
	if (near)
		error_set(err, "%s, and it is not a described device; did you mean %s?", none.text, near);
	else if (recorded != -1 ? recorded : described > 0)
		error_set(err, "%s%s", none.text, described > 0 && s->config->device ?
			", and it is not a described device; see benanza devices" : "");
	return recorded == RECORDED_SEVERAL ? -1 : recorded != -1 ? recorded : described < 0 ?
		SESSION_UNREADABLE : -described;
}

int session_connect(struct session *s, int timeout_ms, struct error *err)
{
	struct error trouble = ERROR_NONE;
	if (!queue_has_runner(s->config))
		return connect_without_runner(s, err);
	s->queue = queue_new(s->config, s->store, s->results);
	if (timeout_ms == 0)
		return 0;
	queue_set_stop(s->queue, s->options.stop);
	queue_set_report(s->queue, s->options.say);
	if (queue_connect(s->queue, timeout_ms, &trouble) == 0) {
		session_device_adopt(s, queue_device(s->queue));
		return 0;
	}
	bool unreadable = queue_device(s->queue) != NULL, stopped = s->options.stop && *s->options.stop;
	queue_free(s->queue);
	s->queue = NULL;
	if (unreadable || stopped) {
		error_set(err, "%s", trouble.text);
		return unreadable ? SESSION_UNREADABLE : -1;
	}
	snprintf(s->trouble, sizeof(s->trouble), "%s", trouble.text);
	return connect_recorded(s, trouble.text, err);
}

int session_give_up_runner(struct session *s, struct error *err)
{
	struct error trouble = ERROR_NONE;
	struct queue_status status = queue_status(s->queue);
	error_set(&trouble, "%s", status.trouble && status.trouble[0] ? status.trouble :
		"the runner does not answer");
	queue_free(s->queue);
	s->queue = NULL;
	snprintf(s->trouble, sizeof(s->trouble), "%s", trouble.text);
	return connect_recorded(s, trouble.text, err);
}
