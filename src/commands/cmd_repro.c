/* repro: a layer of a model on its own, for other programs. */
#include "config.h"

#include "commands/benchdnn.h"
#include "commands/command.h"
#include "commands/report.h"
#include "plan/value/short_name.h"
#include "session/variant.h"

#include "base/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define WEIGHTS_MAX 268435456.0 /* bytes of random weights that are written to the file */
#define PLAN_WAIT_MS 30000

struct repro_options {
	const char *output; /* -o; NULL: none */
};

static const struct option_row repro_rows[] = {
	{ "output", 'o', "FILE", OWN_TEXT(repro_options, output), "write the layer as an ONNX model" },
	{ 0 }
};

/* What is printed. Texts are clean or JSON. */
struct repro {
	struct arena arena;
	struct session *session;
	const struct plan_layer *layer;
	int number;                       /* as in lists */
	const struct plan_problem *problem; /* NULL: none */
	const char *const *argv;          /* of the runner; NULL: none is configured for the device */
	const char *described;            /* path of the device's description, or NULL */
	struct str benchdnn;
	const char *benchdnn_why;
	const struct algorithm *algorithm; /* measured or planned by cuDNN; NULL: none */
	bool measured;                    /* the algorithm is */
	const char *path;                 /* of the written model, or NULL */
	bool same;                        /* it has the same problem */
	const char *other;                /* its problem if not the same, or NULL */
};

/* The layer of this name, else of this number in lists. */
static const struct plan_layer *layer_find(const struct session *s, const char *word, struct error *err)
{
	const struct plan *p = session_plan(s);
	struct arena a = { 0 };
	int total, found = -1, same = 0;
	int64_t wanted;
	int *numbers = session_numbers(p, &a, &total);
	for (int i = 0; i < p->layer_count; i++)
		if (text_is(p->layers[i].name, word)) {
			found = i;
			same++;
		}
	found = same ? found : plan_named_short(p, numbers, text_of(word));
	for (int i = 0; found < 0 && text_to_int64(text_of(word), &wanted) && i < p->layer_count; i++)
		if (numbers[i] && numbers[i] == wanted)
			found = i;
	if (same > 1)
		error_set(err, "%s: %d layers are named '%.60s': give a number of benanza layers",
			session_model_name(s), same, word);
	else if (found < 0)
		error_set(err, "%s: no layer is named '%.60s'; give a name, or a number from 1 to %d: see "
			"benanza layers",
			session_model_name(s), word, total);
	arena_free(&a);
	return same > 1 || found < 0 ? NULL : &p->layers[found];
}

/* ---- the model of one layer */

/* Writes the layer, and those whose work its kernel does, in the model's own types. */
static int model_bytes(const struct plan *p, int index, struct str *out, struct error *err)
{
	struct arena a = { 0 };
	int *layers = ARENA_ARRAY(&a, int, p->layer_count), count = 0;
	double weights = 0;
	for (int i = 0; i < p->layer_count; i++)
		if (i == index || p->layers[i].absorbed_by == index)
			layers[count++] = i;
	for (int i = 0; i < p->layers[index].input_count; i++) {
		const struct plan_value *v = p->layers[index].inputs[i] >= 0 ?
			&p->values[p->layers[index].inputs[i]] : NULL;
		if (v && v->constant && v->kind == VALUE_TENSOR)
			weights += shape_count(v->shape) * dtype_bits(v->dtype) / 8;
	}
	enum write_weights how = weights <= WEIGHTS_MAX ? WRITE_RANDOM : WRITE_FILLED;
	int bad = plan_write(p, layers, count, how, 1, out, err);
	arena_free(&a);
	return bad;
}

/* Loads a model from memory. */
static struct model *bytes_load(const struct str *bytes, struct error *err)
{
	char path[64];
	int fd = memfd_create("layer.onnx", MFD_CLOEXEC);
	struct model *m = NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (size_t done = 0; fd >= 0 && done < bytes->n;) {
		ssize_t n = write(fd, bytes->p + done, bytes->n - done);
		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	if (fd < 0 || lseek(fd, 0, SEEK_CUR) != (off_t)bytes->n)
		error_set(err, "cannot write: %s", strerror(errno));
	else
		m = model_load(path, err);
	if (fd >= 0)
		close(fd);
	return m;
}

/* Reads the model as it will be written, and compares its problem with that of the layer. */
static int model_compare(struct repro *r, const struct str *bytes, enum dtype dtype, struct error *err)
{
	struct model *m = bytes_load(bytes, err);
	struct plan_options o = { .dtype = dtype, .operators = session_plan(r->session)->operators };
	struct plan *p = m ? plan_build(m, &o, err) : NULL;
	if (p) {
		const char *wanted = r->problem ? r->problem->text : NULL, *found = NULL;
		for (int i = 0; i < p->layer_count && !r->same; i++) {
			const struct plan_problem *one = plan_layer_problem(p, &p->layers[i]);
			r->same = one && wanted && strcmp(one->text, wanted) == 0;
			if (one && text_equal(p->layers[i].node->op, r->layer->node->op))
				found = one->text;
		}
		r->same |= !wanted && !found;
		r->other = r->same || !found ? NULL : arena_strndup(&r->arena, found, strlen(found));
	}
	int bad = p ? 0 : error_context(err, "the layer alone");
	plan_free(p);
	model_free(m);
	return bad;
}

static int model_write_layer(struct repro *r, const struct options *o, enum dtype dtype, struct error *err)
{
	const char *path = ((const struct repro_options *)o->own)->output;
	const struct output_rules rules = options_output(o, r->session, &r->arena);
	struct session *s = r->session;
	struct str bytes = { 0 };
	int index = r->layer->index;
	if (plan_is_few(session_plan(s)))
		return error_set(err, "-o: the file would have the model's own types, because an 8-bit type "
		"depends on the neighbouring layers: leave out -t, or -o for the runner's line");
	struct variant own = session_variant(s); /* files have the model's own types */
	struct variant_ground g;
	own.dtype = DTYPE_UNKNOWN;
	int bad = variant_open(s, &own, &g, err) || model_bytes(g.on.plan, index, &bytes, err);
	variant_close(&g);
	if (!bad && (model_compare(r, &bytes, dtype, err) || output_put(path, &rules, bytes.p, bytes.n, err)))
		bad = error_context(err, "-o %.400s", path);
	str_free(&bytes);
	r->path = bad ? NULL : path;
	return bad ? -1 : 0;
}

/* ---- the plan of cuDNN */

/* "B:eng12{k2=4,k14=1}" as { "engine": 12, "knobs": { "2": 4, "14": 1 } }, with what else is known of it. */
static json_t *plan_json(const struct repro *r)
{
	const struct algorithm *a = r->algorithm;
	const char *engine = a ? strstr(a->name, "eng") : NULL;
	long long number, value;
	int used, type;
	if (!engine || sscanf(engine, "eng%lld%n", &number, &used) != 1)
		return NULL;
	json_t *knobs = json_object();
	char key[16];
	for (const char *at = engine + used; sscanf(at, "%*1[{,]k%d=%lld%n", &type, &value, &used) == 2;
		at += used) {
		snprintf(key, sizeof(key), "%d", type);
		json_object_set_new(knobs, key, json_integer(value));
	}
	return json_pack("{s:o, s:o, s:I, s:o, s:o, s:o, s:o, s:s, s:b}", "library",
		json_text(text_of(a->api)), "name", json_text(text_of(a->name)), "engine",
		(json_int_t)number, "knobs", knobs, "layouts", json_text(text_of(a->layouts)), "math",
		json_text(text_of(a->math)), "workspace_bytes", json_number_or_null(a->workspace_bytes),
		"matrix", matrix_name(a->matrix), "measured", r->measured);
}

static bool is_cudnn(const struct algorithm *a)
{
	return strcmp(a->api, "cuDNN") == 0 && strstr(a->name, "eng");
}

/* The fastest measured engine, else the first planned one. */
static void algorithm_find(struct repro *r)
{
	struct session *s = r->session;
	struct planner *planner = session_planner(s);
	const char *text = r->problem->text;
	int count;
	const struct result *const *all = results_of(session_results(s), text, &count), *best = NULL;
	for (int i = 0; i < count; i++)
		if (all[i]->status == STATUS_OK && is_cudnn(&all[i]->algorithm) &&
			(!best || stats_cost(&all[i]->stats) < stats_cost(&best->stats)))
			best = all[i];
	r->algorithm = best ? &best->algorithm : NULL;
	r->measured = best != NULL;
	if (best || !planner)
		return;
	planner_ask(planner, text);
	for (int ms = 0; ms < PLAN_WAIT_MS && !planner_is_idle(planner); ms += 100)
		planner_step(planner, 100);
	const struct planned *planned = planner_of(planner, text);
	for (int i = 0; i < planned->count && !r->algorithm; i++)
		if (is_cudnn(&planned->algorithms[i]))
			r->algorithm = &planned->algorithms[i];
}

/* ---- output */

/* The runner's command line as words. */
static json_t *runner_json(const struct repro *r)
{
	json_t *words = json_array();
	for (int i = 0; r->argv && r->argv[i]; i++)
		json_array_append_new(words, json_text(text_of(r->argv[i])));
	if (r->described) {
		json_array_append_new(words, json_string("benanza-runner-cuda"));
		json_array_append_new(words, json_string("--plan"));
		json_array_append_new(words, json_text(text_of(r->described)));
	}
	if (!json_array_size(words) || !r->problem) {
		json_decref(words);
		return json_null();
	}
	json_array_append_new(words, json_string("--problem"));
	json_array_append_new(words, json_string(r->problem->text));
	if (r->described)
		json_array_append_new(words, json_string("--list"));
	return words;
}

static void repro_json(const struct repro *r, FILE *out)
{
	const struct plan_layer *l = r->layer;
	json_t *plan = plan_json(r);
	report_json_line(json_pack("{s:o, s:{s:i, s:i, s:o, s:o}, s:s?, s:o, s:o, s:o, s:o, s:o, s:o}",
		"model", json_text(text_of(session_model(r->session)->path)), "layer", "index", l->index,
		"number", r->number, "name", json_text(l->name), "op", json_text(l->node->op), "problem",
		r->problem ? r->problem->text : NULL, "runner", runner_json(r), "benchdnn",
		report_json_text(r->benchdnn.p), "benchdnn_why", report_json_text(r->benchdnn_why), "plan",
		plan ? plan : json_null(), "file", r->path ? json_text(text_of(r->path)) : json_null(),
		"same_problem", r->path ? json_boolean(r->same) : json_null()), out);
}

static void repro_text(struct repro *r, FILE *out)
{
	struct str line = { 0 };
	fprintf(out, "layer     %d  %s (%s)\n", r->number, text_clean(&r->arena, r->layer->name),
		text_clean(&r->arena, r->layer->node->op));
	fprintf(out, "problem   %s\n", r->problem ? r->problem->text : r->layer->why ?
		text_clean(&r->arena, text_of(r->layer->why)) : "none");
	json_t *runner = runner_json(r), *word, *plan = plan_json(r);
	size_t i;
	json_array_foreach(runner, i, word) {
		str_puts(&line, i ? " " : "");
		str_add_word(&line, json_string_value(word));
	}
	if (line.n)
		fprintf(out, "runner    %s\n", line.p);
	if (r->benchdnn.n)
		fprintf(out, "benchdnn  benchdnn %s\n", r->benchdnn.p);
	else if (r->problem)
		fprintf(out, "benchdnn  none: %s\n", r->benchdnn_why);
	char *text = plan ? json_dumps(plan, JSON_COMPACT) : NULL;
	if (text)
		fprintf(out, "plan      %s\n", text);
	if (r->path)
		report_path_line(out, report_most(out), "model     ", r->path, "");
	free(text);
	json_decref(plan);
	json_decref(runner);
	str_free(&line);
}

static int repro(struct repro *r, const struct options *o, enum dtype dtype, struct error *err)
{
	const struct repro_options *own = o->own;
	struct session *s = r->session;
	int total;
	if (!(r->layer = layer_find(s, o->argv[1], err)))
		return EXIT_BAD;
	r->number = session_numbers(session_plan(s), &r->arena, &total)[r->layer->index];
	r->problem = plan_layer_problem(session_plan(s), r->layer);
	if (queue_has_runner(session_config(s)))
		r->argv = queue_runner_argv(session_config(s), &r->arena);
	if (session_described(s))
		r->described = session_described(s)->path;
	if (r->problem) {
		struct problem problem;
		problem_restore(r->problem->problem, &problem);
		r->benchdnn_why = benchdnn_write(&problem, &r->benchdnn);
		session_refresh(s);
		algorithm_find(r);
	}
	if (own->output && model_write_layer(r, o, dtype, err))
		return EXIT_BAD;
	FILE *out = own->output && output_is_stdout(own->output) ? stderr : stdout;
	if (o->json)
		repro_json(r, out);
	else
		repro_text(r, out);
	if (!own->output || r->same)
		return EXIT_DONE;
	if (!o->quiet)
		fprintf(stderr, "benanza: alone the layer has %s%s\n",
			r->other ? "another problem: " : "no problem", r->other ? r->other : "");
	return EXIT_GAPS;
}

static int cmd_repro(struct options *o, struct error *err)
{
	int64_t batch;
	enum dtype dtype;
	if (options_one_plan(o, &batch, &dtype, err))
		return EXIT_BAD;
	struct repro r = { .session = options_session(o, 0, SESSION_DB_READ, err) };
	int status = !r.session || options_select(r.session, batch, dtype, err) ||
			session_check_bound(r.session, err)
		? EXIT_BAD
		: options_connected(session_connect(r.session, QUEUE_HELLO_LIMIT, err));
	if (status == EXIT_NO_DEVICE && !o->config.device) { /* only known algorithms need one */
		err->text[0] = '\0';
		status = EXIT_DONE;
	}
	if (status == EXIT_DONE)
		status = repro(&r, o, dtype, err);
	str_free(&r.benchdnn);
	arena_free(&r.arena);
	session_close(r.session);
	return status;
}

const struct command command_repro = {
	.name = "repro",
	.arguments = "MODEL LAYER",
	.least = 2,
	.most = 2,
	.text = "one layer for other programs: ONNX, runner, benchdnn",
	.about = "Prints how to measure one layer alone: the command lines of the runner and of oneDNN's "
		"benchdnn, and the engine and knobs of cuDNN's fastest plan. LAYER is a name, or a number "
		 "as in benanza layers. Measures nothing.",
	.examples = { "benanza repro model.onnx stem", "benanza repro model.onnx 1 -o layer.onnx --json" },
	.own = repro_rows,
	.own_size = sizeof(struct repro_options),
	.groups = { &options_model, &options_device, &options_threads, &options_json, &options_force },
	.run = cmd_repro,
};
