/* The list of all commands: the only file that needs each of them. */
#include "config.h"

#include "commands/command.h"

#define COMMAND_ROW(name) &command_##name,
static const struct command *const commands[] = { COMMAND_LIST(COMMAND_ROW) };

void commands_register(void)
{
	command_table_set(commands, (int)(sizeof(commands) / sizeof(commands[0])));
}
