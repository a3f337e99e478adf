/* Merges the lists of backends by preference, keeps the library's order within each, and limits their
 * number with equal shares. */
#include "config.h"

#include "runner/measure/offers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "problem/kernel.h"

static int preference_of(const struct backend *b, const struct problem *p)
{
	return b->preference ? b->preference(p) : 0;
}

/* Inserts a list in order of preference, behind equal ones. */
static void list_insert(struct offers *o, const struct backend_list *list, const struct problem *p)
{
	int at = o->list_count;
	while (at > 0 && preference_of(o->list[at - 1].backend, p) < preference_of(list->backend, p)) {
		o->list[at] = o->list[at - 1];
		at--;
	}
	o->list[at] = *list;
	o->list_count++;
}

static void offers_number(struct offers *o)
{
	int count = 0;
	for (int l = 0; l < o->list_count; l++)
		count += o->list[l].count;
	o->offer = base_calloc((size_t)count, sizeof(*o->offer));
	for (int l = 0; l < o->list_count; l++)
		for (int i = 0; i < o->list[l].count; i++) {
			struct offer *f = &o->offer[o->count];
			*f = (struct offer){ &o->list[l], i, o->list[l].algorithm[i] };
			f->algorithm.rank = o->count++;
		}
}

/* Appends one backend's reason. */
static void reason_add(struct str *reasons, const struct backend *b, const char *why)
{
	bool named = strncmp(why, b->api, strlen(b->api)) == 0;
	if (reasons->n)
		str_addf(reasons, "; ");
	str_addf(reasons, "%s%s%s", named ? "" : b->api, named ? "" : ": ", why);
}

int offers_open(struct offers *o, const struct backend *const *backends, const struct problem *p, bool all,
	struct error *err)
{
	struct error first = ERROR_NONE, telling = ERROR_NONE;
	struct str reasons = { 0 };
	int telling_count = 0;
	*o = (struct offers){ 0 };
	for (int i = 0; backends[i]; i++) {
		struct error why = ERROR_NONE;
		struct backend_list list = { .all = all };
		assert(i < OFFERS_BACKENDS);
		if (backends[i]->branches != kernel_row(p->kernel)->branches)
			continue;
		int bad = backends[i]->algorithms(p, &list, &why);
		list.backend = backends[i];
		if (!bad && list.count > 0) {
			list_insert(o, &list, p);
			o->left_out += list.left_out;
			continue;
		}
		if (!*first.text)
			first = why;
		if (strncmp(why.text, "only ", 5) == 0)
			continue;
		if (telling_count++ == 0)
			telling = why;
		reason_add(&reasons, backends[i], why.text);
	}
	if (o->list_count) {
		offers_number(o);
		o->others = reasons.n ? base_strdup(reasons.p) : NULL;
	} else {
		error_set(err, "%s", !*first.text ? "this program runs no problems side by side" :
			telling_count == 0	     ? first.text
				: telling_count == 1 ? telling.text
						     : reasons.p);
	}
	str_free(&reasons);
	return o->list_count ? 0 : -1;
}

void offers_close(struct offers *o)
{
	for (int l = 0; l < o->list_count; l++)
		o->list[l].backend->forget(&o->list[l]);
	free(o->offer);
	free(o->others);
	*o = (struct offers){ 0 };
}

void offers_move(struct offers *to, struct offers *from)
{
	*to = *from;
	for (int i = 0; i < to->count; i++)
		to->offer[i].list = &to->list[from->offer[i].list - from->list];
	*from = (struct offers){ 0 };
}

int offers_keep(struct offers *o, const struct algorithm *a, struct error *err)
{
	for (int i = 0; i < o->count; i++) {
		if (algorithm_compare(&o->offer[i].algorithm, a) != 0)
			continue;
		o->offer[0] = o->offer[i];
		o->count = 1;
		return 0;
	}
	return error_set(err, "%s does not offer %s any more", a->api, a->name);
}

int offers_pick(const struct offers *o, int *picked, int most)
{
	int taken[OFFERS_BACKENDS] = { 0 }, left = most, count = 0;
	for (bool any = true; any && left > 0;) {
		any = false;
		for (int l = 0; l < o->list_count && left > 0; l++)
			if (taken[l] < o->list[l].count) {
				taken[l]++;
				left--;
				any = true;
			}
	}
	for (int i = 0; i < o->count; i++)
		if (o->offer[i].index < taken[o->offer[i].list - o->list])
			picked[count++] = i;
	return count;
}
