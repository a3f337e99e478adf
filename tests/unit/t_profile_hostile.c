#include "config.h"

#include <dirent.h>

#include "profile_help.h"
#include "profile/read/scan.h"

static const char *corpus;

static bool is_sane(const struct execution *e)
{
	for (int i = 0; i < e->row_count; i++) {
		const struct execution_row *r = &e->rows[i];
		if (r->parent < -1 || r->parent >= i || r->ns < 0 || isinf(r->ns) ||
			r->lo_ns > r->ns * 1.000001 || !text_is_clean(text_of(r->name)) ||
			strchr(r->name, '\n'))
			return false;
	}
	return text_is_clean(text_of(e->gaps));
}

/* True if reading the file gives sane executions, or one line that begins with the path. */
static bool reads(const char *path)
{
	struct arena a = { 0 };
	struct execution *all;
	err.text[0] = '\0';
	int n = profile_read(&a, &path, 1, NULL, &all, &err);
	bool good = n >= 0 || (strstr(err.text, path) == err.text && text_is_clean(text_of(err.text)));
	for (int i = 0; i < n; i++)
		good = good && is_sane(&all[i]);
	if (!good)
		printf("# %d: %s\n", n, err.text);
	arena_free(&a);
	return good;
}

/* A small file of the kind, truncated at every byte; with every third byte changed by a bit, replaced, or
 * removed. */
static void damaged(const char *kind)
{
	const char *path = arena_printf(&profiles, "%s/%s", corpus, kind);
	char bytes[8192], changed[8192];
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(bytes, 1, sizeof(bytes), f) : 0;
	if (f)
		fclose(f);
	int cut = 0, other = 0, whole = reads(path) && profile_recognize(path, &err) >= 0;
	for (size_t i = 0; i < n; i++) {
		cut += !reads(memory_file(bytes, i));
		memcpy(changed, bytes, n);
		if (i % 3 == 0)
			changed[i] ^= (char)(1 << i % 8);
		else if (i % 3 == 1)
			changed[i] = "\"9}"[i % 2 + i % 5 % 2];
		else
			memmove(changed + i, bytes + i + 1, n - i - 1);
		other += !reads(memory_file(changed, i % 3 == 2 ? n - 1 : n));
	}
	ok(whole && n > 0 && n < sizeof(bytes), "%s: whole", kind);
	ok(!cut && !other, "%s: truncated, changed and shortened at each of %zu bytes", kind,
		n);
}

static void foreign(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *says;
	} files[] = {
		{ "", 0, "an empty file, not a profile; known files: profile of ONNX Runtime" },
		{ "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16, "a PNG picture, not a profile" },
		{ "{\"a\": [1, 2]}", 13, "not a profile" },
		{ "[]", 2, "not a profile" },
		{ "[{\"cat\" : \"Session\",\"ts\" :1,\"name\" :", 37, "no node ran in this profile" },
		{ "{\"traceEvents\": ", 16, "no operator and no kernel in this trace" },
		{ "hello\n", 6, "not a profile" },
		{ "\x1f\x8b\x08\0\0\0\0\0\0\3garbage", 17, "" },
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		ok(is_refused(file_of("foreign", files[i].bytes, files[i].n), files[i].says),
			"foreign file %zu", i);
	ok(is_refused("/proc/self/exe", "a program or library, not a profile"), "a program");
	ok(is_refused(scratch_dir, "not a regular file"), "a directory");
	ok(is_refused("/dev/zero", "not a regular file"), "a device");
	const char *fifo = arena_printf(&profiles, "%s/fifo", scratch_dir);
	ok(mkfifo(fifo, 0600) == 0 && is_refused(fifo, "not a regular file"), "a FIFO does not block");
	ok(is_refused(arena_printf(&profiles, "%s/none", scratch_dir), "No such file"), "no file");
	const char *zeros = file_of("zeros", "", 0);
	ok(truncate(zeros, (off_t)1 << 32) == 0 && is_refused(zeros, "not a profile"), "4 GiB of zeros");
	unlink(zeros);
}

static void extremes(void)
{
	struct str s = { 0 };
	str_puts(&s, "{\"traceEvents\": [");
	for (int i = 0; i < 200000; i++)
		str_puts(&s, "[");
	ok(is_refused(file_of("deep", s.p, s.n), "truncated after 0 events"), "200000 brackets");
	str_clear(&s);
	str_puts(&s,
		"[{\"cat\" : \"Node\",\"ts\" :1e308,\"dur\" :1e308,\"name\" :\"a_kernel_time\",\"args\" : "
		"{}},"
		"{\"cat\" : \"Node\",\"ts\" :-1e30,\"dur\" :5,\"name\" :\"b_kernel_time\",\"args\" : {}},"
		"{\"cat\" : \"Node\",\"ts\" :1,\"dur\" :-5,\"name\" :\"c_kernel_time\",\"args\" : {}},"
		"{\"cat\" : \"Node\",\"ts\" :1,\"dur\" :99999999999999999999999,\"name\" :\"d\",\"args\" : "
		"1},"
		"{\"cat\" : \"Node\",\"ts\" :1,\"dur\" :7,\"name\" :\"e_kernel_time\",\"args\" : "
		"{\"op_name\" : 3}}]");
	struct execution *e = read_files(file_of("huge", s.p, s.n), NULL, NULL);
	ok(e && e->row_count == 1 && e->rows[0].ns == 7e3 && strstr(e->gaps, "4 events without a time"),
		"times out of range are counted");
	str_clear(&s);
	str_puts(&s,
		"[{\"count\" : 1e999}, {\"name\" : \"a\\nb\\u001b[2J\", \"timeMs\" : 1, \"medianMs\" : -3},"
		"{\"name\" : \"\xff\xfe\", \"timeMs\" : 1}, {\"name\" : \"c\", \"timeMs\" : 1, \"medianMs\" "
		": 1e400}]");
	e = read_files(file_of("text", s.p, s.n), NULL, NULL);
	ok(e && e->row_count == 1 && !strcmp(e->rows[0].name, "a?b?[2J") && isnan(e->rows[0].ns) &&
			strstr(e->gaps, "3 records are not valid JSON"),
		"names are cleaned, numbers checked");
	ok(is_refused(file_of_text("late.json",
			      "[{\"cat\" : \"Node\",\"ts\" :9223372036854775808,\"dur\" :5,"
			      "\"name\" :\"a_kernel_time\",\"args\" : {\"op_name\" :\"Conv\"}}]"),
		   "1 event without a time"),
		"a time beyond 64 bits");
	ok(is_refused(file_of_text("late2.json", "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"cpu_op\","
		"\"name\":\"aten::conv2d\",\"pid\":1,\"tid\":1,\"ts\":9223372036854775808,\"dur\":5}]}"),
		"1 event without a time"), "... of a trace");
	ok(is_refused(file_of_text("none.json",
			      "[{\"cat\" : \"Node\",\"ts\" :5,\"dur\" :0,"
			      "\"name\" :\"a_kernel_time\",\"args\" : {\"op_name\" :\"Conv\"}}]"),
		   "every event takes 0 ns"),
		"a single event that takes no time");
	ok(is_refused(file_of_text("huge.log", "onednn_verbose,v1,primitive,exec,cpu,convolution,brg,"
		"forward,src:f32::blocked:acdb::f0,a,alg,mb1,1e308\n"),
		"no execution of a primitive with a plausible time"), "a primitive of 1e308 ms");
	str_clear(&s);
	str_puts(&s, "[{\"name\" : \"");
	for (int i = 0; i < 17 << 20; i++)
		str_puts(&s, "x");
	ok(is_refused(file_of("long", s.p, s.n), ""), "a name of 17 MiB");
	str_free(&s);
}

/* ---- scan ---- */

static uint32_t state = 12345;

static uint32_t next_random(uint32_t below)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % below;
}

/* A random JSON value, with brackets, quotes and backslashes in its strings. */
static void put_random(struct str *s, int depth)
{
	static const char *const words[] = { "\"\"", "\"a]\"", "\"}{[\"", "\"\\\\\"", "\"\\\"\"",
		"\"x\\\\\\\"]\"", "12", "-1.5e3", "true", "null",
		"\"a longer text, of several blocks: {[]}\"" };
	uint32_t kind = depth > 6 ? 0 : next_random(3);
	if (kind == 0) {
		str_puts(s, words[next_random(sizeof(words) / sizeof(words[0]))]);
		return;
	}
	uint32_t n = next_random(6);
	str_puts(s, kind == 1 ? "[" : "{");
	for (uint32_t i = 0; i < n; i++) {
		str_puts(s, i ? (next_random(2) ? ", " : ",\n") : "");
		if (kind == 2)
			str_addf(s, "\"k%u\\\"\": ", i);
		put_random(s, depth + 1);
	}
	str_puts(s, kind == 1 ? "]" : "}");
}

/* Elements as jansson parses them, over the borders of the buffer. */
static void scanning(void)
{
	struct str s = { 0 };
	str_puts(&s, "[");
	for (int i = 0; i < 40000; i++) {
		str_puts(&s, i ? " ,\n" : "\n");
		put_random(&s, 0);
	}
	str_puts(&s, "\n]");
	const char *path = file_of("random", s.p, s.n);
	json_t *whole = json_loadb(s.p, s.n, 0, NULL);
	struct scan *scan = scan_open(path, NULL, &err);
	struct scan_item item;
	size_t i = 0, wrong = 0, members = 0;
	while (scan_next(scan, &item, &err) == 1) {
		json_t *want = json_array_get(whole, i++),
		       *got = json_loadb(item.value.p, item.value.n, JSON_DECODE_ANY, NULL);
		wrong += !got || !json_equal(want, got);
		struct text rest = item.value, key, value;
		for (members = 0; json_is_object(got) && scan_member(scan, &rest, &key, &value) == 1;
			members++) {
			json_t *one = json_loadb(value.p, value.n, JSON_DECODE_ANY, NULL);
			wrong += !one || !json_equal(one, json_object_iter_value(json_object_iter_at(want,
				arena_printf(&profiles, "k%zu\"", members))));
			json_decref(one);
		}
		wrong += json_is_object(got) && members != json_object_size(got);
		json_decref(got);
	}
	ok(whole && i == 40000 && wrong == 0 && !scan_is_cut(scan), "%zu random values of %zu bytes", i, s.n);
	scan_close(scan);
	json_decref(whole);
	str_free(&s);
	arena_clear(&profiles);
}

static void numbers(void)
{
	static const struct {
		const char *text;
		double value;
	} rows[] = {
		{ "0", 0 },
		{ "12", 12 },
		{ "12.5", 12.5 },
		{ "1695835542514261", 1695835542514261.0 },
		{ "1695835542514261.25", 1695835542514261.25 },
		{ "-3", -3 },
		{ "1e3", 1000 },
		{ "0.1", 0.1 },
		{ "123456789.123", 123456789.123 },
		{ "", NAN },
		{ "\"1\"", NAN },
		{ "1.", NAN },
		{ ".5", NAN },
		{ "1.2.3", NAN },
		{ "NaN", NAN },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		near(scan_number(text_of(rows[i].text)), rows[i].value, 0, "number %s", rows[i].text);
}

int main(void)
{
	const char *srcdir = getenv("abs_srcdir");
	if (!scratch_open())
		return 1;
	scanning();
	corpus = arena_strndup(&profiles, srcdir ? srcdir : "..", strlen(srcdir ? srcdir : ".."));
	corpus = arena_printf(&profiles, "%s/tests/fuzz/corpus/profile", corpus);
	DIR *folder = opendir(corpus);
	for (struct dirent *d; folder && (d = readdir(folder));)
		if (d->d_name[0] != '.')
			damaged(arena_printf(&profiles, "%s", d->d_name));
	ok(folder != NULL, "corpus");
	if (folder)
		closedir(folder);
	foreign();
	extremes();
	numbers();
	files_remove();
	return done_testing();
}
