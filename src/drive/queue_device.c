/* The runners that -d selects, and their counts. */
#include "config.h"

#include "drive/queue_private.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"

const char *queue_device_part(const struct config_runner *r, const char *device)
{
	size_t n = strlen(r->name);
	if (!device)
		return NULL;
	if (strncmp(device, r->name, n) == 0 && (!device[n] || device[n] == ':'))
		return device + n + (device[n] == ':');
	return strcmp(r->name, "cuda") == 0 && strncasecmp(device, "GPU-", 4) == 0 ? device : NULL;
}

/* Returns the next name of a list "a,b:1", in the arena, and advances *at; NULL at the end. */
static const char *next_name(struct arena *a, const char **at)
{
	*at += strspn(*at, " ");
	if (!**at)
		return NULL;
	size_t n = strcspn(*at, ",");
	const char *name = arena_strndup(a, *at, n);
	*at += n + ((*at)[n] == ',');
	return name;
}

static const struct config_runner *runner_of(const struct config *c, const char *name)
{
	for (int i = 0; i < c->runner_count; i++)
		if (queue_device_part(&c->runners[i], name))
			return &c->runners[i];
	return NULL;
}

bool queue_has_runner(const struct config *c)
{
	struct arena a = { 0 };
	const char *at = c->device, *name;
	bool all = at ? *at : c->runner_count > 0;
	while (at && all && (name = next_name(&a, &at)))
		all = runner_of(c, name) != NULL;
	arena_free(&a);
	return all;
}

const char *queue_unknown_runner(const struct config *c, struct arena *a)
{
	const char *at = c->device, *name, *unknown = NULL;
	bool others = false;
	while (at && (name = next_name(a, &at)))
		if (runner_of(c, name))
			others = true;
		else if (!unknown)
			unknown = name;
	return others ? unknown : NULL;
}

bool queue_uses_runner(const struct config *c, const struct config_runner *r)
{
	struct arena a = { 0 };
	const char *at = c->device, *name;
	bool found = false;
	while (at && !found && queue_has_runner(c) && (name = next_name(&a, &at)))
		found = runner_of(c, name) == r;
	arena_free(&a);
	return found;
}

static void add_workers(struct queue *q, const struct config_runner *r, const char *asked)
{
	const char *part = queue_device_part(r, asked);
	int n = r->count > 1 ? r->count : 1;
	for (int i = 0; i < n && q->worker_count < QUEUE_WORKERS_MAX; i++) {
		struct worker *w = &q->workers[q->worker_count++];
		*w = (struct worker){ .runner = r, .asked = asked, .part = part ? part : "", .job = -1 };
		w->label = n == 1 ? asked : arena_printf(&q->arena, "%s #%d", asked, i + 1);
	}
}

void queue_make_workers(struct queue *q)
{
	const char *at = q->config->device, *name;
	assert(queue_has_runner(q->config));
	q->workers = ARENA_ARRAY(&q->arena, struct worker, QUEUE_WORKERS_MAX);
	if (!at)
		add_workers(q, &q->config->runners[0], q->config->runners[0].name);
	while (at && (name = next_name(&q->arena, &at)))
		add_workers(q, runner_of(q->config, name), name);
}

/* "cuda:1" passes --device 1 to the runner; the runner "cpu" has only one device. */
const char *const *worker_argv(const struct worker *w, struct arena *a)
{
	const struct config_runner *r = w->runner;
	if (!*w->part || strcmp(r->name, "cpu") == 0)
		return r->argv;
	const char **argv = ARENA_ARRAY(a, const char *, r->argc + 3);
	for (int i = 0; i < r->argc; i++)
		argv[i] = r->argv[i];
	argv[r->argc] = "--device";
	argv[r->argc + 1] = w->part;
	return argv;
}

const char *const *queue_runner_argv(const struct config *c, struct arena *a)
{
	const char *at = c->device, *name = at ? next_name(a, &at) : c->runners[0].name;
	struct worker w = { .runner = runner_of(c, name) };
	const char *part = queue_device_part(w.runner, name);
	w.part = part ? part : "";
	return worker_argv(&w, a);
}

/* True if `part` is a prefix of the device's UUID, with or without "GPU-", of at least 4 characters, the
 * runner's minimum. */
static bool is_uuid_of(const struct device *d, const char *part)
{
	json_t *o = d->attributes ? json_loads(d->attributes, 0, NULL) : NULL;
	const char *uuid = json_string_at(o, "uuid", "");
	size_t n = strlen(part);
	bool is = n >= 4 && (strncasecmp(uuid, part, n) == 0 ||
		(strncasecmp(uuid, "GPU-", 4) == 0 && strncasecmp(uuid + 4, part, n) == 0));
	json_decref(o);
	return is;
}

/* True if two hellos of one host identify the same hardware: equal UUIDs, or a common entry in their
 * lists of cores. All pairs of cores are compared, once per hello. False without a host or
 * identification: unknown hardware counts as different. */
bool device_is_same_hardware(const struct device *a, const struct device *b)
{
	if (!*a->host || strcmp(a->host, b->host) != 0)
		return false;
	json_t *one = json_loads(a->attributes ? a->attributes : "", 0, NULL);
	json_t *two = json_loads(b->attributes ? b->attributes : "", 0, NULL);
	const char *uuid = json_string_at(one, "uuid", ""), *other = json_string_at(two, "uuid", "");
	const json_t *cores = json_object_get(one, "cores"), *theirs = json_object_get(two, "cores");
	bool same = *uuid || *other ? strcmp(uuid, other) == 0 : false;
	for (size_t i = 0; i < json_array_size(cores) && !same; i++)
		for (size_t k = 0; k < json_array_size(theirs) && !same; k++)
			same = json_equal(json_array_get(cores, i), json_array_get(theirs, k));
	json_decref(one);
	json_decref(two);
	return same;
}

/* "cpu:7" selects one device of the runner cpu, so the hello must be of that one. */
bool worker_is_asked(const struct worker *w, const struct device *d)
{
	const char *number = strchr(d->name, ':');
	return !*w->part || strcmp(d->name, w->asked) == 0 || (number && strcmp(number + 1, w->part) == 0) ||
		is_uuid_of(d, w->part);
}
