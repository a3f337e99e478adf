#include "config.h"

#include "execution_sum.h"
#include "profile_help.h"

#define SESSION(name, ts, dur)                                                                               \
	"{\"cat\" : \"Session\",\"pid\" :9,\"tid\" :9,\"dur\" :" #dur ",\"ts\" :" #ts                        \
	",\"ph\" : \"X\",\"name\" :\"" name "\",\"args\" : {}},\n"
#define NODE(name, ts, dur, args)                                                                            \
	"{\"cat\" : \"Node\",\"pid\" :9,\"tid\" :9,\"dur\" :" #dur ",\"ts\" :" #ts                           \
	",\"ph\" : \"X\",\"name\" :\"" name "\",\"args\" : {" args "}},\n"
#define CONV(index)                                                                                          \
	"\"op_name\" : \"Conv\",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"" index           \
	"\",\"output_size\" : \"4096\",\"thread_scheduling_stats\" : {\"main_thread\": {\"core\": 0}},"      \
	"\"input_type_shape\" : [{\"float\":[1,3,8,8]},{\"float\":[4,3,1,1]}]"
#define RELU(index)                                                                                          \
	"\"op_name\" : \"Relu\",\"provider\" : \"CPUExecutionProvider\",\"node_index\" : \"" index "\""
#define RUN(at, conv, relu)                                                                                \
	NODE("c_kernel_time", at##10, conv, CONV("7"))                                                       \
	NODE("r_kernel_time", at##60, relu, RELU("9"))                                                       \
	SESSION("SequentialExecutor::Execute", at##05, 80) SESSION("model_run", at##00, 90)

static const char four_runs[] = "[\n" SESSION("model_loading_uri", 1, 100) SESSION(
	"session_initialization", 101, 200) RUN(10, 45, 5) RUN(20, 20, 6) RUN(30, 24, 8) RUN(40, 22, 7);

static void runs(void)
{
	struct execution *e = read_files(file_of_text("runs.json", four_runs), NULL, NULL);
	const struct execution_row *c = row_named(e, "c"), *r = row_named(e, "r");
	ok(e && e->row_count == 2 && e->rows == c && r == c + 1, "a row a node, in order of execution");
	ok(c->ns == 22e3 && c->lo_ns == 20e3 && c->hi_ns == 24e3 && c->calls == 1,
		"median and range of the runs after the first");
	is_str(c->op, "Conv", "operator");
	is_str(c->provider, "CPUExecutionProvider", "provider");
	is_str(c->shapes, "[{\"float\":[1,3,8,8]},{\"float\":[4,3,1,1]}]", "shapes as printed");
	ok(c->output_bytes == 4096 && c->start_ns == 10e3 && c->parent == -1 && c->level == LEVEL_LAYER,
		"bytes of outputs, start in its run");
	is_str(c->dtype, "f32", "type of the first input");
	ok(isnan(r->output_bytes) && !*r->dtype && !*r->shapes, "what the file lacks is unknown");
	ok(e->profiled_ns == 90e3 && isnan(e->stats.median) && e->first_ns == 90e3,
		"profiled runs give no unprofiled latency");
	ok(e->outside_ns == 61e3 && e->outside_lo_ns == 58e3 && e->outside_hi_ns == 64e3,
		"time outside the rows: of each run less its own rows");
	ok(e->load_ns == 300e3, "loading and initialization");
	is_str(e->source, "onnxruntime", "source");
	is_str(e->dtype, "f32", "type of the execution");
	is_str(e->settings, "{\"runs\":3,\"runs_left_out\":1,\"processors\":1}",
		"runs and processors counted");
	is_int(e->threads, 1, "a single thread");
	ok(strstr(e->gaps, "truncated after 18 events") == e->gaps, "no closing bracket");
	e = read_files(file_of_gzip("runs.json.gz", four_runs), NULL, NULL);
	ok(e && execution_sum_ns(e, LEVEL_LAYER) == 29e3, "the same from gzip");
}

/* Keys of versions before 1.10, and events around each node. */
#define OLD(op, plan) "\"op_name\" : \"" op "\",\"graph_index\" : \"0\",\"exec_plan_index\" : \"" plan "\""
#define OLD_RUN(at, took)                                                                                    \
	NODE("_fence_before", at##00, 3, OLD("Conv", "0"))                                                   \
	NODE("_kernel_time", at##10, took, OLD("Conv", "0"))                                                 \
	NODE("_fence_after", at##60, 0, OLD("Conv", "0"))                                                    \
	NODE("_kernel_time", at##70, 5, OLD("Conv", "1")) SESSION("model_run", at##00, 90)

static void old_keys(void)
{
	struct execution *e = read_files(file_of_text("old.json", "[\n" OLD_RUN(10, 9) OLD_RUN(20, 12)),
		NULL, NULL);
	ok(e && e->row_count == 3,
		"nodes without a name differ by their index; a fence that takes no time is no row");
	is_str(e->rows[0].name, "Conv_0:0", "a name of operator and index");
	ok(e->rows[0].ns == 12e3 && e->rows[2].ns == 5e3 && !strcmp(e->rows[2].name, "Conv_0:1"),
		"their times");
	ok(e->rows[1].level == LEVEL_API && e->rows[1].parent == 0 && e->rows[1].ns == 3e3 &&
			!strcmp(e->rows[1].op, "fence"), "a fence is a call under its node");
	ok(e->load_ns != e->load_ns && execution_sum_ns(e, LEVEL_LAYER) == 17e3, "unknown loading");
}

/* The oldest files have neither names nor numbers: nodes differ by operator and order in the run. */
#define BARE(op, ts, dur) NODE("_kernel_time", ts, dur, "\"op_name\" : \"" op "\"")
#define BARE_RUN(at, took)                                                                                   \
	NODE("_fence_before", at##00, 1, "\"op_name\" : \"Conv\"") BARE("Conv", at##10, took)              \
	BARE("Relu", at##20, 2) NODE("_fence_before", at##30, 3, "\"op_name\" : \"Conv\"")                 \
	BARE("Conv", at##40, 7) NODE("_kernel_time", at##50, 4, "") SESSION("model_run", at##00, 90)

static void bare(void)
{
	struct execution *e = read_files(file_of_text("bare.json", "[\n" BARE_RUN(10, 9) BARE_RUN(20, 12)
		BARE_RUN(30, 12)), NULL, NULL);
	ok(row_named(e, "Conv #1")->ns == 12e3 && row_named(e, "Conv #2")->ns == 7e3 &&
			row_named(e, "Relu #1")->ns == 2e3 && row_named(e, "node #1")->ns == 4e3,
		"a row a node, by operator and order");
	ok(execution_sum_ns(e, LEVEL_LAYER) == 25e3 && row_named(e, "Conv #1")->calls == 1,
		"each once a run");
	const struct execution_row *fence = row_named(e, "_fence_before");
	ok(fence->ns == 1e3 && fence->parent == row_named(e, "Conv #1") - e->rows,
		"fences under their nodes");
	e = read_files(file_of_text("bare_cut.json", "[\n" BARE("Conv", 10, 1) BARE("Conv", 20, 2)
		BARE("Conv", 30, 4)), NULL, NULL);
	ok(e && e->row_count == 3 && row_named(e, "Conv #3")->ns == 4e3 && strstr(e->gaps, "no complete run"),
		"without the end of a run too");
}

/* Nodes of a body stand before the node that has it. */
#define LOOP_RUN(at)                                                                                         \
	NODE("a_kernel_time", at##00, 10, RELU("1")) NODE("body_kernel_time", at##12, 4, RELU("5"))          \
	NODE("body_kernel_time", at##17, 5, RELU("5"))                                                       \
	NODE("loop_kernel_time", at##12, 20, "\"op_name\" : \"Loop\",\"node_index\" : \"2\"")                \
	NODE("zero_kernel_time", at##32, 0, RELU("3")) NODE("b_kernel_time", at##32, 8, RELU("4"))           \
	SESSION("model_run", at##00, 50)

static void bodies(void)
{
	struct execution *e =
		read_files(file_of_text("loop.json", "[\n" LOOP_RUN(10) LOOP_RUN(20)), NULL, NULL);
	const struct execution_row *body = row_named(e, "body"), *loop = row_named(e, "loop");
	ok(e && body->parent == loop - e->rows && body->calls == 2 && body->ns == 9e3,
		"a node of a body, twice a run");
	ok(row_named(e, "a")->parent == -1 && row_named(e, "zero")->parent == -1 && loop->parent == -1,
		"neighbours of no duration are not in it");
	ok(execution_sum_ns(e, LEVEL_LAYER) == 38e3, "the sum counts a body once");
}

/* The types of nodes, in two runs. */
#define TYPED(name, ts, inputs, outputs)                                                                     \
	NODE(name "_kernel_time", ts, 10,                                                                    \
		"\"input_type_shape\" : [" inputs "],\"output_type_shape\" : [" outputs "],"                 \
		"\"op_name\" : \"X\",\"node_index\" : \"" #ts "\"")
#define TYPED_RUN(at, inputs, outputs)                                                                       \
	TYPED("x", at##00, inputs, outputs) SESSION("model_run", at##00, 50)
#define TYPE_OF(inputs, outputs)                                                                             \
	type_of("[\n" TYPED_RUN(10, inputs, outputs) TYPED_RUN(20, inputs, outputs) "]")

static const char *type_of(const char *text)
{
	struct execution *e = read_files(file_of_text("typed.json", text), NULL, NULL);
	return e ? e->rows[0].dtype : "?";
}

static void types(void)
{
	is_str(TYPE_OF("{\"bool\":[1]},{\"float16\":[4]},{\"float16\":[4]}", "{\"float16\":[4]}"), "f16",
		"a condition is not the type (Where)");
	is_str(TYPE_OF("{\"bool\":[]}", "{\"float\":[4]}"), "f32", "without inputs that of the output (If)");
	is_str(TYPE_OF("{\"int64\":[]},{\"bool\":[]},{\"double\":[4]}", "{\"double\":[4]}"), "f64",
		"a count is not the type (Loop)");
	is_str(TYPE_OF("{\"uint8\":[4]},{\"float\":[]},{\"uint8\":[]}", "{\"uint8\":[4]}"), "u8",
		"nor is a scale, after data of 8 bits (QLinearConv)");
	is_str(TYPE_OF("{\"int64\":[4]}", "{\"int64\":[1]}"), "s64", "else that of the first input");
	is_str(TYPE_OF("{\"tensor\":[4]}", ""), "", "a type without a name here is unknown");
}

/* Threads of a pool; those that did not run have equal keys. */
#define SUB(core) "{\"num_run\": 1, \"core\": " #core "}"
#define IDLE "\"a thread that does not run\": " SUB(-1)
#define POOL(subs)                                                                                           \
	"{\"main_thread\": {\"block_size\": [1], \"core\": 3}, \"sub_threads\": {" subs "}}"
#define POOL_RUN(at, stats)                                                                                  \
	NODE("x_kernel_time", at##00, 10,                                                                    \
		"\"thread_scheduling_stats\" : " stats ",\"op_name\" : \"X\"")                               \
	NODE("y_kernel_time", at##20, 10, "\"op_name\" : \"Y\"") SESSION("model_run", at##00, 50)
#define POOL_OF(stats) pool_of("[\n" POOL_RUN(10, stats) POOL_RUN(20, stats) "]")

static const struct execution *pool_of(const char *text)
{
	return read_files(file_of_text("pool.json", text), NULL, NULL);
}

static void threads(void)
{
	const struct execution *e =
		POOL_OF(POOL("\"1\": " SUB(5) ", " IDLE ", " IDLE ", \"2\": " SUB(3)));
	is_int(e->threads, 5, "the main thread and four others, equal keys each");
	ok(strstr(e->settings, "\"processors\":2"), "two of them on one processor: %s", e->settings);
	e = POOL_OF("\"\"");
	is_int(e->threads, 1, "no pool: one thread");
	ok(!strstr(e->settings, "processors"), "its processor is unknown");
	is_int(POOL_OF("[1, {}]")->threads, 0, "other statistics are unknown");
	is_int(POOL_OF("\"none\"")->threads, 0, "so are words");
	is_int(POOL_OF(POOL("\"1\": 7, \"2\": {\"core\": 1e30}"))->threads, 3,
		"threads without details count");
}

static void one_run(void)
{
	struct execution *e =
		read_files(file_of_text("one.json", "[\n" RUN(10, 45, 5) "]"), NULL, NULL);
	is_str(e->gaps, "one run: it contains what only the first one does (allocations, tuning); profile at "
		"least two", "a single run is incomplete");
}

#define CUDA(index)                                                                                          \
	"\"op_name\" : \"Conv\",\"provider\" : \"CUDAExecutionProvider\",\"node_index\" : \"" index "\""
#define DEVICE(cat, name, ts, dur, parent)                                                                   \
	"{\"cat\" : \"" cat "\",\"pid\" :-1,\"tid\" :-1,\"dur\" :" #dur ",\"ts\" :" #ts                      \
	",\"ph\" : \"X\",\"name\" :\"" name                                                                  \
	"\",\"args\" : {\"stream\" : \"7\",\"op_name\" : \"Conv\",\"parent_name\" "                          \
	": \"" parent "\"}},\n"
#define CUDA_RUN(at)                                                                                         \
	NODE("c_kernel_time", at##00, 5, CUDA("1"))                                                          \
	DEVICE("Kernel", "k<float>", at##02, 20, "c_kernel_time") DEVICE("Kernel", "k<float>", at##22, 20,   \
		"c_kernel_time") DEVICE("Api", "cudaLaunchKernel", at##01, 1, "c_kernel_time")               \
		NODE("on_cpu_kernel_time", at##50, 9, RELU("2")) SESSION("model_run", at##00, 70)

static void kernels(void)
{
	struct execution *e =
		read_files(file_of_text("cuda.json", "[\n" CUDA_RUN(10) CUDA_RUN(20) "]"), NULL, NULL);
	const struct execution_row *c = row_named(e, "c"), *k = row_named(e, "k<float>");
	ok(e && k->level == LEVEL_KERNEL && k->parent == c - e->rows && k->calls == 2 && k->ns == 40e3 &&
			k->stream == 7, "kernels under their node");
	ok(c->ns == 40e3 && row_named(e, "on_cpu")->ns == 9e3,
		"a node on the GPU takes the time of its kernels, one on the CPU its own");
	is_str(e->provider, "CUDAExecutionProvider", "provider of most of the time");
	is_str(e->gaps, "", "complete");
}

/* Writes ASCII text as UTF-16, with a mark (unless the name begins with "bare") and, before its end, the
 * bytes `more`. */
static const char *file_of_utf16(const char *name, const char *text, bool big, const char *more, size_t n)
{
	struct str s = { 0 };
	size_t end = strlen(text) - 1;
	str_add(&s, big ? "\xfe\xff" : "\xff\xfe", strncmp(name, "bare", 4) ? 2 : 0);
	for (size_t i = 0; i <= end; i++) {
		char pair[2] = { big ? '\0' : text[i], big ? text[i] : '\0' };
		str_add(&s, i == end ? more : "", i == end ? n : 0);
		str_add(&s, pair, 2);
	}
	const char *path = file_of(name, s.p, s.n);
	str_free(&s);
	return path;
}

/* UTF-32 is refused, with and without a mark, in both orders, compressed too. */
static void utf32(void)
{
	for (int kind = 0; kind < 8; kind++) {
		bool big = kind & 1, mark = kind & 2, packed = kind & 4;
		struct str s = { 0 };
		str_add(&s, big ? "\0\0\xfe\xff" : "\xff\xfe\0\0", mark ? 4 : 0);
		for (const char *p = four_runs; *p; p++) {
			char unit[4] = { 0 };
			unit[big ? 3 : 0] = *p;
			str_add(&s, unit, 4);
		}
		const char *path = file_of("utf32.json", s.p, s.n);
		if (packed) {
			path = arena_printf(&profiles, "%s/utf32.gz", scratch_dir);
			gzFile f = gzopen(path, "wb");
			gzwrite(f, s.p, (unsigned)s.n);
			gzclose(f);
		}
		ok(is_refused(path, "UTF-32 text, which is not read; convert it: iconv"), "UTF-32, %d", kind);
		str_free(&s);
	}
	ok(is_refused(file_of("short", "\xff\xfe\0\0", 4), "UTF-32"), "a mark alone");
	ok(is_refused(file_of("zeros", "a\0\0\0b\0\0", 7), "an unknown file"), "too short to tell");
}

/* What Windows programs write. */
static void encodings(void)
{
	const char *marked = arena_printf(&profiles, "\xef\xbb\xbf%s", four_runs);
	const char *const paths[] = { file_of_text("mark.json", marked), file_of_gzip("mark.gz", marked),
		file_of_utf16("le.json", four_runs, false, "", 0),
		file_of_utf16("be.json", four_runs, true, "", 0),
		file_of_utf16("bare_le.json", four_runs, false, "", 0),
		file_of_utf16("bare_be.json", four_runs, true, "", 0) };
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct execution *e = read_files(paths[i], NULL, NULL);
		ok(e && execution_sum_ns(e, LEVEL_LAYER) == 29e3, "with a byte order mark or UTF-16, %zu", i);
	}
	struct execution *e = read_files(file_of_utf16("odd.json",
		"[{\"count\": 1}, {\"timeMs\": 1, \"name\": \"ab\"}]", false, "", 0), NULL, NULL);
	ok(row_named(e, "ab")->ns == 1e6, "another reader");
	/* U+E4, U+20AC, U+1F600, half of a pair, in a log; then half a unit */
	static const char wide[] = "\xe4\0\xac\x20\x3d\xd8\0\xde\x3d\xd8,\0f\0,\0s\0,\0a\0,\0m\0,\0p\0,\0"
		"1\0\r\0\n\0x";
	e = read_files(file_of_utf16("wide.log", "onednn_verbose,v1,primitive,exec,cpu,relu, ", false, wide,
		sizeof(wide) - 1), NULL, NULL);
	is_str(e && e->row_count ? e->rows[0].kernel : "", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80?",
		"characters of two, three and four bytes");
}

/* Whole runs without their nodes: the latency. */
static void runs_alone(void)
{
	struct execution *e = read_files(file_of_text("alone.json", "[\n" SESSION("model_run", 4000, 90)
		SESSION("model_run", 1000, 900) SESSION("model_run", 3000, 70)
		SESSION("model_run", 2000, 80)), NULL, NULL);
	ok(e && e->row_count == 0 && e->stats.median == 80e3 && e->stats.n == 3 && e->first_ns == 900e3,
		"runs alone: their latency, the first apart");
	is_str(e ? e->settings : "", "{\"runs\":3,\"runs_left_out\":1}", "runs alone: settings");
	ok(e && strstr(e->gaps, "no event of a node: only whole runs can be compared"), "runs alone: said");
	e = read_files(file_of_text("one.json", "[" SESSION("model_run", 1000, 900)), NULL, NULL);
	ok(e && e->stats.median == 900e3 && isnan(e->first_ns), "a single run");
	ok(is_refused(file_of_text("none.json", "[" SESSION("model_loading_uri", 1, 100)), "no node ran"),
		"neither runs nor nodes");
}

#define SIZES "#name,input_sizes,initializers_sizes,total_dynamic_sizes,total_temp_allocations\n"

/* What session.collect_node_memory_stats_to_file writes, beside the profile of the session. */
static void memory(void)
{
	const char *runs = file_of_text("runs.json", four_runs);
	const char *sizes = file_of_text("sizes.csv", SIZES "c_18446744073709551615,64,12,512,1000\r\n"
		"r_12,64,0,256,24\nfused, of a_b_7,1,1,1,1\nr,1,2\n");
	struct execution *e = read_files(sizes, runs, NULL);
	ok(e && row_named(e, "c")->output_bytes == 5096 && row_named(e, "r")->output_bytes == 280,
		"memory: outputs of the profile, else of the file, and temporaries");
	ok(e && strstr(e->settings, "\"temp_bytes\":1000.0") && strstr(e->settings, "\"runs\":3"),
		"memory: the most temporaries: %s", e ? e->settings : "");
	ok(e && strstr(e->gaps, "; the memory of 2 nodes belongs to no row"),
		"memory: other nodes are counted");
	ok(is_refused(sizes, "also give the profile"), "memory without a profile");
	e = read_files(runs, file_of_text("other.csv", SIZES "x_1,1,1,1,1\n"), NULL);
	ok(!e && strstr(err.text, "other.csv: has no node of the profile"), "memory of another session");
	e = read_files(runs, file_of_text("bad.csv", SIZES "c_1,1,1,1,-1\nc_1,1,1,1,1e99\nr_1,1,1,1,1\ncut_"),
		NULL);
	ok(e && row_named(e, "c")->output_bytes == 4096 && strstr(e->gaps, "2 nodes") &&
			strstr(e->gaps, "memory is truncated"), "memory: bad sizes, a cut file");
}

/* Whatever is cut off: whole runs count, and gaps says so. */
static void truncated(void)
{
	int wrong = 0, runs = 0;
	for (size_t n = 200; n < sizeof(four_runs) - 1; n++) {
		struct arena a = { 0 };
		const char *path = memory_file(four_runs, n);
		struct execution *e = NULL;
		int got = profile_read(&a, &path, 1, NULL, &e, &err);
		bool none = got == -1 && strstr(err.text, "no node ran in this profile: truncated after");
		wrong += !none && (got != 1 || !strstr(e->gaps, "truncated after") || e->row_count > 2);
		if (got == 1 && e->row_count && !isnan(e->profiled_ns))
			runs++;
		arena_free(&a);
	}
	ok(wrong == 0 && runs > 1000, "truncated at each byte");
	struct execution *e =
		read_files(file_of("cut.json", four_runs, sizeof(four_runs) - 1 - 300), NULL, NULL);
	ok(e && row_named(e, "c")->ns == 22e3 && strstr(e->gaps, "1 event of an incomplete run left out"),
		"an incomplete run is left out");
	const char *cut = strstr(four_runs, "model_run");
	e = read_files(file_of("part.json", four_runs, (size_t)(cut - four_runs)), NULL, NULL);
	ok(e && row_named(e, "c")->ns == 45e3 && isnan(e->profiled_ns) && strstr(e->gaps, "no complete run"),
		"no run at all: what ran, and no latency");
}

/* The model that the runtime saved gives the tensors. */
static void optimized(void)
{
	struct str g = { 0 };
	put_node(&g, "c", "Conv", "x", "w", "t_nchwc", NULL);
	put_node(&g, "r", "Relu", "t_nchwc", "", "y", NULL);
	float w[12] = { 0 };
	put_tensor(&g, 5, "w", 1, "4,3,1,1", w, sizeof(w));
	put_value(&g, 11, "x", 1, "1,3,8,8");
	put_value(&g, 12, "y", 1, NULL);
	struct str m = put_model(&g, 10, 17);
	const char *model = file_of("o.onnx", m.p, m.n), *profile = file_of_text("runs.json", four_runs);
	is_int(profile_recognize(model, &err), PROFILE_ONNX, "recognized by its content");
	for (int first = 0; first < 2; first++) {
		struct execution *e =
			first ? read_files(model, profile, NULL) : read_files(profile, model, NULL);
		is_str(row_named(e, "c")->inputs, "x", "inputs without constants");
		is_str(row_named(e, "c")->outputs, "t_nchwc", "outputs");
		is_str(row_named(e, "r")->outputs, "y", "of the last");
		ok(e && e->row_count == 2 && row_named(e, "r")->ns == 7e3, "times as without it");
	}
	ok(is_refused(model, "give the profile that it belongs to"), "a model alone is no profile");
	struct execution *e = read_files(model, file_of_text("old.json", "[\n" OLD_RUN(10, 9)), NULL);
	ok(!e && strstr(err.text, "o.onnx: has no node of the profile"), "another model");
	str_free(&m);
}

/* Files without names, in order among those of the same operator. */
static void without_names(void)
{
	struct str g = { 0 };
	put_node(&g, "", "Conv", "x", "w", "a", NULL);
	put_node(&g, "", "Conv", "a", "w", "b", NULL);
	put_value(&g, 11, "x", 1, "1,3,8,8");
	put_value(&g, 11, "w", 1, "3,3,1,1");
	put_value(&g, 12, "b", 1, NULL);
	struct str m = put_model(&g, 10, 17);
	struct execution *e =
		read_files(file_of_text("old.json", "[\n" OLD_RUN(10, 9)), file_of("n.onnx", m.p, m.n), NULL);
	is_str(row_named(e, "Conv_0:0")->outputs, "a", "the first without a name");
	is_str(row_named(e, "Conv_0:1")->outputs, "b", "the second");
	str_free(&m);
}

/* Each file that completes another goes to the nearest before it. */
static void groups(void)
{
	const char *layers =
		file_of_text("l.json", "{\"Layers\": [{\"Name\": \"a\", \"LayerType\": \"one\"}]}");
	const char *more =
		file_of_text("m.json", "{\"Layers\": [{\"Name\": \"a\", \"LayerType\": \"two\"}]}");
	const char *p = file_of_text("p.json", "[{\"count\": 1}, {\"name\": \"a\", \"timeMs\": 1}]");
	const char *paths[] = { p, layers, file_of_text("runs.json", four_runs), p, more };
	struct execution *all;
	int n = profile_read(&profiles, paths, 5, NULL, &all, &err);
	ok(n == 3 && !strcmp(all[0].rows[0].op, "one") && !strcmp(all[1].source, "onnxruntime") &&
			!strcmp(all[2].rows[0].op, "two"), "three executions of five files");
}

/* Reading on: progress, and a stop before and during it. */
struct watched {
	int calls, stop_at; /* stop_at 0: never */
	double share;
	bool falls;
	volatile sig_atomic_t stop;
};

static void progress(void *user, double share)
{
	struct watched *w = user;
	w->falls |= share <= w->share || share > 1;
	w->share = share;
	if (++w->calls == w->stop_at)
		w->stop = 1;
}

static int read_watched(const char *path, struct watched *w)
{
	const struct profile_options how = { .stop = &w->stop, .progress = progress, .user = w };
	struct execution *all;
	err.text[0] = '\0';
	return profile_read(&profiles, &path, 1, &how, &all, &err);
}

static void watched(void)
{
	enum { SPACES = 60 << 20 };
	char *text = base_malloc(SPACES + sizeof(four_runs));
	memcpy(text, four_runs, sizeof(four_runs) - 1);
	memset(text + sizeof(four_runs) - 1, ' ', SPACES);
	const char *path = memory_file(text, SPACES + sizeof(four_runs) - 1);
	struct watched w = { 0 };
	is_int(read_watched(path, &w), 1, "a file of 60 MB");
	is_int(w.calls, 3, "progress each 16 MB");
	ok(!w.falls && w.share > 0.7, "which rises");
	w = (struct watched){ .stop_at = 2 };
	is_int(read_watched(path, &w), -1, "stopped while it is read");
	ok(strstr(err.text, path) == err.text && strstr(err.text, ": interrupted"), "%s", err.text);
	is_int(w.calls, 2, "no progress after that");
	w = (struct watched){ .stop = 1 };
	ok(read_watched(file_of_text("runs.json", four_runs), &w) == -1 && strstr(err.text, "interrupted"),
		"stopped before");
	free(text);
}

int main(void)
{
	if (!scratch_open())
		return 1;
	runs();
	old_keys();
	bare();
	bodies();
	types();
	threads();
	one_run();
	kernels();
	encodings();
	utf32();
	runs_alone();
	memory();
	truncated();
	optimized();
	without_names();
	groups();
	watched();
	files_remove();
	return done_testing();
}
