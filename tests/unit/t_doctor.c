#include "config.h"

#include "doctor/doctor.h"
#include "store_help.h"

#include <errno.h>
#include <stdarg.h>

/* Machines made of files: what the doctor says of each. */

static void file(const char *machine, const char *path, const char *text)
{
	char name[700];
	snprintf(name, sizeof(name), "%s/%s", machine, path);
	scratch_file(name, text);
}

static void remove_file(const char *machine, const char *path)
{
	char whole[1024];
	snprintf(whole, sizeof(whole), "%s/%s/%s", scratch, machine, path);
	unlink(whole);
}

#define CPU0 "sys/devices/system/cpu/cpu0/"
#define CPU1 "sys/devices/system/cpu/cpu1/"

/* Two cores, quiet, everything set for measuring. */
static void machine_make(const char *name)
{
	file(name, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse4_1 avx avx2 fma\n");
	file(name, "proc/stat",
		"cpu  1000 0 500 8000 10 0 5 0 0 0\ncpu0 500 0 250 4000 5 0 2 0 0 0\nintr 5\n");
	file(name, "proc/loadavg", "0.02 0.05 0.01 1/200 4711\n");
	file(name, "proc/meminfo",
		"MemTotal:       16000000 kB\nMemFree:  9000000 kB\nMemAvailable:   12000000 kB\n"
		"SwapTotal:  0 kB\nSwapFree:  0 kB\nHugePages_Total:       0\n");
	file(name, "proc/vmstat", "pswpin 10\npswpout 20\n");
	file(name, "proc/pressure/cpu", "some avg10=0.10 avg60=0.00 avg300=0.00 total=1\nfull avg10=0.00\n");
	file(name, "proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=1\n");
	file(name, "proc/self/status", "Name:\tx\nCpus_allowed_list:\t0-1\nMems_allowed_list:\t0\n");
	file(name, "proc/self/cgroup", "0::/user.slice/me\n");
	file(name, "proc/self/limits",
		"Limit                     Soft Limit           Hard Limit           Units\n"
		"Max cpu time              unlimited            unlimited            seconds\n"
		"Max address space         unlimited            unlimited            bytes\n");
	file(name, "proc/42/stat", "42 (idler) S 1 42 42 0 -1 4194560 1 0 0 0 100 50 0 0 20 0 1 0 5 0 0\n");
	file(name, "sys/fs/cgroup/user.slice/me/cpu.max", "max 100000\n");
	file(name, "sys/fs/cgroup/user.slice/me/memory.max", "max\n");
	file(name, "sys/devices/system/cpu/online", "0-1\n");
	file(name, "sys/devices/system/node/online", "0\n");
	file(name, "sys/devices/system/node/node0/cpulist", "0-1\n");
	file(name, "sys/devices/system/cpu/cpufreq/boost", "0\n");
	file(name, "sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	file(name, "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "65000000\n");
	file(name, "sys/class/powercap/intel-rapl:0/constraint_0_max_power_uw", "65000000\n");
	file(name, "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	for (int i = 0; i < 2; i++) {
		char path[128];
		static const char *const files[][2] = { { "cpufreq/scaling_governor", "performance\n" },
			{ "cpufreq/cpuinfo_max_freq", "3500000\n" },
			{ "cpufreq/scaling_max_freq", "3500000\n" },
			{ "cpufreq/scaling_cur_freq", "3400000\n" },
			{ "thermal_throttle/core_throttle_count", "0\n" },
			{ "thermal_throttle/package_throttle_count", "0\n" } };
		for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++) {
			snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/%s", i, files[k][0]);
			file(name, path, files[k][1]);
		}
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", i);
		file(name, path, i ? "1\n" : "0\n");
	}
}

static struct doctor *doctor;
static const struct doctor_finding *findings;
static int finding_count;
static char root[600];

/* The scratch folder lies on one; what is around it does not. */
static const char *network(const char *path)
{
	return strcmp(path, scratch) == 0 ? "NFS" : NULL;
}

static struct doctor_options options_of(const char *name)
{
	static const char *const none[] = { NULL };
	snprintf(root, sizeof(root), "%s/%s", scratch, name);
	return (struct doctor_options){
		.root = root, .variables = none, .version = "1.0", .pid = 7, .network = network
	};
}

/* The first reading; what is written before look() happens in between. */
static void begin(const struct doctor_options *o)
{
	doctor_close(doctor);
	doctor = doctor_open(o);
}

/* Advances the clock by 100 ticks, in which others worked for the given number. */
static void pass(const char *name, int busy, int steal)
{
	char text[200];
	snprintf(text, sizeof(text), "cpu  %d 0 500 %d 10 0 5 %d 0 0\n", 1000 + busy,
		8000 + 100 - busy - steal, steal);
	file(name, "proc/stat", text);
}

static void look(void)
{
	findings = doctor_look(doctor, &finding_count);
}

static const struct doctor_finding *of(const char *check, const char *subject)
{
	for (int i = 0; i < finding_count; i++)
		if (strcmp(findings[i].check, check) == 0 &&
			(!subject || strcmp(findings[i].subject, subject) == 0))
			return &findings[i];
	static const struct doctor_finding none = { "", "", DOCTOR_OUTCOMES, "", "" };
	return &none;
}

static int bending(void)
{
	int count = 0;
	for (int i = 0; i < finding_count; i++)
		count += findings[i].outcome == DOCTOR_BENDS;
	return count;
}

/* Only this bends, with a cure, and its line has these words. */
static void only(const char *check, const char *words)
{
	const struct doctor_finding *f = of(check, NULL);
	if (!ok(f->outcome == DOCTOR_BENDS && strstr(f->what, words) && *f->cure && bending() == 1, "%s: %s",
		    check, words))
		for (int i = 0; i < finding_count; i++)
			printf("# %s %s %s: %s\n", doctor_outcome_name(findings[i].outcome),
				findings[i].check, findings[i].subject, findings[i].what);
}

static void is(const char *check, enum doctor_outcome outcome, const char *words)
{
	const struct doctor_finding *f = of(check, NULL);
	if (!ok(f->outcome == outcome && strstr(f->what, words), "%s: %s", check, words))
		printf("# %s: %s\n", f->outcome < DOCTOR_OUTCOMES ? doctor_outcome_name(f->outcome) : "none",
			f->what);
}

static void examine(const char *name)
{
	struct doctor_options o = options_of(name);
	begin(&o);
	pass(name, 2, 0);
	look();
}

static void quiet(void)
{
	machine_make("quiet");
	struct doctor_options o = options_of("quiet");
	struct device cpu = { .name = "cpu",
		.stack = "oneDNN, 2 threads bound one a core",
		.version = "1.0",
		.threads = 2,
		.attributes = "{\"isa\":\"avx2\"}" };
	struct doctor_runner runner = { "cpu", &cpu, NULL };
	o.runner_count = 1;
	o.runners = &runner;
	o.db = "/nowhere/benanza.db";
	begin(&o);
	pass("quiet", 2, 0);
	look();
	int worse = 0;
	for (int i = 0; i < finding_count; i++) {
		worse += findings[i].outcome != DOCTOR_OK;
		if (findings[i].outcome != DOCTOR_OK)
			printf("# %s: %s\n", findings[i].check, findings[i].what);
	}
	ok(worse == 0 && finding_count > 20, "a machine made for measuring: %d findings, all of them ok",
		finding_count);
	is("isa", DOCTOR_OK, "avx2");
	is("load", DOCTOR_OK, "0.04 of 2 processors");
	is("pages", DOCTOR_OK, "madvise");
	is("database", DOCTOR_OK, "on a disk of this machine");
	json_t *one = doctor_json(of("governor", NULL));
	is_str(json_string_value(json_object_get(one, "outcome")), "ok", "as JSON");
	ok(json_is_null(json_object_get(one, "cure")) && json_is_null(json_object_get(one, "subject")),
		"what need not be said is null");
	json_decref(one);
}

static void clocks(void)
{
	machine_make("powersave");
	file("powersave", CPU1 "cpufreq/scaling_governor", "powersave\n");
	examine("powersave");
	only("governor", "powersave on 1 of 2");
	machine_make("boosted");
	file("boosted", "sys/devices/system/cpu/cpufreq/boost", "1\n");
	examine("boosted");
	only("boost", "on");
	machine_make("capped");
	file("capped", CPU1 "cpufreq/scaling_max_freq", "1200000\n");
	examine("capped");
	only("frequency", "limited to 1200 of 3500 MHz");
	is_str(of("frequency", NULL)->cure, "cpupower frequency-set -u 3500MHz", "what to type");
	machine_make("hot");
	file("hot", CPU0 "thermal_throttle/core_throttle_count", "5\n");
	examine("hot");
	is("throttling", DOCTOR_UNKNOWN, "5 times since the start");
	struct doctor_options o = options_of("hot");
	begin(&o);
	file("hot", CPU0 "thermal_throttle/core_throttle_count", "8\n");
	pass("hot", 2, 0);
	look();
	only("throttling", "3 times during the check");
	machine_make("battery");
	file("battery", "sys/class/power_supply/AC/online", "0\n");
	examine("battery");
	only("power", "battery");
	machine_make("thrifty");
	file("thrifty", "sys/class/powercap/intel-rapl:0/constraint_0_power_limit_uw", "15000000\n");
	examine("thrifty");
	only("power", "15 of 65 W");
	machine_make("hpet");
	file("hpet", "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	examine("hpet");
	only("clock", "hpet");
}

static void shares(void)
{
	machine_make("quota");
	file("quota", "sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
	file("quota", "sys/fs/cgroup/user.slice/me/cpu.max", "max 100000\n");
	examine("quota");
	only("quota", "1.50 of 2 processors");
	ok(strstr(of("quota", NULL)->cure, "--threads 1") && strstr(of("quota", NULL)->cure, "--cpus 2"),
		"what to type");
	file("quota", "sys/fs/cgroup/user.slice/cpu.max", "800000 100000\n");
	examine("quota");
	is("quota", DOCTOR_OK, "8.00");
	machine_make("old");
	file("old", "proc/self/cgroup", "5:memory:/me\n4:cpu,cpuacct:/me\n");
	file("old", "sys/fs/cgroup/cpu/me/cpu.cfs_quota_us", "50000\n");
	file("old", "sys/fs/cgroup/cpu/me/cpu.cfs_period_us", "100000\n");
	examine("old");
	only("quota", "0.50");
	ok(!strstr(of("quota", NULL)->cure, "--threads"), "there is no half a thread");
	machine_make("pinned");
	file("pinned", "proc/self/status", "Cpus_allowed_list:\t1\nMems_allowed_list:\t0\n");
	examine("pinned");
	is("cores", DOCTOR_OK, "1 of 2");
	ok(bending() == 0, "a choice is no trouble");
	machine_make("smt");
	file("smt", CPU0 "topology/thread_siblings_list", "0-1\n");
	file("smt", CPU1 "topology/thread_siblings_list", "0-1\n");
	examine("smt");
	is("siblings", DOCTOR_OK, "2 of 2");
	machine_make("nodes");
	file("nodes", "sys/devices/system/node/online", "0-1\n");
	file("nodes", "sys/devices/system/node/node0/cpulist", "0\n");
	file("nodes", "sys/devices/system/node/node1/cpulist", "1\n");
	examine("nodes");
	only("nodes", "2; threads and");
	file("nodes", "proc/self/status", "Cpus_allowed_list:\t1\nMems_allowed_list:\t0-1\n");
	examine("nodes");
	only("nodes", "2; threads and");
	ok(strstr(of("nodes", NULL)->cure, "--cpunodebind=1 --membind=1"),
		"the one that its processors are on");
	file("nodes", "proc/self/status", "Cpus_allowed_list:\t1\nMems_allowed_list:\t1\n");
	examine("nodes");
	is("nodes", DOCTOR_OK, "one of 2");
	machine_make("limited");
	file("limited", "proc/self/limits",
		"Max cpu time              60                   unlimited            seconds\n");
	examine("limited");
	only("limits", "60 seconds");
	ok(strstr(of("limits", NULL)->cure, "ulimit -t unlimited") != NULL, "what to type");
	file("limited", "proc/self/limits",
		"Max resident set          60                   unlimited            bytes\n");
	examine("limited");
	is("limits", DOCTOR_OK, "no limit");
}

static void others(void)
{
	machine_make("loaded");
	struct doctor_options o = options_of("loaded");
	file("loaded", "proc/7/stat", "7 (benanza) R 1 7 7 0 -1 0 1 0 0 0 1000 0 0 0 20 0 1 0 5 0 0\n");
	begin(&o);
	file("loaded", "proc/42/stat",
		"42 (evil) R (make\x1b[2J) S 1 42 42 0 -1 4194560 1 0 0 0 130 60 0 0 20 0 1 0 5 0 0\n");
	file("loaded", "proc/7/stat", "7 (benanza) R 1 7 7 0 -1 0 1 0 0 0 1010 0 0 0 20 0 1 0 5 0 0\n");
	file("loaded", "proc/8/stat", "8 (runner) R 7 7 7 0 -1 0 1 0 0 0 5 0 0 0 20 0 1 0 5 0 0\n");
	pass("loaded", 60, 0);
	look();
	only("load", "0.90 of 2 processors; most by evil) R (make?[2J (process 42, 0.80)");
	ok(!strchr(of("load", NULL)->what, '\x1b'), "a process's name is cleaned");
	file("loaded", "proc/42/stat", "42 (exe) R 1 42 42 0 -1 4194560 1 0 0 0 160 90 0 0 20 0 1 0 5 0 0\n");
	file("loaded", "proc/42/cmdline", "/opt/app/busy\tone");
	pass("loaded", 90, 0);
	look();
	ok(strstr(of("load", NULL)->what, "most by busy?one (process 42"),
		"a process called exe has the name of its command line");
	machine_make("waiting");
	file("waiting", "proc/pressure/cpu", "some avg10=35.20 avg60=0.00 avg300=0.00 total=1\n");
	examine("waiting");
	only("pressure", "35%");
	remove_file("waiting", "proc/pressure/memory");
	examine("waiting");
	ok(!strstr(of("pressure", NULL)->what, "memory"), "what is not told is not 0");
	machine_make("stolen");
	file("stolen", "proc/cpuinfo", "flags\t\t: fpu avx2 hypervisor lahf_lm\n");
	o = options_of("stolen");
	begin(&o);
	pass("stolen", 2, 20);
	look();
	only("steal", "20.0%");
	is("virtual", DOCTOR_UNKNOWN, "virtual machine");
	machine_make("short");
	file("short", "proc/meminfo",
		"MemTotal: 16000000 kB\nMemAvailable: 300000 kB\nSwapTotal: 1000 kB\nSwapFree: 400 kB\n");
	examine("short");
	only("memory", "293 MiB free");
	machine_make("group");
	file("group", "sys/fs/cgroup/user.slice/me/memory.max", "536870912\n");
	file("group", "sys/fs/cgroup/user.slice/me/memory.current", "436870912\n");
	examine("group");
	only("memory", "cgroup");
	file("group", "sys/fs/cgroup/user.slice/me/memory.max", "2536870912\n");
	file("group", "sys/fs/cgroup/user.slice/me/memory.current", "2436870912\n");
	file("group", "sys/fs/cgroup/user.slice/me/memory.stat", "anon 1\ninactive_file 2400000000\n");
	examine("group");
	is("memory", DOCTOR_OK, "cgroup");
	machine_make("swapping");
	o = options_of("swapping");
	begin(&o);
	file("swapping", "proc/vmstat", "pswpin 15\npswpout 20\n");
	pass("swapping", 2, 0);
	look();
	only("swap", "5 pages");
}

/* What a runner lists as present and as missing. */
static void libraries(void)
{
	struct device gpu = { .name = "cuda:0", .stack = "CUDA 13.0, no cuBLASLt", .version = "1",
		.attributes = "{\"libraries\":[{\"name\":\"cuDNN\",\"present\":true,\"version\":\"9.19.0\"},"
			      "{\"name\":\"cuBLASLt\",\"present\":false,\"why\":\"no file\\u0007\",\"tried\":"
			      "[\"/a\",4,\"/b\"],\"fix\":\"install it\"},{\"present\":false},7]}" };
	struct doctor_runner runners[] = { { "lacks", &gpu, NULL } };
	machine_make("libraries");
	struct doctor_options o = options_of("libraries");
	o.runners = runners;
	o.runner_count = 1;
	begin(&o);
	pass("libraries", 2, 0);
	int count;
	const struct doctor_finding *f = doctor_look(doctor, &count);
	int found = 0;
	for (int i = 0; i < count; i++) {
		if (strcmp(f[i].check, "libraries") != 0)
			continue;
		found++;
		ok(f[i].outcome == (found == 1 ? DOCTOR_OK : DOCTOR_BENDS), "library %d: %s", found,
			f[i].what);
		is_str(f[i].cure, found == 1 ? "" : "install it", "its fix");
		if (found == 2)
			is_str(f[i].what, "cuBLASLt missing: no file?; bounds are those of the other "
				"libraries; searched: /a, /b", "reason and what was searched");
	}
	is_int(found, 2, "both, and nothing that is none");
}

static void variables(void)
{
	static const char *const set[] = { "HOME=/root", "OMP_NUM_THREADS=2",
		"OMP_WAIT_POLICY=pas\x1b[31msive", "LD_PRELOAD=", "CUDNN_LOGLEVEL_DBG=3", "MKL_NUM_THREADS=1",
		"OMP_", "NVIDIA_TF32_OVERRIDE=0", "=C:=odd", NULL };
	struct device remote = { .name = "cpu",
		.stack = "2 threads unbound",
		.version = "0.9",
		.threads = 2,
		.attributes = "{\"isa\":\"sse41\",\"environment\":{\"OMP_WAIT_POLICY\":\"active\",\"GOMP_"
			      "SPINCOUNT\":\"7\",\"OMP_PLACES\":\"cores\",\"X\":3}}" };
	struct doctor_runner runners[] = { { "far", &remote, NULL }, { "gone", NULL, "no such program" } };
	machine_make("variables");
	struct doctor_options o = options_of("variables");
	o.variables = set;
	o.runners = runners;
	o.runner_count = 2;
	begin(&o);
	pass("variables", 2, 0);
	look();
	ok(of("variables", "OMP_WAIT_POLICY")->outcome == DOCTOR_BENDS &&
			strstr(of("variables", "OMP_WAIT_POLICY")->what, "pas?[31msive"),
		"a variable that bends, its value cleaned");
	is_str(of("variables", "OMP_WAIT_POLICY")->cure, "unset OMP_WAIT_POLICY", "... and what to do");
	is_str(of("variables", "GOMP_SPINCOUNT")->cure,
		"in its command, before the runner's name: env -u GOMP_SPINCOUNT", "... elsewhere");
	ok(of("variables", "OMP_NUM_THREADS")->outcome == DOCTOR_OK, "one that only chooses");
	ok(of("variables", "LD_PRELOAD")->outcome == DOCTOR_BENDS &&
			of("variables", "NVIDIA_TF32_OVERRIDE")->outcome == DOCTOR_BENDS,
		"others");
	ok(of("variables", "CUDNN_LOGLEVEL_DBG")->outcome == DOCTOR_BENDS, "by the beginning of its name");
	ok(of("variables", "MKL_NUM_THREADS")->outcome == DOCTOR_OK &&
			of("variables", "HOME")->outcome == DOCTOR_OUTCOMES,
		"those that do not matter");
	ok(strstr(of("variables", "GOMP_SPINCOUNT")->what, "7 (far)") != NULL, "a runner's own");
	ok(of("variables", "OMP_PLACES")->outcome == DOCTOR_OUTCOMES, "... not those that it sets itself");
	ok(of("runners", "far")->outcome == DOCTOR_BENDS && strstr(of("runners", "far")->what, "0.9"),
		"a runner of another version");
	ok(of("runners", "gone")->outcome == DOCTOR_BENDS &&
			strstr(of("runners", "gone")->what, "no such program"),
		"one that is not there");
	ok(of("isa", "far")->outcome == DOCTOR_BENDS && strstr(of("isa", "far")->what, "has avx2"),
		"instructions left unused");
	ok(of("threads", "far")->outcome == DOCTOR_BENDS, "threads that move");
	o.threads = 1;
	begin(&o);
	pass("variables", 2, 0);
	look();
	is_str(of("threads", "far")->what, "2, not the requested 1",
		"threads: that do not reach a runner elsewhere");
}

static void no_number(void)
{
	static const char *const set[] = { "OMP_NUM_THREADS=many", NULL };
	machine_make("many");
	struct doctor_options o = options_of("many");
	o.variables = set;
	begin(&o);
	pass("many", 2, 0);
	look();
	only("variables", "many: not a number of threads");
}

/* Threads that share a processor, or whose processor is unknown; a processor that is not the one
 * here. */
static void threads(void)
{
	struct device devices[] = {
		{ .stack = "oneDNN, 8 threads bound to 2 cores",
			.threads = 8,
			.attributes = "{\"cores\":[]}" },
		{ .stack = "oneDNN, 4 threads bound to 2 cores",
			.threads = 4,
			.attributes = "{\"cores\":[0,1,2,3]}" },
		{ .stack = "oneDNN, 2 threads, strict", .threads = 2, .attributes = "{}" },
		{ .stack = "oneDNN, 2 threads bound one a core",
			.threads = 2,
			.host = "there",
			.attributes = "{\"isa\":\"sse41\"}" },
		{ .stack = "oneDNN, 2 threads bound one a core",
			.threads = 2,
			.host = "here",
			.attributes = "{\"isa\":\"sse41\"}" },
	};
	static const char *const names[] = { "many", "siblings", "dumb", "far", "near" };
	struct doctor_runner runners[5];
	for (int i = 0; i < 5; i++) {
		devices[i].name = "cpu";
		devices[i].version = "1.0";
		runners[i] = (struct doctor_runner){ names[i], &devices[i], NULL };
	}
	machine_make("threads");
	file("threads", "proc/sys/kernel/hostname", "here\n");
	struct doctor_options o = options_of("threads");
	o.runners = runners;
	o.runner_count = 5;
	begin(&o);
	pass("threads", 2, 0);
	look();
	const struct doctor_finding *f = of("threads", "many");
	ok(f->outcome == DOCTOR_BENDS && strstr(f->what, "8 threads on 2 cores") &&
			strstr(f->cure, "--threads 2"),
		"more threads than cores");
	ok(of("threads", "siblings")->outcome == DOCTOR_OK, "... each with a processor of its own");
	ok(of("threads", "dumb")->outcome == DOCTOR_UNKNOWN, "not told whether they are bound");
	ok(of("isa", "far")->outcome == DOCTOR_UNKNOWN,
		"another machine's processor is not compared with ours");
	ok(of("isa", "near")->outcome == DOCTOR_BENDS, "... this machine's is");
}

#define GPU(rest)                                                                                            \
	"{\"uuid\":\"GPU-1\",\"driver\":\"580.1\",\"most_clock_mhz\":1980,\"power_limit_w\":700," rest "}"

static void gpus(void)
{
	static const char *const attributes[] = {
		GPU("\"default_power_limit_w\":700,\"ecc\":true,\"persistence\":true,\"mig\":false,\"nvml\":{"
		    "\"sm_mhz\":1980,\"utilization\":0,"
		    "\"processes\":0,\"slowed_by\":\"\"},\"timer\":{\"host_scale\":1.0001,"
		    "\"graph_ns\":4100,\"steady_mhz\":1755,\"steady\":true,\"doubt\":\"\",\"caveat\":\"\"}"),
		GPU("\"default_power_limit_w\":1000,\"nvml\":{\"sm_mhz\":900,\"utilization\":0.8,"
		    "\"processes\":3,\"slowed_by\":\"thermal\"},"
		    "\"timer\":{\"doubt\":\"events count half\"},"
		    "\"warnings\":[\"cuDNN is missing\",7,\"events count half\"]"),
		GPU("\"nvml\":7,\"timer\":{\"why\":\"another process measures\"}"),
		"not JSON",
		GPU("\"nvml\":{\"processes\":1},\"timer\":{\"host_scale\":1,\"doubt\":\"\","
		    "\"caveat\":\"clocks are unknown\"}"),
		"{\"uuid\":\"0; "
		"reboot\",\"power_limit_w\":700,\"default_power_limit_w\":1000,\"nvml\":{\"utilization\":0,"
		"\"slowed_by\":\"\"}}",
	};
	struct device devices[6];
	struct doctor_runner runners[6];
	static const char *const names[] = { "well", "ill", "dumb", "odd", "half", "hostile" };
	for (int i = 0; i < 6; i++) {
		devices[i] = (struct device){
			.name = "cuda:0", .stack = "cuDNN 9", .version = "1.0", .attributes = attributes[i]
		};
		runners[i] = (struct doctor_runner){ names[i], &devices[i], NULL };
	}
	machine_make("gpu");
	struct doctor_options o = options_of("gpu");
	o.runners = runners;
	o.runner_count = 6;
	begin(&o);
	pass("gpu", 2, 0);
	look();
	ok(of("gpu", "well")->outcome == DOCTOR_OK &&
			strstr(of("gpu", "well")->what, "ECC on, persistence on, MIG off"),
		"a GPU that is well");
	ok(of("gpu power", "well")->outcome == DOCTOR_OK && of("gpu load", "well")->outcome == DOCTOR_OK,
		"... with all its power, alone");
	ok(of("gpu", "ill")->outcome == DOCTOR_BENDS && strstr(of("gpu", "ill")->what, "thermal"),
		"one that is hot");
	ok(of("gpu power", "ill")->outcome == DOCTOR_BENDS && of("gpu load", "ill")->outcome == DOCTOR_BENDS,
		"... limited, and in use");
	is_str(of("gpu power", "ill")->cure, "nvidia-smi -i GPU-1 -pl 1000", "... what to type");
	ok(strstr(of("runners", "ill")->what, "cuDNN 9") && bending() == 7, "... and its warning");
	is_str(of("gpu timer", "well")->what, "events count 1 of the host's time, a graph starts in 4.1 us, "
		"the clock under load is steady at 1755 MHz", "a timer that is right");
	ok(of("gpu timer", "ill")->outcome == DOCTOR_BENDS &&
			strcmp(of("gpu timer", "ill")->what, "events count half") == 0,
		"one that is wrong, said once");
	ok(of("gpu timer", "half")->outcome == DOCTOR_BENDS &&
			strstr(of("gpu timer", "half")->cure, "times are right"),
		"clocks that are unknown");
	ok(of("gpu timer", "dumb")->outcome == DOCTOR_UNKNOWN &&
			strcmp(of("gpu timer", "dumb")->what, "another process measures") == 0,
		"a timer that is not calibrated, and why");
	ok(of("gpu timer", "hostile")->outcome == DOCTOR_UNKNOWN, "an older runner");
	ok(of("gpu power", "hostile")->outcome == DOCTOR_BENDS &&
			!strstr(of("gpu power", "hostile")->cure, "reboot"),
		"what a runner says becomes no command");
	ok(of("gpu", "dumb")->outcome == DOCTOR_UNKNOWN && of("gpu load", "dumb")->outcome == DOCTOR_UNKNOWN,
		"one that tells nothing");
	ok(!strstr(of("gpu load", "half")->what, "%") && strstr(of("gpu load", "half")->what,
		"utilization unknown, 1 process"), "... one that tells half");
	ok(of("gpu", "odd")->outcome == DOCTOR_OUTCOMES, "no GPU at all");
}

static void databases(void)
{
	machine_make("nfs");
	char path[700];
	snprintf(path, sizeof(path), "%s/none/yet/benanza.db", scratch);
	struct doctor_options o = options_of("nfs");
	o.db = path;
	begin(&o);
	pass("nfs", 2, 0);
	look();
	only("database", "(NFS)");
	o.db = "/";
	begin(&o);
	look();
	is("database", DOCTOR_OK, "on a disk of this machine");
}

/* Nothing there, and nonsense everywhere. */
static void hostile(void)
{
	struct doctor_options o = options_of("nothing");
	begin(&o);
	look();
	ok(bending() == 0 && of("load", NULL)->outcome == DOCTOR_UNKNOWN &&
			of("governor", NULL)->outcome == DOCTOR_UNKNOWN,
		"a machine without files: nothing is known, nothing is claimed");
	static const char *const files[] = { "proc/cpuinfo", "proc/stat", "proc/loadavg", "proc/meminfo",
		"proc/vmstat", "proc/pressure/cpu", "proc/self/status", "proc/self/cgroup",
		"proc/self/limits", "proc/42/stat", "sys/fs/cgroup/cpu.max", "sys/devices/system/cpu/online",
		"sys/devices/system/node/online", CPU0 "cpufreq/scaling_governor",
		CPU0 "cpufreq/cpuinfo_max_freq", CPU0 "topology/thread_siblings_list",
		"sys/kernel/mm/transparent_hugepage/enabled" };
	static const char *const texts[] = { "", "\n", ":", "0::", "-1", "nan", "1e999 1e999",
		"0-99999999999999999999", "9-1,,", "((((", "[", "cpu  -5 nan inf 1e308 1e308",
		"0::/../../etc/", "\xff\xfe\x1b[31m", "a b c d / - \n - -\n",
		"MemAvailable: -1e300\nMemTotal:" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		for (size_t k = 0; k < sizeof(files) / sizeof(files[0]); k++)
			file("odd", files[k], texts[i]);
		o = options_of("odd");
		o.db = "/";
		begin(&o);
		look();
		bool clean = finding_count > 0;
		for (int k = 0; k < finding_count; k++)
			clean &= !strchr(findings[k].what, '\x1b') && !strstr(findings[k].what, "nan") &&
				!strchr(findings[k].what, '\n');
		ok(clean, "nonsense %zu", i);
	}
}

int main(void)
{
	scratch_make();
	quiet();
	clocks();
	shares();
	others();
	libraries();
	variables();
	no_number();
	threads();
	gpus();
	databases();
	hostile();
	doctor_close(doctor);
	scratch_remove();
	return done_testing();
}
