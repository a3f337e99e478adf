/* The table of commands, and how their names are found in the arguments. */
#include "config.h"

#include "base/word.h"
#include "commands/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_ROW(name) &command_##name,
static const struct command *const commands[] = { COMMAND_LIST(COMMAND_ROW) };

#define COMMAND_COUNT ((int)(sizeof(commands) / sizeof(commands[0])))

const struct command *const *command_table(int *count)
{
	*count = COMMAND_COUNT;
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
	for (int i = 0; i < COMMAND_COUNT; i++)
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
		bool is_file = c == &command_explorer || (c == &command_help && access(words[0], F_OK) == 0);
		if (c && !is_file)
			return c;
	}
	return count && is_misspelt(words[0]) ? NULL : &command_explorer;
}

const char *command_subject(const struct command *c)
{
	return c == &command_explorer ? "the explorer" : c->name;
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
	for (int i = 1; i < COMMAND_COUNT; i++)
		word_try(&nearest, commands[i]->name);
	if (nearest.best)
		return error_set(err, "unknown command \"%s\"; did you mean %s?", word, nearest.best);
	return error_set(err, "unknown command \"%s\"; try --help", word);
}
