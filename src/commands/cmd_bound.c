#include "config.h"

#include "commands/command.h"
#include "commands/report.h"
#include "commands/report_analysis.h"
#include "session/session_reality.h"

struct bound_options {
	const char *analysis; /* --analysis LIST; NULL: none */
};

static const struct option_row bound_rows[] = {
	{ "analysis", 0, "LIST", OWN_TEXT(bound_options, analysis),
		"tables instead of the report: XSP's A2, A3, A5, A6, A14 of the bound, or all" },
	{ 0 }
};

/* Notes on the source of the results, if it is not the running device. */
static void notes_print(struct session *s, const struct options *o)
{
	struct arena a = { 0 };
	const char *other = session_other_records(s, &a);
	if (s->trouble[0] && !o->quiet)
		fprintf(stderr, "benanza: %s; using recorded results of %s\n", s->trouble, s->device.model);
	if (other && !o->quiet)
		fprintf(stderr, "benanza: %s\n", other);
	for (int i = 0; s->queue && !o->quiet && i < queue_status(s->queue).workers; i++)
		if (*queue_worker(s->queue, i).note)
			fprintf(stderr, "benanza: %s\n", queue_worker(s->queue, i).note);
	arena_free(&a);
}

static void bound_print(struct session *s, const struct options *o, unsigned analyses, bool first)
{
	const struct report_analyses r = { .wanted = analyses };
	struct trust trust = session_trust(s);
	if (o->json) {
		json_t *all = report_bound_json(s, &trust);
		if (analyses)
			json_object_set_new(all, "analyses", report_analyses_json(s, &r));
		report_json_line(all, stdout);
	} else if (analyses)
		(o->csv ? report_analyses_csv : report_analyses_text)(s, &r, stdout);
	else if (o->csv)
		report_bound_csv(s, first, stdout);
	else
		report_bound_text(s, &trust, stdout);
}

static int cmd_bound(struct options *o, struct error *err)
{
	const struct bound_options *own = o->own;
	unsigned analyses = 0;
	if (own->analysis && xsp_parse(own->analysis, true, &analyses, err))
		return EXIT_BAD;
	struct session *s = options_session(o, 0, SESSION_DB_READ, err);
	if (!s)
		return EXIT_BAD;
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes);
	int status = options_select(s, batches[0], dtypes[0], err) || session_check_bound(s, err) ?
		EXIT_BAD : EXIT_DONE;
	if (status == EXIT_DONE)
		status = options_connected(session_connect(s, QUEUE_HELLO_LIMIT, err));
	if (status == EXIT_DONE)
		notes_print(s, o);
	for (int i = 0; i < batch_count * dtype_count && status <= EXIT_GAPS; i++) {
		if (options_select(s, batches[i / dtype_count], dtypes[i % dtype_count], err) ||
			session_check_bound(s, err)) {
			status = EXIT_BAD;
			break;
		}
		session_refresh(s);
		if (session_reality_wait(s, err)) {
			status = EXIT_BAD;
			break;
		}
		if (!o->quiet && i % dtype_count == 0)
			report_batch_note(s, batches[i / dtype_count]);
		if (o->csv && !o->quiet)
			report_dims_note(s);
		if (!s->analysis->complete)
			status = EXIT_GAPS;
		bound_print(s, o, analyses, i == 0);
	}
	session_close(s);
	return status;
}

const struct command command_bound = {
	.name = "bound",
	.arguments = "MODEL",
	.least = 1,
	.most = 1,
	.text = "lower bounds, coverage, what-ifs",
	.about = "Prints the lower bound of the model's latency, how much of it is measured, what each "
		 "what-if "
		 "saves, and the layers with the highest cost. Measures nothing: run bench first, or name a "
		 "recorded or described device.",
	.examples = { "benanza bound model.onnx",
		"benanza bound -d h100 -b 8 -t f16 -w fusion,matrix model.onnx" },
	.own = bound_rows,
	.own_size = sizeof(struct bound_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_json,
		&options_csv },
	.run = cmd_bound,
};
