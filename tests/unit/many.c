/* Runs commands of benanza, each in a fork of this process, which needs no start of the program: for tests in
 * Python that ask for the layers of thousands of small models. Not a test itself.
 *
 * Reads a command a line, its words separated by tabs. Prints what the command prints, errors too, then a
 * line "= STATUS". */
#include "config.h"

#include "commands/command.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 32

static int run(int argc, char **argv)
{
	struct error err = ERROR_NONE;
	struct options o = { 0 };
	int status = options_parse(&o, argc, argv, &err) ? EXIT_BAD : o.command->run(&o, &err);
	options_free(&o);
	if (err.text[0])
		printf("\nbenanza: %s\n", err.text);
	return fflush(stdout) ? EXIT_BAD : status;
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	commands_register();
	if (dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
		return EXIT_FAILURE;
	for (ssize_t n; (n = getline(&line, &size, stdin)) > 0;) {
		char name[] = "benanza", *argv[WORDS + 2] = { name };
		int argc = 1, status = 0;
		line[n - (line[n - 1] == '\n')] = '\0';
		for (char *word = strtok(line, "\t"); word && argc <= WORDS; word = strtok(NULL, "\t"))
			argv[argc++] = word;
		pid_t child = fork();
		if (child == 0)
			exit(run(argc, argv));
		if (child < 0 || waitpid(child, &status, 0) != child)
			return EXIT_FAILURE;
		printf("\n= %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		fflush(stdout);
	}
	free(line);
	return EXIT_SUCCESS;
}
