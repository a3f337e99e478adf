/* benanza: runs a command, or opens the explorer. */
#include "config.h"

#include "commands/command.h"
#include "session/glossary.h"
#include "ui/model/terms.h"
#include "ui/stage/keys.h"
#include "ui/views/view.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Name, choices (the one of "on" first) and help. */
static void what_if_man(const struct what_if *w, struct str *out)
{
	str_addf(out, ".TP\n.BR %s \" (", w->name);
	for (int i = 1; w->choices[i]; i++)
		str_addf(out, "%s%s", i > 1 ? ", " : "", w->choices[i]);
	if (w->value)
		str_addf(out, "%s%s", w->choices[1] ? ", " : "", w->value);
	str_addf(out, " or %s)\"\n%s\n", w->choices[0], w->text);
}

/* Prints a section of the man page that is generated from a table: benanza --print-man
 * options|whatifs|keys|glossary. */
static int print_man(const char *section)
{
	struct str out = { 0 };
	if (strcmp(section, "options") == 0) {
		help_man(&out);
	} else if (strcmp(section, "whatifs") == 0) {
		int count;
		const struct what_if *rows = what_if_table(&count);
		for (int i = 0; i < count; i++)
			what_if_man(&rows[i], &out);
	} else if (strcmp(section, "keys") == 0) {
		keys_print_man(&out);
		terms_print_man(&out);
	} else if (strcmp(section, "glossary") == 0) {
		glossary_man(&out);
	}
	fputs(out.p ? out.p : "", stdout);
	str_free(&out);
	return EXIT_DONE;
}

static int run(int argc, char **argv, struct error *err)
{
	struct options o = { 0 };
	int status = EXIT_DONE;
	if (options_parse(&o, argc, argv, err))
		status = EXIT_BAD;
	else if (o.help)
		help_print(command_is_explorer(o.command) && !o.argc ? NULL : o.command, stdout);
	else if (o.version)
		puts(PACKAGE_STRING);
	else if (explorer_words_check(&o.config, err))
		status = EXIT_BAD;
	else
		status = o.command->run(&o, err);
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
	views_register();
	commands_register();
	if (argc == 3 && strcmp(argv[1], "--print-man") == 0)
		return print_man(argv[2]);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a limit of file sizes is an error of write, like a full disk */
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
