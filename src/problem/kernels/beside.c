/* Branches of problems that run side by side (problem/beside.h). */
#include "config.h"

#include "problem/beside.h"
#include "problem/problem_private.h"
#include "problem/problem_segments.h"

#include <string.h>

static void branches_write(const struct problem *p, struct str *out)
{
	str_puts(out, p->branches);
}

/* Takes the rest of the text; beside_check parses it. */
static int branches_read(struct cursor *c, struct problem *p)
{
	if (c->rest.n >= sizeof(p->branches))
		return cursor_fail(c, "a shorter text");
	memcpy(p->branches, c->rest.p, c->rest.n);
	p->branches[c->rest.n] = '\0';
	p->shape_count = (int)(c->rest.n / sizeof(p->shape[0])) + 1;
	c->rest = (struct text){ c->rest.p + c->rest.n, 0 };
	return 0;
}

static const struct segment seg_branches = { "branches", branches_write, branches_read };

static bool is_sorted(const char *branches)
{
	for (const char *next; (next = strchr(branches, '%')); branches = next + 1)
		if (text_compare((struct text){ branches, (size_t)(next - branches) },
			    (struct text){ next + 1, strcspn(next + 1, "%") }) > 0)
			return false;
	return true;
}

static int beside_check(const struct problem *p, struct error *err)
{
	struct beside b;
	if (!memchr(p->branches, '\0', sizeof(p->branches)))
		return error_set(err, "problem: the texts of the branches do not end");
	if (beside_split(text_of(p->branches), &b, err))
		return -1;
	for (int i = 0; i < b.part_count; i++) {
		struct problem part;
		if (b.part[i].n > 6 && memcmp(b.part[i].p, "beside", 6) == 0)
			return error_set(err, "problem: branches in a branch");
		if (problem_parse(b.part[i], &part, err))
			return error_context(err, "problem %d of the branches", i + 1);
	}
	return is_sorted(p->branches) ? 0 :
		error_set(err, "problem: the branches are not in ascending order");
}

const struct kernel_row kernel_beside = {
	.branches = true,
	.segments = SEGMENTS(&seg_branches),
	.check = beside_check,
};
