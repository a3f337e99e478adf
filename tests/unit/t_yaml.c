/* The YAML room: what is written is read back, and hostile files are refused with their place. */
#include "config.h"

#include "store_help.h"
#include "yaml/yaml_read.h"
#include "yaml/yaml_write.h"

#include <inttypes.h>
#include <stdlib.h>

static struct error err;
static struct yaml_item last; /* the last item read, or where an error is */

/* Adds the items of a document: "{" key value ... "}", "[" ... "]", plain texts, 'quoted' ones, null as ~, an
 * anchor as &name before its value, an alias as *name. Returns -1 with err. */
static int items_of(struct yaml_reader *r, struct str *out)
{
	static const char *const marks[] = { [YAML_LIST] = "[", [YAML_MAP] = "{", [YAML_LIST_END] = "]",
		[YAML_MAP_END] = "}", [YAML_ALIAS] = "*" };
	do {
		if (yaml_next(r, &last, &err))
			return -1;
		if (last.anchor.p)
			str_addf(out, " &%.*s", (int)last.anchor.n, last.anchor.p);
		if (last.kind == YAML_SCALAR)
			str_addf(out, yaml_item_is_null(&last) ? " ~" : last.plain ? " %.*s" : " '%.*s'",
				(int)last.text.n, last.text.p);
		else if (last.kind != YAML_END)
			str_addf(out, " %s%.*s", marks[last.kind], (int)last.text.n,
				last.text.n ? last.text.p : "");
	} while (last.kind != YAML_END);
	return 0;
}

static int load(const char *bytes, size_t n, struct str *out)
{
	struct yaml_reader *r = yaml_open_text((struct text){ bytes, n });
	err.text[0] = '\0';
	int bad = items_of(r, out);
	yaml_close(r);
	return bad;
}

static void read_as(const char *text, const char *items, const char *name)
{
	struct str s = { 0 };
	is_int(load(text, strlen(text), &s), 0, "%s", name);
	is_str(s.p ? s.p : "", items, "its items");
	str_free(&s);
}

static void refused(const char *text, size_t n, int line, int column, const char *why)
{
	struct str s = { 0 };
	is_int(load(text, n, &s), -1, "refused: %.40s", why);
	is_str(err.text, why, "with the reason");
	ok(last.line == line && last.column == column, "at %d:%d", last.line, last.column);
	str_free(&s);
}

static void test_items(void)
{
	read_as("a: 1\nb: [x, 'y z', ~]\n'c d':\n  e: {f: g}\n  h:\n",
		" { a 1 b [ x 'y z' ~ ] 'c d' { e { f g } h ~ } }", "maps, lists and values");
	read_as("", "", "an empty file");
	read_as("# a comment\n---\n...\n", " ~", "an empty document");
	read_as("\xef\xbb\xbf"
		"a: b\n", " { a b }", "a byte order mark");
	read_as("? a\n: b\r\nc: d\r\n", " { a b c d }", "carriage returns, a key after \"?\"");
	read_as("a: &x [1]\nb: *x\n", " { a &x [ 1 ] b *x }", "an alias is not expanded");
	struct yaml_reader *r = yaml_open_text(TEXT("\"\\0\""));
	ok(!yaml_next(r, &last, &err) && last.text.n == 1 && last.text.p[0] == '\0', "a NUL in a text");
	yaml_close(r);
}

static void test_errors(void)
{
	static const char second[] = "a: 1\n--- b\n", open[] = "a: [1, 2\nb: 3\n", nul[] = "a: b\0c\n",
		bytes[] = "a: b\nc: \xff\xfe\n", half[] = "a: \xc3(\n", surrogate[] = "a: \xed\xa0\x80\n",
		wide[] = "\xff\xfe" "a";
	struct str s = { 0 };
	is_int(load(second, sizeof(second) - 1, &s), -1, "a second document");
	is_str(err.text, "a second document; the file may have only one", "the reason");
	refused(open, sizeof(open) - 1, 1, 8, "the bracket of line 1 is not closed");
	refused(nul, sizeof(nul) - 1, 1, 5, "control characters are not allowed");
	refused(bytes, sizeof(bytes) - 1, 2, 4, "invalid leading UTF-8 octet");
	is_int(load(half, sizeof(half) - 1, &s), -1, "a broken character");
	is_int(load(surrogate, sizeof(surrogate) - 1, &s), -1, "a surrogate");
	is_int(load(wide, sizeof(wide) - 1, &s), -1, "half a character of UTF-16");
	str_clear(&s);
	for (int i = 0; i < 50000; i++)
		str_puts(&s, "[");
	refused(s.p, s.n, 1, 65, "nested deeper than 64 levels");
	str_free(&s);
}

/* What libyaml says of common slips, in words for who wrote the file. */
static void test_slips(void)
{
	static const struct {
		const char *text;
		int line, column;
		const char *why;
	} slips[] = {
		{ "a:\n\tb: c\n", 2, 1, "the line begins with a tab; YAML wants blanks" },
		{ "\ta: b\n", 1, 1, "the line begins with a tab; YAML wants blanks" },
		{ "\xc3\xa4:\n  b: \xc3\xbc\n  \tc: d\n", 3, 3,
			"the line begins with a tab; YAML wants blanks" },
		{ "a: [1, 2", 2, 1, "the [ of line 1 is not closed: a ] or a comma is missing" },
		{ "a: [1, 2,\nb: 3\n", 2, 1, "the bracket of line 1 is not closed" },
		{ "a: {b: 1\nc: 2\n", 1, 8, "the bracket of line 1 is not closed" },
		{ "x: 1\na: {b: 1", 3, 1, "the { of line 2 is not closed: a } or a comma is missing" },
		{ "a: 1\nb: \"x\nc: 2\n", 4, 1, "the quote of line 2 is not closed" },
		{ "a:\n  - 1\n - 2\n", 3, 2, "its indentation differs from the lines before it" },
		{ "a: b: c\n", 1, 5, "an extra colon: a value with \": \" needs quotes" },
		{ "a: @b\n", 1, 4, "a value that begins with @ needs quotes" },
		{ "a: 1\nb\nc: 2\n", 3, 1,
			"a key without a colon, or a text of several lines without quotes" },
	};
	for (size_t i = 0; i < sizeof(slips) / sizeof(*slips); i++)
		refused(slips[i].text, strlen(slips[i].text), slips[i].line, slips[i].column, slips[i].why);
	read_as("a: [\n 1,\n 'x\n y'\n]\nb: {\n c: d,\n e: [f: g]\n}\n",
		" { a [ 1 'x y' ] b { c d e [ { f g } ] } }", "lists and maps of several lines");
}

/* Opens a file and reads its items. */
static int load_file(const char *path, size_t most)
{
	struct str s = { 0 };
	struct yaml_reader *r = yaml_open(path, most, &err);
	int bad = r ? items_of(r, &s) : -1;
	yaml_close(r);
	str_free(&s);
	return bad;
}

static void test_files(void)
{
	is_int(load_file(scratch_path("none"), 100), -1, "no file");
	has(err.text, "No such file", "the reason");
	is_int(load_file(scratch_path(""), 100), -1, "a directory");
	has(err.text, "a directory, not a file", "the reason");
	is_int(load_file("/dev/zero", 100), -1, "a device");
	has(err.text, "not a file", "the reason");
	file_text(scratch_path("y.yaml"), "a: [1, 2, 3]\n");
	is_int(load_file(scratch_path("y.yaml"), 12), -1, "a file that is too large");
	has(err.text, "larger than 12 bytes", "the reason");
	is_int(load_file(scratch_path("y.yaml"), 13), 0, "a file of that size");
}

static const struct text nasty[] = { TEXT(""), TEXT(" "), TEXT("a"), TEXT("~"), TEXT("null"), TEXT("Null"),
	TEXT("true"), TEXT("YES"), TEXT("n"), TEXT("0"), TEXT("-1"), TEXT("1e3"), TEXT("0x1f"), TEXT("0o7"),
	TEXT("1_000"), TEXT(".inf"), TEXT(".nan"), TEXT("2026-11-22"), TEXT("12:30:45"), TEXT("="),
	TEXT("<<"), TEXT("- a"), TEXT("-"), TEXT("--- "), TEXT("---"), TEXT("..."), TEXT("? a"), TEXT("a: b"),
	TEXT("a:"), TEXT(": a"), TEXT("a #b"), TEXT("#"), TEXT("&a"), TEXT("*a"), TEXT("!a"), TEXT("!!str a"),
	TEXT("%YAML"), TEXT("@a"), TEXT("`a`"), TEXT("[a]"), TEXT("{a}"), TEXT("a, b"), TEXT("|"),
	TEXT("> a"), TEXT("'"), TEXT("''a"), TEXT("\""), TEXT("\\"), TEXT("\\n"), TEXT("a\nb"), TEXT("\n"),
	TEXT("\n\n a\n"), TEXT("a\r\nb"), TEXT("\r"), TEXT("\t"), TEXT("a\tb"), TEXT(" a "), TEXT("a  b"),
	TEXT("\0"), TEXT("a\0b"), TEXT("\x01\x1f\x7f"), TEXT("\x1b[31m"), TEXT("\xc2\x80\xc2\x85\xc2\xa0"),
	TEXT("\xe2\x80\xa8\xe2\x80\xa9"), TEXT("\xef\xbb\xbf"),
	TEXT("\xef\xbb\xbf"
	     "a"),
	TEXT("\xef\xbf\xbe\xef\xbf\xbf"), TEXT("\xf0\x9f\x98\x80"), TEXT("\xf4\x8f\xbf\xbf"),
	TEXT("gr\xc3\xbc\xc3\x9f"), TEXT("/a/b.c"), TEXT("ai.onnx"), TEXT("a=b"),
	TEXT("conv:f32,f32.c,f32/f32:n1c64h56w56k64r3s3:ph1pw1qh1qw1:sh1sw1:dh1dw1:g1"), TEXT("-a"),
	TEXT("_a"), TEXT("+1"),
	TEXT("a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a "
	     "a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a a "
	     "a a a a a a a a a a a a a") };
#define NASTY (int)(sizeof(nasty) / sizeof(nasty[0]))

/* As a key, a value, and both in a map inside. */
static void write_nasty(struct str *out)
{
	struct yaml_writer *w = yaml_writer_new(out);
	yaml_write_map(w);
	for (int i = 0; i < NASTY; i++) {
		yaml_write_text(w, nasty[i]);
		yaml_write_map(w);
		yaml_write_text(w, nasty[i]);
		yaml_write_text(w, nasty[i]);
		yaml_write_end(w);
	}
	yaml_write_end(w);
	ok(yaml_writer_finish(w, &err) == 0, "written");
}

/* True if the next item is this text, not null. */
static bool reads(struct yaml_reader *r, struct text t)
{
	return !yaml_next(r, &last, &err) && last.kind == YAML_SCALAR && text_equal(last.text, t) &&
		!yaml_item_is_null(&last);
}

static bool reads_kind(struct yaml_reader *r, enum yaml_kind kind)
{
	return !yaml_next(r, &last, &err) && last.kind == kind;
}

static void test_round_trip(void)
{
	struct str s = { 0 }, again = { 0 };
	write_nasty(&s);
	write_nasty(&again);
	ok(s.n == again.n && !memcmp(s.p, again.p, s.n), "the same bytes each time");
	struct yaml_reader *r = yaml_open_text((struct text){ s.p, s.n });
	ok(reads_kind(r, YAML_MAP), "read again");
	for (int i = 0; i < NASTY; i++)
		ok(reads(r, nasty[i]) && reads_kind(r, YAML_MAP) && reads(r, nasty[i]) &&
				reads(r, nasty[i]) && reads_kind(r, YAML_MAP_END),
			"text %d is the same", i);
	ok(reads_kind(r, YAML_MAP_END) && reads_kind(r, YAML_END), "and no more");
	yaml_close(r);
	str_free(&s);
	str_free(&again);
}

/* Random texts of the characters that have a meaning. */
static void test_random(void)
{
	static const char some[] = "ab1 \t\n:-#'\"\\[]{},&*!|>%@`?~=<.\x7f";
	uint32_t seed = 7;
	int wrong = 0;
	for (int round = 0; round < 3000; round++) {
		char t[12];
		struct str s = { 0 };
		size_t length = (seed >> 20) % (sizeof(t) + 1);
		for (size_t i = 0; i < length; i++) {
			seed = seed * 1664525 + 1013904223;
			t[i] = some[(seed >> 8) % (sizeof(some) - 1)];
		}
		seed = seed * 1664525 + 1013904223;
		struct yaml_writer *w = yaml_writer_new(&s);
		yaml_write_text(w, (struct text){ t, length });
		bool bad = yaml_writer_finish(w, &err);
		struct yaml_reader *r = yaml_open_text((struct text){ s.p, s.n });
		wrong += bad || !reads(r, (struct text){ t, length });
		yaml_close(r);
		str_free(&s);
	}
	is_int(wrong, 0, "random texts");
}

static void test_values(void)
{
	struct str s = { 0 };
	struct yaml_writer *w = yaml_writer_new(&s);
	yaml_write_map(w);
	yaml_write_text(w, TEXT("int"));
	yaml_write_int(w, INT64_MIN);
	yaml_write_text(w, TEXT("empty"));
	yaml_write_map(w);
	yaml_write_end(w);
	yaml_write_end(w);
	is_int(yaml_writer_finish(w, &err), 0, "written");
	is_str(s.p, "int: -9223372036854775808\nempty: {}\n", "the text");
	str_free(&s);
}

static void test_writer_errors(void)
{
	struct str s = { 0 };
	str_puts(&s, "kept");
	struct yaml_writer *w = yaml_writer_new(&s);
	yaml_write_text(w, TEXT("\xff"));
	is_int(yaml_writer_finish(w, &err), -1, "a text that is not UTF-8");
	is_str(err.text, "a text is not valid UTF-8", "the reason");
	w = yaml_writer_new(&s);
	yaml_write_map(w);
	yaml_write_text(w, TEXT("a"));
	is_int(yaml_writer_finish(w, &err), -1, "a map without an end");
	w = yaml_writer_new(&s);
	yaml_write_int(w, 1);
	yaml_write_int(w, 2);
	is_int(yaml_writer_finish(w, &err), -1, "two values");
	w = yaml_writer_new(&s);
	yaml_write_int(w, 1);
	yaml_write_end(w);
	is_int(yaml_writer_finish(w, &err), -1, "an end too many");
	w = yaml_writer_new(&s);
	is_int(yaml_writer_finish(w, &err), -1, "no value");
	w = yaml_writer_new(&s);
	for (int i = 0; i < 70; i++)
		yaml_write_map(w);
	for (int i = 0; i < 70; i++)
		yaml_write_end(w);
	is_int(yaml_writer_finish(w, &err), -1, "70 levels");
	is_str(s.p, "kept", "an error adds nothing");
	str_free(&s);
}

int main(void)
{
	scratch_make();
	test_items();
	test_errors();
	test_slips();
	test_files();
	test_round_trip();
	test_random();
	test_values();
	test_writer_errors();
	scratch_remove();
	return done_testing();
}
