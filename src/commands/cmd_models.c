/* benanza models: what models share. */
#include "config.h"

#include "commands/each.h"
#include "commands/report.h"
#include "table/tables/models.h"

#include <string.h>

/* A layer's own cost, whatever -w says of groups and totals. */
static struct scenario scenario_alone(struct scenario s)
{
	s.parallel = PARALLEL_OFF;
	s.fusion = FUSION_OFF;
	s.layouts = LAYOUTS_FREE;
	return s;
}

/* Selects the plan of argv[index]. */
static int model_select(struct session *s, const struct options *o, int index, int64_t batch,
	enum dtype dtype, struct error *err)
{
	if ((o->argc > 1 && session_turn_to(s, o->argv[index], err)) ||
		options_select(s, batch, dtype, err) || session_check_bound(s, err))
		return -1;
	return 0;
}

static void models_text(const struct session *s, const struct report_models *r)
{
	const struct device *d = session_device(s);
	struct table models = { 0 }, pairs = { 0 };
	int most = report_most(stdout);
	if (r->batch)
		printf("batch %lld ", (long long)r->batch);
	printf("%s\n", r->type);
	report_device_line(stdout, 0, d->model, d->stack);
	putchar('\n');
	models_table(&models, r, true);
	table_print_text(&models, most, stdout);
	pairs_table(&pairs, r, true);
	if (r->sharing->model_count > 1) {
		putchar('\n');
		table_print_text(&pairs, most, stdout);
	}
	for (int by_time = 0; by_time < 2; by_time++) {
		struct table cover = { 0 };
		cover_table(&cover, r, by_time);
		if (cover.row_count && r->sharing->model_count > 1) {
			putchar('\n');
			table_print_text(&cover, most, stdout);
		}
		table_free(&cover);
	}
	table_free(&pairs);
	table_free(&models);
}

static json_t *cover_json(const struct report_models *r, bool by_time)
{
	struct table t = { 0 };
	cover_table(&t, r, by_time);
	json_t *o = json_pack("{s:s, s:f, s:s, s:o}", "of", by_time ? "time" : "layers", "share", COVER_SHARE,
		"method", "greedy", "models", table_rows_json(&t));
	table_free(&t);
	return o;
}

static json_t *models_json(const struct session *s, const struct report_models *r)
{
	struct table models = { 0 }, pairs = { 0 };
	char words[SCENARIO_TEXT_SIZE];
	int layers = models_table(&models, r, false);
	pairs_table(&pairs, r, false);
	json_t *o = json_pack("{s:s?, s:{s:o, s:s, s:o}, s:i, s:i, s:o, s:o, s:[o, o]}", "device",
		session_device(s)->name, "scenario", "batch", r->batch ? json_integer(r->batch) : json_null(),
		"dtype", r->type, "what_if",
		report_json_names(scenario_text(session_scenario(s), words, sizeof(words))), "layers", layers,
		"distinct", r->sharing->problem_count, "models", table_rows_json(&models), "shared",
		table_rows_json(&pairs), "cover", cover_json(r, false), cover_json(r, true));
	table_free(&pairs);
	table_free(&models);
	return o;
}

/* Compares all models in one batch and data type. */
static int models_compare(
	struct session *s, const struct options *o, int64_t batch, enum dtype dtype, struct error *err)
{
	struct sharing sharing = { 0 };
	const char *type = NULL;
	int bad = 0, gaps = 0;
	struct arena a = { 0 };
	const char **dims = ARENA_ARRAY(&a, const char *, o->argc);
	json_t *all = json_array(), **bound = ARENA_ARRAY(&a, json_t *, o->argc);
	for (int i = 0; i < o->argc && !bad; i++) {
		bad = model_select(s, o, i, batch, dtype, err);
		if (bad)
			break;
		session_refresh(s);
		report_batch_note(s, o, batch);
		struct str line = { 0 };
		session_dims_besides(s, NULL, 0, &line);
		dims[i] = arena_strndup(&a, line.n ? line.p : "", line.n);
		str_free(&line);
		json_array_append_new(all, bound[i] = report_dims_json(session_plan(s)));
		const char *own = plan_type_name(session_plan(s));
		type = !type || !strcmp(type, own) ? own : "mixed";
		struct ground ground = session_ground(s);
		sharing_add(&sharing, &ground, session_analysis(s));
		gaps += sharing.models[i].unknown;
	}
	const struct report_models r = { .sharing = &sharing, .paths = o->argv, .batch = batch,
		.dims = dims, .bound = bound, .type = type };
	if (!bad && o->json)
		report_json_line(models_json(s, &r), stdout);
	else if (!bad)
		models_text(s, &r);
	sharing_free(&sharing);
	json_decref(all);
	arena_free(&a);
	return bad ? EXIT_BAD : gaps ? EXIT_GAPS : EXIT_DONE;
}

static int cmd_models(struct options *o, struct error *err)
{
	struct session *s = options_session(o, 0, SESSION_DB_READ, err);
	if (!s)
		return EXIT_BAD;
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	struct scenario alone = scenario_alone(*session_scenario(s));
	session_use(s, &alone);
	int status = options_select(s, batches[0], dtypes[0], err) || session_check_bound(s, err)
		? EXIT_BAD
		: options_connected(session_connect(s, QUEUE_HELLO_LIMIT, err));
	if (status == EXIT_DONE)
		each_notes(s, o);
	for (int i = 0; i < batch_count * dtype_count && status <= EXIT_GAPS; i++) {
		int one = models_compare(s, o, batches[i / dtype_count], dtypes[i % dtype_count], err);
		status = one > status ? one : status;
	}
	session_close(s);
	return status;
}

const struct command command_models = {
	.name = "models",
	.arguments = "MODEL...",
	.least = 1,
	.most = COMMAND_ARGUMENTS_MAX,
	.text = "layers and time shared within and between models",
	.about = "Prints the number of repeated layers of each model, the similarity of the models (Jaccard "
	"similarity of their distinct layers, plain and weighted by time), and the few models that cover "
	"most of the distinct layers, and most of the time. Times without a measurement are estimates. "
	"Measures nothing.",
	.examples = { "benanza models *.onnx", "benanza models -d h100 -b 8 --json *.onnx" },
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_json },
	.run = cmd_models,
};
