#include "config.h"

#include "commands/command.h"
#include "commands/report.h"

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

static int cmd_bound(struct options *o, struct error *err)
{
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
		if (o->csv && !o->quiet)
			report_dims_note(s);
		if (!s->analysis->complete)
			status = EXIT_GAPS;
		if (o->json)
			report_json_line(report_bound_json(s), stdout);
		else if (o->csv)
			report_bound_csv(s, i == 0, stdout);
		else
			report_bound_text(s, stdout);
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
	.about = "Prints the lower bound of the model's latency, how much of it is measured, what each what-if "
		 "saves, and the layers with the highest cost. Measures nothing: run bench first, or name a "
		 "recorded or described device.",
	.examples = { "benanza bound model.onnx", "benanza bound -d h100 -b 8 -t f16 -w fusion,matrix model.onnx" },
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_json,
		&options_csv },
	.run = cmd_bound,
};
