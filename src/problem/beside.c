/* Splits and joins the text of branches; parts keep their order, so that equal sets have one spelling. */
#include "config.h"

#include "problem/beside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int beside_split(struct text branches, struct beside *b, struct error *err)
{
	*b = (struct beside){ 0 };
	for (size_t at = 0, n; at <= branches.n; at += n + 1) {
		for (n = 0; at + n < branches.n && branches.p[at + n] != '=' && branches.p[at + n] != '%';)
			n++;
		if (b->part_count == BESIDE_PARTS)
			return error_set(err, "problem: more than %d problems side by side", BESIDE_PARTS);
		if (b->branch_count == BESIDE_BRANCHES)
			return error_set(err, "problem: more than %d branches", BESIDE_BRANCHES);
		b->part[b->part_count++] = (struct text){ branches.p + at, n };
		if (at + n == branches.n || branches.p[at + n] == '%')
			b->first[++b->branch_count] = b->part_count;
	}
	return b->branch_count < 2 ? error_set(err, "problem: a single branch is not side by side") : 0;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool problem_is_beside(const char *text)
{
	return strncmp(text, BESIDE_PREFIX, strlen(BESIDE_PREFIX)) == 0;
}

int beside_text(const char **branches, int count, char *buf)
{
	size_t used = strlen(BESIDE_PREFIX);
	if (count < 2 || count > BESIDE_BRANCHES)
		return -1;
	qsort(branches, (size_t)count, sizeof(*branches), compare);
	memcpy(buf, BESIDE_PREFIX, used);
	for (int i = 0; i < count; i++) {
		size_t n = strlen(branches[i]);
		if (used + n + 1 >= PROBLEM_TEXT_SIZE)
			return -1;
		memcpy(buf + used, branches[i], n);
		used += n;
		buf[used++] = i < count - 1 ? '%' : '\0';
	}
	return 0;
}

double beside_sum(const struct problem *p, double (*of)(const struct problem *part))
{
	struct beside b;
	double sum = 0;
	if (beside_split(text_of(p->branches), &b, NULL))
		return NAN;
	for (int i = 0; i < b.part_count; i++) {
		struct problem part;
		sum += problem_parse(b.part[i], &part, NULL) ? NAN : of(&part);
	}
	return sum;
}

/* ---- what ran */

#define WORKSPACE ", workspace "
#define NOTES ", notes "

void beside_ran_write(struct str *out, enum kernel kernel, const struct algorithm *a)
{
	str_addf(out, "%s %s %s", kernel_name(kernel), a->api, a->name);
	if (isfinite(a->workspace_bytes) && a->workspace_bytes >= 0)
		str_addf(out, WORKSPACE "%.0f", a->workspace_bytes);
	if (a->notes && *a->notes)
		str_addf(out, NOTES "%s", a->notes);
	str_puts(out, "\n");
}

/* Takes the text before the first `end` from t, and `end`; without one, all of it. */
static struct text take(struct text *t, const char *end)
{
	size_t n = strlen(end);
	const char *at = t->n >= n ? memmem(t->p, t->n, end, n) : NULL;
	struct text head = { t->p, at ? (size_t)(at - t->p) : t->n };
	size_t passed = head.n + (at ? n : 0);
	*t = (struct text){ t->p + passed, t->n - passed };
	return head;
}

bool beside_ran_next(const char **lines, struct beside_ran *ran)
{
	struct text line = { *lines, strcspn(*lines, "\n") };
	*lines += line.n + ((*lines)[line.n] == '\n');
	*ran = (struct beside_ran){ .workspace_bytes = NAN };
	take(&line, ": ");
	ran->kernel = take(&line, " ");
	struct text algorithm = take(&line, NOTES), bytes;
	ran->notes = line;
	ran->name = take(&algorithm, WORKSPACE);
	bytes = algorithm;
	ran->api = take(&ran->name, " ");
	for (size_t i = 0; i < bytes.n && i < 15 && bytes.p[i] >= '0' && bytes.p[i] <= '9'; i++)
		ran->workspace_bytes = (i ? 10 * ran->workspace_bytes : 0) + (bytes.p[i] - '0');
	return ran->api.n > 0 && ran->name.n > 0;
}
