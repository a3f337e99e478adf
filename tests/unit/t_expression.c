/* What users write: values, lists, and where an error is. Names of dimensions are in t_plan. */
#include "config.h"

#include "problem/expression.h"

#include "tests/unit/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* x: 2x6x768 with a symbol in front; k: 3; f: 0.5; many: a list of 200; any: unknown what; far: a list of
 * unknown length. */
static int name_of(const void *with, struct text function, struct text name, struct computed *v,
	struct error *err)
{
	struct arena *a = (struct arena *)with;
	struct dim *x = ARENA_ARRAY(a, struct dim, 200);
	for (int i = 0; i < 200; i++)
		x[i] = dim_known(1);
	x[0] = dim_symbol(a, TEXT("n"));
	x[1] = dim_known(6);
	x[2] = dim_known(768);
	if (function.n)
		return text_is(function, "twice") ? (*v = expression_number(dim_known(2)), 0) :
			error_set(err, "no function %.*s", (int)function.n, function.p);
	*v = expression_number(dim_known(3));
	if (text_is(name, "x") || text_is(name, "many"))
		*v = expression_list(name.n == 1 ? 3 : 200, x);
	else if (text_is(name, "f"))
		return expression_double(0.5, v, err);
	else if (text_is(name, "any"))
		v->kind = EXPRESSION_ANY;
	else if (text_is(name, "far"))
		*v = expression_list(-1, NULL);
	else if (!text_is(name, "k"))
		return error_set(err, "no name %.*s", (int)name.n, name.p);
	return 0;
}

/* "6", "7/2", "[n 6 768]", "?" */
static const char *read_text(struct arena *a, const char *text)
{
	struct computed v;
	struct error err = ERROR_NONE;
	if (expression_read(a, text_of(text), name_of, a, &v, &err))
		return arena_strndup(a, err.text, strlen(err.text));
	if (v.kind == EXPRESSION_ANY)
		return "any";
	struct shape s = { v.kind == EXPRESSION_LIST ? v.count : 1,
		v.kind == EXPRESSION_LIST ? (struct dim *)v.items : &v.number };
	const char *list = s.rank < 0 ? "?" : !s.rank ? "" : shape_text(a, s);
	return arena_printf(a, v.kind == EXPRESSION_LIST ? v.by > 1 ? "[%s]/%d" : "[%s]" :
		v.by > 1 ? "%s/%d" : "%s", list, (int)v.by);
}

static const struct {
	const char *text, *is;
} cases[] = {
	{ "2 + 3 * k", "11" },
	{ "-k - -k", "0" }, { "7 // 2 * 2", "6" }, { "-7 // 2", "-4" }, { "7 % 4", "3" },
	{ "-7 % 4", "1" }, { "7 / 2", "7/2" }, { "7 / 2 * 4", "14" }, { "0.25 + f", "3/4" },
	{ "1.5 // f", "3" }, { "ceil(7 / 2)", "4" }, { "ceil(-7/2)", "-3" }, { "floor(7/2)", "3" },
	{ "min(k, 2, 5)", "2" },
	{ "max(k,f)", "3" }, { "x[1]", "6" }, { "x[-1]", "768" }, { "x[0] * 2", "2*n" },
	{ "x[k - 2]", "6" }, { "x", "[nx6x768]" }, { "x[:-1] + [k]", "[nx6x3]" }, { "x[1:]", "[6x768]" },
	{ "x[1:2][0]", "6" }, { "[k, f * 2][1]", "1" }, { "[]", "[]" }, { "[] + x[:1]", "[n]" },
	{ "x[2:1]", "[]" }, { "x[-9:9]", "[nx6x768]" }, { "rank(x)", "3" }, { "size(x)", "4608*n" },
	{ "size([])", "1" }, { "twice(x)", "2" }, { "any", "any" }, { "any + any", "any" },
	{ "any + 1", "?" },
	{ "any + [1]", "[?]" }, { "any[0]", "?" }, { "far[3]", "?" }, { "far[1:] + x", "[?]" },
	{ "x[any]", "?" }, { "rank(far)", "?" }, { "\n 1 +\n\t2 ", "3" },
	{ "4611686018427387904 * 2", "at character 24: the number does not fit 64 bits" },
	{ "99999999999999999999", "at character 21: the number does not fit 64 bits" },
	{ "9223372036854775807 + 1", "at character 24: the number does not fit 64 bits" },
	{ "1 / (k - 3)", "at character 12: a division by zero" },
	{ "1 // 0", "at character 7: a division by zero" },
	{ "1 % 0", "at character 6: a division by zero" },
	{ "", "at character 1: a number, a name or a list is expected" },
	{ "2 *", "at character 4: a number, a name or a list is expected" },
	{ "(1", "at character 3: \")\" is expected" }, { "[1", "at character 3: \"]\" is expected" },
	{ "x[1", "at character 4: \"]\" is expected" }, { "x[1:2", "at character 6: \"]\" is expected" },
	{ "1 2", "at character 3: an operator or the end is expected" },
	{ "2 + nope", "at character 5: no name nope" }, { "f(1)", "at character 3: f takes a name" },
	{ "g(x)", "at character 4: no function g" },
	{ "x + 1", "at character 6: a list where a number is needed" },
	{ "x * x", "at character 6: a list where a number is needed" },
	{ "[x]", "at character 3: a list where a number is needed" },
	{ "[k / 2, 1, f]", "[3x2x1]/2" },
	{ "[1, f] + [1 / 3]", "[6x3x2]/6" }, { "[1, 1 / 3, f][1]", "2/6" }, { "[k, f][1] * 2", "1" },
	{ "[1, 1 / 4611686018427387904, 1 / 3]", "at character 35: the number does not fit 64 bits" },
	{ "[9223372036854775807, 1 / 3]", "at character 28: the number does not fit 64 bits" },
	{ "x[f]", "at character 5: 1/2 is not an integer; // rounds down" },
	{ "k[0]", "at character 3: a number has no items" },
	{ "x[3]", "at character 5: there is no item 3 in a list of 3" },
	{ "x[-4]", "at character 6: there is no item -4 in a list of 3" },
	{ "rank(k)", "at character 7: a number where a list is needed" },
	{ "many + many", "at character 12: the lists have more than 256 items together" },
	{ "((((((((((((((((1))))))))))))))))", "at character 16: nested deeper than 16 brackets" },
	{ "x[x[x[x[x[x[x[x[x[x[x[x[x[x[x[x[x[0]]]]]]]]]]]]]]]]]",
		"at character 31: nested deeper than 16 brackets" },
	{ "1;", "at character 2: an operator or the end is expected" },
	{ "$", "at character 1: a number, a name or a list is expected" },
};

static void test_whole(void)
{
	struct arena a = { 0 };
	struct error err;
	struct dim d;
	double amount;
	struct computed half = { .number = dim_known(7), .by = 2 }, list = expression_list(0, NULL),
		minus = expression_number(dim_known(-1)), n = expression_number(dim_symbol(&a, TEXT("n"))),
		all = { .number = dim_mul(&a, n.number, dim_known(4)), .by = 2 };
	is_int(expression_whole(&a, &half, &d, &err), -1, "a half is not whole");
	is_int(expression_whole(&a, &list, &d, &err), -1, "nor a list");
	ok(!expression_whole(&a, &all, &d, &err) && text_is(dim_expression(d), "2*n"), "4n/2");
	all.by = 8;
	ok(!expression_whole(&a, &all, &d, &err) && d.kind == DIM_UNKNOWN, "n/2 is not certain");
	ok(!expression_amount(&half, &amount, &err) && amount == 3.5, "an amount may be a fraction");
	ok(!expression_amount(&n, &amount, &err) && isnan(amount), "and unknown");
	is_int(expression_amount(&minus, &amount, &err), -1, "but not negative");
	is_int(expression_double(1e300, &half, &err), -1, "too large");
	is_int(expression_double(NAN, &half, &err), -1, "not a number");
	is_int(expression_double(1e-300, &half, &err), -1, "too small");
	arena_free(&a);
}

int main(void)
{
	struct arena a = { 0 };
	char *minuses = arena_printf(&a, "%*s1", EXPRESSION_MOST - 1, "");
	memset(minuses, '-', EXPRESSION_MOST - 1);
	is_str(read_text(&a, minuses), "-1", "as many signs as fit");
	is_str(read_text(&a, arena_printf(&a, "-%s", minuses)), "longer than 1024 characters", "one more");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is_str(read_text(&a, cases[i].text), cases[i].is, "%s", cases[i].text);
	test_whole();
	arena_free(&a);
	return done_testing();
}
