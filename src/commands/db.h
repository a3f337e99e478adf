/* What `benanza db` does that has a file of its own. Each returns an exit status, EXIT_BAD with a line in err. */
#ifndef COMMANDS_DB_H
#define COMMANDS_DB_H

#include "commands/command.h"

/* argv[1...]: files of results, which are added to the database. */
int db_import(struct store *s, struct options *o, struct error *err);
/* argv[1...]: other databases, of which all that this one lacks is added. */
int db_merge(struct store *s, struct options *o, struct error *err);
/* Results as such a file, on standard output: of the devices that -d fits, of the models argv[1...] where there are any. */
int db_export(struct store *s, struct options *o, struct error *err);

#endif
