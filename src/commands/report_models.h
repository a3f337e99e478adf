/* Prints what models share (analyze/sharing.h). */
#ifndef COMMANDS_REPORT_MODELS_H
#define COMMANDS_REPORT_MODELS_H

#include "analyze/sharing.h"
#include "commands/report.h"

struct report_models {
	const struct sharing *sharing;
	const char *const *paths; /* of its models */
	int64_t batch;            /* 0: the models' own */
	const char *const *dims;  /* of each model: "sequence 512 (remembered)", or "" */
	json_t *const *bound;     /* of each model: its dimensions as in bound --json, borrowed */
	const char *type; /* "mixed": the models run in several */
};

/* What models share, as tables that fit the terminal (report_width), and as one object (benanza-json(5)). */
void report_models_text(const struct session *s, const struct report_models *r, FILE *out);
json_t *report_models_json(const struct session *s, const struct report_models *r);

#endif
