/* Where the configuration comes from: defaults, the file, the programs beside the executable. */
#include "config.h"

#include "config/config_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exe_path.h"
#include "base/folder.h"

/* The runners that come with benanza. The first is always configured, others if their program exists. */
static const struct {
	const char *name, *program;
} own_runners[] = { { "cpu", "benanza-runner-cpu" }, { "cuda", "benanza-runner-cuda" } };
#define OWN_RUNNERS ((int)(sizeof(own_runners) / sizeof(own_runners[0])))

/* The built-in agents, each with an alias. An agent exists if its program does. */
static const struct {
	const char *name, *alias, *program;
} own_agents[] = { { "ort", "onnxruntime", "agent_onnxruntime.py" },
	{ "openvino", "ov", "agent_openvino.py" }, { "trtexec", "tensorrt", "agent_trtexec.py" },
	{ "torch", "pytorch", "agent_pytorch.py" } };
#define OWN_AGENTS ((int)(sizeof(own_agents) / sizeof(own_agents[0])))

static const char *config_env(const char *name)
{
	const char *value = getenv(name);
	return value && value[0] ? value : NULL;
}

const char *config_xdg(struct arena *a, const char *variable, const char *below_home, const char *file)
{
	const char *base = config_env(variable), *home = config_env("HOME");
	if (base && base[0] == '/')
		return arena_printf(a, "%s/benanza/%s", base, file);
	return home ? arena_printf(a, "%s/%s/benanza/%s", home, below_home, file) : NULL;
}

const char *config_default_db(struct arena *a)
{
	const char *path = config_xdg(a, "XDG_DATA_HOME", ".local/share", "benanza.db");
	return path ? path : "benanza.db";
}

const char *config_state_path(struct arena *a, const char *file)
{
	const char *path = config_xdg(a, "XDG_STATE_HOME", ".local/state", file);
	if (path)
		folder_make(path);
	return path;
}

static const char *config_find_file(struct config *c, const char *path)
{
	struct stat st;
	if (path || (path = config_env("BENANZA_CONFIG")))
		return arena_strndup(&c->arena, path, strlen(path));
	path = config_xdg(&c->arena, "XDG_CONFIG_HOME", ".config", "config.yaml");
	return path && stat(path, &st) == 0 ? path : NULL;
}

/* Resolves a path in a file: "~/" is the home directory, a relative path is relative to the file's
 * directory. */
static const char *config_file_path(struct config *c, const char *path)
{
	const char *home = config_env("HOME"), *slash = strrchr(c->path, '/');
	if (path[0] == '~' && path[1] == '/' && home)
		return arena_printf(&c->arena, "%s%s", home, path + 1);
	if (path[0] == '/' || !slash)
		return path;
	return arena_printf(&c->arena, "%.*s/%s", (int)(slash - c->path), c->path, path);
}

/* Path of a bundled runner: next to the benanza executable, else in the installation directory; NULL if
 * neither exists. */
static const char *config_own_program(struct arena *a, int own)
{
	const char *next_to = exe_path(a, own_runners[own].program, X_OK);
	const char *installed = arena_printf(a, "%s/%s", BENANZA_BINDIR, own_runners[own].program);
	return next_to ? next_to : access(installed, X_OK) == 0 ? installed : NULL;
}

static bool config_has_runner(const struct config *c, const char *name)
{
	for (int i = 0; i < c->runner_count; i++)
		if (strcmp(c->runners[i].name, name) == 0)
			return true;
	return false;
}

static void config_add_own_runner(struct config *c, struct config_runner *all, int *count, int own)
{
	const char *program = config_own_program(&c->arena, own);
	if (config_has_runner(c, own_runners[own].name) || (!program && own > 0))
		return;
	struct config_runner *r = &all[(*count)++];
	*r = (struct config_runner){ .name = own_runners[own].name, .count = 1, .argc = 1,
		.argv = ARENA_ARRAY(&c->arena, const char *, 2) };
	r->argv[0] = program ? program : own_runners[own].program; /* searched in PATH */
}

/* Order of the runners: the bundled "cpu" first, then the configured ones, then other bundled ones. So the
 * default is never a remote runner. */
static void config_add_own_runners(struct config *c)
{
	struct config_runner *all = ARENA_ARRAY(&c->arena, struct config_runner,
		CONFIG_LIST_MAX + OWN_RUNNERS);
	int count = 0;
	config_add_own_runner(c, all, &count, 0);
	for (int i = 0; i < c->runner_count; i++)
		all[count++] = c->runners[i];
	for (int i = 1; i < OWN_RUNNERS; i++)
		config_add_own_runner(c, all, &count, i);
	c->runners = all;
	c->runner_count = count;
}

/* Returns the name of an agent for a name or alias. */
static struct text agent_name(struct text name)
{
	for (int i = 0; i < OWN_AGENTS; i++)
		if (text_is(name, own_agents[i].alias))
			return text_of(own_agents[i].name);
	return name;
}

bool config_lists_all(const struct config *c)
{
	return c->algorithms && strcmp(c->algorithms, "all") == 0;
}

const struct config_runner *config_agent(const struct config *c, struct text name)
{
	for (int i = 0; i < c->agent_count; i++)
		if (text_equal(agent_name(text_of(c->agents[i].name)), agent_name(name)))
			return &c->agents[i];
	return NULL;
}

/* Returns the path of a built-in agent's program: in the source tree of the executable, else in the
 * installation; NULL if neither has it. */
static const char *config_agent_program(struct arena *a, const char *program)
{
	static const char *const places[] = { "../src/agents", "../share/benanza/agents",
		EXE_SOURCE "/src/agents" };
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const char *path = exe_path(a, arena_printf(a, "%s/%s", places[i], program), R_OK);
		if (path)
			return path;
	}
	const char *installed = arena_printf(a, "%s/agents/%s", BENANZA_DATADIR, program);
	return access(installed, R_OK) == 0 ? installed : NULL;
}

void config_add_agents(struct config *c)
{
	struct config_runner *all =
		ARENA_ARRAY(&c->arena, struct config_runner, CONFIG_LIST_MAX + OWN_AGENTS);
	int count = c->agent_count;
	for (int i = 0; i < count; i++)
		all[i] = c->agents[i];
	for (int i = 0; i < OWN_AGENTS; i++) {
		const char *program = config_agent_program(&c->arena, own_agents[i].program);
		if (!program || config_agent(c, text_of(own_agents[i].name)))
			continue;
		struct config_runner *r = &all[count++];
		*r = (struct config_runner){ .name = own_agents[i].name, .count = 1, .argc = 2,
			.argv = ARENA_ARRAY(&c->arena, const char *, 3) };
		r->argv[0] = c->python ? c->python : "python3"; /* searched in PATH */
		r->argv[1] = program;
	}
	c->agents = all;
	c->agent_count = count;
}

/* The commands of all agents. */
static void agents_text(const struct config *c, struct str *out)
{
	for (int i = 0; i < c->agent_count; i++) {
		str_addf(out, "\n%s", c->agents[i].name);
		for (int k = 0; k < c->agents[i].argc; k++)
			str_addf(out, "\n %s", c->agents[i].argv[k]);
		for (int k = 0; c->agents[i].env && c->agents[i].env[k]; k++)
			str_addf(out, "\n  %s", c->agents[i].env[k]);
	}
}

static const char **words_copy(struct arena *a, const char *const *words)
{
	int count = 0;
	while (words && words[count])
		count++;
	const char **copy = words ? ARENA_ARRAY(a, const char *, count + 1) : NULL;
	for (int i = 0; i < count; i++)
		copy[i] = arena_printf(a, "%s", words[i]);
	return copy;
}

int config_agents_again(struct config *c, struct error *err)
{
	struct config now;
	struct str was = { 0 }, is = { 0 };
	if (config_load(&now, c->path, err))
		return -1;
	config_add_agents(&now);
	agents_text(c, &was);
	agents_text(&now, &is);
	if (was.n != is.n || (is.n && memcmp(was.p, is.p, is.n) != 0)) {
		struct config_runner *all = ARENA_ARRAY(&c->arena, struct config_runner, now.agent_count);
		for (int i = 0; i < now.agent_count; i++) {
			all[i] = now.agents[i];
			all[i].name = arena_printf(&c->arena, "%s", now.agents[i].name);
			all[i].argv = words_copy(&c->arena, now.agents[i].argv);
			all[i].env = words_copy(&c->arena, now.agents[i].env);
		}
		c->agents = all;
		c->agent_count = now.agent_count;
		c->python = now.python ? arena_printf(&c->arena, "%s", now.python) : NULL;
	}
	str_free(&was);
	str_free(&is);
	config_free(&now);
	return 0;
}

int config_load(struct config *c, const char *path, struct error *err)
{
	*c = (struct config){ .algorithms = "best",
		.functions = "operators",
		.budget_ms = 200,
		.key_wait_ms = 300,
		.quick = true,
		.problem_limit_ms = 30000,
		.color = !config_env("NO_COLOR") };
	c->path = config_find_file(c, path);
	if ((c->path && config_read_yaml(c, c->path, NULL, err)) || config_read_saved(c, err)) {
		config_free(c);
		return -1;
	}
	if (c->db)
		c->db = config_file_path(c, c->db);
	if (c->python && strchr(c->python, '/'))
		c->python = config_file_path(c, c->python);
	const char *db = config_env("BENANZA_DB");
	if (db)
		c->db = arena_strndup(&c->arena, db, strlen(db));
	config_add_own_runners(c);
	return 0;
}

/* Splits "NAME=..." at the first '=' (dims: the last one, because a symbol may contain '='). */
static int config_cut(const char *text, bool last, struct text *name, struct text *value, struct error *err)
{
	const char *equals = last ? strrchr(text, '=') : strchr(text, '=');
	if (!equals || equals == text || !equals[1])
		return error_set(err, "'%.60s' is not NAME=VALUE", text);
	*name = (struct text){ text, (size_t)(equals - text) };
	*value = text_of(equals + 1);
	return 0;
}

static int config_set_runner(struct config *c, const struct option *o, const char *value, struct error *err)
{
	struct text name, command, words[OPTION_WORDS_MAX];
	if (config_cut(value, false, &name, &command, err))
		return -1;
	int count = option_words(command, words, err);
	return count < 0 ? -1 : option_add_runner(c, o, name, words, count, true, err);
}

static int config_set_dim(struct config *c, const char *value, struct error *err)
{
	struct text name, number;
	return config_cut(value, true, &name, &number, err) ? -1 : option_add_dim(c, name, number, true, err);
}

static int config_set_scenario(struct config *c, const char *value, struct error *err)
{
	struct text name, what_if;
	struct arena a = { 0 };
	int rc = config_cut(value, false, &name, &what_if, err);
	if (!rc)
		rc = option_add_scenario(c, &(struct config_scenario){
			.name = arena_strndup(&a, name.p, name.n), .what_if = what_if.p }, true, err);
	arena_free(&a);
	return rc;
}

/* n: length of an item of the list. */
static int item_fits(const char *list, size_t n, struct error *err)
{
	if (n)
		return 0;
	return list[strspn(list, " ")] ? error_set(err, "'%.60s' has an empty item: remove the comma", list) :
		error_set(err, "is empty: give a value, or leave it out");
}

/* Replaces a list by "1,8". On error it is unchanged. */
static int config_set_list(struct config *c, const struct option *o, const char *value, struct error *err)
{
	struct config before = *c;
	option_clear(c, o);
	for (const char *p = value;;) {
		p += strspn(p, " ");
		size_t n = strcspn(p, ","), used = n;
		while (used > 0 && p[used - 1] == ' ')
			used--;
		if (item_fits(value, used, err) || option_add(c, o, (struct text){ p, used }, err)) {
			before.arena = c->arena;
			*c = before;
			return -1;
		}
		if (!p[n])
			return 0;
		p += n + 1;
	}
}

/* "NAME=KEYS" */
static int config_set_key(struct config *c, const struct option *o, const char *value, struct error *err)
{
	const char *equals = strchr(value, '=');
	return equals ? option_add_key(c, o, (struct text){ value, (size_t)(equals - value) },
		text_of(equals + 1), 0, err) : error_set(err, "%s: give NAME=KEYS", value);
}

/* Replaces the whole theme. On error it is unchanged. */
static int config_set_theme(struct config *c, const struct option *o, const char *value, struct error *err)
{
	int count = c->theme_count;
	struct config_word *theme = c->theme;
	c->theme_count = 0;
	if (!option_add_theme(c, o, text_of(value), 0, err))
		return 0;
	c->theme_count = count;
	c->theme = theme;
	return -1;
}

static int take(struct config *c, const struct option *o, const char *value, struct error *err)
{
	return o->type == OPTION_DIMS	     ? config_set_dim(c, value, err)
		 : o->type == OPTION_SCENARIOS ? config_set_scenario(c, value, err)
		 : o->type == OPTION_KEYS    ? config_set_key(c, o, value, err)
		 : o->type == OPTION_THEME   ? config_set_theme(c, o, value, err)
		 : o->type == OPTION_RUNNERS ? config_set_runner(c, o, value, err)
		 : o->type == OPTION_OPERATORS ? error_set(err, "only a configuration file can set it")
		 : option_is_list(o)	     ? config_set_list(c, o, value, err)
					     : option_add(c, o, text_of(value), err);
}

int config_take(struct config *c, const char *key, const char *value, struct error *err)
{
	const struct option *o = option_find(text_of(key));
	if (!o) {
		const char *nearest = option_nearest(text_of(key));
		return error_set(err, "unknown option %s%s%s%s", key, nearest ? "; did you mean " : "",
			nearest ? nearest : "", nearest ? "?" : "");
	}
	if (take(c, o, value, err))
		return -1;
	c->lines[option_row(o)] = 0;
	return 0;
}

void config_take_device(struct config *c, const char *device, int line)
{
	c->device = device;
	c->lines[option_row(option_find(TEXT("device")))] = line;
}

const char *config_place(const struct config *c, const char *key, struct arena *a)
{
	int line = c->lines[option_row(option_find(text_of(key)))];
	return line ? arena_printf(a, "%s:%d: %s", c->path, line, key) : NULL;
}

int config_set(struct config *c, const char *key, const char *value, struct error *err)
{
	return config_take(c, key, value, err) ? error_context(err, "%s", key) : 0;
}

void config_print(const struct config *c, struct str *out)
{
	int count;
	const struct option *table = option_table(&count);
	struct arena a = { 0 };
	str_addf(out, "# benanza.yaml(5): the configuration in effect%s%s\n", c->path ? ", from " : "",
		text_clean(&a, text_of(c->path)));
	arena_free(&a);
	for (int i = 0; i < count; i++) {
		str_addf(out, "\n");
		option_print(c, &table[i], out);
	}
}

void config_free(struct config *c)
{
	arena_free(&c->arena);
	*c = (struct config){ 0 };
}

char *config_beside_path(struct arena *a, const char *model_path, const char *end)
{
	size_t n = strlen(model_path);
	bool onnx = n > 5 && strcmp(model_path + n - 5, ".onnx") == 0;
	return arena_printf(a, "%.*s%s", (int)(onnx ? n - 5 : n), model_path, end);
}

int config_beside(
	const char *model_path, const char *end, struct arena *a, const char **path, struct error *err)
{
	struct stat st;
	*path = config_beside_path(a, model_path, end);
	if (strcmp(model_path, "-") == 0 || stat(*path, &st))
		*path = NULL;
	else if (!folder_holds(model_path, *path))
		return error_set(err, "%s: a link out of the model's folder is not read; put the file "
			"itself there", *path);
	return 0;
}

int config_sidecar(
	const char *model_path, struct arena *a, struct dim_binding **dims, int *count, struct error *err)
{
	struct config c = { 0 };
	const char *path;
	*dims = NULL;
	*count = 0;
	if (config_beside(model_path, ".yaml", a, &path, err))
		return -1;
	if (!path)
		return 0;
	if (config_read_yaml(&c, path, "dims", err)) {
		config_free(&c);
		return -1;
	}
	*dims = ARENA_ARRAY(a, struct dim_binding, c.dim_count);
	*count = c.dim_count;
	for (int i = 0; i < c.dim_count; i++) {
		struct text name = c.dims[i].name;
		(*dims)[i].name = (struct text){ arena_strndup(a, name.p, name.n), name.n };
		(*dims)[i].value = c.dims[i].value;
	}
	config_free(&c);
	return 0;
}

int config_parse_dim(const char *text, struct arena *a, struct dim_binding *out, struct error *err)
{
	struct config c = { 0 };
	int rc = config_set_dim(&c, text, err);
	if (!rc) {
		out->name = (struct text){ arena_strndup(a, c.dims[0].name.p, c.dims[0].name.n),
			c.dims[0].name.n };
		out->value = c.dims[0].value;
	}
	config_free(&c);
	return rc;
}
