/* Subcommands of `benanza db` in files of their own. Each returns an exit status, EXIT_BAD with a line in
 * err. */
#ifndef COMMANDS_DB_H
#define COMMANDS_DB_H

#include "commands/command.h"

/* Adds the results of the files argv[0...] to the database. */
int db_import(struct store *s, struct options *o, struct error *err);
/* Adds the contents of the databases argv[0...] that this one does not have. */
int db_merge(struct store *s, struct options *o, struct error *err);
/* Prints results in the format of db_import: those of the devices that match -d, and of the models
 * argv[0...], if any. */
int db_export(struct store *s, struct options *o, struct error *err);

#endif
