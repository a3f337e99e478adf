#include "config.h"

#include "model/graph.h"
#include "model/skim.h"

#include "onnx_bytes.h"
#include "tap.h"

#include <signal.h>
#include <sys/wait.h>

static struct error err;

/* Opens these bytes as a model; on success the caller closes. */
static int skim_bytes(struct skim *s, const void *bytes, size_t n)
{
	err.text[0] = '\0';
	if (!scratch_write(bytes, n))
		return error_set(&err, "cannot write the test's file");
	return skim_open(s, scratch_file, &err);
}

/* It must fail with one line that names the file and has `part` in it. */
static void refused(const void *bytes, size_t n, const char *part, const char *name)
{
	struct skim s;
	int rc = skim_bytes(&s, bytes, n);
	ok(rc == -1 && strstr(err.text, part) && strstr(err.text, "/m.onnx: "), "%s: refused", name);
	if (rc == 0)
		skim_close(&s);
	if (!strstr(err.text, part))
		printf("# said: %s\n", err.text);
}

static void test_not_a_model(void)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *part;
	} files[] = {
#define FILE_ROW(bytes, part) { bytes, sizeof(bytes) - 1, part }
		FILE_ROW("", "empty"),
		FILE_ROW("hello, this is a text\nof two lines\n", "text file"),
		FILE_ROW("version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "git lfs pull"),
		FILE_ROW("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "PNG"),
		FILE_ROW("PK\3\4\0\0\0\0\0\0archive/data.pkl",
			"looks like a zip archive); export it with torch.onnx.export"),
		FILE_ROW("\x1f\x8b\x08\0\0\0\0\0\0\3\1\2\3", "gunzip"),
		FILE_ROW("\x40\0\0\0\0\0\0\0{\"__metadata__\":{}}", "safetensors"),
		FILE_ROW("\x1c\0\0\0TFL3\0\0\0\0", "TensorFlow Lite"),
		FILE_ROW("\x80\2}q\1.", "torch.onnx.export"),
		FILE_ROW("\x7f"
			 "ELF\2\1\1\0",
			"program"),
		FILE_ROW("<!DOCTYPE html><html></html>", "web page"),
		FILE_ROW("ir_version: 8\ngraph {\n}\n", "binary form"),
		FILE_ROW("\0\0\0\0\0\0\0\0\0\0\0\0", "zeros"),
		FILE_ROW("\x0a\3abc\x0a\3def", "protobuf"),
		FILE_ROW("\x08\x08", "no graph"),
		FILE_ROW("\x08\x08\x3a\x00", "no graph"),
	};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		refused(files[i].bytes, files[i].n, files[i].part, files[i].part);
}

static void test_not_a_file(void)
{
	struct skim s;
	unlink(scratch_file);
	ok(skim_open(&s, scratch_file, &err) == -1 && strstr(err.text, "no such file"), "missing file");
	ok(skim_open(&s, scratch_dir, &err) == -1 && strstr(err.text, "directory"), "directory");
	ok(skim_open(&s, "", &err) == -1, "empty path");
	if (geteuid() == 0) {
		ok(true, "unreadable file # SKIP root may read everything");
		return;
	}
	scratch_write("\x08\x08", 2);
	chmod(scratch_file, 0);
	ok(skim_open(&s, scratch_file, &err) == -1 && strstr(err.text, "permission"), "unreadable file");
	chmod(scratch_file, 0600);
}

static void test_broken_wire(void)
{
	refused("\x08\x08\x3a\x7f\x0a\x02", 6, "truncated: at least 125 bytes are missing",
		"a length past the end of the file");
	refused("\x08\x08\x3a\x04\x0a\x20\x0a\x00\x42\x00\x42\x00", 12, "past the end",
		"a length past the end of its graph");
	refused("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "ten bytes",
		"a number of eleven bytes");
	refused("\x08\x08\x3a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, "past the end of the file",
		"a length of 2^64 - 1");
	refused("\x08\x08\x38\x07", 4, "wrong wire type", "a graph that is a number");
	refused("\x0d\x01\x02\x03\x04", 5, "wrong wire type", "a version that is a float");
	refused("\x08\x08\x3b\x3c", 4, "wrong wire type", "a group in place of a graph");
	refused("\x08\x08\x73", 3, "unknown wire type", "an unknown group");
	refused("\x08\x08\x00\x01", 4, "with an invalid number", "field number 0");
	refused("\x08\x08\xff\xff\xff\xff\x7f\x01", 8, "with an invalid number",
		"a field number that is too large");
	refused("\x08", 1, "truncated", "one byte");
	refused("\x08\x08\x3a\x06\x0a\x03\x32\x02\x31\x01\x42\x00", 12, "past the end",
		"an unknown field past the end");
}

/* graph -> node -> attribute -> graph ..., `levels` messages deep. */
static struct str nested(int levels)
{
	struct str inner = { 0 };
	static const unsigned fields[] = { 1, 5, 6 };
	put_node(&inner, "n", "Relu", "", "", "y", NULL);
	for (int i = levels; i > 0; i--) {
		struct str outer = { 0 };
		put_message(&outer, fields[(i - 1) % 3], &inner);
		inner = outer;
	}
	return put_model(&inner, 8, 17);
}

static void test_depth(void)
{
	struct skim s;
	struct str m = nested(57);
	int rc = skim_bytes(&s, m.p, m.n);
	is_int(rc, 0, "59 messages deep: opened (%s)", err.text);
	if (rc == 0)
		skim_close(&s);
	str_free(&m);
	m = nested(3 * 700);
	refused(m.p, m.n, "nested", "2100 messages deep");
	str_free(&m);
	m = nested(9999);
	refused(m.p, m.n, "nested", "10000 messages deep");
	str_free(&m);
}

/* A model of one node and one initializer whose fields are in t. */
static int skim_tensor(struct skim *s, struct str *t)
{
	struct str g = { 0 };
	put_node(&g, "", "Relu", "x", "", "y", NULL);
	put_message(&g, 5, t);
	struct str m = put_model(&g, 8, 17);
	int rc = skim_bytes(s, m.p, m.n);
	str_free(&m);
	return rc;
}

static const Onnx__TensorProto *first_initializer(struct skim *s)
{
	return skim_initializer(&s->arena, s->model->graph->initializer[0], &err);
}

static void test_payload(unsigned field, size_t n, bool kept, const char *name)
{
	struct skim s;
	struct str t = { 0 };
	char *zeros = base_calloc(n, 1);
	put_text(&t, 8, "w");
	put_bytes(&t, field, zeros, n);
	free(zeros);
	if (!ok(skim_tensor(&s, &t) == 0, "%s: opened", name))
		return;
	const Onnx__TensorProto *p = first_initializer(&s);
	is_int(p->n_skipped, kept ? 0 : 2, "%s: %s", name, kept ? "kept" : "left in the file");
	if (!kept && p->n_skipped == 2) {
		is_int(p->skipped[0], field, "%s: the mark names the field", name);
		is_int(p->skipped[1], n, "%s: the mark has the length", name);
		ok(s.skeleton_bytes < 200, "%s: the skeleton is small", name);
	}
	skim_close(&s);
}

static void test_payloads(void)
{
	test_payload(9, TENSOR_PAYLOAD_KEPT, true, "raw, just kept");
	test_payload(9, TENSOR_PAYLOAD_KEPT + 1, false, "raw, just not kept");
	test_payload(9, 1000000, false, "raw, a million");
	test_payload(4, 4096, true, "floats, just kept");
	test_payload(4, 4100, false, "floats, just not kept");
	test_payload(10, 8000, false, "doubles");
	test_payload(7, 5120, true, "integers, room for ten bytes each");
	test_payload(7, 5121, false, "integers, more");
	test_payload(5, 50000, false, "small integers");
	test_payload(11, 20000, false, "unsigned integers");
}

static void test_unpacked(void)
{
	struct skim s;
	struct str t = { 0 };
	put_text(&t, 8, "w");
	for (int i = 0; i < 100000; i++)
		put_float(&t, 4, (float)i);
	if (!ok(skim_tensor(&s, &t) == 0, "floats with a tag each: opened (%s)", err.text))
		return;
	const Onnx__TensorProto *p = first_initializer(&s);
	ok(p->n_float_data <= 1024, "floats with a tag each: few are kept");
	ok(p->n_skipped == 2 && p->skipped[0] == 4 && p->skipped[1] == 400000,
		"and the rest is counted");
	ok(s.arena.total < 100000, "in little memory (%zu)", s.arena.total);
	skim_close(&s);
}

/* A file cannot make us believe that something was left in it. */
static void test_private_field(void)
{
	struct skim s;
	struct str t = { 0 }, mark = { 0 };
	put_text(&t, 8, "w");
	put_bytes(&t, 9, "\1\2\3\4", 4);
	put_int(&mark, 1, 9);
	put_int(&mark, 2, 1 << 30);
	put_int(&mark, 3, 1 << 30);
	put_message(&t, 536000000, &mark);
	if (!ok(skim_tensor(&s, &t) == 0, "a private field in the file: opened"))
		return;
	const Onnx__TensorProto *p = first_initializer(&s);
	ok(p->n_skipped == 0 && p->raw_data.len == 4, "the private field is dropped, the content stays");
	skim_close(&s);
}

static void test_long_texts(void)
{
	struct skim s;
	struct str g = { 0 }, a = { 0 }, attribute = { 0 };
	size_t n = 3000000;
	char *blob = base_malloc(n);
	memset(blob, 'x', n);
	put_text(&attribute, 1, "engine");
	put_bytes(&attribute, 4, blob, n);
	put_int(&attribute, 20, 3);
	put_message(&a, 5, &attribute);
	put_node(&g, "", "Engine", "", "", "y", &a);
	put_bytes(&g, 10, blob, n);
	struct str m = put_model(&g, 8, 17);
	put_bytes(&m, 6, blob, n);
	if (ok(skim_bytes(&s, m.p, m.n) == 0, "long documentation and attribute: opened (%s)", err.text)) {
		const Onnx__AttributeProto *p = s.model->graph->node[0]->attribute[0];
		ok(p->n_skipped == 2 && p->s.len == 0, "the attribute's text stays in the file");
		ok(s.model->doc_string.len == 0 && s.model->n_skipped == 2, "so does the documentation");
		ok(s.skeleton_bytes < 400 && s.bytes_read < 20000, "nothing of it is read (%llu bytes were)",
			(unsigned long long)s.bytes_read);
		skim_close(&s);
	}
	str_free(&m);
	struct str named = { 0 };
	blob[100000] = '\0';
	put_node(&named, blob, "Relu", "", "", "y", NULL);
	m = put_model(&named, 8, 17);
	refused(m.p, m.n, "64 KiB", "a name of 100 kB");
	str_free(&m);
	free(blob);
}

/* protobuf says: a message that occurs twice is the two together. */
static void test_two_graphs(void)
{
	struct skim s;
	struct str g1 = { 0 }, g2 = { 0 };
	put_node(&g1, "a", "Relu", "", "", "y", NULL);
	struct str m = put_model(&g1, 8, 17);
	put_node(&g2, "b", "Relu", "", "", "z", NULL);
	put_message(&m, 7, &g2);
	if (ok(skim_bytes(&s, m.p, m.n) == 0, "a graph in two parts: opened")) {
		is_int(s.model->graph->n_node, 2, "with both nodes");
		skim_close(&s);
	}
	str_free(&m);
}

/* Writes a model whose one initializer is a hole of `bytes`; false where the file system refuses. */
static bool write_hole(int64_t bytes)
{
	struct str t = { 0 }, tail = { 0 }, g = { 0 }, m = { 0 };
	put_int(&t, 1, bytes / 4);
	put_int(&t, 2, 1);
	put_text(&t, 8, "w");
	put_key(&t, 9, 2);
	put_varint(&t, (uint64_t)bytes);
	put_key(&g, 5, 2);
	put_varint(&g, t.n + (uint64_t)bytes);
	str_add(&g, t.p, t.n);
	put_node(&tail, "last", "Relu", "w", "", "y", NULL);
	put_int(&m, 1, 8);
	put_key(&m, 7, 2);
	put_varint(&m, g.n + (uint64_t)bytes + tail.n);
	str_add(&m, g.p, g.n);
	bool good = scratch_write(m.p, m.n);
	int fd = open(scratch_file, O_WRONLY);
	good = good && fd >= 0 && ftruncate(fd, (off_t)m.n + bytes) == 0 &&
	       pwrite(fd, tail.p, tail.n, (off_t)m.n + bytes) == (ssize_t)tail.n;
	if (fd >= 0)
		close(fd);
	str_free(&t);
	str_free(&tail);
	str_free(&g);
	str_free(&m);
	return good;
}

static void test_large_file(void)
{
	struct skim s;
	int64_t bytes = (int64_t)3 << 30;
	if (!write_hole(bytes)) {
		ok(true, "a file of 3 GB # SKIP the file system refuses it");
		unlink(scratch_file);
		return;
	}
	if (ok(skim_open(&s, scratch_file, &err) == 0, "a file of 3 GB: opened (%s)", err.text)) {
		ok(s.arena.total + s.skeleton_bytes < 16384, "in %zu bytes of memory",
			s.arena.total + s.skeleton_bytes);
		ok(s.bytes_read < 16384, "reading %llu bytes", (unsigned long long)s.bytes_read);
		is_int(s.model->graph->n_node, 1, "what stands behind the weights is there");
		const Onnx__TensorProto *w = first_initializer(&s);
		ok(w->n_skipped == 2 && w->skipped[1] == (uint64_t)bytes, "the weights are marked");
		skim_close(&s);
	}
	unlink(scratch_file);
}

/* Fields within each other, from a model's down to one of `bytes` that are a hole: "7 1 4=Relu 6" is field 6
 * of a node whose field 4 is a text. A small model follows. */
static bool write_deep_hole(const char *path, int64_t bytes)
{
	struct str all = { 0 }, tail = { 0 }, g = { 0 };
	char copy[64], *words[16];
	int count = 0;
	snprintf(copy, sizeof(copy), "%s", path);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		words[count++] = word;
	/* From the innermost outwards: what stands before the hole. */
	for (int i = count - 1; i >= 0; i--) {
		struct str here = { 0 };
		char *text = strchr(words[i], '=');
		if (text) {
			put_text(&here, (unsigned)atoi(words[i]), text + 1);
		} else {
			put_key(&here, (unsigned)atoi(words[i]), 2);
			put_varint(&here, all.n + (uint64_t)bytes);
		}
		if (all.n)
			str_add(&here, all.p, all.n);
		str_free(&all);
		all = here;
	}
	put_node(&g, "last", "Relu", "", "", "y", NULL);
	put_message(&tail, 7, &g);
	bool good = scratch_write(all.p, all.n);
	int fd = open(scratch_file, O_WRONLY);
	good = good && fd >= 0 && pwrite(fd, tail.p, tail.n, (off_t)all.n + bytes) == (ssize_t)tail.n;
	if (fd >= 0)
		close(fd);
	str_free(&all);
	str_free(&tail);
	return good;
}

/* Whatever is large and not needed stays in the file, wherever it stands. */
static void test_deep_holes(void)
{
	static const struct {
		const char *name, *path;
	} cases[] = {
		{ "the model's description", "6" },
		{ "metadata", "14 1=key 2" },
		{ "training", "20" },
		{ "the graph's description", "7 10" },
		{ "an input's description", "7 11 1=x 3" },
		{ "quantization notes", "7 14" },
		{ "a node's description", "7 1 4=Relu 6" },
		{ "a node's metadata", "7 1 4=Relu 9 2" },
		{ "an attribute's description", "7 1 4=Relu 5 1=a 13" },
		{ "an attribute's numbers", "7 1 4=Relu 5 1=a 8" },
		{ "an attribute's floats", "7 1 4=Relu 5 1=a 7" },
		{ "an attribute's text", "7 1 4=Relu 5 1=a 4" },
		{ "an attribute's list of graphs", "7 1 4=Relu 5 1=a 11" },
		{ "an attribute's constant", "7 1 4=Relu 5 1=a 5 9" },
		{ "a sparse constant's places", "7 15 2" },
		{ "a text of a constant", "7 5 8=w 6" },
		{ "a constant's description", "7 5 8=w 12" },
		{ "a function's description", "25 1=F 8" },
		{ "a constant of a function", "25 1=F 7 4=Constant 5 1=value 5 9" },
	};
	int64_t bytes = (int64_t)1 << 30;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct skim s;
		if (!write_deep_hole(cases[i].path, bytes)) {
			ok(true, "%s of 1 GB # SKIP the file system refuses it", cases[i].name);
			continue;
		}
		if (!ok(skim_open(&s, scratch_file, &err) == 0, "%s of 1 GB: opened (%s)", cases[i].name,
			    err.text))
			continue;
		ok(s.arena.total + s.skeleton_bytes < 16384 && s.bytes_read < 65536 &&
				s.model->graph->n_node > 0,
			"in %zu bytes of memory, reading %llu bytes", s.arena.total + s.skeleton_bytes,
			(unsigned long long)s.bytes_read);
		skim_close(&s);
	}
	unlink(scratch_file);
}

static void test_many_tensors(void)
{
	struct skim s;
	struct str g = { 0 };
	char *zeros = base_calloc(1, 20000);
	for (int i = 0; i < 500; i++) {
		char name[32];
		snprintf(name, sizeof(name), "w%d", i);
		put_tensor(&g, 5, name, 1, "50,100", zeros, 20000);
	}
	free(zeros);
	put_node(&g, "", "Relu", "w1", "", "y", NULL);
	struct str m = put_model(&g, 8, 17);
	if (ok(skim_bytes(&s, m.p, m.n) == 0, "500 tensors of 20 kB: opened")) {
		is_int(s.model->graph->n_initializer, 500, "all are there");
		ok(s.bytes_read < 500 * 2100, "a tenth of the file is read (%llu of %zu bytes)",
			(unsigned long long)s.bytes_read, m.n);
		skim_close(&s);
	}
	str_free(&m);
}

/* Opens bytes through a pipe as standard input. */
static int skim_stream(struct skim *s, const struct str *m, size_t n)
{
	int ends[2];
	if (pipe(ends) != 0)
		return error_set(&err, "no pipe");
	pid_t child = fork();
	if (child == 0) {
		close(ends[0]);
		size_t at = 0;
		while (at < n) {
			size_t part = n - at < 777 ? n - at : 777;
			ssize_t wrote = write(ends[1], m->p + at, part);
			if (wrote <= 0)
				break;
			at += (size_t)wrote;
		}
		_exit(0);
	}
	close(ends[1]);
	int saved = dup(0);
	dup2(ends[0], 0);
	close(ends[0]);
	int rc = skim_open(s, "-", &err);
	dup2(saved, 0);
	close(saved);
	waitpid(child, NULL, 0);
	return rc;
}

static void test_stream(void)
{
	struct skim s;
	struct str g = { 0 };
	char *zeros = base_calloc(1, 300000);
	put_tensor(&g, 5, "w", 1, "75000", zeros, 300000);
	free(zeros);
	put_node(&g, "", "Relu", "w", "", "y", NULL);
	struct str m = put_model(&g, 8, 17);
	if (ok(skim_stream(&s, &m, m.n) == 0, "standard input: opened (%s)", err.text)) {
		is_int(s.file_bytes, m.n, "its length is known afterwards");
		is_int(s.model->graph->n_node, 1, "the node is there");
		ok(s.arena.total + s.skeleton_bytes < 16384, "the weights never were in memory");
		skim_close(&s);
	}
	ok(skim_stream(&s, &m, m.n / 2) == -1 && strstr(err.text, "standard input: truncated"),
		"truncated stream (%s)", err.text);
	ok(skim_stream(&s, &m, 0) == -1 && strstr(err.text, "empty"), "empty stream");
	/* A file as standard input is read like a file, from where it stands. */
	scratch_write(m.p, m.n);
	int saved = dup(0), fd = open(scratch_file, O_RDONLY);
	dup2(fd, 0);
	close(fd);
	if (ok(skim_open(&s, "-", &err) == 0, "a file as standard input: opened")) {
		ok(s.bytes_read < 20000, "its weights are jumped over");
		skim_close(&s);
	}
	dup2(saved, 0);
	close(saved);
	str_free(&m);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (!scratch_open())
		skip_all("no directory for temporary files");
	test_not_a_model();
	test_not_a_file();
	test_broken_wire();
	test_depth();
	test_payloads();
	test_unpacked();
	test_private_field();
	test_long_texts();
	test_two_graphs();
	test_large_file();
	test_deep_holes();
	test_many_tensors();
	test_stream();
	scratch_close();
	return done_testing();
}
