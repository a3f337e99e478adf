/* Exports of Nsight Systems in several versions of their schema: runs, layers, who launched what. */
#include "config.h"

#include "execution_sum.h"
#include "profile_help.h"
#include "store/store_private.h"

/* Makes a database. */
static const char *make(const char *name, const char *sql)
{
	const char *path = file_of(name, "", 0);
	char *why = NULL;
	sqlite3 *db;
	remove(path);
	sqlite3_open(path, &db);
	if (sqlite3_exec(db, sql, NULL, NULL, &why))
		printf("# %s\n", why);
	sqlite3_free(why);
	sqlite3_close(db);
	return path;
}

#define STRINGS                                                                                              \
	"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"                              \
	"INSERT INTO StringIds VALUES (1, 'sgemm'), (2, 'void sgemm<float>(int)'), (3, 'relu'),"             \
	"(4, 'void relu<float>(int)'), (5, 'cudaLaunchKernel'), (6, 'fc'), (7, 'act'), (8, 'infer'),"        \
	"(9, 'cudaMemcpyAsync');"
#define KERNELS                                                                                              \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"             \
	" streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER,"                \
	" shortName INTEGER);"
#define CALLS                                                                                                \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, eventClass INTEGER,"          \
	" globalTid INTEGER, correlationId INTEGER, nameId INTEGER);"
#define RANGES                                                                                               \
	"CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"                \
	" globalTid INTEGER, textId INTEGER);"
#define COPIES                                                                                               \
	"CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, streamId INTEGER,"             \
	" correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER);"
#define GPU                                                                                                  \
	"CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);"                                              \
	"INSERT INTO TARGET_INFO_GPU VALUES (0, 'NVIDIA A100');"

/* A run from `at`: infer(fc(gemm gemm) act(relu)), with a copy before. Thread 2 of process 1 is 1 << 24 | 2.
 * The correlation ids repeat in process 3, whose call lies outside of all ranges. */
#define RUN(at, c, slow)                                                                                     \
	"INSERT INTO NVTX_EVENTS VALUES (" #at "000," #at "900,59,NULL,16777218,8),"                         \
	"(" #at "100," #at "400,59,NULL,16777218,6),(" #at "500," #at "600,59,'act',16777218,NULL);"         \
	"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES"                                                     \
	"(" #at "010," #at "020,0,16777218," #c "0,9),(" #at "110," #at "120,0,16777218," #c "1,5),"         \
	"(" #at "130," #at "140,0,16777218," #c "2,5),(" #at "510," #at "520,0,16777218," #c "3,5),"         \
	"(" #at "950," #at "960,0,50331650," #c "1,5);"                                                      \
	"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES"                                                      \
	"(" #at "200," #at "2" #slow ",0,7," #c "1,16777216,2,1),(" #at "300," #at "340,0,7," #c             \
	"2,16777216,2,1),(" #at "700," #at "710,0,7," #c "3,16777216,4,3);"                                  \
	"INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (" #at "050," #at "055,7," #c "0,16777216,4096,1);"

static const char whole[] =
	STRINGS KERNELS CALLS RANGES COPIES GPU RUN(1, 1, 90) RUN(2, 2, 20) RUN(3, 3, 40) RUN(4, 4, 30);

static void test_runs(void)
{
	struct execution *e = read_files(make("whole.sqlite", whole), NULL, NULL);
	const struct execution_row *fc = row_named(e, "fc"), *act = row_named(e, "act");
	const struct execution_row *gemm = row_named(e, "sgemm"), *relu = row_named(e, "relu");
	/* medians of runs 2 to 4; in run 2 fc's kernels last 20 and 40 ns, from 200 to 340 */
	ok(e && fc->level == LEVEL_LAYER && fc->ns == 140 && fc->calls == 1 && fc->parent == -1,
		"a range is a layer: the span of its kernels");
	ok(act->ns == 10 && act->level == LEVEL_LAYER, "a range with text of its own");
	ok(gemm->level == LEVEL_KERNEL && gemm->ns == 30 && gemm->lo_ns == 20 && gemm->hi_ns == 40,
		"median and range of a kernel");
	is_str(gemm->kernel, "void sgemm<float>(int)", "demangled name");
	ok(gemm->parent == fc - e->rows && relu->parent == act - e->rows, "kernels below their layers");
	ok(gemm[1].ns == 40 && !strcmp(gemm[1].name, "sgemm") && gemm[1].parent == gemm->parent,
		"a second kernel of the name is a row of its own");
	ok(gemm->start_ns == 200 && gemm->stream == 7, "start in the run, stream");
	const struct execution_row *copy = row_named(e, "memcpy HtoD"),
				   *call = row_named(e, "cudaLaunchKernel");
	ok(copy->level == LEVEL_COPY && copy->ns == 5 && copy->write_bytes == 4096 && e->copy_in_ns == 5,
		"a copy to the device");
	ok(call->level == LEVEL_API && call->ns == 10, "a call of the runtime");
	is_str(e->device, "NVIDIA A100", "device");
	is_str(e->source, "nsys", "source");
	is_str(e->settings, "{\"runs\":3,\"runs_left_out\":1}", "runs of the repeated range");
	ok(e->profiled_ns == 900 && isnan(e->stats.median), "latency of profiled runs");
	is_str(e->gaps, "4 events outside of the runs left out", "calls of the other process");
	ok(execution_sum_ns(e, LEVEL_LAYER) == 150, "sum of layers");
}

/* Layers without a range around them: their sequence repeats. */
static void test_sequence(void)
{
	struct execution *e = read_files(
		make("sequence.sqlite", STRINGS KERNELS CALLS RANGES
			"INSERT INTO NVTX_EVENTS VALUES (100,200,59,'load',16777218,NULL),"
			"(1000,1100,59,NULL,16777218,6),(1200,1300,59,NULL,16777218,7),"
			"(2000,2100,59,NULL,16777218,6),(2200,2300,59,NULL,16777218,7);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1010,1020,0,16777218,1,5),"
			"(1210,1220,0,16777218,2,5),(2010,2020,0,16777218,3,5),(2210,2220,0,16777218,4,5);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1030,1090,0,7,1,16777216,2,1),"
			"(1230,1290,0,7,2,16777216,4,3),(2030,2080,0,7,3,16777216,2,1),"
			"(2230,2250,0,7,4,16777216,4,3);"),
		NULL, NULL);
	ok(e && row_named(e, "fc")->ns == 50 && row_named(e, "act")->ns == 20, "layers of the second run");
	is_str(e ? e->settings : "", "{\"runs\":1,\"runs_left_out\":1}", "runs of a repeated sequence");
}

/* Names as PyTorch's emit_nvtx writes them; the numbers differ in each run. */
static void test_emitted(void)
{
#define EMITTED(at, number, inner)                                                                           \
	"(" #at "000," #at "100,59,'aten::conv2d, seq = " #number "1, op_id = " #number                      \
	"2, sizes = [[1, 3, 8, 8], []], input_op_ids = [(1, 0)]',16777218,NULL)," inner ","                  \
	"(" #at "200," #at "300,59,'relu, seq = -1, op_id = " #number "4',16777218,NULL),"                   \
	"(" #at "400," #at "500,59,'my model, seq = 2 of them',16777218,NULL)"
	struct execution *e = read_files(make("emitted.sqlite", RANGES "INSERT INTO NVTX_EVENTS VALUES"
		EMITTED(1, 1, "(1010,1050,59,'aten::cudnn, op_id = 13',16777218,NULL)") ","
		EMITTED(2, 5, "(2010,2050,59,'aten::cudnn, op_id = 53',16777218,NULL)")), NULL, NULL);
	ok(e && e->row_count == 4 && !strcmp(e->settings, "{\"runs\":1,\"runs_left_out\":1}"),
		"emitted names are those of both runs");
	const struct execution_row *conv = row_named(e, "aten::conv2d"), *relu = row_named(e, "relu");
	is_str(conv->op, "conv2d", "their operator");
	is_str(conv->shapes, "[[1, 3, 8, 8], []]", "and the sizes of the inputs");
	ok(!strcmp(relu->op, "relu") && !*relu->shapes && conv->ns == 100, "without sizes");
	const struct execution_row *own = row_named(e, "my model, seq = 2 of them");
	ok(own->ns == 100 && !*own->op, "a name that only looks like it is whole");
}

/* An old export: no runtime calls, no ranges, no process. A new one: columns that nobody knows. */
static void test_versions(void)
{
	struct execution *e = read_files(make("old.sqlite",
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, mangledName INTEGER);"
		"CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
		"INSERT INTO StringIds VALUES (1, '_Z4gemm');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 1), (40, 50, 1);"), NULL, NULL);
	ok(e && e->row_count == 2 && e->rows[0].ns == 20 && e->rows[1].ns == 10, "one run of two kernels");
	is_str(e ? e->rows[0].name : "", "_Z4gemm", "mangled name");
	ok(e && strstr(e->gaps, "no calls of the CUDA runtime"), "what is missing");
	e = read_files(make("nameless.sqlite",
		"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, shortName INTEGER);"
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 30, 1)"), NULL, NULL);
	ok(e && e->row_count == 1 && !*e->rows[0].name && e->rows[0].ns == 20, "without strings");
	e = read_files(
		make("graph.sqlite",
			STRINGS RANGES CALLS
			"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, "
			"correlationId INTEGER,"
			" globalPid INTEGER, greenContextId INTEGER, future BLOB);"
			"INSERT INTO NVTX_EVENTS VALUES (1, 90, 59, 'infer', 16777218, NULL);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (5, 6, 0, 16777218, 1, 5);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (10, 70, 1, 16777216, 0, x'00')"),
		NULL, NULL);
	ok(e && row_named(e, "CUDA graph")->ns == 60 && strstr(e->gaps, "cuda-graph-trace=node"),
		"a CUDA graph");
	e = read_files(make("host.sqlite", RANGES
		"INSERT INTO NVTX_EVENTS VALUES (1, 90, 59, 'a', 1, NULL), (10, 20, 59, 'b', 1, NULL),"
		"(30, 40, 60, 'c', 1, NULL)"), NULL, NULL);
	ok(e && e->row_count == 2 && row_named(e, "b")->ns == 10 && row_named(e, "b")->parent == 0,
		"ranges of the host alone");
	ok(e && strstr(e->gaps, "no kernels"), "which has a gap");
}

/* Kernels without ranges, 10 us apart: "a" takes 1 us, "z" 26 us; a blank is a pause. */
static struct execution *traced(const char *name, const char *kernels, const char *more)
{
	struct str sql = { 0 };
	str_puts(&sql, "BEGIN;" KERNELS CALLS "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);");
	for (int i = 0; i < 26; i++)
		str_addf(&sql, "INSERT INTO StringIds VALUES (%d, '%c');", 'a' + i, 'a' + i);
	for (int i = 0; kernels[i]; i++)
		if (kernels[i] != ' ')
			str_addf(&sql,
				"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
				"(%d, %d, 0, 16777218, %d, NULL);"
				"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
				"(%d, %d, 0, 7, %d, 16777216, %d, %d);",
				i * 10000 - 300 * (i > 0), i * 10000 + 100, i + 1, i * 10000 + 500,
				i * 10000 + 1500 + 1000 * (kernels[i] - 'a'), i + 1, kernels[i], kernels[i]);
	str_addf(&sql, "%s; COMMIT;", more);
	struct execution *e = read_files(make(name, sql.p), NULL, NULL);
	str_free(&sql);
	return e;
}

#define MODEL "abacadaefg" /* 31 us */
#define PAUSED "   abacadaefg"

/* The name of the first row of the level. */
static const char *row_at(const struct execution *e, enum execution_level level)
{
	for (int r = 0; e && r < e->row_count; r++)
		if (e->rows[r].level == level)
			return e->rows[r].name;
	return "";
}

static void test_kernels(void)
{
	static const struct {
		const char *kernels, *settings, *gaps, *what;
		int rows;
		double ns;
		char first;
	} cases[] = {
		{ MODEL MODEL MODEL MODEL, "{\"runs\":3,\"runs_left_out\":1}",
			"no NVTX ranges: 4 runs found by repeated kernels", "four runs", 10, 31e3, 'a' },
		{ MODEL MODEL, "{\"runs\":1,\"runs_left_out\":1}",
			"no NVTX ranges: 2 runs found by repeated kernels", "two runs", 10, 31e3, 'a' },
		{ MODEL, "", "no runs found: neither an NVTX range nor a sequence of kernels repeats", "one",
			10, 31e3, 'a' },
		{ "azbzczzzbazyyzzbayzzazbzzzayyyzzzzxxxz" MODEL "zzzz" MODEL MODEL MODEL,
			"{\"runs\":2,\"runs_left_out\":1}",
			"no NVTX ranges: 3 runs found by repeated kernels; 52 events outside of the runs "
			"left out: 90.3% of the time",
			"a longer warm-up, which tries algorithms", 10, 31e3, 'a' },
		{ "zz" MODEL MODEL MODEL, "{\"runs\":2,\"runs_left_out\":1}",
			"no NVTX ranges: 3 runs found by repeated kernels; 2 events outside of the runs left "
			"out: 35.9% of the time",
			"kernels that make the inputs", 10, 31e3, 'a' },
		{ MODEL MODEL MODEL "abacad", "{\"runs\":2,\"runs_left_out\":1}",
			"no NVTX ranges: 3 runs found by repeated kernels; 6 events outside of the runs left "
			"out: 11.4% of the time",
			"the end within a run", 10, 31e3, 'a' },
		{ MODEL MODEL MODEL "z", "{\"runs\":2,\"runs_left_out\":1}",
			"no NVTX ranges: 3 runs found by repeated kernels; 1 event outside of the runs left "
			"out: 21.8% of the time",
			"a kernel after the last run", 10, 31e3, 'a' },
		{ "daefg" PAUSED PAUSED PAUSED, "{\"runs\":2,\"runs_left_out\":1}",
			"no NVTX ranges: 3 runs found by repeated kernels; 5 events outside of the runs left "
			"out: 19.8% of the time",
			"the first run is cut off", 10, 31e3, 'a' },
		{ "daefg" PAUSED PAUSED PAUSED "   aba", "{\"runs\":2,\"runs_left_out\":1}",
			"no NVTX ranges: 3 runs found by repeated kernels; 8 events outside of the runs left "
			"out: 22.5% of the time",
			"the first and the last one", 10, 31e3, 'a' },
		{ "xy" "abcdefghi" "abcdefghi" "abcdefghi" "abcdefghi" "zw", "",
			"no runs found: neither an NVTX range nor a sequence of kernels repeats",
			"equal blocks between a begin and an end are one run", 40, 278e3, 'x' },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct execution *e = traced("kernels.sqlite", cases[i].kernels, "");
		ok(e && execution_sum_ns(e, LEVEL_KERNEL) == cases[i].ns, "%s: time of a run, %g",
			cases[i].what, e ? execution_sum_ns(e, LEVEL_KERNEL) : 0);
		int rows = 0;
		for (int r = 0; e && r < e->row_count; r++)
			rows += e->rows[r].level == LEVEL_KERNEL;
		is_int(rows, cases[i].rows, "%s: its kernels", cases[i].what);
		is_str(e ? e->settings : "", cases[i].settings, "%s: runs", cases[i].what);
		is_int(*row_at(e, LEVEL_KERNEL), cases[i].first, "%s: its first kernel", cases[i].what);
		is_str(e ? e->gaps : "", cases[i].gaps, "%s: said", cases[i].what);
		ok(e && isnan(e->profiled_ns) && isnan(e->outside_ns), "%s: no latency", cases[i].what);
	}
	struct execution *e = traced("ranged.sqlite", MODEL MODEL MODEL,
		RANGES "INSERT INTO NVTX_EVENTS VALUES (0, 900000, 59, 'all', 16777218, NULL)");
	ok(e && e->row_count == 10 && execution_sum_ns(e, LEVEL_KERNEL) == 31e3,
		"a range around all runs is none of them");
	e = traced("divided.sqlite", MODEL MODEL, RANGES "INSERT INTO NVTX_EVENTS VALUES"
		"(0, 90000, 59, 'one', 16777218, NULL), (95000, 190000, 59, 'two', 16777218, NULL)");
	ok(e && row_named(e, "one")->level == LEVEL_LAYER && row_named(e, "two")->level == LEVEL_LAYER,
		"ranges that divide the kernels are layers");
}

static void test_hostile(void)
{
	struct execution *e = read_files(
		make("hostile.sqlite",
			KERNELS CALLS RANGES
			"INSERT INTO NVTX_EVENTS VALUES (5, NULL, 59, 'open' || char(27) || '[2J', 1, NULL),"
			"(9, 3, 59, 'back', 1, NULL), ('x', 7, 59, 'text', 1, NULL), (-4, 7, 59, 'negative', "
			"1, NULL);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (6, 7, 0, 1, 4, NULL);"
			"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, 9223372036854775807, 0, 0, 4, 0, "
			"1, 1),"
			"(10, 20, 0, 99999999999, 4, 0, 'x', x'00'), (10, 30, 0, 0, 4, -1, 1, 1)"),
		NULL, NULL);
	ok(e && e->row_count == 4 && strstr(e->gaps, "4 events without a valid time"),
		"bad times are counted");
	is_str(e ? e->rows[0].name : "", "open?[2J", "names are clean, an open range has its work");
	ok(is_refused(make("empty.sqlite", "CREATE TABLE t (x)"), "no kernels"), "a database of others");
	ok(is_refused(make("view.sqlite",
			      "CREATE TABLE t (start, end); CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT "
			      "1 start, 2 end"),
		   "no kernels"),
		"a view is no table");
}

/* Every beginning of a file is refused with one line or read in part, and so is every damaged page. */
static void test_truncated(void)
{
	size_t n;
	FILE *f = fopen(make("t.sqlite", whole), "rb");
	static char bytes[1 << 20], damaged[1 << 20];
	n = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	int bad = 0, read = 0;
	for (size_t i = 0; i < n; i += i < 1100 ? 1 : 97) {
		const char *path = file_of("cut.sqlite", bytes, i);
		struct execution *all;
		err.text[0] = '\0';
		int got = profile_read(&profiles, &path, 1, NULL, &all, &err);
		bad += got < 0 && (strstr(err.text, path) != err.text || strchr(err.text, '\n'));
		read += got >= 0;
	}
	is_int(bad, 0, "each cut of a file gives one line");
	for (size_t i = 100; i < n; i += 61) {
		memcpy(damaged, bytes, n);
		memset(damaged + i, 0x5a, 3);
		const char *path = file_of("damaged.sqlite", damaged, n);
		struct execution *all;
		err.text[0] = '\0';
		int got = profile_read(&profiles, &path, 1, NULL, &all, &err);
		bad += got < 0 && (strstr(err.text, path) != err.text || strchr(err.text, '\n'));
		read += got >= 0;
	}
	is_int(bad, 0, "and each damage");
	ok(read > 0, "some of them can be read");
}

/* ---- CSV ---- */

#define PRINTED "\nNOTICE: Existing SQLite export found: x.sqlite\n\nProcessing [x.sqlite] with [a.py]... \n"
#define TRACE(ns)                                                                                            \
	"Start (" ns "),Duration (" ns "),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,"                     \
	"StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,"      \
	"Strm,Name\n"
#define WORK(start, ns, name)                                                                                \
	start "," ns ",7,1,1,1,256,1,1,32,0.000,0.000,,,,,NVIDIA A100 (0),1,,13," name "\n"
#define COPY(start, ns, name)                                                                                \
	start "," ns ",7,,,,,,,,,,0.25,10.0,Pageable,Device,NVIDIA A100 (0),1,,13," name "\n"

/* Four kernels a run, of three layers, the first of two kernels; kernels of a run are not in order. */
#define IN_A "\"a, seq = 4, sizes = [[1, 3]]/void x::"
#define CSV_RUN(at)                                                                                          \
	WORK(at "200", "100", "b/sgemm_128x32_tn")                                                           \
	WORK(at "000", "40", IN_A "(anonymous namespace)::k<int, 3>(int *)\"")                               \
	WORK(at "050", "50", IN_A "l<int, 3>(T1, T2)\"") WORK(at "400", "10", "c/softmax")

static void test_csv_ranges(void)
{
	struct execution *e = read_files(file_of_text("nvtx.csv", PRINTED TRACE("ns")
		COPY("10", "5", "[CUDA memcpy Host-to-Device]") CSV_RUN("1") CSV_RUN("2")
		CSV_RUN("3")), NULL, NULL);
	const struct execution_row *a = row_named(e, "a"), *k = row_named(e, "k"), *b = row_named(e, "b");
	ok(e && a->level == LEVEL_LAYER && a->ns == 100 && b->ns == 100 && row_named(e, "c")->ns == 10,
		"layers are the ranges, from their first to their last kernel");
	ok(k->parent == a - e->rows && k->ns == 40 && k->stream == 13, "their kernels");
	is_str(k->kernel, "void x::(anonymous namespace)::k<int, 3>(int *)", "whole name");
	is_str(a->shapes, "[[1, 3]]", "what emit_nvtx adds");
	is_str(e ? e->device : "", "NVIDIA A100", "device");
	ok(e && e->profiled_ns == 410 && strstr(e->gaps, "outside of the runs left out"), "runs");
}

static void test_csv_kernels(void)
{
#define EIGHT(at)                                                                                            \
	WORK(at "0", "5", "k1") WORK(at "1", "6", "k2") WORK(at "2", "7", "k3") WORK(at "3", "8", "k4")      \
	WORK(at "4", "9", "k1") WORK(at "5", "6", "k5") WORK(at "6", "7", "k6")                              \
	WORK(at "7", "3", "k<1, 2>(x)")
	struct execution *e = read_files(file_of_gzip("trace.csv", TRACE("us") EIGHT("1") EIGHT("2")
		EIGHT("3") "\nProcessing [x.sqlite] with [cuda_gpu_kern_sum.py]... \n"
		"Time (%),Total Time (ns),Instances,Name\n1,5,1,x\n"), NULL, NULL);
	ok(e && e->row_count == 8 && e->rows[0].ns == 5e3 && e->rows[4].ns == 9e3,
		"repeated kernels are runs; us; the trace counts, not the sums after it");
	ok(!strcmp(row_named(e, "k")->kernel, "k<1, 2>(x)"),
		"commas in a name that is not quoted");
	ok(e && strstr(e->gaps, "kernels have no layer: use nsys stats --report cuda_gpu_trace:nvtx-name"),
		"what would give the layers");
	e = read_files(file_of_text("more.csv", TRACE("ns") WORK("1", "5", "\"k\",x,y") WORK("1", "5", "l")),
		NULL, NULL);
	ok(e && e->row_count == 2 && !strcmp(row_named(e, "k")->kernel, "k"),
		"fields after a name in quotation marks");
	e = read_files(file_of_text("cut.csv", TRACE("ns") WORK("1", "5", "k") "9,5,7,1,1"), NULL, NULL);
	ok(e && e->row_count == 1 && strstr(e->gaps, "truncated"), "a truncated line");
	e = read_files(file_of_text("odd.csv", TRACE("ns") WORK("1", "5", "k") WORK("-1", "5", "k")
		WORK("1", "nan", "k") WORK("1", "9e99", "k") WORK("x", "5", "k")), NULL, NULL);
	ok(e && e->row_count == 1 && strstr(e->gaps, "4 lines without a time"), "bad times are counted");
	ok(is_refused(file_of_text("none.csv", TRACE("ns")), "no kernels; profile with nsys profile"),
		"a head alone");
}

static void test_csv_sums(void)
{
#define SUMS "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
	struct execution *e = read_files(file_of_text("sums.csv", PRINTED SUMS
		"60,6000,10,600,600,600,600,0,gemm\n30,4000,20,200,200,200,200,0,\"void a::b<c, d>(e)\"\n"
		"1,70,1,70,70,70,70,0,init\n\n" PRINTED "Time (%),Total Time (ns),Count,Operation\n"
		"100,500,10,[CUDA memcpy HtoD]\n\n" PRINTED SUMS "1,9,10,1,1,1,1,0,again\n"), NULL, NULL);
	ok(e && e->row_count == 3 && row_named(e, "gemm")->ns == 600 && row_named(e, "gemm")->calls == 1 &&
			row_named(e, "b")->ns == 400 && row_named(e, "b")->calls == 2,
		"sums of kernels, for a run; a kernel that ran once before the runs does not count");
	ok(row_named(e, "[CUDA memcpy HtoD]")->level == LEVEL_COPY, "copies of another table");
	is_str(e ? e->settings : "", "{\"runs\":10}", "runs, by the instances");
	e = read_files(file_of_text("old.csv",
		"Time(%),Total Time (ns),Instances,Average,Minimum,Maximum,Name\n"
		"60,6000,3,600,600,600,gemm\n30,4000,4,2,2,2,b\n"), NULL, NULL);
	ok(e && e->row_count == 2 && e->rows[0].ns == 6000 && strstr(e->gaps, "an unknown number of runs"),
		"instances that tell no number of runs");
	static const char *const others[] = {
		"Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n"
		"1,2,cudaLaunchKernel,0,1,1,1,20,python\n",
		"Time (%),Total Time (ns),Num Calls,Avg (ns),Name\n1,2,3,4,cudaMalloc\n",
		"Name,Projected Start (ns),Projected Duration (ns),Orig Start (ns),Style\n",
		"Time (%),Total Time (ns),Instances,Style,Range\n1,2,3,PushPop,x\n",
		"name,Start,Duration\na,1,2\n" };
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		ok(is_refused(file_of_text("other.csv", others[i]), i < 2 ? "no kernels" : ""),
			"another table, %zu", i);
}

int main(void)
{
	if (!scratch_open())
		return 1;
	test_csv_ranges();
	test_csv_kernels();
	test_csv_sums();
	test_runs();
	test_sequence();
	test_emitted();
	test_versions();
	test_kernels();
	test_hostile();
	test_truncated();
	files_remove();
	return done_testing();
}
