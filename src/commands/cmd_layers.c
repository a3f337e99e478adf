/* benanza layers: the plan of a model without any time. */
#include "config.h"

#include "commands/command.h"
#include "commands/report.h"
#include "table/tables/layers.h"

struct layers_options {
	bool constants; /* also list layers that only compute constants */
};

static const struct option_row layers_rows[] = {
	{ "constants", 0, NULL, OWN_FLAG(layers_options, constants),
		"also list layers that only compute constants" },
	{ 0 }
};

static int cmd_layers(struct options *o, struct error *err)
{
	const struct layers_options *own = o->own;
	struct session *s = options_session(o, 0, SESSION_DB_READ, err);
	if (!s)
		return EXIT_BAD;
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	int batch_count = options_batches(o, batches), dtype_count = options_dtypes(o, dtypes),
		status = EXIT_DONE;
	for (int i = 0; i < batch_count * dtype_count && status == EXIT_DONE; i++) {
		if (options_select(s, batches[i / dtype_count], dtypes[i % dtype_count], err)) {
			status = EXIT_BAD;
			break;
		}
		if (i % dtype_count == 0)
			report_batch_note(s, o, batches[i / dtype_count]);
		if (o->csv && !o->quiet)
			report_dims_note(s);
		if (o->json)
			report_layers_json(s, stdout);
		else if (o->csv)
			layers_print_csv(s, i == 0, stdout);
		else
			report_layers_text(s, own->constants, stdout);
	}
	session_close(s);
	return status;
}

const struct command command_layers = {
	.name = "layers",
	.arguments = "MODEL",
	.least = 1,
	.most = 1,
	.text = "every layer: shapes, types, class, FLOPs, bytes, problem",
	.about = "Lists every layer of the model: shapes, types, class, FLOPs, bytes and the problem that is "
		 "measured for it. Measures nothing and needs no device.",
	.examples = { "benanza layers model.onnx", "benanza layers --json -b 1,8 model.onnx" },
	.own = layers_rows,
	.own_size = sizeof(struct layers_options),
	.groups = { &options_model, &options_json, &options_csv },
	.run = cmd_layers,
};
