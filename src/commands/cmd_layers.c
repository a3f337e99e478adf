#include "config.h"

#include "commands/command.h"
#include "commands/report.h"

int cmd_layers(struct options *o, struct error *err)
{
	if (options_expect(o, 1, 1, "layers MODEL [-b BATCH] [--dim NAME=VALUE] [--constants] [--json|--csv]", err))
		return EXIT_BAD;
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
		if (o->csv && !o->quiet)
			report_dims_note(s);
		if (o->json)
			report_layers_json(s, stdout);
		else if (o->csv)
			report_layers_csv(s, i == 0, stdout);
		else
			report_layers_text(s, o->constants, stdout);
	}
	session_close(s);
	return status;
}
