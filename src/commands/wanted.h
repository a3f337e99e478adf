/* The distinct problems of models in all their scenarios: for bench, its jobs, and exports. */
#ifndef COMMANDS_WANTED_H
#define COMMANDS_WANTED_H

#include "base/hash.h"
#include "commands/command.h"

struct wanted_problem {
	const char *text;
	int uses;      /* number of layers and groups that use it */
	int model;     /* wanted.model of the first model that needs it */
	int scenario;  /* index of the first batch and type that needs it; types vary fastest */
	double distance; /* reuse distance of that model (plan.reuse_bytes) */
	double share;  /* priority: its share of a scenario's work, summed over the scenarios; see
			  wanted_sort */
};

struct wanted {
	struct arena arena;
	struct hash index; /* text -> index in problems */
	int model;    /* of the problems added next; 0 throughout: one order for all models */
	int scenario; /* the current one of wanted_gather */
	double distance;
	int mentioned; /* problems of the last model, shared ones of earlier models included */
	int count, capacity;
	struct wanted_problem *problems;
};

/* Adds the problems of a model for every requested batch and data type, fused ones included. Prints a line if
 * the model has no problem (unless -q). Returns -1 with an error. */
int wanted_gather(struct wanted *w, struct session *s, const struct options *o, struct error *err);
/* Adds the problems that measure a device's peaks (analyze/roof/peaks.h), for the data types of the problems
 * gathered so far, with the highest priority. */
void wanted_add_peaks(struct wanted *w, const struct device *d);
/* Sorts by model, then by priority, highest first. A problem's share of a scenario is uses x cost / total;
 * the cost is a rough roofline of a typical GPU (wanted.c), good enough for an order. Fused problems count
 * half, because the first bound is complete without them. The index is empty afterwards. */
void wanted_sort(struct wanted *w);
/* Adds a problem at the end, unless it is there: after wanted_sort. */
void wanted_append(struct wanted *w, const char *text, int scenario);
void wanted_free(struct wanted *w);

#endif
