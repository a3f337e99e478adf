/* Runs every case of tests/ops, and checks that every row of the operator table has one. Each case runs again
 * with fewer known inputs: results may become unknown, but must not change. */
#include "config.h"

#include "tests/unit/ops_case.h"
#include "tests/unit/tap.h"

#include "ops/rules/op_attribute.h"

#include <dirent.h>
#include <stdlib.h>

#define ROWS_MAX 800
static bool row_seen[ROWS_MAX];

static const char *number_text(struct arena *a, double v)
{
	return isnan(v) ? "-" : arena_printf(a, "%.17g", v);
}

/* The rules must not crash without attributes; the results are not checked. */
static void survives_without_attributes(const struct ops_case *t, struct arena *a)
{
	struct op_call c = t->call;
	struct error err = ERROR_NONE;
	struct op_cost cost;
	struct node bare = *c.node;
	bare.attribute_count = 0;
	c.node = &bare;
	c.outputs = ARENA_ARRAY(a, struct op_value, c.output_count);
	for (int k = 0; k < c.output_count; k++)
		c.outputs[k].present = t->call.outputs[k].present;
	if (op_infer(&c, &err) == 0) {
		op_call_cost(&c, &cost);
		ops_problem_text(a, &c);
	}
}

static void case_run(struct ops_case *t, struct arena *a)
{
	struct op_call *c = &t->call;
	struct error err = ERROR_NONE;
	char *name = arena_printf(a, "%s:%d %s", t->file, t->line, t->lines[0]);
	for (size_t i = 0; c->op && i < op_row_count(); i++)
		row_seen[i] |= op_row(i) == c->op;
	bool failed = op_infer(c, &err) != 0;
	if (strncmp(t->lines[3], "error ", 6) == 0) {
		if (!ok(failed && strstr(err.text, t->lines[3] + 6), "%s: error", name))
			printf("# got  %s\n# want %s\n", failed ? err.text : ops_outputs_text(a, c),
				t->lines[3]);
	} else if (failed) {
		ok(false, "%s: %s", name, err.text);
	} else {
		struct op_cost cost;
		op_call_cost(c, &cost);
		is_str(ops_outputs_text(a, c), t->lines[3], "%s: outputs", name);
		is_str(arena_printf(a, "%s%s %s", cost.upto ? "~" : "", number_text(a, cost.flops),
			       number_text(a, cost.bytes)),
			t->lines[4], "%s: cost", name);
		is_str(ops_problem_text(a, c), t->lines[5], "%s: problem", name);
	}
	const char *other = ops_less_known(a, c, failed);
	ok(!other, "%s: fewer known inputs give no other result", name);
	if (other)
		printf("# %s\n", other);
	survives_without_attributes(t, a);
}

static void file_run(const char *path, const char *name)
{
	FILE *f = fopen(path, "r");
	int line = 0;
	char *bad = NULL;
	if (!ok(f != NULL, "%s opens", name))
		return;
	for (bool more = true; more && !bad;) {
		struct arena a = { 0 };
		struct ops_case t;
		more = ops_case_read(&a, f, name, &line, &t, &bad);
		if (more)
			case_run(&t, &a);
		else if (bad)
			ok(false, "%s", bad);
		arena_free(&a);
	}
	fclose(f);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Runs all case files of the folder, sorted by name. */
static void folder_run(const char *folder)
{
	char *names[64];
	int count = 0;
	DIR *dir = opendir(folder);
	if (!ok(dir != NULL, "%s opens", folder))
		return;
	for (struct dirent *e; (e = readdir(dir)) != NULL && count < 64;) {
		size_t n = strlen(e->d_name);
		if (n > 5 && strcmp(e->d_name + n - 5, ".case") == 0)
			names[count++] = base_strdup(e->d_name);
	}
	closedir(dir);
	qsort(names, (size_t)count, sizeof(names[0]), by_name);
	for (int i = 0; i < count; i++) {
		char path[2048];
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		file_run(path, names[i]);
		free(names[i]);
	}
}

/* Checks that each row is found by name and opset, has the rules of its class, and has a case. */
static void table_check(void)
{
	size_t count = op_row_count();
	ok(count <= ROWS_MAX, "%zu rows", count);
	for (size_t i = 0; i < count && i < ROWS_MAX; i++) {
		const struct op *row = op_row(i);
		int newest = row->until ? row->until : 99;
		bool found = op_find(text_of(row->domain), text_of(row->name), row->since) == row &&
			     op_find(text_of(row->domain), text_of(row->name), newest) == row;
		bool rules = row->shape && (row->class == CLASS_FREE || row->class == CLASS_HOST ||
						   (row->cost && row->problem));
		ok(found && rules, "row %s %d is found and has the rules of its class", row->name,
			row->since);
		ok(row_seen[i], "row %s %d has a case in tests/ops", row->name, row->since);
	}
	ok(!op_find(text_of(""), text_of("NoSuchOperator"), 13), "an unknown operator is not found");
	ok(!op_find(text_of("my.domain"), text_of("Add"), 13), "an operator of another domain is not found");
	ok(!op_find(text_of(""), text_of("Erf"), 8), "an operator newer than the opset is not found");
}

/* Where ONNX changed an operator: the first opset of it, and the opset at which it got its last input (axes
 * of a reduction became an input). 0: no opset is older. */
static void versions_check(void)
{
	static const struct {
		const char *name;
		int first, changed, before, after; /* inputs at most, before and from `changed` on */
	} rows[] = {
		{ "ReduceSum", 1, 13, 1, 2 },
		{ "ReduceL1", 1, 18, 1, 2 },
		{ "ReduceL2", 1, 18, 1, 2 },
		{ "ReduceLogSum", 1, 18, 1, 2 },
		{ "ReduceLogSumExp", 1, 18, 1, 2 },
		{ "ReduceMax", 1, 18, 1, 2 },
		{ "ReduceMean", 1, 18, 1, 2 },
		{ "ReduceMin", 1, 18, 1, 2 },
		{ "ReduceProd", 1, 18, 1, 2 },
		{ "ReduceSumSquare", 1, 18, 1, 2 },
		{ "BitShift", 11, 0, 0, 2 },
		{ "BitwiseAnd", 18, 0, 0, 2 },
		{ "BitwiseOr", 18, 0, 0, 2 },
		{ "BitwiseXor", 18, 0, 0, 2 },
		{ "GreaterOrEqual", 12, 0, 0, 2 },
		{ "LessOrEqual", 12, 0, 0, 2 },
		{ "Mod", 10, 0, 0, 2 },
		{ "Add", 1, 0, 0, 2 },
		{ "PRelu", 1, 0, 0, 2 },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text name = text_of(rows[i].name), domain = text_of("");
		const struct op *first = op_find(domain, name, rows[i].first),
				*newest = op_find(domain, name, 99);
		ok(first && !op_find(domain, name, rows[i].first - 1), "%s since opset %d", rows[i].name,
			rows[i].first);
		is_int(newest ? newest->inputs_max : 0, rows[i].after, "%s: inputs of the newest",
			rows[i].name);
		if (!rows[i].changed)
			continue;
		const struct op *before = op_find(domain, name, rows[i].changed - 1);
		ok(before == first && before->inputs_max == rows[i].before, "%s: before opset %d",
			rows[i].name, rows[i].changed);
		ok(op_find(domain, name, rows[i].changed) == newest, "%s: from opset %d on", rows[i].name,
			rows[i].changed);
	}
}

/* The attribute table must be sorted: it is searched by bisection. */
static void attributes_check(void)
{
	size_t count = 0, unsorted = 0, unfit = 0;
	for (const char *name; (name = op_attribute_known(count)); count++) {
		const char *next = op_attribute_known(count + 1);
		unsorted += next && strcmp(name, next) >= 0;
		unfit += op_attribute_fits(
			&(struct attribute){ .name = text_of(name), .kind = ATTRIBUTE_NONE });
	}
	ok(count > 0 && !unsorted && !unfit, "%zu attributes are sorted, and each has a kind", count);
	ok(op_attribute_fits(&(struct attribute){ .name = TEXT("axis"), .kind = ATTRIBUTE_INT }),
		"axis may be an integer");
	ok(!op_attribute_fits(&(struct attribute){ .name = TEXT("axis"), .kind = ATTRIBUTE_INTS }),
		"axis may not be a list");
	ok(op_attribute_fits(&(struct attribute){ .name = TEXT("axis\0x"), .kind = ATTRIBUTE_INTS }),
		"an unknown attribute may have any kind");
}

int main(void)
{
	const char *srcdir = getenv("srcdir");
	char folder[1024];
	snprintf(folder, sizeof(folder), "%s/tests/ops", srcdir ? srcdir : ".");
	folder_run(folder);
	table_check();
	versions_check();
	attributes_check();
	return done_testing();
}
