/* benanza --tour: a database of recorded results for its time only. The user's configuration, database and
 * state are left as they are. */
#ifndef COMMANDS_TOUR_H
#define COMMANDS_TOUR_H

#include "commands/command.h"

#define TOUR_PATH_MAX 512

struct tour_database {
	char folder[TOUR_PATH_MAX], file[TOUR_PATH_MAX]; /* "" until they exist */
	char config[TOUR_PATH_MAX];                      /* an empty configuration */
	int lock;                                        /* of the folder, while the program runs; -1: none */
};

/* Removes what killed tours left in $TMPDIR (else /tmp), makes the database there, and sets the options to
 * it, its device and the defaults. Call tour_end afterwards, also after an error (-1). */
int tour_begin(struct tour_database *t, struct options *o, struct error *err);
void tour_end(struct tour_database *t);

#endif
