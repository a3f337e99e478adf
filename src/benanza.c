/* benanza: dispatches to a subcommand, or opens the explorer. */
#include "config.h"

#include "commands/command.h"
#include "session/glossary.h"
#include "ui/keys.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command_row {
	const char *name, *arguments, *text;
	bool json, csv; /* supports --json, --csv */
	int (*run)(struct options *o, struct error *err);
} explorer = { "", "[MODEL.onnx]", "", false, false, cmd_explore }, command_rows[] = {
	{ "layers", "MODEL", "every layer: shapes, types, class, FLOPs, bytes, problem", true, true, cmd_layers },
	{ "bench", "MODEL...", "measure the problems that have no result yet", true, false, cmd_bench },
	{ "bound", "MODEL", "lower bounds, coverage, what-ifs", true, true, cmd_bound },
	{ "ops", "", "the operator table", true, true, cmd_ops },
	{ "devices", "", "runners, recorded devices, described devices", true, false, cmd_devices },
	{ "doctor", "", "what can distort measurements on this machine, and the fix", true, false,
		cmd_doctor },
	{ "db", "info|check|import|merge|export", "the database of results", true, false, cmd_db },
};

#define COMMAND_COUNT (sizeof(command_rows) / sizeof(command_rows[0]))

static void help(FILE *out)
{
	fputs("benanza - lower-bound latency of an ONNX model on this machine, and the saving of each "
		"optimization\n\n"
		"usage:\n"
		"  benanza [MODEL.onnx]             the explorer (? shows its keys); default: ResNet-50\n", out);
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		char left[64];
		snprintf(left, sizeof(left), "benanza %s %s", command_rows[i].name,
			command_rows[i].arguments);
		fprintf(out, "  %-32s %s\n", left, command_rows[i].text);
	}
	fputs("\noptions:\n", out);
	options_help(out);
	fputs("\nexit status: 0 done, 1 done with gaps, 2 bad usage or input, 3 no runner or device\n", out);
}

/* Prints a section of the man page that is generated from a table: benanza --print-man
 * options|whatifs|keys|glossary. */
static int print_man(const char *section)
{
	struct str out = { 0 };
	if (strcmp(section, "options") == 0) {
		options_man(&out);
	} else if (strcmp(section, "whatifs") == 0) {
		int count;
		const struct what_if *rows = what_if_table(&count);
		for (int i = 0; i < count; i++)
			str_addf(&out, ".TP\n.BR %s \" (%s or %s)\"\n%s\n", rows[i].name, rows[i].on, rows[i].off,
				rows[i].text);
	} else if (strcmp(section, "keys") == 0) {
		keys_print_man(&out);
	} else if (strcmp(section, "glossary") == 0) {
		glossary_man(&out);
	}
	fputs(out.p ? out.p : "", stdout);
	str_free(&out);
	return EXIT_DONE;
}

static const struct command_row *command_find(const char *name)
{
	for (size_t i = 0; name && i < COMMAND_COUNT; i++)
		if (strcmp(command_rows[i].name, name) == 0)
			return &command_rows[i];
	return NULL;
}

/* True if the first argument looks like a misspelt command: no such file, and neither a path nor an
 * extension. */
static bool is_misspelt(const struct options *o)
{
	const char *word = o->may_command ? o->argv[0] : "";
	return *word && strcmp(word, "-") != 0 && !strpbrk(word, "./") && access(word, F_OK) != 0;
}

static int command_unknown(const char *word, struct error *err)
{
	const char *nearest = NULL;
	int least = 3;
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		int distance = word_distance(word, command_rows[i].name);
		nearest = distance < least ? command_rows[i].name : nearest;
		least = distance < least ? distance : least;
	}
	if (nearest)
		error_set(err, "unknown command \"%.40s\"; did you mean %s?", word, nearest);
	else
		error_set(err, "unknown command \"%.40s\"; try --help", word);
	return EXIT_BAD;
}

/* "help" prints all commands, "help bench" the usage of one command and the options. */
static int help_command(struct options *o, struct error *err)
{
	const struct command_row *row = o->argc > 1 ? command_find(o->argv[1]) : NULL;
	if (o->argc > 1 && !row)
		return command_unknown(o->argv[1], err);
	if (row)
		printf("usage: benanza %s [options] %s\n\n%s\nSee the section COMMANDS of benanza(1).\n\noptions:\n", row->name,
			row->arguments, row->text);
	if (row)
		options_help(stdout);
	else
		help(stdout);
	return EXIT_DONE;
}

/* Runs the command named by the first argument (options may precede it); otherwise the explorer opens it as a
 * model. */
static int run_command(struct options *o, struct error *err)
{
	if (o->may_command && strcmp(o->argv[0], "help") == 0 && access("help", F_OK) != 0)
		return help_command(o, err);
	const struct command_row *command = o->may_command ? command_find(o->argv[0]) : NULL;
	if (command) {
		o->argc--;
		o->argv++;
	} else if (is_misspelt(o)) {
		return command_unknown(o->argv[0], err);
	} else {
		command = &explorer;
	}
	const char *name = *command->name ? command->name : "the explorer";
	if (o->csv && !command->csv) {
		error_set(err, "%s has no CSV%s", name,
			command->json ? "; use --json" : "; layers, bound and ops have it");
		return EXIT_BAD;
	}
	if (o->json && !command->json) {
		error_set(err, "%s has no JSON; use a command, e.g. benanza layers --json MODEL", name);
		return EXIT_BAD;
	}
	return command->run(o, err);
}

static int run(int argc, char **argv, struct error *err)
{
	struct options o = { 0 };
	int status = EXIT_DONE;
	if (options_parse(&o, argc, argv, err))
		status = EXIT_BAD;
	else if (o.help)
		help(stdout);
	else if (o.version)
		puts(PACKAGE_STRING);
	else
		status = run_command(&o, err);
	if (o.help || o.version)
		err->text[0] = '\0';
	options_free(&o);
	return status;
}

#define EXIT_PIPE (128 + SIGPIPE) /* the status that a shell reports for a program killed by SIGPIPE: `yes |
				     head` */

/* True if the reader of standard output has closed its end. errno of the failed write may be overwritten by
 * now, hence poll. */
static bool reader_is_gone(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int main(int argc, char **argv)
{
	struct error err = ERROR_NONE;
	base_memory_keep();
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* decimal point in JSON, CSV and problem texts */
	if (argc == 3 && strcmp(argv[1], "--print-man") == 0)
		return print_man(argv[2]);
	signal(SIGPIPE, SIG_IGN);
	int status = run(argc, argv, &err);
	errno = 0;
	bool bad = fflush(stdout) != 0 || ferror(stdout);
	if (bad && reader_is_gone())
		return EXIT_PIPE;
	if (bad) {
		if (!err.text[0]) /* else the command has reported the reason */
			error_set(&err, "standard output: cannot write%s%s", errno ? ": " : "",
				errno ? strerror(errno) : "");
		status = EXIT_BAD;
	}
	if (err.text[0])
		fprintf(stderr, "benanza: %s\n", err.text);
	return status;
}
