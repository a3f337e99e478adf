/* What commands with one report a scenario share: the model on its device, for each batch and data type. */
#ifndef COMMANDS_EACH_H
#define COMMANDS_EACH_H

#include "commands/command.h"

/* Prints, unless -q, where results are from if not from the running device. After session_connect. */
void each_notes(struct session *s, const struct options *o);
/* As each_notes, but skips lines that are in `said` already and appends those that it prints. */
void each_notes_after(struct session *s, const struct options *o, struct str *said);

/* Opens the model o->argv[index] with the one plan of the options, on its device, analysed; the caller closes
 * it, also on errors. Returns an exit status. */
int each_open(struct options *o, int index, struct session **s, struct error *err);
/* Opens the model o->argv[0], connects to the device, and calls `visit` for each requested batch and data
 * type, with all symbols bound and the analysis up to date. Returns the highest exit status; ends at the
 * first one above EXIT_GAPS. */
int each_scenario(struct options *o, int (*visit)(struct session *s, struct options *o, struct error *err),
	struct error *err);

#endif
