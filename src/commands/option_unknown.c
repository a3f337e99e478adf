/* Errors for options that a command does not have. */
#include "config.h"

#include "base/word.h"
#include "commands/command.h"

#include <getopt.h>
#include <string.h>

/* "the explorer, bench and bound have it" */
static const char *option_owners(const char *name, struct str *out)
{
	const struct option_row *rows[OPTION_ROWS_MAX];
	const char *last = NULL;
	int commands, found = 0;
	const struct command *const *all = command_table(&commands);
	for (int i = 0; i < commands; i++) {
		bool has = false;
		for (int count = option_rows_of(all[i], rows), k = 0; k < count; k++)
			has |= strcmp(rows[k]->name, name) == 0;
		if (!has)
			continue;
		if (last)
			str_addf(out, "%s%s", found > 1 ? ", " : "", last);
		last = command_subject(all[i]);
		found++;
	}
	str_addf(out, "%s%s %s it", found > 1 ? " and " : "", last ? last : "", found > 1 ? "have" : "has");
	return out->p;
}

/* The row with this letter, or this name (n bytes), or a name that begins with it if there is no other; else
 * NULL. *begun: number of names that begin with it. */
static const struct option_row *row_find(const struct option_row *const *rows, int count, int letter,
	const char *name, size_t n, int *begun)
{
	const struct option_row *longer = NULL;
	*begun = 0;
	for (int i = 0; i < count; i++) {
		bool begins = !letter && strncmp(rows[i]->name, name, n) == 0;
		if (letter ? rows[i]->letter == letter : begins && !rows[i]->name[n])
			return rows[i];
		if (!begins)
			continue;
		longer = rows[i];
		++*begun;
	}
	return *begun == 1 ? longer : NULL;
}

/* The row whose name is nearest to a misspelt one, or NULL. */
static const struct option_row *row_nearest(const struct option_row *const *rows, int count, const char *name)
{
	const struct option_row *best = NULL;
	int least = word_reach(strlen(name)) + 1;
	for (int i = 0; i < count; i++) {
		int distance = word_distance(text_of(name), text_of(rows[i]->name), false);
		best = distance < least ? rows[i] : best;
		least = distance < least ? distance : least;
	}
	return best;
}

/* An option of other commands. */
static int option_foreign(const struct command *c, const struct option_row *r, int letter, struct error *err)
{
	struct str owners = { 0 };
	option_owners(r->name, &owners);
	if (letter)
		error_set(err, "%s has no option -%c (--%s); %s", command_subject(c), letter, r->name,
			owners.p);
	else
		error_set(err, "%s has no option --%s; %s", command_subject(c), r->name, owners.p);
	str_free(&owners);
	return -1;
}

/* An option of no command, named like one: `own` are the command's rows, `all` those of all. */
static int option_misspelt(const struct option_row *const *own, int own_count,
	const struct option_row *const *all, int all_count, const char *name, const char *help,
	struct error *err)
{
	const struct option_row *nearest = row_nearest(own, own_count, name),
		*other = row_nearest(all, all_count, name);
	if (nearest)
		return error_set(err, "unknown option --%s; did you mean --%s?", name, nearest->name);
	if (!other)
		return error_set(err, "unknown option --%s; see benanza %s", name, help);
	struct str owners = { 0 };
	error_set(err, "unknown option --%s; did you mean --%s? %s", name, other->name,
		option_owners(other->name, &owners));
	str_free(&owners);
	return -1;
}

/* Sets the error for an ambiguous name, with which `begun` > 1 options begin. Suggests an option that is a
 * prefix of all the others: --budget for --budge, where --budget-ms also exists. */
static int option_ambiguous(const struct option_row *const *own, int own_count, const char *name, int begun,
	const char *help, struct error *err)
{
	for (int i = 0; i < own_count; i++) {
		int longer = 0;
		for (int k = 0; k < own_count; k++)
			longer += strncmp(own[k]->name, own[i]->name, strlen(own[i]->name)) == 0;
		if (longer == begun && strncmp(own[i]->name, name, strlen(name)) == 0)
			return error_set(err,
				"ambiguous option --%s: %d options begin with it; did you mean --%s?", name,
				begun, own[i]->name);
	}
	return error_set(err, "ambiguous option --%s: %d options begin with it; see benanza %s", name, begun,
		help);
}

int options_unknown(const struct options *o, int code, char **argv, struct error *err)
{
	const struct option_row *own[OPTION_ROWS_MAX], *all[OPTION_ROWS_MAX], *row;
	int own_count = option_rows_of(o->command, own), all_count = option_rows_of(NULL, all), begun;
	const char *word = argv[optind - 1];
	char name[32], help[48];
	bool named = o->command && !command_is_explorer(o->command);
	snprintf(help, sizeof(help), "%s%s", named ? o->command->name : o->command ? "help explorer" : "",
		named ? " --help" : o->command ? "" : "--help");
	if (code == ':')
		return error_set(err, "option %s needs a value; see benanza %s", word, help);
	/* a letter; in a word of several letters, `word` can be the one before it */
	bool is_letter = optopt && optopt < 256 && !row_find(own, own_count, optopt, "", 0, &begun);
	if (is_letter && (optopt <= ' ' || optopt > '~'))
		return error_set(err, "unknown option: not an ASCII letter; see benanza %s", help);
	if (is_letter) {
		row = row_find(all, all_count, optopt, "", 0, &begun);
		return row ? option_foreign(o->command, row, optopt, err) :
			error_set(err, "unknown option -%c; see benanza %s", optopt, help);
	}
	size_t n = strcspn(word + 2, "=");
	snprintf(name, sizeof(name), "%.*s", (int)n, word + 2);
	if (optopt)
		return error_set(err, "option --%s takes no value", name);
	row_find(own, own_count, 0, name, n, &begun);
	if (begun > 1)
		return option_ambiguous(own, own_count, name, begun, help, err);
	row = row_find(all, all_count, 0, name, n, &begun);
	if (row && o->command)
		return option_foreign(o->command, row, 0, err);
	return option_misspelt(own, own_count, all, all_count, name, help, err);
}
