/* Opens the doctor for this machine and the session's runner. */
#include "config.h"

#include "session/session_private.h"

#include <unistd.h>

extern char **environ;

struct doctor *session_doctor(const struct session *s)
{
	struct doctor_runner runner = { .name = "", .device = &s->seat->device };
	bool answers = s->seat->queue && s->seat->device.name;
	struct doctor_options o = { .root = "",
		.variables = (const char *const *)environ,
		.version = PACKAGE_VERSION,
		.pid = (int)getpid(),
		.db = s->store ? store_path(s->store) : NULL,
		.network = store_network,
		.window_ms = DOCTOR_WINDOW_MS,
		.threads = s->seat->config->threads,
		.runner_count = answers,
		.runners = &runner };
	runner.name = answers ? s->seat->device.name : "";
	return doctor_open(&o);
}
