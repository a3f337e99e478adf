/* Groups of layers that one kernel may compute: tests/plan/fusion.case. */
#include "config.h"

#include "analyze/analyze.h"
#include "make_plan.h"
#include "plan_cases.h"

static const struct fusion *fusion; /* of the plan that is asked about */

/* The group "c 1", with its layer; NULL: there is none. */
static const struct fusion_group *group_of(struct case_asked *q)
{
	char name[64];
	int number = 0;
	bool named = sscanf(q->subject, "%63s %d", name, &number) >= 1;
	const struct plan_layer *l = named ? case_layer(q->p, name) : NULL;
	int g = l ? fusion->first_group[l->index] : -1;
	bool there = g >= 0 && g + number < fusion->group_count &&
		     fusion->groups[g + number].layers[0] == l->index;
	return there ? &fusion->groups[g + number] : NULL;
}

/* The join of "3" members. */
static const struct fusion_group *join_of(struct case_asked *q)
{
	for (int i = 0; i < fusion->group_count; i++)
		if (fusion->groups[i].join && fusion->groups[i].join->member_count == atoi(q->subject))
			return &fusion->groups[i];
	return NULL;
}

static void tell_group(struct case_asked *q, const struct fusion_group *g)
{
	if (g)
		str_addf(q->out, "%s of %d: %s", g->pattern, g->layer_count, g->text);
}

static void tell_groups(struct case_asked *q)
{
	const struct plan_layer *l = case_layer(q->p, q->subject);
	int count = 0, from = l ? fusion->first_group[l->index] : -1;
	for (int g = from; l && g >= 0 && g < fusion->group_count; g++)
		count += fusion->groups[g].layers[0] == l->index;
	str_addf(q->out, "%d", *q->subject ? count : fusion->group_count);
}

static void tell_distinct(struct case_asked *q, const struct fusion_group *g)
{
	int first = g && g->distinct < q->p->problem_count ? q->p->problems[g->distinct].first_layer : -1;
	struct text name = first >= 0 ? case_name(q->p, first) : TEXT("");
	if (first >= 0)
		str_addf(q->out, "of %.*s", (int)name.n, name.p);
	else if (g)
		str_addf(q->out, "new %d", g->distinct - plan_problem_total(q->p));
}

/* Each unit with its layers; what only it reads; the groups that end with it. */
static void tell_cluster(struct case_asked *q)
{
	const struct fusion_cluster *c = &fusion->clusters[atoi(q->subject)];
	str_addf(q->out, "%d anchors, %d layers;", c->anchor_count, c->layer_count);
	for (int i = 0; i < c->unit_count; i++) {
		const struct fusion_unit *u = &c->units[i];
		case_layers(q, u->layers, u->layer_count);
		str_addf(q->out, "(%d children, ends %d)", u->child_count, u->ending_count);
	}
}

static void tell_counts(struct case_asked *q, bool joins)
{
	int count = 0;
	for (int i = 0; joins && i < fusion->group_count; i++)
		count += fusion->groups[i].join != NULL;
	for (int i = 0; !joins && i < fusion->text_count; i++)
		count += !fusion->text_is_nxc[i];
	str_addf(q->out, "%d", count);
}

static bool tell(struct case_asked *q, const char *key)
{
	const struct fusion_group *g;
	if (strcmp(key, "groups") == 0) {
		tell_groups(q);
	} else if (strcmp(key, "group") == 0) {
		tell_group(q, group_of(q));
	} else if (strcmp(key, "residual") == 0) {
		g = group_of(q);
		case_layers(q, g ? &g->residual : NULL, g && g->residual >= 0);
	} else if (strcmp(key, "distinct") == 0) {
		tell_distinct(q, group_of(q));
	} else if (strcmp(key, "channels last") == 0) {
		g = group_of(q);
		str_addf(q->out, "%s", g && g->text_nxc && g->distinct_nxc >= 0 ? g->text_nxc : "");
	} else if (strcmp(key, "clusters") == 0) {
		str_addf(q->out, "%d", fusion->cluster_count);
	} else if (strcmp(key, "cluster") == 0 && atoi(q->subject) < fusion->cluster_count) {
		tell_cluster(q);
	} else if (strcmp(key, "new texts") == 0 || strcmp(key, "joins") == 0) {
		tell_counts(q, *key == 'j');
	} else if (strcmp(key, "attention") == 0) {
		for (int i = 0; i < fusion->group_count; i++)
			if (strncmp(fusion->groups[i].text, "attention:", 10) == 0 && !q->out->n)
				tell_group(q, &fusion->groups[i]);
	} else if (strcmp(key, "join") == 0) {
		tell_group(q, join_of(q));
	} else if (strcmp(key, "level") == 0) {
		str_addf(q->out, "%d", join_of(q) ? join_of(q)->level : -1);
	} else if (strcmp(key, "copy") == 0) {
		g = join_of(q);
		str_addf(q->out, "%s", !g ? "no join" : fusion_copy_text(g) ? fusion_copy_text(g) : "");
	} else if (strcmp(key, "contests") == 0) {
		str_addf(q->out, "%d", fusion->contest_count);
	} else if (strcmp(key, "contest") == 0 && atoi(q->subject) < fusion->contest_count) {
		str_addf(q->out, "%d clusters", fusion->contests[atoi(q->subject)].cluster_count);
	} else if (strcmp(key, "miss") == 0) {
		str_addf(q->out, "%s", fusion->miss_count ? fusion->misses[0].why : "");
	} else {
		return false;
	}
	return true;
}

static bool answer(struct case_asked *q, const char *key)
{
	struct fusion *f = fusion_find(q->p);
	fusion = f;
	bool known = tell(q, key);
	fusion_free(f);
	return known;
}

static void hostile_fan_out(void)
{
	struct maker *m = make_begin();
	int x = make_input(m, "1x64x56x56"), y = make_conv(m, "1x64x56x56", x);
	for (int i = 0; i < 3000; i++)
		make_layer(m, "Relu", "eltwise:f32,f32:relu:1x64x56x56", "1x64x56x56", y, -1);
	struct fusion *f = fusion_find(make_finish(m));
	is_int(f->group_count, 0, "a value read three thousand times fuses nowhere");
	fusion_free(f);
	make_end(m);
	m = make_begin();
	f = fusion_find(make_finish(m));
	is_int(f->group_count, 0, "an empty plan has no groups");
	fusion_free(f);
	fusion_free(NULL);
	make_end(m);
}

/* A chain has an end. */
static void long_chain(void)
{
	struct maker *m = make_begin();
	int y = make_conv(m, "1x64x56x56", make_input(m, "1x64x56x56"));
	for (int i = 0; i < 100; i++)
		y = make_batchnorm(m, "1x64x56x56", 64, y);
	struct fusion *f = fusion_find(make_finish(m));
	int n = 0;
	while (f->first_group[0] + n < f->group_count && !f->groups[f->first_group[0] + n].layers[0])
		n++;
	is_int(n, 23, "groups of a convolution and a hundred normalizations");
	fusion_free(f);
	make_end(m);
}

int main(void)
{
	case_more = answer;
	cases_run("tests/plan/fusion.case", NULL);
	long_chain();
	hostile_fan_out();
	return done_testing();
}
