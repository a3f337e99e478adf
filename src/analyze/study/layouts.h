/* Layouts in which layers can work, and the conversions between them. */
#ifndef ANALYZE_STUDY_LAYOUTS_H
#define ANALYZE_STUDY_LAYOUTS_H

#include "analyze/study/study.h"

enum { CONVERSION_UNKNOWN = -1, CONVERSION_FREE = -2 };

/* A value whose layout is a choice. */
struct layout_value {
	int value;
	uint32_t made, wanted;  /* layouts in which it may be produced and read, as bits of enum
				   image_layout */
	int distinct[IMAGE_LAYOUTS][IMAGE_LAYOUTS]; /* the conversion from a layout to another: its distinct
						       problem or CONVERSION_* */
	int conversion[IMAGE_LAYOUTS]; /* index of study.conversions by target, or -1 */
};

struct layouts_of {
	bool priced;            /* every layer; else one that can work in ONNX order counts as if it did */
	int count;
	struct layout_value *values; /* ascending by producer */
	int *of_value;          /* per plan value: its index, or -1 */
	int *of_conversion;     /* per conversion: index of its value * IMAGE_LAYOUTS + target */
	enum kernel_layout *role; /* per layer: plan_layer_layout */
	bool *passes;           /* per layer: layout_passes */
	int *last_reader;       /* per plan value: the last layer that reads its data, or -1 */
};

#define LAYOUT_PAIRS_ALL UINT32_MAX

/* A layer's layouts of source and destination, as one number. */
static inline int layout_pair(int in, int out)
{
	return in * IMAGE_LAYOUTS + out;
}

/* The pair in which an algorithm works; -1: it has a layout that no conversion makes. */
int layout_pair_of(const struct result *r);
/* The pairs of a problem's algorithms, as bits, ONNX order if none is known. */
uint32_t layout_pairs(const struct study *st, int distinct);
/* True if all algorithms of a problem read channels last. */
bool layout_is_forced(const struct study *st, int distinct);
/* Fills st->layouts, if conversions count, and the study's conversions. */
void layouts_open(struct study *st, bool priced);

#endif
