/* The YAML room: what is written is read back, and hostile files are refused with their place. */
#include "config.h"

#include "base/arena.h"
#include "store_help.h"
#include "yaml/yaml_read.h"
#include "yaml/yaml_write.h"

#include <inttypes.h>
#include <stdlib.h>

static struct arena arena;
static struct error err;

static const struct yaml_node *load_bytes(const char *bytes, size_t n)
{
	err.text[0] = '\0';
	return yaml_load_text(&arena, "f.yaml", (struct text){ bytes, n }, &err);
}

static const struct yaml_node *load(const char *text)
{
	return load_bytes(text, strlen(text));
}

static void refused(const char *text, const char *why)
{
	ok(!load(text), "refused: %.40s", why);
	is_str(err.text, why, "with the reason");
}

static void test_tree(void)
{
	const struct yaml_node *n = load("a: 1\nb: [x, 'y z', \"\\0\", ~]\n'c d':\n  e: {f: g}\n  h:\n");
	ok(n && n->kind == YAML_MAP && n->count == 3, "a map");
	is_str(yaml_at(n, "a")->text.p, "1", "a value");
	const struct yaml_node *b = yaml_at(n, "b");
	ok(b->kind == YAML_LIST && b->count == 4 && b->line == 2 && b->column == 4, "a list and its place");
	ok(b->values[0]->plain && !b->values[1]->plain, "plain and quoted");
	ok(b->values[2]->text.n == 1 && b->values[2]->text.p[0] == '\0', "a NUL in a text");
	ok(yaml_is_null(b->values[3]) && !yaml_is_null(b->values[1]), "null");
	const struct yaml_node *c = yaml_at(n, "c d");
	is_str(yaml_at(yaml_at(c, "e"), "f")->text.p, "g", "nested");
	ok(yaml_is_null(yaml_at(c, "h")), "a key without a value");
	ok(!yaml_at(n, "x") && !yaml_at(b, "x") && !yaml_at(NULL, "x"), "absent");
	ok(n->size == 17 && n->height == 4, "size %d and height %d", n->size, n->height);
	n = load("");
	ok(n && yaml_is_null(n), "an empty file");
	n = load("# a comment\n---\n...\n");
	ok(n && yaml_is_null(n), "an empty document");
	ok(load("\xef\xbb\xbf"
		"a: b\n") &&
			yaml_at(load("\xef\xbb\xbf"
				     "a: b\n"),
				"a"),
		"a byte order mark");
	ok(yaml_at(load("? a\n: b\r\nc: d\r\n"), "c"), "carriage returns, a key after \"?\"");
}

static void test_errors(void)
{
	refused("a: b\nc: d\na: e\n", "f.yaml:3:1: the key a is given twice");
	refused("a: 1\nx: {b: 1, c: 2, \"b\": 3, c: 4}\n", "f.yaml:2:17: the key b is given twice");
	refused("[a, b]: c\n", "f.yaml:1:1: a key must be a single value");
	refused("a: 1\n--- b\n", "f.yaml:2:1: a second document; the file may have only one");
	refused("a: [1, 2\nb: 3\n", "f.yaml:2:2: did not find expected ',' or ']'");
	refused("a: &x 1\nb:\n  <<: *x\n",
		"f.yaml:3:3: merge keys (<<) are not supported; write the entries out");
	refused("a: *x\n", "f.yaml:1:4: an alias without an anchor of its name");
	refused("a: &x [1, *x]\n", "f.yaml:1:11: an alias inside the value that it names");
	ok(!load_bytes("a: b\0c\n", 7), "a NUL byte");
	is_str(err.text, "f.yaml:1:5: control characters are not allowed", "is refused with its place");
	ok(!load_bytes("a: b\nc: \xff\xfe\n", 11), "no UTF-8");
	is_str(err.text, "f.yaml:2:4: invalid leading UTF-8 octet", "is refused with its place");
	ok(!load("a: \xc3(\n"), "a broken character");
	ok(!load("a: \xed\xa0\x80\n"), "a surrogate");
	ok(!load("\xff\xfe"
		 "a"),
		"half a character of UTF-16");
}

static void test_files(void)
{
	ok(!yaml_load(&arena, scratch_path("none"), 100, &err), "no file");
	has(err.text, "No such file", "the reason");
	ok(!yaml_load(&arena, scratch_path(""), 100, &err), "a directory");
	has(err.text, "a directory, not a file", "the reason");
	ok(!yaml_load(&arena, "/dev/zero", 100, &err), "a device");
	has(err.text, "not a file", "the reason");
	file_text(scratch_path("y.yaml"), "a: [1, 2, 3]\n");
	ok(!yaml_load(&arena, scratch_path("y.yaml"), 12, &err), "a file that is too large");
	has(err.text, "larger than 12 bytes", "the reason");
	ok(yaml_load(&arena, scratch_path("y.yaml"), 13, &err) != NULL, "a file of that size");
}

/* Each alias names a list of ten of the one before: 10^8 values in 20 lines. */
static void test_bombs(void)
{
	struct str s = { 0 };
	str_puts(&s, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 9; i++) {
		str_addf(&s, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			str_addf(&s, "%s*a%d", k ? ", " : "", i - 1);
		str_puts(&s, "]\n");
	}
	size_t before = arena.total;
	ok(!load(s.p), "a bomb of aliases");
	has(err.text, "more values than the limit of 65536, aliases expanded", "the reason");
	ok(arena.total - before < 100000, "takes little memory");
	str_clear(&s);
	for (int i = 0; i < 100; i++) /* one level more with each line */
		str_addf(&s, i ? "a%d: &a%d [*a%d]\n" : "a%d: &a%d [x]\n", i, i, i - 1);
	ok(!load(s.p), "a tower of aliases");
	has(err.text, "f.yaml:63:", "the place");
	has(err.text, "nested deeper than 64 levels, aliases expanded", "the reason");
	const struct yaml_node *n = load("a: &x [1, 2]\nb: *x\nc: &x 3\nd: *x\n");
	ok(n && yaml_at(n, "a") == yaml_at(n, "b") && n->size == 1 + 4 + 2 * 3 + 2,
		"aliases share a node: %d", n->size);
	is_str(yaml_at(n, "d")->text.p, "3", "the later anchor of a name counts");
	str_clear(&s);
	for (int i = 0; i < 300; i++)
		str_addf(&s, "a%d: &a%d x\n", i, i);
	ok(!load(s.p), "too many anchors");
	str_clear(&s);
	for (int i = 0; i < 50000; i++)
		str_puts(&s, "[");
	ok(!load(s.p), "50000 levels");
	has(err.text, "f.yaml:1:65: nested deeper than 64 levels", "the reason");
	str_clear(&s);
	for (int i = 0; i < 65536; i++)
		str_puts(&s, "- x\n");
	ok(!load(s.p), "65537 nodes");
	has(err.text, "f.yaml:65536:3: more values than the limit of 65536", "the reason");
	str_clear(&s);
	for (int i = 0; i < 30000; i++)
		str_addf(&s, "k%d: x\n", i);
	str_puts(&s, "k17: y\n");
	ok(!load(s.p), "a large map");
	is_str(err.text, "f.yaml:30001:1: the key k17 is given twice", "with one key twice");
	str_free(&s);
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

/* As a value, an item, a key, and an item of a row. */
static void write_nasty(struct str *out)
{
	struct yaml_writer *w = yaml_writer_new(out);
	yaml_write_map(w);
	for (int i = 0; i < NASTY; i++) {
		yaml_write_text(w, nasty[i]);
		yaml_write_list(w);
		yaml_write_text(w, nasty[i]);
		yaml_write_row(w);
		yaml_write_text(w, nasty[i]);
		yaml_write_text(w, nasty[i]);
		yaml_write_end(w);
		yaml_write_map(w);
		yaml_write_text(w, nasty[i]);
		yaml_write_text(w, nasty[i]);
		yaml_write_end(w);
		yaml_write_end(w);
	}
	yaml_write_end(w);
	ok(yaml_writer_finish(w, &err) == 0, "written");
}

static bool is(const struct yaml_node *n, struct text t)
{
	return n->kind == YAML_SCALAR && text_equal(n->text, t) && !yaml_is_null(n);
}

static void test_round_trip(void)
{
	struct str s = { 0 }, again = { 0 };
	write_nasty(&s);
	write_nasty(&again);
	ok(s.n == again.n && !memcmp(s.p, again.p, s.n), "the same bytes each time");
	const struct yaml_node *n = load_bytes(s.p, s.n);
	ok(n && n->count == NASTY, "read again%s%s", n ? "" : ": ", n ? "" : err.text);
	for (int i = 0; n && i < n->count; i++) {
		const struct yaml_node *v = n->values[i];
		const struct text t = nasty[i];
		ok(is(n->keys[i], t) && is(v->values[0], t) && is(v->values[1]->values[0], t) &&
				is(v->values[1]->values[1], t) && is(v->values[2]->keys[0], t) &&
				is(v->values[2]->values[0], t),
			"text %d is the same", i);
	}
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
		const struct yaml_node *n = yaml_writer_finish(w, &err) ? NULL : load_bytes(s.p, s.n);
		wrong += !n || !is(n, (struct text){ t, length });
		str_free(&s);
	}
	is_int(wrong, 0, "random texts");
}

static void test_values(void)
{
	static const double numbers[] = { 0, -0.5, 1, 0.1, 1e20, 1e-7, 1.7976931348623157e308, 5e-324,
		123456789012 };
	struct str s = { 0 };
	struct yaml_writer *w = yaml_writer_new(&s);
	yaml_write_map(w);
	yaml_write_text(w, TEXT("int"));
	yaml_write_int(w, INT64_MIN);
	yaml_write_text(w, TEXT("flag"));
	yaml_write_bool(w, true);
	yaml_write_text(w, TEXT("unknown"));
	yaml_write_number(w, NAN);
	yaml_write_text(w, TEXT("none"));
	yaml_write_null(w);
	yaml_write_text(w, TEXT("empty"));
	yaml_write_list(w);
	yaml_write_end(w);
	yaml_write_text(w, TEXT("row"));
	yaml_write_row(w);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		yaml_write_number(w, numbers[i]);
	yaml_write_end(w);
	yaml_write_end(w);
	is_int(yaml_writer_finish(w, &err), 0, "written");
	is_str(s.p,
		"int: -9223372036854775808\nflag: true\nunknown: null\nnone: null\nempty: []\n"
		"row: [0.0, -0.5, 1.0, 0.1, 1.0e+20, 1.0e-07, 1.7976931348623157e+308, "
		"4.94065645841247e-324, 123456789012.0]\n",
		"the text");
	const struct yaml_node *n = load(s.p);
	ok(n && yaml_is_null(yaml_at(n, "unknown")) && yaml_at(n, "empty")->count == 0, "read again");
	for (int i = 0; n && i < 9; i++)
		ok(strtod(yaml_at(n, "row")->values[i]->text.p, NULL) == numbers[i], "number %d is the same",
			i);
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
		yaml_write_list(w);
	for (int i = 0; i < 70; i++)
		yaml_write_end(w);
	is_int(yaml_writer_finish(w, &err), -1, "70 levels");
	is_str(s.p, "kept", "an error adds nothing");
	str_free(&s);
}

int main(void)
{
	scratch_make();
	test_tree();
	test_errors();
	test_files();
	test_bombs();
	test_round_trip();
	test_random();
	test_values();
	test_writer_errors();
	scratch_remove();
	arena_free(&arena);
	return done_testing();
}
