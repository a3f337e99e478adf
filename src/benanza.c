/* benanza: the sub-commands, or the explorer. */
#include "config.h"

#include "commands/command.h"
#include "ui/keys.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

static const struct command_row {
	const char *name, *arguments, *text;
	int (*run)(struct options *o, struct error *err);
} command_rows[] = {
	{ "layers", "MODEL", "every layer: shapes, types, class, FLOPs, bytes, problem", cmd_layers },
	{ "bench", "MODEL...", "measure what the database lacks", cmd_bench },
	{ "bound", "MODEL", "lower bounds, coverage, what-ifs", cmd_bound },
	{ "ops", "", "the operator table", cmd_ops },
	{ "devices", "", "runners found, devices recorded", cmd_devices },
	{ "db", "info|check", "the database of results", cmd_db },
};

#define COMMAND_COUNT (sizeof(command_rows) / sizeof(command_rows[0]))

static void help(FILE *out)
{
	fputs("benanza - how fast could this ONNX model run on this machine, and what stands in the way\n\nusage:\n"
		"  benanza [MODEL.onnx]             the explorer (? shows its keys); default: ResNet-50\n", out);
	for (size_t i = 0; i < COMMAND_COUNT; i++) {
		char left[64];
		snprintf(left, sizeof(left), "benanza %s %s", command_rows[i].name, command_rows[i].arguments);
		fprintf(out, "  %-32s %s\n", left, command_rows[i].text);
	}
	fputs("\noptions:\n", out);
	options_help(out);
	fputs("\nexit status: 0 done, 1 done with gaps, 2 bad usage or input, 3 no runner or device\n", out);
}

/* The sections of the manual page that are made from tables: benanza --print-man options|whatifs|keys. */
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

/* --help and --version win wherever they stand before "--". */
static bool asked(int argc, char **argv, const char *name, const char *letter)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], name) == 0 || (letter && strcmp(argv[i], letter) == 0))
			return true;
	return false;
}

static int run(int argc, char **argv, struct error *err)
{
	struct options o = { 0 };
	const struct command_row *command = command_find(argv[1]);
	int skip = command ? 1 : 0;
	if (command)
		argv[1] = argv[0];
	int status = options_parse(&o, argc - skip, argv + skip, err) ? EXIT_BAD : EXIT_DONE;
	if (status == EXIT_DONE)
		status = command ? command->run(&o, err) : cmd_explore(&o, err);
	options_free(&o);
	return status;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_NONE;
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C"); /* numbers in JSON, CSV and problem texts have a point */
	if (asked(argc, argv, "--help", "-h")) {
		help(stdout);
		return EXIT_DONE;
	}
	if (asked(argc, argv, "--version", NULL)) {
		puts(PACKAGE_STRING);
		return EXIT_DONE;
	}
	if (argc == 3 && strcmp(argv[1], "--print-man") == 0)
		return print_man(argv[2]);
	int status = run(argc, argv, &err);
	if (fflush(stdout) || ferror(stdout)) {
		error_set(&err, "standard output: cannot write");
		status = EXIT_BAD;
	}
	if (err.text[0])
		fprintf(stderr, "benanza: %s\n", err.text);
	return status;
}
