/* Help and the options of the manual page, generated from the commands' rows. */
#include "config.h"

#include "commands/command.h"
#include "commands/completion.h"
#include "commands/report.h"

#include <ctype.h>
#include <string.h>

#define HELP_WIDTH 80
#define TEXT_COLUMN 28 /* of an option's text */

struct help_options {
	const char *completion; /* --completion SHELL; NULL: help */
};

static const struct option_row help_rows[] = {
	{ "completion", 0, "SHELL", OWN_TEXT(help_options, completion),
		"print the completion script of bash, zsh or fish instead" },
	{ 0 }
};

static int cmd_help(struct options *o, struct error *err)
{
	const struct help_options *own = o->own;
	if (own->completion)
		return completion_print(own->completion, stdout, err) ? EXIT_BAD : EXIT_DONE;
	const struct command *c = o->argc ? command_named(o->argv, o->argc) : NULL;
	if (o->argc && !c)
		return command_unknown(o->argv, o->argc, err), EXIT_BAD;
	help_print(c, stdout);
	return EXIT_DONE;
}

const struct command command_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.most = 2,
	.text = "all commands, or the options and examples of one",
	.about = "Prints all commands, or the options and examples of one. \"explorer\" stands for benanza "
		 "without a command.",
	.examples = { "benanza help bench", "benanza help db export",
		"benanza help --completion bash > benanza.bash" },
	.own = help_rows,
	.own_size = sizeof(struct help_options),
	.run = cmd_help,
};

/* `left` in its column and the text wrapped next to it, or below it if it is too long. */
static void row_print(const char *left, int column, const char *text, FILE *out)
{
	int at = fprintf(out, "  %s", left);
	bool fits = at <= column - 2;
	fprintf(out, "%s%*s", fits ? "" : "\n", fits ? column - at : column, "");
	report_wrapped(text, column, HELP_WIDTH, out);
}

static void rows_print(const struct option_row *r, FILE *out)
{
	for (; r->name; r++) {
		char left[64];
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", r->letter ? '-' : ' ',
			r->letter ? r->letter : ' ', r->letter ? ',' : ' ', r->name,
			r->value && r->value[0] != '[' ? " " : "", r->value ? r->value : "");
		row_print(left, TEXT_COLUMN, r->text, out);
	}
}

/* The groups, each below its title. */
static void groups_print(const struct option_group *const *groups, FILE *out)
{
	for (int i = 0; groups[i]; i++) {
		if (!i || strcmp(groups[i]->title, groups[i - 1]->title) != 0)
			fprintf(out, "\n%s:\n", groups[i]->title);
		rows_print(groups[i]->rows, out);
	}
}

/* "  benanza bench MODEL...    measure ..." of the commands within a family ("db"), or ("") of the others. */
static void commands_print(const char *family, FILE *out)
{
	int count;
	const struct command *const *all = command_table(&count);
	for (int i = 0; i < count; i++) {
		const struct command *c = all[i];
		size_t n = strlen(family);
		bool within = strncmp(c->name, family, n) == 0 && c->name[n] == ' ';
		if (*family ? !within : strchr(c->name, ' ') != NULL)
			continue;
		char left[64];
		snprintf(left, sizeof(left), "benanza%s%s%s%s", i ? " " : "", i ? c->name : "",
			*c->arguments ? " " : "", c->arguments);
		row_print(left, TEXT_COLUMN + 2, c->text, out);
	}
}

static void help_all(FILE *out)
{
	static const struct option_group *const groups[] = { &options_common, &options_device,
		&options_threads, NULL };
	fputs("benanza - lower-bound latency of an ONNX model on this machine, and the saving\n"
	      "of each optimization\n\n"
	      "commands:\n", out);
	commands_print("", out);
	fputs("\nbenanza COMMAND --help prints the options of a command and examples, benanza\n"
	      "help explorer those of the explorer. Every command accepts these options.\n", out);
	groups_print(groups, out);
	fputs("\nexit status: 0 done, 1 done with gaps, 2 bad usage or input, 3 no runner or\ndevice\n", out);
}

/* "common options: -c, --db, ...", in the width of the help. */
static void common_print(FILE *out)
{
	struct str line = { 0 };
	str_puts(&line, "common options (benanza --help):");
	for (const struct option_row *r = options_common.rows; r->name; r++) {
		if (r->letter)
			str_addf(&line, " -%c", r->letter);
		else
			str_addf(&line, " --%s", r->name);
		str_puts(&line, r[1].name ? "," : "");
	}
	fputc('\n', out);
	report_wrapped(line.p, 0, HELP_WIDTH, out);
	str_free(&line);
}

void help_print(const struct command *c, FILE *out)
{
	if (!c) {
		help_all(out);
		return;
	}
	bool named = !command_is_explorer(c);
	fprintf(out, "usage: benanza%s%s [OPTIONS]%s%s\n\n", named ? " " : "", named ? c->name : "",
		*c->arguments ? " " : "", c->arguments);
	report_wrapped(c->about, 0, HELP_WIDTH, out);
	if (!c->run) {
		fputs("\ncommands:\n", out);
		commands_print(c->name, out);
	}
	if (c->own) {
		fputs("\noptions:\n", out);
		rows_print(c->own, out);
	}
	groups_print(c->groups, out);
	common_print(out);
	if (c->examples[0])
		fputs("\nexamples:\n", out);
	for (int i = 0; c->examples[i]; i++)
		fprintf(out, "  %s\n", c->examples[i]);
}

/* Text to type: hyphens as minus signs, straight quotes. */
static void man_typed(struct str *out, const char *text)
{
	for (; *text; text++)
		if (*text == '-')
			str_puts(out, "\\-");
		else if (*text == '\'')
			str_puts(out, "\\(aq");
		else
			str_add(out, text, 1);
}

static void man_rows(const struct option_row *r, struct str *out)
{
	for (; r->name; r++) {
		str_puts(out, ".TP\n");
		if (r->letter)
			str_addf(out, "\\fB\\-%c\\fR, ", r->letter);
		str_puts(out, "\\fB\\-\\-");
		man_typed(out, r->name);
		str_addf(out, "\\fR%s%s%s\n%s\n",
			!r->value		     ? ""
				: r->value[0] == '[' ? "\\fI"
						     : " \\fI",
			r->value ? r->value : "", r->value ? "\\fR" : "", r->text);
	}
}

/* "the explorer, layers, bench": the commands that list the group. Returns their number. */
static int group_users(const struct option_group *g, struct str *out)
{
	int count, users = 0;
	const struct command *const *all = command_table(&count);
	for (int i = 0; i < count; i++)
		for (int k = 0; all[i]->groups[k]; k++)
			if (all[i]->groups[k] == g)
				str_addf(out, "%s%s", users++ ? ", " : "", command_subject(all[i]));
	return users;
}

/* A shared group: its title, the commands that have it, its rows. */
static void man_group(const struct option_group *g, const struct option_group *before, struct str *out)
{
	struct str users = { 0 };
	if (!before || strcmp(g->title, before->title) != 0)
		str_addf(out, ".SS %c%s\n", toupper(g->title[0]), g->title + 1);
	if (!group_users(g, &users))
		str_puts(out, ".PP\nEvery command has them.\n");
	else
		str_addf(out, ".PP\nFor %s%s.\n", users.p,
			g->everywhere ? "; the other commands accept and ignore it" : "");
	man_rows(g->rows, out);
	str_free(&users);
}

/* "Also -b, -t, --dim ...": the shared options of a command. */
static void man_also(const struct command *c, struct str *out)
{
	const char *before = c->own ? ".PP\nAlso " : ".PP\nOptions: ";
	for (int i = 0; c->groups[i]; i++)
		for (const struct option_row *r = c->groups[i]->rows; r->name; r++, before = ", ") {
			str_addf(out, "%s\\fB", before);
			char letter[3] = { '-', r->letter };
			man_typed(out, r->letter ? letter : "--");
			man_typed(out, r->letter ? "" : r->name);
			str_puts(out, "\\fR");
		}
	str_puts(out, c->groups[0] ? ".\n" : "");
}

static void man_command(const struct command *c, struct str *out)
{
	bool named = !command_is_explorer(c);
	str_addf(out, ".SS benanza%s%s [OPTIONS]%s%s\n%s\n", named ? " " : "", named ? c->name : "",
		*c->arguments ? " " : "", c->arguments, c->about);
	if (c->own)
		man_rows(c->own, out);
	man_also(c, out);
	if (c->examples[0])
		str_puts(out, ".PP\n.nf\n");
	for (int i = 0; c->examples[i]; i++) {
		str_puts(out, "$ ");
		man_typed(out, c->examples[i]);
		str_puts(out, "\n");
	}
	if (c->examples[0])
		str_puts(out, ".fi\n");
}

void help_man(struct str *out)
{
	int count;
	const struct command *const *all = command_table(&count);
	for (int i = 0; options_shared[i]; i++)
		man_group(options_shared[i], i ? options_shared[i - 1] : NULL, out);
	for (int i = 0; i < count; i++)
		man_command(all[i], out);
}
