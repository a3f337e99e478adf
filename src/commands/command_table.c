/* The table of commands, and how their names are found in the arguments. */
#include "config.h"

#include "base/word.h"
#include "commands/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command *const *commands; /* the first is the explorer */
static int command_count;

void command_table_set(const struct command *const *all, int count)
{
	commands = all;
	command_count = count;
}

bool command_is_explorer(const struct command *c)
{
	return c == commands[0];
}

const struct command *const *command_table(int *count)
{
	*count = command_count;
	return commands;
}

/* True if the words are "db export" of a name "db export", or its first word alone. */
static bool is_named(const struct command *c, const char *const *words, int count)
{
	const char *name = c->name;
	for (int i = 0; i < count; i++) {
		size_t n = strlen(words[i]);
		if (!n || strncmp(name, words[i], n) != 0 || (name[n] && name[n] != ' '))
			return false;
		name += n + (name[n] == ' ');
	}
	return !*name;
}

const struct command *command_named(const char *const *words, int count)
{
	for (int i = 0; i < command_count; i++)
		if (is_named(commands[i], words, count))
			return commands[i];
	return NULL;
}

/* True if the word looks like a misspelt command: no such file, and neither a path nor an extension. */
static bool is_misspelt(const char *word)
{
	return *word && strcmp(word, "-") != 0 && !strpbrk(word, "./") && access(word, F_OK) != 0;
}

/* The longest name wins: "db export" before "db". */
const struct command *command_of(const char *const *words, int count, int *used)
{
	for (*used = count < 2 ? count : 2; *used > 0; --*used) {
		const struct command *c = command_named(words, *used);
		bool is_file = command_is_explorer(c) ||
			(c && !strcmp(c->name, "help") && access(words[0], F_OK) == 0);
		if (c && !is_file)
			return c;
	}
	return count && is_misspelt(words[0]) ? NULL : commands[0];
}

const char *command_subject(const struct command *c)
{
	return command_is_explorer(c) ? "the explorer" : c->name;
}

bool command_has_group(const struct command *c, const struct option_group *g)
{
	for (int i = 0; c->groups[i]; i++)
		if (c->groups[i] == g)
			return true;
	return g->everywhere;
}

int command_unknown(const char *const *words, int count, struct error *err)
{
	char word[41];
	snprintf(word, sizeof(word), "%s%s%s", words[0], count > 1 ? " " : "", count > 1 ? words[1] : "");
	struct word_nearest nearest = { .word = word };
	for (int i = 1; i < command_count; i++)
		word_try(&nearest, commands[i]->name);
	if (nearest.best)
		return error_set(err, "unknown command \"%s\"; did you mean %s?", word, nearest.best);
	return error_set(err, "unknown command \"%s\"; try --help", word);
}
