#include "config.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/exe_path.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/str.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static void test_error(void)
{
	struct error err = ERROR_NONE;
	is_int(error_set(&err, "no such \x1b[31mnode\n"), -1, "error_set returns -1");
	is_str(err.text, "no such ?[31mnode?", "control characters are replaced");
	error_context(&err, "%s", "a.onnx");
	is_str(err.text, "a.onnx: no such ?[31mnode?", "error_context prepends");
	char big[2000];
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	error_context(&err, "%s", big);
	is_int(strlen(err.text), ERROR_TEXT_SIZE - 1, "a context that is too long is truncated");
	is_int(error_set(NULL, "x"), -1, "err may be NULL");
}

static void test_arena(void)
{
	struct arena a = { 0 };
	char *small = arena_alloc(&a, 3), *large = arena_alloc(&a, 3 << 20);
	memset(small, 1, 3);
	memset(large, 2, 3 << 20);
	ok(((uintptr_t)arena_alloc(&a, 1) & 7) == 0, "aligned");
	is_str(arena_printf(&a, "%d-%s", 7, "x"), "7-x", "arena_printf");
	for (int n = 254; n <= 257; n++) {
		const char *text = arena_printf(&a, "%*d", n, 7);
		ok((int)strlen(text) == n && text[n - 1] == '7', "arena_printf of %d bytes", n);
	}
	ok(arena_calloc(&a, 0, 8) != NULL, "an empty array has a valid pointer");
	arena_clear(&a);
	ok(a.block && a.total == 0, "arena_clear keeps the newest block");
	ok(*(char *)arena_alloc(&a, 3) == 0 && a.total > 0, "reused memory is zeroed");
	char *huge = arena_alloc(&a, 40 << 20);
	size_t wrong = 0;
	for (size_t i = 0; i < 40 << 20; i++)
		wrong += huge[i] != 0;
	is_int((int)wrong, 0, "so is that of a block that malloc maps");
	arena_free(&a);
	ok(a.block == NULL && a.total == 0, "arena_free frees every block");
	arena_clear(&a);
	ok(a.block == NULL, "an empty arena stays empty");
}

static void test_arena_mark(void)
{
	struct arena a = { 0 };
	struct arena_mark empty = arena_mark(&a);
	char *kept = arena_strndup(&a, "kept", 4);
	struct arena_mark mark = arena_mark(&a);
	char *first = arena_alloc(&a, 100);
	for (int i = 0; i < 1000; i++) {
		arena_return(&a, mark);
		memset(arena_alloc(&a, 5000), 1, 5000);
		arena_printf(&a, "%d", i);
	}
	ok(a.total < 6000, "what a pass allocates is freed before the next: %zu bytes", a.total);
	arena_return(&a, mark);
	ok(arena_alloc(&a, 100) == first && first[99] == 0, "the memory is used again, and zero");
	is_str(kept, "kept", "what was there before the mark stays");
	arena_return(&a, empty);
	ok(!a.block && a.total == 0, "a mark of the empty arena frees all");
	arena_free(&a);
}

static long resident_kib(void)
{
	long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	if (!f || fscanf(f, "%ld %ld", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

/* Memory that malloc keeps between blocks in use. */
static void test_trim(void)
{
	enum { BLOCKS = 800, BYTES = 100000 };
	static char *blocks[BLOCKS];
	base_memory_keep();
	for (int i = 0; i < BLOCKS; i++)
		memset(blocks[i] = base_malloc(BYTES), 1, BYTES);
	char *last = base_malloc(100);
	long full = resident_kib();
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i]);
	long freed = resident_kib();
	base_memory_trim();
	long after = resident_kib();
#ifdef __SANITIZE_ADDRESS__
	ok(after && freed && full, "freed memory # SKIP AddressSanitizer keeps it");
#else
	ok(after < freed - 50000, "freed memory is returned: %ld of %ld KiB are left", after, full);
#endif
	memset(last, 2, 100);
	free(last);
}

static void test_clean(void)
{
	static const struct {
		const char *in;
		size_t n;
		const char *out;
	} rows[] = {
		{ "conv1", 5, "conv1" },
		{ "\x1b]0;title\x07", 10, "?]0;title?" },
		{ "a\0b", 3, "a?b" },
		{ "\xc3\xa9\xe2\x82\xac", 5, "\xc3\xa9\xe2\x82\xac" },
		{ "\xc2\x9b" "31m", 5, "?31m" },
		{ "\xe2\x80\xae" "evil", 7, "?evil" },
		{ "\xff\xc0\xaf", 3, "???" },
		{ "\xed\xa0\x80", 3, "???" },
		{ "\xf0\x9f\x98", 3, "???" },
		{ "two\nlines", 9, "two?lines" },
		{ "\x7f\xc2\x85", 3, "??" },
		{ "\xe2\x80\xa8\xe2\x81\xa6\xef\xbb\xbf\xf3\xa0\x81\x81", 13, "????" },
	};
	struct arena a = { 0 };
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text in = { rows[i].in, rows[i].n };
		is_str(text_clean(&a, in), rows[i].out, "clean row %zu", i);
		is_int(text_is_clean(in), text_is(in, rows[i].out), "text_is_clean of row %zu", i);
	}
	char lines[16];
	is_int(text_clean_lines_to(lines, TEXT("a\n\x1b[\r\nb")), 7,
		"text_clean_lines_to returns the length");
	is_str(lines, "a\n?[?\nb", "text_clean_lines_to keeps newlines only");
	is_str(text_fit(lines, 5, "abcd"), "abcd", "a text that fits is kept");
	is_str(text_fit(lines, 5, "abcde"), "abcd", "a text that is too long is truncated");
	is_str(text_fit(lines, 5, "abc\xc3\xa9"), "abc", "no character is cut in half");
	is_str(text_fit(lines, 6, "abc\xc3\xa9"), "abc\xc3\xa9", "a character that fits is kept");
	is_str(text_fit(lines, 3, "\xf0\x9f\x98\x80"), "", "a single character that does not fit is dropped");
	arena_free(&a);
}

/* Every byte at every offset within an 8-byte word, between printable bytes. */
static void test_is_clean(void)
{
	int wrong = 0;
	char bytes[40], out[41];
	for (unsigned byte = 0; byte < 256; byte++)
		for (size_t n = 1; n < sizeof(bytes); n++)
			for (size_t at = 0; at < n; at++) {
				memset(bytes, at % 2 ? '~' : ' ', n);
				bytes[at] = (char)byte;
				struct text t = { bytes, n };
				wrong += text_is_clean(t) !=
					(text_clean_to(out, t) == n && memcmp(out, bytes, n) == 0);
			}
	is_int(wrong, 0, "text_is_clean agrees with text_clean_to for every byte");
	ok(text_is_clean(TEXT("")) && text_is_clean(TEXT("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80")),
		"the empty text and other scripts are clean");
}

/* Cuts two names, and "other"; returns them joined. */
static const char *cut_two(struct arena *a, const char *first, const char *second, int width)
{
	const char *names[] = { first, second, "other", first };
	text_cut_names(a, names, 4, width);
	bool fit = text_columns(names[0]) <= width && text_columns(names[1]) <= width &&
		!strcmp(names[0], names[3]) && !strcmp(names[2], "other");
	return fit ? arena_printf(a, "%s|%s", names[0], names[1]) : "wide, or equal ones differ";
}

static void cut_names(struct arena *a)
{
	is_str(cut_two(a, "short", "names", 8), "short|names", "names that fit");
	is_str(cut_two(a, "/layer1/conv/Conv", "/layer2/conv/Conv", 12), "/layer1..onv|/layer2..onv",
		"what differs stays");
	is_str(cut_two(a, "a/long/way/to/conv1", "a/long/way/to/conv2", 10), "a/lo..onv1|a/lo..onv2",
		"cut in the middle");
	is_str(cut_two(a, "same begin X same end", "same begin Y same end", 9), "sam.. end|sam..nd#2",
		"a number where the difference has no room");
	is_str(cut_two(a, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4", "\xe6\x97\xa5\xe6\x97\xa5", 5),
		"\xc3\xa4..\xc3\xa4\xc3\xa4|\xe6\x97\xa5\xe6\x97\xa5", "of wide characters");
}

static void test_columns(void)
{
	struct arena a = { 0 };
	const char *word = "caf\xc3\xa9s";
	is_int(text_columns(word), 5, "a character of two bytes takes one column");
	ok(text_cut(&a, word, 5, false) == word, "a text that fits is not copied");
	is_str(text_cut(&a, word, 4, false), "ca..", "cut at its end");
	is_str(text_cut(&a, word, 4, true), "..\xc3\xa9s", "cut at its beginning, between characters");
	is_str(text_pad(&a, word, 7, false), "caf\xc3\xa9s  ", "padded");
	is_str(text_pad(&a, word, 4, true), "..\xc3\xa9s", "cut and padded");
	const char *wide = "\u5c42\u5c42xe\u0301";
	is_int(text_columns(wide), 6, "wide letters and marks");
	is_str(text_cut(&a, wide, 5, false), "\u5c42..", "a wide letter is not halved");
	is_str(text_cut(&a, wide, 3, true), "..e\u0301", "a mark stays on its letter");
	is_str(text_pad(&a, wide, 5, false), "\u5c42.. ", "padded to columns");
	const char *path = "/home/\u5c42\u5c42/models/net.onnx";
	is_int(text_columns(path), 26, "a path with wide letters");
	ok(text_cut_path(&a, path, 26, "..") == path, "a path that fits is not copied");
	is_str(text_cut_path(&a, path, 22, ".."), "/home/..dels/net.onnx", "shortened in the middle");
	is_str(text_cut_path(&a, path, 23, "\u2026"),
		"/home/\u5c42\u2026odels/net.onnx", "a mark of one column");
	is_str(text_cut_path(&a, path, 13, ".."), "/h../net.onnx", "the name stays");
	is_str(text_cut_path(&a, path, 8, ".."), "..t.onnx", "the end of the name");
	const char *note = "wrote /home/a b/models and more/of them/net.txt, 3 of 5 B/s";
	is_str(text_cut_paths(&a, note, 80, 80, ".."), note, "a sentence that fits");
	is_str(text_cut_paths(&a, note, 50, 50, ".."),
		"wrote /home/a b/m..ore/of them/net.txt, 3 of 5 B/s", "a path with blanks in a sentence");
	is_str(text_cut_paths(&a, note, 80, 26, ".."), "wrote /home/a ..of them/net.txt, 3 of 5 B/s",
		"at most so many columns of it");
	cut_names(&a);
	is_str(text_cut_paths(&a, "no path is in this one", 4, 4, ".."), "no path is in this one", "none");
	arena_free(&a);
}

static void test_quantities(void)
{
	char b[STR_QUANTITY];
	is_str(str_duration(b, 0), "0 ns", "zero is zero");
	is_str(str_duration(b, NAN), "-", "unknown is not zero");
	is_str(str_duration(b, 12.34), "12.3 ns", "nanoseconds");
	is_str(str_duration(b, 1290000), "1.29 ms", "milliseconds");
	is_str(str_duration(b, 999960), "1.00 ms", "rounding changes the unit, not the digits");
	is_str(str_duration(b, 412000), "412 us", "three digits");
	is_str(str_duration(b, 2.1e9), "2.10 s", "seconds");
	is_str(str_bytes(b, 512), "512 B", "bytes");
	is_str(str_bytes(b, 9.19 * 1048576), "9.19 MiB", "mebibytes");
	is_str(str_count(b, 8178368512.0), "8.18 G", "counts");
	is_str(str_flops(b, 8178368512.0), "8.18 GFLOP", "work");
	is_str(str_flops(b, 974), "974 FLOP", "of little");
	is_str(str_ratio(b, 0.9567), "0.96", "ratios");
	is_str(str_ratio(b, 0.0951), "0.095", "... below a tenth have as many digits");
	is_str(str_ratio(b, 0.00312), "0.0031", "... and smaller ones");
	is_str(str_ratio(b, 0.0997), "0.10", "... rounded");
	is_str(str_float(b, 0.1f), "0.1", "shortest float");
	is_str(str_float(b, 1e20f), "1e20", "no plus in an exponent");
	is_str(str_float(b, -1.5f), "-1.5", "sign");
	is_str(str_float(b, 5), "5", "one digit");
	is_str(str_float(b, 13.9481125f), "13.9481125", "nine digits");
	is_str(str_float(b, 1e-45f), "1e-45", "the smallest float");
	int64_t v;
	ok(text_to_int64(TEXT("-9223372036854775808"), &v) && v == INT64_MIN, "the smallest integer");
	ok(text_to_int64(TEXT("9223372036854775807"), &v) && v == INT64_MAX, "the largest integer");
	ok(text_to_int64(TEXT("-0"), &v) && v == 0 && text_to_int64(TEXT("0042"), &v) && v == 42, "zeros");
	ok(!text_to_int64(TEXT("9223372036854775808"), &v), "overflow in the last digit is refused");
	ok(!text_to_int64(TEXT("-9223372036854775809"), &v),
		"negative overflow in the last digit is refused");
	ok(!text_to_int64(TEXT("92233720368547758070"), &v) &&
			!text_to_int64(TEXT("-99999999999999999999"), &v),
		"overflow by one more digit is refused");
	ok(!text_to_int64(TEXT("1x"), &v) && !text_to_int64(TEXT(""), &v) && !text_to_int64(TEXT("-"), &v) &&
		!text_to_int64(TEXT("+1"), &v), "other characters are refused");
	ok(text_contains(TEXT("/layer1/Conv"), TEXT("conv")), "search ignores case");
	ok(!text_contains(TEXT("abc"), TEXT("abcd")), "a longer text is not contained");
}

static void test_str(void)
{
	static const int64_t numbers[] = { 0, 7, -10, 1234567890, INT64_MAX, INT64_MIN };
	struct str s = { 0 };
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		str_puts(&s, i ? " " : "");
		str_add_int(&s, numbers[i]);
	}
	is_str(s.p, "0 7 -10 1234567890 9223372036854775807 -9223372036854775808", "integers");
	str_free(&s);
}

static void test_hash(void)
{
	struct hash h = { 0 };
	char names[2000][16];
	for (int i = 0; i < 2000; i++) {
		snprintf(names[i], sizeof(names[i]), "v%d", i);
		*hash_at(&h, text_of(names[i])) = i;
	}
	int wrong = 0;
	for (int i = 0; i < 2000; i++)
		wrong += hash_find(&h, text_of(names[i])) != i;
	is_int(wrong, 0, "2000 keys are found");
	is_int(hash_find(&h, TEXT("v2000")), -1, "an unknown key is not found");
	ok(hash_key(&h, TEXT("v2000")).n == 0 && hash_key(&h, text_of(names[7])).p == names[7],
		"hash_key returns the key that was added");
	is_int(*hash_at(&h, (struct text){ "a\0b", 3 }), -1, "a new key starts at -1");
	is_int(hash_find(&h, TEXT("a")), -1, "a NUL does not end a key");
	hash_free(&h);
	hash_reserve(&h, 1000);
	size_t room = h.capacity;
	wrong = 0;
	for (int i = 0; i < 1000; i++)
		*hash_at(&h, text_of(names[i])) = 2 * i;
	is_int((long long)h.capacity, (long long)room, "a map with room for its keys does not grow");
	for (int i = 0; i < 1000; i++)
		wrong += hash_find(&h, text_of(names[i])) != 2 * i;
	hash_reserve(&h, 10000);
	for (int i = 0; i < 1000; i++)
		wrong += hash_find(&h, text_of(names[i])) != 2 * i;
	is_int(wrong, 0, "and keeps them when it is given more");
	hash_free(&h);
}

static void test_json(void)
{
	json_t *v = json_number_or_null(NAN);
	ok(json_is_null(v), "NaN is written as null");
	ok(isnan(json_number_or_nan(v)), "null is read as NaN");
	v = json_number_or_null(1e6);
	ok(json_is_integer(v), "an integral number is written as an integer");
	json_decref(v);
	v = json_text((struct text){ "\xff\x1b", 2 });
	is_str(json_string_value(v), "??", "any bytes become valid text");
	json_decref(v);
	v = json_loads("{\"a\":\"\\u001b\\n\",\"k\":\"\\u001b\\n\",\"b\":[\"\\u202e\",{\"\\u0007x\":[["
		       "\"\\u009b\"]],\"k\":[\"\\n\"]}],\"n\":1}",
		0, NULL);
	json_clean(v, "k");
	char *text = json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS);
	is_str(text, "{\"a\":\"??\",\"b\":[\"?\",{\"?x\":[[\"?\"]],\"k\":[\"?\"]}],\"k\":\"?\\n\",\"n\":1}",
		"json_clean cleans values and keys at any depth and keeps the newlines of one key");
	free(text);
	json_decref(v);
	v = json_loads("{\"\\u0001\":1,\"\\u0002\":2,\"?\":3}", 0, NULL);
	json_clean(v, NULL);
	is_int((int64_t)json_object_size(v), 1, "keys that become equal are merged");
	json_decref(v);
	struct arena a = { 0 };
	is_str(json_clean_object(&a, "{\"b\": 1, \"a\":\"x\"}"), "{\"b\": 1, \"a\":\"x\"}",
		"a clean object is returned unchanged");
	is_str(json_clean_object(&a, "{\"b\":1,\"a\":\"\\u001b[31m \\\" \"}"),
		"{\"a\":\"?[31m \\\" \",\"b\":1}", "JSON escapes are cleaned too");
	is_str(json_clean_object(&a, "{\"a\":\"\x1b\"}"), "{}", "invalid JSON becomes an empty object");
	is_str(json_clean_object(&a, "[\"\\n\"]"), "{}", "an unclean array becomes an empty object");
	arena_free(&a);
}

static void test_text(void)
{
	struct text empty = text_of(""), none = text_of(NULL), word = text_of("abc");
	ok(none.n == 0 && none.p && text_equal(none, empty), "NULL is the empty text");
	ok(text_compare(empty, word) < 0 && text_compare(word, empty) > 0 && text_compare(empty, none) == 0,
		"the empty text is before all others");
	ok(text_compare(word, text_of("abcd")) < 0 && text_compare(text_of("abd"), text_of("abcd")) > 0,
		"a prefix is before the longer text, but the first different letter decides");
}

/* A file of data/: in $BENANZA_DATA alone, if that is set and not empty. */
static void test_data_path(void)
{
	struct arena a = { 0 };
	char folder[] = "/tmp/benanza-test.XXXXXX", path[64];
	if (!ok(mkdtemp(folder) != NULL, "a folder"))
		return;
	snprintf(path, sizeof(path), "%s/here", folder);
	FILE *f = fopen(path, "w");
	if (f)
		fclose(f);
	setenv("BENANZA_DATA", folder, 1);
	is_str(exe_data_path(&a, "here"), path, "a file of $BENANZA_DATA");
	is_str(exe_data_path(&a, "absent"), NULL, "a file that it lacks");
	setenv("BENANZA_DATA", "", 1);
	is_str(exe_data_path(&a, "benanza-no-such-file"), NULL, "an empty $BENANZA_DATA is not the root");
	is_str(exe_data_path(&a, "tmp"), NULL, "whose files are not found");
	unsetenv("BENANZA_DATA");
	is_str(exe_data_path(&a, "benanza-no-such-file"), NULL, "a file that no folder has");
	remove(path);
	remove(folder);
	/* beside the executable: FOLDER/../data */
	char self[512], *slash;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	if (!(slash = strrchr(self, '/')))
		return;
	const char *own = exe_path(&a, slash + 1, X_OK);
	is_str(own, self, "the path of the executable itself");
	is_str(exe_path(&a, "no-such-program", X_OK), NULL, "no such program");
	arena_free(&a);
}

int main(void)
{
	test_data_path();
	test_text();
	test_error();
	test_arena();
	test_arena_mark();
	test_trim();
	test_clean();
	test_is_clean();
	test_columns();
	test_quantities();
	test_str();
	test_hash();
	test_json();
	return done_testing();
}
