/* benanza without a command: the explorer, or with --frame one of its screens. */
#include "config.h"

#include "commands/command.h"
#include "commands/keep.h"
#include "commands/report.h"
#include "commands/tour.h"
#include "ui/frame/app.h"
#include "ui/screen/theme.h"
#include "ui/views/columns.h"
#include "ui/stage/keys.h"

#include "base/exe_path.h"

#include <unistd.h>

#define PATIENCE_MS 100     /* longest wait of a screen for the database's lock */
#define EXIT_WAIT_MS 5000   /* longest wait at exit until the last results are stored */

/* True if -d names an unknown device, unlike a known runner that does not answer. */
static bool is_unheard_of(const struct options *o, const struct session *s, int connected)
{
	return connected < 0 && o->config.device && !session_queue(s) && !session_trouble(s)[0];
}

struct explorer_options {
	const char *frame, *view, *keys; /* --frame 120x40 --view NAME --keys 'j j Enter' */
	bool svg;                        /* with --frame */
	bool fresh, tour;
};

static const struct option_row explorer_rows[] = { { "frame", 0, "120x40", OWN_TEXT(explorer_options, frame),
							   "print one screen of the explorer and exit" },
	{ "view", 0, "NAME", OWN_TEXT(explorer_options, view), "with --frame: the view to show" },
	{ "keys", 0, "KEYS", OWN_TEXT(explorer_options, keys), "with --frame: keys to press first" },
	{ "theme", 0, "NAME", CONFIG_KEY("theme"),
		"colours: auto, dark, light, ansi or mono, and roles (\"light,warning=208 bold\")" },
	{ "svg", 0, NULL, OWN_FLAG(explorer_options, svg),
		"with --frame: the screen as an SVG picture, in colour" },
	{ "fresh", 0, NULL, OWN_FLAG(explorer_options, fresh),
		"start without the view, selection, what-ifs and filters of the last session" },
	{ "tour", 0, NULL, OWN_FLAG(explorer_options, tour),
		"five minutes through the explorer, on recorded results that come with the program" },
	{ 0 } };

static int frame_print(const struct options *o, struct session *s, struct error *err)
{
	const struct explorer_options *own = o->own;
	int columns, rows;
	if (app_parse_size(own->frame, &columns, &rows, err))
		return options_blame("frame", err), EXIT_BAD;
	int connected = session_connect(s, QUEUE_HELLO_LIMIT, err);
	if (connected == SESSION_UNREADABLE || is_unheard_of(o, s, connected))
		return options_connected(connected);
	if (connected && !o->quiet) /* the frame is printed without a device */
		fprintf(stderr, "benanza: %s\n", err->text);
	while (session_plan_step(s, 100))
		;
	err->text[0] = '\0';
	enum frame_form form = own->svg ? FRAME_SVG :
		o->color && isatty(STDOUT_FILENO) ? FRAME_COLOR : FRAME_TEXT;
	int bad = own->tour ? app_frame_tour(s, columns, rows, own->keys, o->ascii, form, stdout, err)
		: app_frame(s, columns, rows, own->view, own->keys, o->ascii, form, stdout, err);
	return bad ? EXIT_BAD : EXIT_DONE;
}

/* Path of the bundled ResNet-50; the installation's path if it is missing, for the error message. */
static const char *default_model(struct arena *a)
{
	const char *path = exe_data_path(a, "models/resnet50.onnx");
	return path ? path : BENANZA_DATADIR "/models/resnet50.onnx";
}

static int explore(struct session *s, const struct app_options *ao, struct error *err)
{
	err->text[0] = '\0';
	if (session_store(s))
		store_set_patience(session_store(s), PATIENCE_MS, NULL, NULL);
	int left = app_run(s, ao, err); /* > 0: ended by this signal, exit status 128 + signal */
	int unkept = left < 0 ? 0 : keep_end(session_store(s), EXIT_WAIT_MS, false, err);
	return left < 0 ? EXIT_BAD : left > 0 ? 128 + left : unkept ? EXIT_GAPS : EXIT_DONE;
}

int explorer_words_check(const struct config *c, struct error *err)
{
	struct error why;
	struct theme theme;
	if (columns_check(c, err))
		return -1;
	if (keys_bind(c->keys, c->keys_count, &why))
		return error_set(err, "%s:%s", c->path, why.text);
	if (!theme_make(&theme, c->theme, c->theme_count, false, &why))
		return 0;
	bool of_file = c->theme_count && c->theme[0].line;
	return error_set(err, "%s%s%s", of_file ? c->path : "--", of_file ? ":" : "", why.text);
}

static int explore_options(struct options *o, struct error *err);

/* The explorer on a temporary database of the tour. */
static int tour(struct options *o, struct error *err)
{
	struct tour_database db;
	if (o->argc) {
		error_set(err, "--tour takes no model: it shows the bundled ResNet-50");
		return EXIT_BAD;
	}
	int status = tour_begin(&db, o, err) ? EXIT_BAD : explore_options(o, err);
	tour_end(&db);
	return status;
}

static int cmd_explore(struct options *o, struct error *err)
{
	return ((const struct explorer_options *)o->own)->tour ? tour(o, err) : explore_options(o, err);
}

static int explore_options(struct options *o, struct error *err)
{
	const struct explorer_options *own = o->own;
	bool chosen = o->argc > 0 || own->tour;
	if (o->argc == 0)
		o->argv[o->argc++] = default_model(&o->arena);
	const char *alone = own->svg ? "svg" : own->view ? "view" : own->keys ? "keys" : NULL;
	if (alone && !own->frame) {
		error_set(err, "--%s needs --frame, e.g. --frame 120x40 --%s%s", alone, alone,
			own->svg ? "" : own->view ? " problems" : " 'j Enter'");
		return EXIT_BAD;
	}
	if (explorer_words_check(&o->config, err)) /* the tour has another configuration */
		return EXIT_BAD;
	config_add_agents(&o->config);
	bool blind = !own->frame && !isatty(STDOUT_FILENO); /* keys come from /dev/tty if the model is on
							     stdin */
	struct session *s = options_session(o, 0,
		own->frame || blind ? SESSION_DB_READ : SESSION_DB_TRY, err);
	if (!s)
		return EXIT_BAD;
	session_exports_set(s, report_exports);
	if (blind) { /* after errors of the model */
		error_set(err, "the explorer needs a terminal; use benanza bound %s, or --frame 80x24",
			o->argv[0]);
		session_close(s);
		return EXIT_BAD;
	}
	int64_t batches[CONFIG_LIST_MAX];
	enum dtype dtypes[CONFIG_LIST_MAX];
	options_batches(o, batches);
	options_dtypes(o, dtypes);
	int status = options_select(s, batches[0], dtypes[0], err) ? EXIT_BAD : EXIT_DONE;
	if (status == EXIT_DONE && own->frame) {
		status = frame_print(o, s, err);
	} else if (status == EXIT_DONE) {
		struct app_options ao = { .color = o->color, .ascii = o->ascii, .fresh = own->fresh,
			.tour = own->tour,
			.view = chosen ? NULL : "models",
			.note = chosen ? NULL : "choose a model: Enter opens it, o types a path",
			.what_ifs_given = o->what_if_option || o->assume_count };
		/* does not wait: the first frame is drawn before the runner's hello */
		int connected = session_connect(s, 0, err);
		status = is_unheard_of(o, s, connected) || connected == SESSION_UNREADABLE ?
			options_connected(connected) : EXIT_DONE;
		if (status == EXIT_DONE)
			status = explore(s, &ao, err);
	}
	session_close(s);
	return status;
}

const struct command command_explorer = {
	.name = "explorer",
	.arguments = "[MODEL.onnx]",
	.most = 1,
	.text = "the explorer (? shows its keys); without a model: a list of models",
	.about = "Opens the explorer: the model's layers, bound and what-ifs; key b measures, ? lists the "
		 "keys. "
		 "With --frame, prints one screen and exits.",
	.examples = { "benanza --frame 120x40 --view layers --keys 'j j Enter' model.onnx",
		"benanza --frame 100x30 --svg model.onnx > screen.svg" },
	.own = explorer_rows,
	.own_size = sizeof(struct explorer_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_budget,
		&options_agents },
	.run = cmd_explore,
};
