/* Lists oneDNN's implementations of a problem: the first half of its backend. */
#ifndef RUNNER_ONEDNN_OFFERS_H
#define RUNNER_ONEDNN_OFFERS_H

#include "base/arena.h"
#include "runner/measure/backend.h"
#include "runner/onednn/onednn_case.h"

#define ONEDNN_ALGORITHMS 48

/* Created by the first call of onednn_probe or onednn_algorithms. */
extern dnnl_engine_t onednn_engine;
extern dnnl_stream_t onednn_stream;

struct onednn_candidate {
	const struct onednn_case *from;
	dnnl_primitive_desc_t pd;
	bool reference, approximate;
	bool single; /* planned and run with one thread */
};

struct onednn_offers {
	struct arena arena;
	struct problem problem;
	struct onednn_case *cases[CHOICE_COUNT]; /* or 2 layouts x SIDE_COUNT */
	int case_count;
	struct onednn_candidate candidate[ONEDNN_ALGORITHMS];
	struct algorithm algorithm[ONEDNN_ALGORITHMS];
	int count;
	struct work *open; /* those that are prepared, linked */
	float *plain[ONEDNN_ARGS]; /* inputs before packing, created on first use; shared by all cases */
};

/* Functions of struct backend with these names. */
int onednn_probe(struct str *stack, json_t *attributes, bool *has_matrix, struct error *err);
int onednn_algorithms(const struct problem *p, struct backend_list *list, struct error *err);
void onednn_forget(struct backend_list *list);
/* algorithms() of backend_ones: sums as products with ones (onednn_ones.h). */
int onednn_ones_algorithms(const struct problem *p, struct backend_list *list, struct error *err);

#endif
