/* What is expected of problems that are still to be measured, on sequences recorded from real runs
 * (tests/eta). */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drive/eta.h"
#include "tap.h"

#define MOST 256
#define BEGIN 0.1  /* of the way: from here on the estimate is to be right */
#define END 0.95   /* where the last few problems decide */
#define FACTOR 1.5
#define FEW 100
#define UNSTEADY 1.7 /* what the machine's speed changed by within a sequence */
#define ORDERS 20
#define ANY_ORDER 2.2 /* the explorer's follows what is looked at; the machine's changes fall elsewhere
			 then */

struct record {
	double took_s;
	char problem[400];
	struct eta_weight weight;
};

static int records_read(const char *name, struct record *r)
{
	char path[512];
	int n = 0;
	snprintf(path, sizeof(path), "%s/tests/eta/%s.tsv", getenv("srcdir") ? getenv("srcdir") : ".", name);
	FILE *f = fopen(path, "r");
	while (f && n < MOST && fscanf(f, "%lf\t%399[^\n]\n", &r[n].took_s, r[n].problem) == 2) {
		r[n].weight = eta_weigh(r[n].problem);
		n++;
	}
	if (f)
		fclose(f);
	return n;
}

/* By how much it is wrong at most on the way, when they are measured in this order: of what is left, and of
 * all. */
static double worst_factor(const struct record *r, int n, double *of_all)
{
	struct eta e = { 0 };
	double all = 0, gone = 0, worst = 1;
	*of_all = 1;
	for (int i = 0; i < n; i++)
		all += r[i].took_s;
	for (int i = 0; i < n; i++) {
		double left = 0;
		for (int k = i; k < n; k++)
			left += eta_expect(&e, r[k].weight);
		if (gone >= BEGIN * all) {
			double factor = fmax(left / (all - gone), (all - gone) / left);
			if (gone <= END * all && factor > worst)
				worst = factor;
			*of_all = fmax(*of_all, fmax((gone + left) / all, all / (gone + left)));
		}
		gone += r[i].took_s;
		eta_learn(&e, r[i].weight, r[i].took_s);
	}
	return worst;
}

static void shuffle(struct record *r, int n, unsigned seed)
{
	uint64_t x = 0x9e3779b97f4a7c15u * (seed + 1);
	for (int i = n - 1; i > 0; i--) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		int k = (int)((x >> 33) % (uint64_t)(i + 1));
		struct record other = r[i];
		r[i] = r[k];
		r[k] = other;
	}
}

static void reverse(struct record *r, int n)
{
	for (int i = 0; i < n / 2; i++) {
		struct record other = r[i];
		r[i] = r[n - 1 - i];
		r[n - 1 - i] = other;
	}
}

/* Of few problems a single one decides at the end: there the sum of what is gone and what is left is asked
 * for. */
static double off_by(const struct record *r, int n)
{
	double of_all, left = worst_factor(r, n, &of_all);
	return n > FEW ? left : of_all;
}

static void test_sequence(const char *name, double most)
{
	static struct record r[MOST];
	int n = records_read(name, r);
	ok(n > 30, "%s: %d problems", name, n);
	double as_is = off_by(r, n);
	ok(as_is <= most, "%s: as it was measured, off by %.2f at most", name, as_is);
	reverse(r, n);
	double worst = off_by(r, n);
	for (int seed = 0; seed < ORDERS; seed++) {
		shuffle(r, n, (unsigned)seed);
		worst = fmax(worst, off_by(r, n));
	}
	ok(worst <= ANY_ORDER, "%s: in other orders, off by %.2f at most", name, worst);
}

int main(void)
{
	struct eta e = { 0 };
	struct eta_weight relu = eta_weigh("eltwise:f32,f32:relu:1x8x8x8"),
			  none = eta_weigh("nothing of the kind");
	ok(isnan(eta_expect(&e, relu)), "no estimate before the first measurement");
	ok(none.kind == ETA_KINDS - 1 && none.weight > 0, "a text that does not parse has a weight");
	eta_learn(&e, relu, 2);
	ok(fabs(eta_expect(&e, relu) - 2) < 1e-9, "the same problem takes as long");
	eta_learn(&e, none, NAN);
	ok(fabs(eta_expect(&e, relu) - 2) < 1e-9, "an unknown time is ignored");
	ok(eta_expect(&e, eta_weigh("eltwise:f32,f32:relu:64x64x112x112")) > 2,
		"a larger problem takes longer");
	static const char large[] = "eltwise:f32,f32:relu:64x64x112x112";
	struct eta_weight whole = eta_weigh(large), brief = eta_weigh_brief(large);
	ok(brief.kind == whole.kind && brief.weight < 0.2 * whole.weight && brief.weight > relu.weight / 2,
		"a brief measurement takes a part of the time");
	test_sequence("mobilenet_v2", FACTOR);
	test_sequence("googlenet", FACTOR);
	test_sequence("bert_base", FACTOR);
	test_sequence("gpt2_small", FACTOR);
	test_sequence("yolov8n", UNSTEADY);
	test_sequence("resnet50", UNSTEADY);
	return done_testing();
}
