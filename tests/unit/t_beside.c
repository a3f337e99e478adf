#include "config.h"

#include "problem/beside.h"
#include "problem/kernel.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define RELU "eltwise:f32,f32:relu:2x3"
#define ADD "binary:f32,f32,f32:add:2x3:2x3"
#define GEMM "matmul:f32,f32.c,f32/f32:ba1bb1m2n3k4:ta0tb0+bias:f32.c"

static void formats(void)
{
	struct problem p;
	struct error err = ERROR_NONE;
	char text[PROBLEM_TEXT_SIZE] = "", branches[PROBLEM_TEXT_SIZE];
	const char *unsorted[] = { GEMM "=" RELU, ADD };
	ok(beside_text(unsorted, 2, text) == 0, "two branches are a text");
	is_str(text, "beside:" ADD "%" GEMM "=" RELU, "whose branches are sorted");
	ok(problem_parse(text_of(text), &p, &err) == 0, "it is a problem (%s)", err.text);
	ok(p.kernel == KERNEL_BESIDE && kernel_row(p.kernel)->branches, "of branches");
	ok(problem_format(&p, branches, &err) == 0 && strcmp(branches, text) == 0, "written as it was read");
	struct problem copy;
	memcpy(&copy, &p, problem_extent(&p));
	is_str(copy.branches, text + 7, "the part in use has all of it");
	struct beside b;
	ok(beside_split(text_of(p.branches), &b, &err) == 0 && b.branch_count == 2 && b.part_count == 3 &&
			b.first[1] == 1 && b.first[2] == 3,
		"it splits into its problems");
	ok(text_is(b.part[1], GEMM) && text_is(b.part[2], RELU), "in their order");
	const char *twins[] = { RELU, RELU, RELU };
	ok(beside_text(twins, 3, text) == 0 && problem_parse(text_of(text), &p, &err) == 0,
		"equal branches are allowed");
	const char *one[] = { RELU };
	ok(beside_text(one, 1, text) < 0, "one branch is none");
}

static void costs(void)
{
	struct problem p, part;
	double flops = 0, bytes = 0, constant = 0;
	static const char *const parts[] = { ADD, GEMM, RELU };
	problem_parse(TEXT("beside:" ADD "%" GEMM "=" RELU), &p, NULL);
	for (int i = 0; i < 3; i++) {
		problem_parse(text_of(parts[i]), &part, NULL);
		flops += problem_flops(&part);
		bytes += problem_bytes(&part);
		constant += problem_constant_bytes(&part);
	}
	ok(flops > 0 && problem_flops(&p) == flops, "operations add up");
	ok(bytes > 0 && problem_bytes(&p) == bytes, "and bytes");
	ok(constant > 0 && problem_constant_bytes(&p) == constant && problem_has_constant(&p),
		"and constants");
	problem_parse(TEXT("beside:" ADD "%" RELU), &p, NULL);
	ok(!problem_has_constant(&p), "which there may be none of");
	ok(!problem_set_layout(&p, LAYOUT_NXC), "it has no layout of its own");
}

static void what_ran(void)
{
	struct str out = { 0 };
	struct beside_ran ran;
	struct algorithm a = { .api = "plain C", .name = "vectors", .workspace_bytes = 4096,
		.notes = "unchecked nondeterministic" };
	str_puts(&out, "lane 1, 2 threads: ");
	beside_ran_write(&out, KERNEL_ELTWISE, &a);
	a = (struct algorithm){ .api = "cuDNN", .name = "eng1_k2=3", .workspace_bytes = NAN, .notes = "" };
	str_puts(&out, "stream 2: ");
	beside_ran_write(&out, KERNEL_CONV, &a);
	is_str(out.p, "lane 1, 2 threads: eltwise plain C vectors, workspace 4096, notes unchecked "
		"nondeterministic\nstream 2: conv cuDNN eng1_k2=3\n", "what ran, a line each");
	const char *lines = out.p;
	ok(beside_ran_next(&lines, &ran) && text_is(ran.kernel, "eltwise") && text_is(ran.api, "plain") &&
			text_is(ran.name, "C vectors") && ran.workspace_bytes == 4096 &&
			text_is(ran.notes, "unchecked nondeterministic"),
		"is read again");
	ok(beside_ran_next(&lines, &ran) && text_is(ran.api, "cuDNN") && text_is(ran.name, "eng1_k2=3") &&
			isnan(ran.workspace_bytes) && !ran.notes.n && !*lines,
		"also without workspace and notes");
	ok(!beside_ran_next(&lines, &ran), "at the end there is none");
	static const char *const odd[] = { "spell\nread\n", "", "\n", ":", "a: b", "a: b c", ", notes " };
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		const char *at = odd[i];
		ok(!beside_ran_next(&at, &ran) && at <= odd[i] + strlen(odd[i]), "another form: %zu", i);
	}
	lines = "a: b c d, workspace x";
	ok(beside_ran_next(&lines, &ran) && isnan(ran.workspace_bytes), "a size that is none is unknown");
	str_free(&out);
}

static void refuses(const char *text, const char *why)
{
	struct problem p;
	struct error err = ERROR_NONE;
	ok(problem_parse(text_of(text), &p, &err) < 0 && strstr(err.text, why), "%.40s: %s", text, err.text);
}

static void hostile(void)
{
	char text[2 * PROBLEM_TEXT_SIZE] = "beside:" RELU;
	refuses("beside", "branches");
	refuses("beside:", "single branch");
	refuses("beside:" RELU, "single branch");
	refuses("beside:" RELU "%", "kernel");
	refuses("beside:" RELU "=%" RELU, "problem 2 of the branches");
	refuses("beside:" RELU "%" ADD, "ascending");
	refuses("beside:" ADD "%beside:" ADD "%" ADD, "branches in a branch");
	refuses("beside:" ADD "%" RELU ":7", "at \":7\"");
	refuses("beside:" ADD "%eltwise:f32,f32:relu:02x3", "canonical");
	for (int i = 0; i < 30; i++)
		strcat(text, "=" RELU);
	refuses(text, "24 problems");
	strcpy(text, "beside:" RELU);
	for (int i = 0; i < 8; i++)
		strcat(text, "%" RELU);
	refuses(text, "8 branches");
	for (int i = 0; i < 20; i++)
		strcat(text, "%" RELU "%" RELU);
	refuses(text, "shorter text");
}

int main(void)
{
	formats();
	costs();
	what_ran();
	hostile();
	return done_testing();
}
