/* doctor: lists what distorts measurements on this machine, and the fix. */
#include "config.h"

#include "commands/command.h"
#include "commands/report.h"

#include "doctor/doctor.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define NAME_COLUMNS 24
#define WIDTH_LEAST 60
#define WIDTH_MOST 140

/* Starts every configured runner in turn, reads its hello and ends it: none runs while load is measured. */
static const struct doctor_runner *runners_ask(struct arena *a, const struct config *c)
{
	struct config one = *c; /* borrowed */
	struct doctor_runner *list = ARENA_ARRAY(a, struct doctor_runner, c->runner_count);
	for (int i = 0; i < c->runner_count; i++) {
		struct results *results = results_new();
		one.device = c->runners[i].name;
		struct queue *q = queue_new(&one, NULL, results);
		struct error err = ERROR_NONE;
		list[i] = (struct doctor_runner){ .name = text_clean(a, text_of(c->runners[i].name)) };
		if (queue_connect(q, queue_limits(q)->hello, &err)) {
			list[i].error = arena_printf(a, "%s", err.text);
		} else {
			struct device *d = ARENA_ARRAY(a, struct device, 1);
			*d = device_copy(a, queue_device(q));
			list[i].device = d;
		}
		queue_free(q);
		results_free(results);
	}
	return list;
}

static void window_wait(const struct doctor *d)
{
	for (int left; (left = doctor_due_ms(d)) > 0;)
		nanosleep(&(struct timespec){ .tv_nsec = (long)left * 1000000 }, NULL);
}

static int width_of(FILE *out)
{
	struct winsize size = { 0 };
	int columns = isatty(fileno(out)) && ioctl(fileno(out), TIOCGWINSZ, &size) == 0 ? size.ws_col : 100;
	return columns < WIDTH_LEAST ? WIDTH_LEAST : columns > WIDTH_MOST ? WIDTH_MOST : columns;
}

static void finding_print(struct arena *a, const struct doctor_finding *f, int width, FILE *out)
{
	const char *name = *f->subject ? arena_printf(a, "%s: %s", f->check, f->subject) : f->check;
	const char *mark = f->outcome == DOCTOR_BENDS ? "!" : f->outcome == DOCTOR_UNKNOWN ? "?" : " ";
	int most = report_most(out), at = NAME_COLUMNS + 3;
	if (text_columns(name) > NAME_COLUMNS) {
		report_path_line(out, most, arena_printf(a, "%s ", mark), name, "");
		fprintf(out, "%*s", at, "");
	} else
		fprintf(out, "%s %s ", mark, text_pad(a, name, NAME_COLUMNS, false));
	report_wrapped(most < INT_MAX ? text_cut_paths(a, f->what, INT_MAX, width - at, "..") : f->what, at,
		width, out);
	if (*f->cure) {
		fprintf(out, "%*s", at, "");
		report_wrapped(arena_printf(a, "-> %s", f->cure), at, width, out);
	}
}

static void findings_print(const struct doctor_finding *f, int count, const int *outcomes, FILE *out)
{
	struct arena a = { 0 };
	static const enum doctor_outcome order[] = { DOCTOR_BENDS, DOCTOR_UNKNOWN, DOCTOR_OK };
	for (int k = 0; k < DOCTOR_OUTCOMES; k++)
		for (int i = 0; i < count; i++)
			if (f[i].outcome == order[k])
				finding_print(&a, &f[i], width_of(out), out);
	fprintf(out, "%d distort%s measurements (!), %d unknown (?), %d ok\n", outcomes[DOCTOR_BENDS],
		outcomes[DOCTOR_BENDS] == 1 ? "s" : "", outcomes[DOCTOR_UNKNOWN], outcomes[DOCTOR_OK]);
	arena_free(&a);
}

static int cmd_doctor(struct options *o, struct error *err)
{
	(void)err;
	struct arena a = { 0 };
	struct doctor_options what = { .root = "",
		.variables = (const char *const *)environ,
		.db = options_db(o),
		.network = store_network,
		.version = PACKAGE_VERSION,
		.window_ms = DOCTOR_WINDOW_MS,
		.pid = (int)getpid(),
		.threads = o->config.threads,
		.runner_count = o->config.runner_count };
	what.runners = runners_ask(&a, &o->config);
	struct doctor *d = doctor_open(&what);
	int count, outcomes[DOCTOR_OUTCOMES] = { 0 };
	window_wait(d);
	const struct doctor_finding *f = doctor_look(d, &count);
	json_t *list = json_array();
	for (int i = 0; i < count; i++) {
		outcomes[f[i].outcome]++;
		json_array_append_new(list, doctor_json(&f[i]));
	}
	if (o->json)
		report_json_line(
			json_pack("{s:i, s:i, s:i, s:O}", "bends", outcomes[DOCTOR_BENDS], "unknown",
				outcomes[DOCTOR_UNKNOWN], "ok", outcomes[DOCTOR_OK], "findings", list),
			stdout);
	else
		findings_print(f, count, outcomes, stdout);
	json_decref(list);
	doctor_close(d);
	arena_free(&a);
	return outcomes[DOCTOR_BENDS] ? EXIT_GAPS : EXIT_DONE;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "",
	.text = "what can distort measurements on this machine, and the fix",
	.about = "Lists what can distort measurements on this machine, with the fix for each. Exit status "
		"1 if something distorts them; changes nothing.",
	.examples = { "benanza doctor", "benanza doctor --json" },
	.groups = { &options_threads, &options_json },
	.run = cmd_doctor,
};
