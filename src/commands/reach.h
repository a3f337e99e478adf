/* What would have to be true for a latency or throughput that advice does not reach: another device, another
 * batch. */
#ifndef COMMANDS_REACH_H
#define COMMANDS_REACH_H

#include "commands/command.h"
#include "table/tables/advice.h"

struct reach {
	int device_count, batch_count;
	struct reach_row *devices; /* recorded and described ones with a complete bound: those that do not
				      reach it, then the others, slowest first. For a throughput: at the
				      first batch that reaches it, else where doublings gain less than 1% */
	struct reach_row *batches; /* of the session's device, for a throughput: these doublings */
};

/* Analyses the session's plan on other devices, and for a throughput at larger batches. Rows live in the
 * arena. */
struct reach reach_find(struct session *s, const struct advice_target *target, struct arena *a);

/* The rest of `advise --target`, after its advice. */
void report_reach_text(const struct reach *r, const struct advice_target *t, FILE *out);
json_t *report_reach_json(const struct reach *r);

#endif
