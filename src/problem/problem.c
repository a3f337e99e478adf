/* Names of kernels and modes, and what a problem's row says of its operands. */
#include "config.h"

#include "problem/problem_private.h"

const struct kernel_row *const kernel_rows[KERNEL_COUNT] = {
#define KERNEL_ROW(id, name) [KERNEL_##id] = &kernel_##name,
	KERNEL_LIST(KERNEL_ROW)
#undef KERNEL_ROW
};

static const char *const kernel_names[KERNEL_COUNT] = {
#define KERNEL_NAME(id, name) [KERNEL_##id] = #name,
	KERNEL_LIST(KERNEL_NAME)
#undef KERNEL_NAME
};

static const struct {
	const char *name;
	enum kernel kernel;
	int parameters;
} mode_rows[MODE_COUNT] = {
	[MODE_NONE] = { "none", KERNEL_COUNT, 0 },
#define MODE_ROW(id, name, kernel, parameters) [MODE_##id] = { name, KERNEL_##kernel, parameters },
	MODE_LIST(MODE_ROW)
#undef MODE_ROW
};

#define WORD sizeof(uint64_t)
#define WORD_BITS 64
_Static_assert(offsetof(struct problem, shape) % WORD == 0 && sizeof(struct problem_shape) % WORD == 0,
	"whole words");

#define WORDS_MAX ((int)(sizeof(struct problem) / WORD))
#define MASKS(words) (((words) + WORD_BITS - 1) / WORD_BITS)

const struct problem_kept *problem_keep(struct arena *a, const struct problem *p)
{
	uint64_t words[MASKS(WORDS_MAX) + WORDS_MAX];
	int count = (int)(problem_extent(p) / WORD), at = MASKS(count);
	memset(words, 0, (size_t)at * WORD);
	for (int i = 0; i < count; i++) {
		memcpy(&words[at], (const char *)p + (size_t)i * WORD, WORD);
		words[i / WORD_BITS] |= (uint64_t)(words[at] != 0) << i % WORD_BITS;
		at += words[at] != 0;
	}
	struct problem_kept *kept = arena_alloc(a, sizeof(*kept) + (size_t)at * WORD);
	*kept = (struct problem_kept){ p->kernel, p->mode, p->alpha, p->beta, p->epilogue_count,
		p->shape_count };
	memcpy(kept->words, words, (size_t)at * WORD);
	return kept;
}

void problem_restore(const struct problem_kept *kept, struct problem *p)
{
	p->shape_count = kept->shape_count;
	size_t extent = problem_extent(p);
	int masks = MASKS((int)(extent / WORD));
	const uint64_t *next = kept->words + masks;
	memset(p, 0, extent);
	for (int i = 0; i < masks; i++)
		for (uint64_t mask = kept->words[i]; mask; mask &= mask - 1) {
			int word = i * WORD_BITS + __builtin_ctzll(mask);
			memcpy((char *)p + (size_t)word * WORD, next++, WORD);
		}
}

const char *kernel_name(enum kernel k)
{
	return kernel_names[k];
}

const char *mode_name(enum mode m)
{
	return mode_rows[m].name;
}

enum mode mode_parse(enum kernel k, struct text name)
{
	for (int m = MODE_NONE + 1; m < MODE_COUNT; m++)
		if (mode_rows[m].kernel == k && text_is(name, mode_rows[m].name))
			return (enum mode)m;
	return MODE_NONE;
}

int mode_parameters(enum mode m)
{
	return mode_rows[m].parameters;
}

int64_t problem_out_size(const struct problem *p, int i)
{
	return kernel_row(p->kernel)->out_size(p, i);
}

struct problem_shape problem_operand_shape(const struct problem *p, int i)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	return row->shape ? row->shape(p, i) : p->shape[0];
}

int problem_operand_count(const struct problem *p)
{
	return kernel_row(p->kernel)->operands;
}

int problem_channel_axis(const struct problem *p)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	return row->channels_last ? problem_operand_shape(p, row->operands - 1).rank - 1 : 1;
}

int64_t problem_parameter_count(const struct problem *p)
{
	const struct kernel_row *row = kernel_row(p->kernel);
	return row->parameter_count ? row->parameter_count(p) : 0;
}

static bool operand_set_layout(struct operand *o, enum layout l)
{
	bool changes = o->layout != LAYOUT_STRIDES && o->layout != l;
	if (changes)
		o->layout = l;
	return changes;
}

bool problem_set_layout(struct problem *p, enum layout l)
{
	int last = problem_operand_count(p) - 1;
	int rank = kernel_row(p->kernel)->image_like ? problem_operand_shape(p, last).rank : 0;
	bool changed = false;
	if (rank < 3 || rank > 5)
		return false;
	for (int i = 0; i <= last; i++)
		if (problem_operand_shape(p, i).rank == rank)
			changed |= operand_set_layout(&p->operand[i], l);
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind == EPILOGUE_BINARY)
			changed |= operand_set_layout(&p->epilogue[i].operand, l);
	return changed;
}

bool problem_has_constant(const struct problem *p)
{
	if (kernel_row(p->kernel)->branches)
		return problem_constant_bytes(p) > 0;
	for (int i = 0; i < problem_operand_count(p); i++)
		if (p->operand[i].constant)
			return true;
	for (int i = 0; i < p->epilogue_count; i++)
		if (p->epilogue[i].kind != EPILOGUE_ELTWISE && p->epilogue[i].operand.constant)
			return true;
	return false;
}
