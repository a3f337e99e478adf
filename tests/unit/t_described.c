/* Described devices: those in data/devices, and files that do not describe a device. */
#include "config.h"

#include "session/described.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

#define GPU "{\"name\":\"X\",\"sm\":90,\"cudnn\":{},\"bandwidth_bytes_s\":1"

static struct arena a;
static struct error err;

static void test_data(void)
{
	static const struct {
		const char *id;
		int sm;
	} wanted[] = { { "v100", 70 }, { "t4", 75 }, { "a100", 80 }, { "rtx3090", 86 }, { "l40s", 89 },
		{ "rtx4090", 89 }, { "h100", 90 }, { "h200", 90 }, { "b200", 100 } };
	struct described *list, d;
	int count;
	is_int(described_list(&a, &list, &count, &err), 0, "the data folder is read (%s)", err.text);
	ok(count >= 9, "at least nine");
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		is_int(described_find(&a, wanted[i].id, &d, &err), 1, "%s is there", wanted[i].id);
		is_int(d.sm, wanted[i].sm, "its architecture");
		ok(d.source_count >= 2 && strncmp(d.sources[0], "https://", 8) == 0, "its sources are named");
		ok(d.peaks.bandwidth_bytes_s > 1e11 && d.peaks.flops[DTYPE_F32] > 1e12,
			"bandwidth and plain f32");
		ok(d.peaks.matrix_flops[DTYPE_F16] > 2 * d.peaks.flops[DTYPE_F32] ||
				strcmp(d.id, "rtx4090") == 0,
			"matrix units are much faster");
		ok(d.peaks.sm == d.sm && (d.peaks.clock_share < 1) == (strcmp(d.id, "t4") == 0),
			"estimates know its architecture, and that a T4 does not hold its clock");
		ok(isnan(d.peaks.matrix_flops[DTYPE_TF32]) == (d.sm < 80), "TF32 from sm 80 on");
		ok(isnan(d.peaks.matrix_flops[DTYPE_F8E4M3]) == (d.sm < 89), "8-bit floats from sm 89 on");
	}
	is_int(described_find(&a, "nvidia h200", &d, &err), 1, "found by name, whatever the case");
	is_int(described_find(&a, "h300", &d, &err), 0, "none of that name");
	described_find(&a, "V100", &d, &err);
	is_str(d.caveat, "cuDNN can plan for it; this build has no kernels for it",
		"the V100 says what is behind it");
}

static const char *file_with(const char *text)
{
	static char path[256];
	snprintf(path, sizeof(path), "t_described.%d.json", (int)getpid());
	FILE *f = fopen(path, "w");
	fputs(text, f);
	fclose(f);
	return path;
}

static void test_bad(void)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "{", ":1: " },
		{ "[]", "not a JSON object" },
		{ "{\"sm\":90}", "name is missing" },
		{ "{\"name\":\"X\",\"sm\":\"90\"}", "sm (90" },
		{ "{\"name\":\"X\",\"sm\":90}", "cudnn" },
		{ "{\"name\":\"X\",\"sm\":90,\"cudnn\":{}}", "bandwidth_bytes_s is missing" },
		{ "{\"name\":\"X\",\"sm\":90,\"cudnn\":{},\"bandwidth_bytes_s\":-1}",
			"bandwidth_bytes_s is missing" },
		{ "{\"name\":\"X\",\"sm\":90,\"cudnn\":{},\"bandwidth_bytes_s\":1,\"clock_share\":1.5}",
			"clock_share is not a number above 0 and up to 1" },
		{ "{\"name\":\"X\",\"sm\":90,\"cudnn\":{},\"bandwidth_bytes_s\":1,\"bandwidth_share\":0}",
			"bandwidth_share is not a number above 0 and up to 1" },
		{ "{\"name\":\"X\",\"sm\":90,\"cudnn\":{},\"bandwidth_bytes_s\":1,\"peak_flops\":{\"f17\":1}"
		  "}",
			"f17" },
		{ "{\"name\":\"X\",\"sm\":90,\"cudnn\":{},\"bandwidth_bytes_s\":1,\"peak_flops\":{\"f16_"
		  "tensor\":1}}",
			"f16_tensor" },
		{ "{\"name\":\"X\",\"sm\":90,\"cudnn\":{},\"bandwidth_bytes_s\":1,\"peak_flops\":{\"f16\":"
		  "\"many\"}}",
			"f16" },
		{ GPU ",\"multiprocessors\":0}", "multiprocessors is not a number of 1 to" },
		{ GPU ",\"multiprocessors\":1e9}", "multiprocessors is not a number of 1 to" },
		{ GPU ",\"multiprocessors\":\"many\"}", "multiprocessors is not a number of 1 to" },
		{ GPU ",\"clock_mhz\":1.4}", "clock_mhz is not a number of 100 to 100000" },
		{ GPU ",\"clock_mhz\":1410000000}", "clock_mhz is not a number of 100 to 100000" },
		{ GPU ",\"l2_bytes\":-1}", "l2_bytes is not a number above 0" },
		{ GPU ",\"l2_bytes\":0}", "l2_bytes is not a number above 0" },
	};
	struct described d;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *path = file_with(cases[i].text);
		is_int(described_read(&a, path, &d, &err), -1, "refused: %s", cases[i].text);
		ok(strstr(err.text, path) && strstr(err.text, cases[i].says), "says file and key: %s",
			err.text);
	}
	const char *good =
		file_with("{\"name\":\"My\\u001bGPU\",\"sm\":86,\"cudnn\":{},\"bandwidth_bytes_s\":5e11,"
			  "\"peak_flops\":{\"f8_matrix\":1e15}}");
	is_int(described_find(&a, good, &d, &err), 1, "a file of one's own is chosen by its path");
	ok(!strchr(d.name, '\x1b'), "its name is cleaned");
	ok(d.peaks.matrix_flops[DTYPE_F8E5M2] == 1e15 && isnan(d.peaks.flops[DTYPE_F32]),
		"what is not said is unknown");
	ok(isnan(d.clock_mhz) && isnan(d.l2_bytes) && d.multiprocessors == 0, "in all places");
	unlink(good);
}

/* By id only the description's own file is read: another one may be broken. By name all are. */
static void test_one(void)
{
	static const char good[] = "{\"name\":\"My GPU\",\"sm\":86,\"cudnn\":{},\"bandwidth_bytes_s\":5e11}";
	static const char *const file[] = { "mine", "odd" }, *const text[] = { good, "{" };
	struct described d;
	char root[] = "/tmp/described-XXXXXX", path[sizeof(root) + 32];
	ok(mkdtemp(root) != NULL, "a folder");
	snprintf(path, sizeof(path), "%s/devices", root);
	mkdir(path, 0700);
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/devices/%s.json", root, file[i]);
		FILE *f = fopen(path, "w");
		fputs(text[i], f);
		fclose(f);
	}
	setenv("BENANZA_DATA", root, 1);
	is_int(described_find(&a, "MINE", &d, &err), 1, "by id, beside a broken file");
	is_str(d.name, "My GPU", "it is that one");
	is_int(described_find(&a, "odd", &d, &err), -1, "the broken one is an error");
	ok(strstr(err.text, "odd.json:1"), "... that names it: %s", err.text);
	is_int(described_find(&a, "My GPU", &d, &err), -1, "by name all are read");
	is_int(described_find(&a, "min", &d, &err), -1, "a part of an id is none");
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/devices/%s.json", root, file[i]);
		unlink(path);
	}
	is_int(described_find(&a, "mine", &d, &err), 0, "none without files");
	snprintf(path, sizeof(path), "%s/devices", root);
	rmdir(path);
	rmdir(root);
}

int main(void)
{
	char data[4096];
	const char *srcdir = getenv("abs_srcdir");
	snprintf(data, sizeof(data), "%s/data", srcdir ? srcdir : "..");
	setenv("BENANZA_DATA", data, 1);
	test_data();
	test_bad();
	test_one();
	arena_free(&a);
	return done_testing();
}
