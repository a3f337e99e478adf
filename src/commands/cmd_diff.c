/* diff: bounds side by side. Side A has the options of the command line and its first model and device. Each
 * other model, each other device or --with is a side B, compared with A. */
#include "config.h"

#include "commands/report.h"
#include "table/tables/diff.h"
#include "commands/each.h"

#include <stdlib.h>
#include <string.h>

#define THRESHOLD 0.05
#define WORDS_MAX 64

struct diff_options {
	struct option_list with;
	const char *threshold; /* NULL: not given */
};

static const struct option_row diff_rows[] = {
	{ "with", 0, "OPTIONS", OWN_LIST(diff_options, with),
		"options of B, added to those of A, e.g. --with '-d h100 -t f16'; repeated: "
		"compares each with A" },
	{ "threshold", 0, "PERCENT", OWN_TEXT(diff_options, threshold),
		"smaller slowdowns do not count (default 5%)" },
	{ 0 }
};

static int threshold_parse(const char *text, double *share, struct error *err)
{
	char *end;
	*share = THRESHOLD;
	if (!text)
		return 0;
	double percent = strspn(text, "0123456789.") ? strtod(text, &end) : -1;
	if (percent < 0 || percent > 1e6 || (strcmp(end, "") != 0 && strcmp(end, "%") != 0))
		return error_set(err, "--threshold: '%.40s' is not a percentage of 0 or more (5%%)", text);
	*share = percent / 100;
	return 0;
}

/* Splits at blanks; '...' and "..." keep them. Returns the number of words, or -1. */
static int words_split(struct arena *a, const char *text, char *words[WORDS_MAX], struct error *err)
{
	int count = 0;
	struct str word = { 0 };
	for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
		char quote = '\0';
		str_clear(&word);
		for (str_puts(&word, ""); *text && (quote || !strchr(" \t\n", *text)); text++)
			if (quote ? *text == quote : *text == '\'' || *text == '"')
				quote = quote ? '\0' : *text;
			else
				str_add(&word, text, 1);
		if (quote || count == WORDS_MAX) {
			str_free(&word);
			return error_set(err, "--with: %s",
				quote ? "a quote is not closed" : "too many words");
		}
		words[count++] = arena_strndup(a, word.n ? word.p : "", word.n);
	}
	str_free(&word);
	return count;
}

/* The command line with the words of a --with after the other options; with: NULL: none. */
static int other_options(struct options *o, const char *with, struct options *other, struct error *err)
{
	char *words[WORDS_MAX];
	int count = with ? words_split(&o->arena, with, words, err) : 0;
	if (count < 0)
		return -1;
	if (with && !count)
		return error_set(err, "--with: is empty: give options of B, e.g. '-t f16'");
	other->overrides = true;
	if (options_parse_with(other, o, words, count, err))
		return error_context(err, "--with");
	if (other->argc != o->argc || other->command != o->command)
		return error_set(err, "--with: '%.80s' has words that are not options", with);
	return 0;
}

/* Opens a side and analyses it. said: notes of the other side. Returns an exit status. */
static int side_open(struct options *o, int index, struct session **s, struct str *said, struct error *err)
{
	int status = each_open(o, index, s, err);
	if (status == EXIT_DONE)
		each_notes_after(*s, o, said);
	return status;
}

static void side_text(const char *which, const struct session *s, struct arena *a)
{
	const struct device *d = session_device(s);
	char words[SCENARIO_TEXT_SIZE], plan[64];
	scenario_text(session_scenario(s), words, sizeof(words));
	session_sweep_text(s, plan, sizeof(plan), session_plan(s)->batch, session_dtype(s));
	report_path_line(stdout, report_most(stdout), arena_printf(a, "%s  ", which), session_model(s)->path,
		arena_printf(a, "  %s%s%s", plan, *words ? "  what-ifs: " : "", words));
	report_dims_text(s, "   dimensions: ", NULL, 0, stdout);
	report_device_line(stdout, 3, d->model, d->stack);
}

static void total_text(const struct diff *d, struct arena *a)
{
	char one[STR_QUANTITY], two[STR_QUANTITY];
	const char *guess = d->estimated ? "~" : "";
	printf("\n%stotal%s  %s%s -> %s%s  %s%s", d->complete ? "" : "partial ",
		d->per_item ? " per item" : "", session_analysis(d->a)->estimated ? "~" : "",
		str_duration(one, d->a_ns), session_analysis(d->b)->estimated ? "~" : "",
		str_duration(two, d->b_ns), guess, diff_signed(a, d->b_ns - d->a_ns));
	if (d->a_ns > 0)
		printf(" (%s%+.1f%%)", *guess || !d->complete ? "~" : "", 100 * (d->b_ns / d->a_ns - 1));
	printf("  %s%s\n\n", diff_verdict_name(d->verdict), d->verdict == DIFF_UNCLEAR ?
		": within the intervals" : d->verdict == DIFF_SLOWER && !d->slower ?
		", not beyond the threshold" : "");
}

/* header: print the line of column names, in CSV. */
static void diff_print(const struct diff *d, bool csv, bool header)
{
	struct table t = { 0 };
	diff_table(&t, d);
	if (csv)
		table_print_csv(&t, header, stdout);
	else {
		side_text("A", d->a, &t.arena);
		side_text("B", d->b, &t.arena);
		total_text(d, &t.arena);
		table_print_text(&t, report_most(stdout), stdout);
	}
	table_free(&t);
}

/* Prints the comparison. Returns an exit status. */
static int sides_compare(struct options *o, const struct session *a, const struct session *b,
	double threshold, bool header, struct error *err)
{
	struct arena arena = { 0 };
	struct diff d;
	diff_make(&arena, a, b, threshold, &d);
	if (o->json)
		report_json_line(diff_json(&d), stdout);
	else
		diff_print(&d, o->csv, header);
	arena_free(&arena);
	if (d.verdict == DIFF_UNKNOWN)
		return error_set(err, "diff: side %s has layers without a cost; run benanza bench with its "
			"options", session_analysis(a)->complete ? "B" : "A"), EXIT_BAD;
	return d.slower ? EXIT_GAPS : EXIT_DONE;
}

/* What is compared with A: variants of each model. */
struct diff_sides {
	int first_model; /* of the arguments: 1, or 0 if there is only one */
	int variants;    /* devices after the first, or each --with, or 1 */
	bool of_devices;
};

static int sides_of(struct options *o, struct diff_sides *sides, struct error *err)
{
	const struct diff_options *own = o->own;
	int devices = o->devices.count, withs = own->with.count;
	*sides = (struct diff_sides){ .first_model = o->argc > 1, .of_devices = devices > 1,
		.variants = devices > 1 ? devices - 1 : withs ? withs : 1 };
	if (devices > 1 && withs)
		return error_set(err, "diff: give devices either as several -d or in --with");
	if (o->argc == 1 && devices < 2 && !withs)
		return error_set(err, "diff: side B is missing: give another model, another -d, or --with, "
			"e.g. --with '-w fusion'");
	for (int i = 0; i < withs; i++) { /* all of them before anything is printed */
		struct options other = { 0 };
		int bad = other_options(o, own->with.texts[i], &other, err);
		options_free(&other);
		if (bad)
			return -1;
	}
	return 0;
}

/* B number `index` beside A. Returns an exit status. */
static int side_compare(struct options *o, const struct diff_sides *sides, int index, struct session *a,
	struct str *said, double threshold, struct error *err)
{
	const struct diff_options *own = o->own;
	struct options other = { 0 };
	struct session *b = NULL;
	int variant = index % sides->variants, model = sides->first_model + index / sides->variants;
	const char *with = sides->of_devices || !own->with.count ? NULL : own->with.texts[variant];
	int status = other_options(o, with, &other, err) ? EXIT_BAD : EXIT_DONE;
	if (sides->of_devices)
		other.config.device = o->devices.texts[1 + variant];
	if (status == EXIT_DONE)
		status = side_open(&other, model, &b, said, err);
	if (status == EXIT_DONE && index && !o->json && !o->csv)
		printf("\n");
	if (status == EXIT_DONE)
		status = sides_compare(o, a, b, threshold, !index, err);
	session_close(b);
	options_free(&other);
	return status;
}

/* The worst status of all comparisons. */
static int cmd_diff(struct options *o, struct error *err)
{
	const struct diff_options *own = o->own;
	struct session *a = NULL;
	struct str said = { 0 };
	struct diff_sides sides;
	double threshold;
	int status = threshold_parse(own->threshold, &threshold, err) || sides_of(o, &sides, err) ?
		EXIT_BAD : EXIT_DONE;
	if (o->devices.count)
		o->config.device = o->devices.texts[0];
	if (status == EXIT_DONE)
		status = side_open(o, 0, &a, &said, err);
	int count = status == EXIT_DONE ? (o->argc - sides.first_model) * sides.variants : 0;
	for (int i = 0; i < count; i++) {
		if (err->text[0]) { /* of the side before this one */
			fprintf(stderr, "benanza: %s\n", err->text);
			*err = (struct error)ERROR_NONE;
		}
		int one = side_compare(o, &sides, i, a, &said, threshold, err);
		status = one > status ? one : status;
	}
	session_close(a);
	str_free(&said);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.arguments = "MODEL [MODEL_B...]",
	.least = 1,
	.most = CONFIG_LIST_MAX,
	.text = "bounds side by side: what changed, significant or not",
	.about = "Compares two bounds, A and B: of two models, of two devices (-d twice), or of one model "
		 "without and with the options of --with (a device, database, batch, data type, scenario). "
		 "It compares further models, devices or --with each with the first. Differences within the "
		 "intervals are unclear. Exit status 0: B is not significantly slower; 1: B is slower by "
		 "more than the threshold; 2: bad input, or costs are missing. Measures nothing.",
	.examples = { "benanza diff model.onnx --with '-w fusion'",
		"benanza diff -d h100 model.onnx --with '-t f16 -b 8' --threshold 10% --json" },
	.own = diff_rows,
	.own_size = sizeof(struct diff_options),
	.groups = { &options_model, &options_scenario, &options_device, &options_threads, &options_json,
		&options_csv },
	.run = cmd_diff,
};
