/* The tables of what models share (analyze/tables/sharing.h). */
#ifndef TABLE_TABLES_MODELS_H
#define TABLE_TABLES_MODELS_H

#include "analyze/tables/sharing.h"
#include "table/table.h"

struct report_models {
	const struct sharing *sharing;
	const char *const *paths; /* of its models */
	int64_t batch;            /* 0: the models' own */
	const char *const *dims;  /* of each model: "sequence 512 (remembered)", or "" */
	json_t *const *bound;     /* of each model: its dimensions as in bound --json, borrowed */
	const char *type; /* "mixed": the models run in several */
};

/* A row a model; total: then one of all of them, and notes. Returns the layers of all. */
int models_table(struct table *t, const struct report_models *r, bool total);
/* A row a pair of models. most: only the most similar ones with a common layer, for people. */
void pairs_table(struct table *t, const struct report_models *r, bool most);
/* The models that cover most of the distinct layers, or of the time. */
#define COVER_SHARE 0.9
void cover_table(struct table *t, const struct report_models *r, bool by_time);

#endif
