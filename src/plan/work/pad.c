/* The what-if pad: problems with channels rounded up to what matrix units like. */
#include "config.h"

#include "plan/plan.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define PAD_TO 8

static int64_t rounded(int64_t size)
{
	return size > INT32_MAX ? size : (size + PAD_TO - 1) / PAD_TO * PAD_TO;
}

bool plan_padded(const struct problem *p, struct problem *padded)
{
	bool dense = true;
	for (int i = 0; i < problem_operand_count(p); i++)
		dense &= p->operand[i].layout != LAYOUT_STRIDES;
	problem_copy(padded, p);
	if (!dense)
		return false;
	if ((p->kernel == KERNEL_CONV || p->kernel == KERNEL_DECONV) && p->g == 1) {
		padded->c = rounded(p->c);
		padded->k = rounded(p->k);
	} else if (p->kernel == KERNEL_MATMUL) {
		padded->mn = rounded(p->mn);
		padded->mk = rounded(p->mk);
		padded->size = p->size == p->mk ? padded->mk : p->size;
	}
	return padded->c != p->c || padded->k != p->k || padded->mn != p->mn || padded->mk != p->mk;
}

/* The index of the padded problem among all problems and `added`; -1: none, or it is not valid. */
static int padded_add(struct plan *p, struct hash *texts, struct plan_problem *added, int *count, int problem)
{
	struct problem own, padded, read;
	char text[PROBLEM_TEXT_SIZE];
	problem_restore(p->problems[problem].problem, &own);
	if (!plan_padded(&own, &padded) || problem_format(&padded, text, NULL) ||
		problem_parse(text_of(text), &read, NULL))
		return -1;
	int64_t found = hash_find(texts, text_of(text));
	if (found >= 0)
		return (int)found;
	int index = plan_problem_total(p) + *count;
	struct plan_problem *one = &added[(*count)++];
	*one = (struct plan_problem){ .text = arena_strndup(&p->arena, text, strlen(text)),
		.problem = problem_keep(&p->arena, &padded),
		.first_layer = p->problems[problem].first_layer,
		.use_count = p->problems[problem].use_count };
	*hash_at(texts, text_of(one->text)) = index;
	return index;
}

void plan_pad(struct plan *p)
{
	int total = plan_problem_total(p), count = 0;
	struct hash texts = { 0 };
	struct plan_problem *all = ARENA_ARRAY(&p->arena, struct plan_problem, total + p->problem_count);
	p->padded = ARENA_ARRAY(&p->arena, int, p->problem_count);
	for (int i = 0; i < total; i++) {
		all[i] = p->problems[i];
		*hash_at(&texts, text_of(all[i].text)) = i;
	}
	for (int i = 0; i < p->problem_count; i++)
		p->padded[i] = p->problems[i].border ? -1 : padded_add(p, &texts, all + total, &count, i);
	hash_free(&texts);
	p->problems = all;
	p->padded_problem_count = count;
}
