/* Named scenarios: their names, and the file of those that the explorer saves. That file is the program's
 * own, so that it never rewrites one that the user has written. */
#include "config.h"

#include "config/config_private.h"

#include "base/folder.h"
#include "base/output.h"
#include "base/word.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yaml/yaml_write.h"

#define LOCK_STEP_MS 10
#define LOCK_WAIT_MS 2000

const struct config_scenario *config_scenario(const struct config *c, struct text name)
{
	for (int i = 0; i < c->scenario_count; i++)
		if (text_is(name, c->scenarios[i].name))
			return &c->scenarios[i];
	return NULL;
}

const char *config_scenario_nearest(const struct config *c, struct text name)
{
	const char *nearest = NULL;
	int best = 99;
	for (int i = 0; i < c->scenario_count; i++) {
		int distance = word_distance(name, text_of(c->scenarios[i].name), false);
		if (distance < best) {
			best = distance;
			nearest = c->scenarios[i].name;
		}
	}
	return nearest && best <= 1 + (int)strlen(nearest) / 3 ? nearest : NULL;
}

static int name_fits(const char *name, struct error *err)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
	size_t n = strlen(name);
	if (n > 0 && n <= CONFIG_SCENARIO_NAME_MAX && strspn(name, letters) == n)
		return 0;
	return error_set(err, "'%.40s': the name of a scenario has 1 to %d letters, digits, '_', '-' and '.'",
		name, CONFIG_SCENARIO_NAME_MAX);
}

static const char *copy(struct arena *a, const char *text)
{
	return text ? arena_strndup(a, text, strlen(text)) : NULL;
}

int option_add_scenario(struct config *c, const struct config_scenario *one, bool replace, struct error *err)
{
	struct arena *a = &c->arena;
	if (name_fits(one->name, err))
		return -1;
	struct config_scenario *to = (struct config_scenario *)config_scenario(c, text_of(one->name));
	if (to && !replace)
		return error_set(err, "%s is given twice", one->name);
	if (!to && c->scenario_count == CONFIG_SCENARIOS_MAX)
		return error_set(err, "more than %d scenarios", CONFIG_SCENARIOS_MAX);
	if (!c->scenarios)
		c->scenarios = ARENA_ARRAY(a, struct config_scenario, CONFIG_SCENARIOS_MAX);
	struct config_scenario new = *one;
	new.name = copy(a, one->name);
	new.what_if = copy(a, one->what_if);
	new.device = copy(a, one->device);
	new.dims = ARENA_ARRAY(a, struct dim_binding, one->dim_count + 1);
	for (int i = 0; i < one->dim_count; i++) {
		struct text name = one->dims[i].name;
		new.dims[i] = (struct dim_binding){ .name = { arena_strndup(a, name.p, name.n), name.n },
			.value = one->dims[i].value };
	}
	if (!to)
		to = &c->scenarios[c->scenario_count++];
	*to = new;
	return 0;
}

/* ---- the file of saved scenarios ---- */

const char *config_saved_path(struct arena *a)
{
	return config_xdg(a, "XDG_DATA_HOME", ".local/share", "scenarios.yaml");
}

int config_read_saved(struct config *c, struct error *err)
{
	struct config all = { 0 };
	struct stat st;
	const char *path = config_saved_path(&c->arena);
	int bad = 0;
	if (!path || stat(path, &st))
		return 0;
	bad = config_read_yaml(&all, path, "scenarios", err);
	for (int i = 0; i < all.scenario_count && !bad; i++) {
		all.scenarios[i].saved = true;
		if (!config_scenario(c, text_of(all.scenarios[i].name)))
			bad = option_add_scenario(c, &all.scenarios[i], false, err);
	}
	config_free(&all);
	return bad;
}

static void write_key(struct yaml_writer *w, const char *key)
{
	yaml_write_text(w, text_of(key));
}

static void write_one(struct yaml_writer *w, const struct config_scenario *s)
{
	write_key(w, s->name);
	yaml_write_map(w);
	if (s->what_if) {
		write_key(w, "what_if");
		yaml_write_text(w, text_of(s->what_if));
	}
	if (s->batch) {
		write_key(w, "batch");
		yaml_write_int(w, s->batch);
	}
	if (s->has_dtype) {
		write_key(w, "dtype");
		yaml_write_text(w, text_of(dtype_name(s->dtype)));
	}
	if (s->device) {
		write_key(w, "device");
		yaml_write_text(w, text_of(s->device));
	}
	if (s->dim_count) {
		write_key(w, "dims");
		yaml_write_map(w);
		for (int i = 0; i < s->dim_count; i++) {
			yaml_write_text(w, s->dims[i].name);
			yaml_write_int(w, s->dims[i].value);
		}
		yaml_write_end(w);
	}
	yaml_write_end(w);
}

/* The scenarios without the one of that name, and with `one` (may be NULL). */
static int saved_text(const struct config *all, const char *without, const struct config_scenario *one,
	struct str *out, struct error *err)
{
	struct yaml_writer *w = yaml_writer_new(out);
	yaml_write_map(w);
	write_key(w, "scenarios");
	yaml_write_map(w);
	for (int i = 0; i < all->scenario_count; i++)
		if (strcmp(all->scenarios[i].name, without) != 0)
			write_one(w, &all->scenarios[i]);
	if (one)
		write_one(w, one);
	yaml_write_end(w);
	yaml_write_end(w);
	return yaml_writer_finish(w, err);
}

/* Locks the file's folder, so that of two programs the second one reads what the first one wrote. Returns a
 * descriptor that holds the lock until it is closed, or -1. A file system without locks: not locked. */
static int saved_lock(struct arena *a, const char *path, struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *folder = slash ? arena_strndup(a, path, (size_t)(slash - path)) : ".";
	folder_make(path);
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), waited = 0;
	if (fd < 0)
		return error_set(err, "%s: %s", folder, strerror(errno));
	for (; flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK; waited += LOCK_STEP_MS) {
		if (waited >= LOCK_WAIT_MS) {
			close(fd);
			return error_set(err, "%s: another program is writing it; try again", path);
		}
		poll(NULL, 0, LOCK_STEP_MS);
	}
	return fd;
}

/* What a change does with the saved scenarios. */
struct change {
	const char *name;                  /* removed, if it is there */
	const struct config_scenario *one; /* added; NULL: none */
	const char *absent;                /* must not be there: another program may have added it */
	bool present;                      /* `name` must be there */
};

static int change_check(const struct config *all, const struct change *x, struct error *err)
{
	if (x->absent && config_scenario(all, text_of(x->absent)))
		return error_set(err, "another explorer has saved a scenario %s meanwhile; choose another "
			"name", x->absent);
	if (x->present && !config_scenario(all, text_of(x->name)))
		return error_set(err, "another explorer has deleted the scenario %s meanwhile", x->name);
	bool more = x->one && !config_scenario(all, text_of(x->name));
	if (more && all->scenario_count >= CONFIG_SCENARIOS_MAX)
		return error_set(err, "more than %d scenarios", CONFIG_SCENARIOS_MAX);
	return 0;
}

/* Changes one entry of the file as it is now. */
static int saved_change(const struct change *x, struct error *err)
{
	const struct output_rules rules = { .files_only = true };
	struct arena a = { 0 };
	struct config all = { 0 };
	struct str text = { 0 };
	struct stat st;
	const char *path = config_saved_path(&a);
	int lock = path ? saved_lock(&a, path, err) :
		error_set(err, "scenarios cannot be saved: HOME is not set");
	int bad = lock < 0 || (stat(path, &st) == 0 && config_read_yaml(&all, path, "scenarios", err)) ||
		change_check(&all, x, err) || saved_text(&all, x->name, x->one, &text, err);
	if (!bad && output_put(path, &rules, text.p, text.n, err))
		bad = error_context(err, "%s", path);
	if (lock >= 0)
		close(lock);
	str_free(&text);
	config_free(&all);
	arena_free(&a);
	return bad ? -1 : 0;
}

int config_save_scenario(struct config *c, const struct config_scenario *one, struct error *err)
{
	const struct config_scenario *before = config_scenario(c, text_of(one->name));
	const struct change x = { .name = one->name, .one = one, .absent = before ? NULL : one->name };
	if (name_fits(one->name, err))
		return -1;
	if (before && !before->saved)
		return error_set(err, "%s is a scenario of %s; choose another name", one->name,
			c->path ? c->path : "the configuration");
	if (!before && c->scenario_count == CONFIG_SCENARIOS_MAX)
		return error_set(err, "more than %d scenarios", CONFIG_SCENARIOS_MAX);
	if (saved_change(&x, err))
		return -1;
	struct config_scenario copy_of = *one;
	copy_of.saved = true;
	return option_add_scenario(c, &copy_of, true, err);
}

/* The saved scenario of that name. NULL with err: there is no such scenario, or it is of the user's file. */
static struct config_scenario *saved_find(struct config *c, const char *name, struct error *err)
{
	struct config_scenario *one = (struct config_scenario *)config_scenario(c, text_of(name));
	const char *near = one ? NULL : config_scenario_nearest(c, text_of(name));
	if (one && one->saved)
		return one;
	if (one)
		error_set(err, "%s is a scenario of %s: change it there", name,
			c->path ? c->path : "the configuration");
	else
		error_set(err, "no saved scenario is named '%.40s'%s%s%s", name,
			near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	return NULL;
}

int config_delete_scenario(struct config *c, const char *name, struct error *err)
{
	struct config_scenario *one = saved_find(c, name, err);
	if (!one || saved_change(&(struct change){ .name = name }, err))
		return -1;
	size_t behind = (size_t)(&c->scenarios[c->scenario_count] - one) - 1;
	memmove(one, one + 1, behind * sizeof(*one));
	c->scenario_count--;
	return 0;
}

int config_rename_scenario(struct config *c, const char *name, const char *to, struct error *err)
{
	struct config_scenario *one = saved_find(c, name, err);
	if (!one || name_fits(to, err))
		return -1;
	if (strcmp(name, to) == 0)
		return 0;
	if (config_scenario(c, text_of(to)))
		return error_set(err, "a scenario %s already exists", to);
	struct config_scenario new = *one;
	new.name = copy(&c->arena, to);
	if (saved_change(&(struct change){ .name = name, .one = &new, .absent = to, .present = true }, err))
		return -1;
	*one = new;
	return 0;
}
