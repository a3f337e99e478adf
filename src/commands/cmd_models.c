#include "config.h"

#include "commands/each.h"
#include "commands/report.h"
#include "commands/report_models.h"

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
		report_json_line(report_models_json(s, &r), stdout);
	else if (!bad)
		report_models_text(s, &r, stdout);
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
