#include "config.h"

#include <sys/stat.h>
#include <unistd.h>

#include "config/option_table.h"

#include "store_help.h"

static struct error err;
static struct config c;

static int load(const char *text)
{
	file_text(scratch_path("x.yaml"), text);
	err.text[0] = '\0';
	return config_load(&c, scratch_path("x.yaml"), &err);
}

static void test_defaults(void)
{
	is_int(config_load(&c, NULL, &err), 0, "no file, no error");
	ok(!c.path && !c.db && !c.device && c.batch_count == 0 && c.dtype_count == 0 && !c.what_if,
		"nothing is set");
	is_str(c.algorithms, "best", "algorithms");
	ok(c.budget_ms == 200 && c.problem_limit_ms == 30000 && c.threads == 0, "numbers");
	ok(c.quick, "the quick pass");
	ok(c.color && !c.ascii, "flags");
	is_int(c.runner_count, 1, "one runner");
	ok(!strcmp(c.runners[0].name, "cpu") && c.runners[0].count == 1, "our own, once");
	has(c.runners[0].argv[0], "benanza-runner-cpu", "its command");
	ok(c.runners[0].argc == 1 && !c.runners[0].argv[1], "of one word");
	config_free(&c);
	is_int(load(""), 0, "an empty file");
	config_free(&c);
	is_int(load("# nothing but a comment\n"), 0, "a comment");
	config_free(&c);
	is_int(load("---\n~\n"), 0, "a null document");
	config_free(&c);
	is_int(load("batch:\ndb: ~\nthreads: null\ndims:\nrunners: ~\n"), 0, "keys without a value");
	ok(c.batch_count == 0 && !c.db && c.threads == 0 && c.dim_count == 0 && c.runner_count == 1,
		"keep defaults");
	config_free(&c);
}

static void test_good(void)
{
	is_int(load("db: sub/my.db\ndevice: gpu7\nbatch: [1, 8]\ndtype: f32, bf16\nwhat_if: "
		    "'fusion,matrix=off'\n"
		    "algorithms: preferred\ncolumns: bound,peak\nquick: off\n"
		    "budget_ms: 50\nproblem_limit_ms: 1000\nthreads: 2\ncolor: "
		    "no\nascii: true\n"
		    "dims: {sequence: 128, past: 0, \"a b\": 3}\n"
		    "runners:\n  gpu7: ssh  gpu7 run\n  x.y-z_1: [a, b c, '']\n  cpu: {command: [mine]}\n"
		    "  pool:\n    env: {OMP_PLACES: cores, EMPTY: ''}\n    count: 4\n    command: srun -n1 "
		    "run\n"),
		0, "all keys");
	if (err.text[0])
		printf("# %s\n", err.text);
	is_str(c.db, scratch_path("sub/my.db"), "db: beside the file");
	is_str(c.device, "gpu7", "device");
	ok(c.batch_count == 2 && c.batch[0] == 1 && c.batch[1] == 8, "batch");
	ok(c.dtype_count == 2 && c.dtype[0] == DTYPE_F32 && c.dtype[1] == DTYPE_BF16, "dtype");
	is_str(c.what_if, "fusion,matrix=off", "what_if");
	is_str(c.algorithms, "preferred", "algorithms");
	is_str(c.columns, "bound,peak", "columns");
	ok(!c.quick, "quick");
	ok(c.budget_ms == 50 && c.problem_limit_ms == 1000 && c.threads == 2 && !c.color && c.ascii,
		"numbers and flags");
	is_int(c.dim_count, 3, "dims");
	ok(text_is(c.dims[2].name, "a b") && c.dims[2].value == 3 && c.dims[1].value == 0,
		"their names and values");
	is_int(c.runner_count, 4, "runners: cpu is the file's own");
	ok(c.runners[0].argc == 3 && !strcmp(c.runners[0].argv[1], "gpu7") && !c.runners[0].argv[3],
		"cut at blanks");
	ok(c.runners[1].argc == 3 && !strcmp(c.runners[1].argv[1], "b c") &&
			!strcmp(c.runners[1].argv[2], ""),
		"a list");
	ok(!strcmp(c.runners[2].name, "cpu") && !strcmp(c.runners[2].argv[0], "mine"), "a map");
	ok(c.runners[0].count == 1 && !c.runners[0].env && c.runners[2].count == 1,
		"one process of each, as we are");
	const struct config_runner *pool = &c.runners[3];
	ok(pool->count == 4 && pool->argc == 3 && pool->env && !strcmp(pool->env[0], "OMP_PLACES=cores") &&
			!strcmp(pool->env[1], "EMPTY=") && !pool->env[2],
		"or several, with variables of their own");
	struct str once = { 0 }, twice = { 0 };
	config_print(&c, &once);
	config_free(&c);
	is_int(load(once.p), 0, "what is printed loads");
	printf("# %s\n", err.text);
	config_print(&c, &twice);
	const char *a = strchr(once.p, '\n'), *b = strchr(twice.p, '\n');
	is_str(b, a, "and prints the same");
	str_free(&once);
	str_free(&twice);
	config_free(&c);
}

static const char *agent_command(const char *name)
{
	const struct config_runner *r = config_agent(&c, text_of(name));
	return r ? r->argv[0] : NULL;
}

static void test_agents(void)
{
	is_int(load("agents:\n  ort: ssh gpu7 agent\n  mine: {command: [run, \"a b\"], count: 2, env: {A: "
		    "b}}\n"
		    "python: venv/bin/python\n"),
		0, "agents: %s", err.text);
	is_str(agent_command("ort"), "ssh", "an agent");
	is_str(agent_command("onnxruntime"), "ssh", "by another name");
	is_str(agent_command("mine"), "run", "one with a name of its own");
	ok(!agent_command("none"), "an unknown one");
	ok(c.agents[1].count == 2 && c.agents[1].env && !strcmp(c.agents[1].argv[1], "a b"),
		"all of its keys");
	is_str(c.python, scratch_path("venv/bin/python"), "python: beside the file");
	is_int(c.runner_count, 1, "agents are not runners");
	struct str out = { 0 };
	config_print(&c, &out);
	has(out.p, "agents:\n    ort: [ssh, gpu7, agent]\n    mine:\n        command: [run, \"a b\"]",
		"they are printed");
	config_free(&c);
	is_int(load(out.p), 0, "and load again: %s", err.text);
	is_str(agent_command("mine"), "run", "as they were");
	str_free(&out);
	config_free(&c);
	is_int(load("agents:\n  onnxruntime: mine\npython: python3.11\n"), 0, "an alias: %s", err.text);
	is_int(c.agent_count, 1, "built-in agents are not looked for");
	config_add_agents(&c);
	config_add_agents(&c);
	ok(c.agent_count >= 1 && c.agent_count <= 4, "until they are used; each is added once");
	is_str(agent_command("ort"), "mine", "replaces the built-in agent");
	is_str(c.python, "python3.11", "a name without / is searched in PATH");
	is_int(config_set(&c, "agents", "new=a b", &err), 0, "set by its key");
	is_str(agent_command("new"), "a", "an agent of the command line");
	config_free(&c);
}

static void bad(const char *text, const char *part)
{
	is_int(load(text), -1, "refused: %.60s", part);
	has(err.text, part, "says what");
	has(err.text, scratch_path("x.yaml:"), "and where");
	ok(!c.runners && !c.arena.block, "and leaves nothing");
	if (c.arena.block)
		config_free(&c);
}

/* The file was mended while the program runs. */
static void test_agents_again(void)
{
	is_int(load("threads: 3\nagents:\n  mine: [old]\n"), 0, "no python: %s", err.text);
	config_add_agents(&c);
	is_str(c.agents[0].argv[0], "old", "an agent");
	const struct config_runner *before = c.agents;
	is_int(config_agents_again(&c, &err), 0, "the same file again: %s", err.text);
	ok(c.agents == before, "nothing has changed");
	file_text(scratch_path("x.yaml"),
		"python: python3.11\nagents:\n  mine: {command: [run], env: {A: b}}\n");
	is_int(config_agents_again(&c, &err), 0, "mended: %s", err.text);
	is_str(c.python, "python3.11", "the interpreter of the built-in agents");
	ok(!strcmp(c.agents[0].argv[0], "run") && c.agents[0].argc == 1 && !c.agents[0].argv[1],
		"the agent's command");
	ok(!strcmp(c.agents[0].env[0], "A=b") && !c.agents[0].env[1], "with its environment");
	is_int(c.threads, 3, "other keys stay as they were");
	is_str(before[0].argv[0], "old", "what was there before stays valid");
	file_text(scratch_path("x.yaml"), "pythn: python3.11\n");
	is_int(config_agents_again(&c, &err), -1, "a mistake");
	has(err.text, "x.yaml:1", "names the line");
	is_str(c.agents[0].name, "mine", "and changes nothing");
	config_free(&c);
}

static void test_bad(void)
{
	bad("\n\nbatch: 0\n", "x.yaml:3: batch: 0 is out of range 1..65536");
	bad("batch: [1,\n  99999999999999999999]\n",
		"x.yaml:2: batch: 99999999999999999999 is out of range 1..65536");
	bad("batch: -4\n", "x.yaml:1: batch: -4 is out of range");
	bad("batch: many\n", "x.yaml:1: batch: many is not an integer in 1..65536");
	bad("batch: 1.5\n", "1.5 is not an integer");
	bad("agents:\n  a: {command: x, size: 3}\n", "agents: unknown key size; an entry has command, count");
	bad("agents:\n  a: {command: x, count: 0}\n", "agents: count: 0 is not a number from 1");
	bad("agents:\n  a: {command: x}\n  a: y\n", "agents: a is given twice");
	bad("batch: []\nbatch: 1\n", "x.yaml:2: batch is given twice");
	bad("batch: 1,,2\n", "batch: '1,,2' has an empty item: remove the comma");
	bad("batch: [8, 8]\n", "8 is given twice");
	bad("batch: {a: 1}\n", "batch: expected a list");
	bad("batch: [[1]]\n", "batch: expected a single value");
	bad("batch: "
	    "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33]\n",
		"more than 32 values");
	bad("bacth: 1\n", "unknown key bacth; did you mean batch?");
	bad("threds: 1\n", "did you mean threads?");
	bad("zzzzzzzzzzzz: 1\n", "unknown key zzzzzzzzzzzz; the keys are in benanza.yaml(5)");
	bad("dtype: u8\n", "u8 is not a type to run a model in");
	bad("dtype: quux\n", "quux is not a type such as f32");
	bad("dtype: fp6\n", "fp6 is not a type such as f32, bf16, f16, f8e4m3, s8; did you mean fp8?");
	bad("dtype: f33\n", "did you mean f32?");
	is_int(load("dtype: fp4\n"), 0, "four bits: %s", err.text);
	config_free(&c);
	bad("dtype: int16\n", "int16 is not a type to run a model in, such as f32, bf16, f16, f8e4m3, s8: ");
	bad("dtype: haf\n", "did you mean half?");
	bad("dtype: f8e8m0\n", "f8e8m0 is not a type to run a model in");
	bad("dtype: [f16, half]\n", "f16 is given twice");
	is_int(load("dtype: [fp16, Float32, bfloat16, double, e4m3]\n"), 0, "usual names: %s", err.text);
	ok(c.dtype_count == 5 && c.dtype[0] == DTYPE_F16 && c.dtype[1] == DTYPE_F32 &&
		c.dtype[2] == DTYPE_BF16 && c.dtype[3] == DTYPE_F64 && c.dtype[4] == DTYPE_F8E4M3,
		"which they are");
	config_free(&c);
	is_int(load("columns: [bound, peak, algo]\n"), 0, "a list of words: %s", err.text);
	is_str(c.columns, "bound,peak,algo", "is joined");
	config_free(&c);
	bad("algorithms: worst\n", "worst is not one of best|preferred|all");
	bad("color: purple\n", "purple is not true or false");
	bad("budget_ms: 0\n", "0 is out of range 1..600000");
	bad("problem_limit_ms: 99\n", "99 is out of range 100..3600000");
	bad("threads: 4097\n", "4097 is out of range 0..4096");
	bad("db: ''\n", "db: is empty");
	bad("db: \"a\\0b\"\n", "db: is not a valid text");
	bad("db: [a]\n", "db: expected a single value");
	bad("dims: 3\n", "dims: expected a map of names to numbers");
	bad("dims: {a: x}\n", "dims: a: x is not an integer");
	bad("dims: {a: -1}\n", "-1 is out of range");
	bad("dims:\n  a: 1\n  a: 2\n", "x.yaml:3: dims: a is given twice");
	bad("dims: {[a]: 1}\n", "dims: expected a name");
	bad("dims: {a: {b: 1}}\n", "dims: expected a number");
	bad("dims: {'': 1}\n", "a name is empty");
	bad("runners: {a: ''}\n", "the command is empty");
	bad("runners: {a: []}\n", "not an empty list");
	bad("runners: {a: ['']}\n", "too long or contains a NUL");
	bad("runners: {'a b': x}\n", "a runner's name may");
	bad("runners: {a: {order: x}}\n", "unknown key order");
	bad("runners: {a: {count: 2}}\n", "runners: expected a command");
	bad("runners: {a: {command: x, command: y}}\n", "command is given twice");
	bad("runners: {a: {command: x, count: 0}}\n", "not a number from 1 to 256");
	bad("runners: {a: {command: x, count: 257}}\n", "not a number from 1 to 256");
	bad("runners: {a: {command: x, count: [1]}}\n", "a number of processes");
	bad("runners: {a: {command: x, count: 2, count: 3}}\n", "count is given twice");
	bad("runners: {a: {command: x, env: [A, b]}}\n", "a map of variables");
	bad("runners: {a: {command: x, env: {1A: b}}}\n", "not a valid variable name");
	bad("runners: {a: {command: x, env: {A=B: b}}}\n", "not a valid variable name");
	bad("runners: {a: {command: x, env: {A: \"b\\0c\"}}}\n", "too long or contains a NUL");
	bad("runners: {a: {command: x, env: {A: b, A: c}}}\n", "A is given twice");
	bad("runners: {a: {command: x, env: {A: [b]}}}\n", "a value");
	bad("runners: {a: {}}\n", "runners: expected a command");
	bad("runners: {a: [[x]]}\n", "a word of the command");
	bad("runners: {a: x, a: y}\n", "a is given twice");
	bad("- a\n- b\n", "a map of keys to values");
	bad("just text\n", "a map of keys to values");
	bad("batch: 1\n---\nbatch: 2\n", "a second document");
	bad("batch: &x 1\n", "anchors and aliases");
	bad("dims: &x {a: 1}\n", "anchors and aliases");
	bad("batch: *x\n", "anchors and aliases");
	bad("batch: [1\n", "x.yaml:2: ");
	bad("batch: 1\n\tdb: x\n", "x.yaml:2: ");
	bad("batch: 1\ndb: \x01\n", "x.yaml:2: control characters are not allowed");
	bad("batch: 1\n\ndb: \xff\xfe\n", "x.yaml:3: ");
	bad("[a]: 1\n", "the file: expected a key");
}

static void test_hostile(void)
{
	struct str s = { 0 };
	for (int i = 0; i < 200000; i++)
		str_add(&s, "[", 1);
	is_int(load(s.p), -1, "absurd nesting");
	str_clear(&s);
	str_addf(&s, "dims: ");
	for (int i = 0; i < 200000; i++)
		str_add(&s, "{a: ", 4);
	is_int(load(s.p), -1, "absurd nesting below a key");
	str_clear(&s);
	str_addf(&s, "dims:\n");
	for (int i = 0; i < 300; i++)
		str_addf(&s, "  d%d: 1\n", i);
	is_int(load(s.p), -1, "very many dimensions");
	has(err.text, "more than 256", "are said");
	str_clear(&s);
	str_addf(&s, "runners: {a: [");
	for (int i = 0; i < 100; i++)
		str_addf(&s, "w, ");
	str_addf(&s, "]}");
	is_int(load(s.p), -1, "a very long command");
	str_clear(&s);
	str_addf(&s, "runners:\n");
	for (int i = 0; i < 32; i++)
		str_addf(&s, "  r%d: x\n", i);
	is_int(load(s.p), 0, "as many runners as there may be");
	is_int(c.runner_count, 33, "and our own");
	is_int(config_set(&c, "runners", "more=x", &err), -1, "not one more");
	is_int(config_set(&c, "runners", "r3=y z", &err), 0, "but another command for one");
	is_str(c.runners[4].argv[1], "z", "which it has");
	config_free(&c);
	str_clear(&s);
	for (int i = 0; i < 1200000; i++)
		str_add(&s, "#", 1);
	is_int(load(s.p), -1, "a very large file");
	has(err.text, "larger than", "is said");
	str_free(&s);
	err.text[0] = '\0';
	is_int(config_load(&c, scratch_path("absent.yaml"), &err), -1, "a file that is not there");
	has(err.text, "absent.yaml: No such file", "is said");
	is_int(config_load(&c, scratch, &err), -1, "a directory");
	has(err.text, "a directory", "is said");
}

static void test_environment(void)
{
	mkdir(scratch_path("benanza"), 0755);
	file_text(scratch_path("benanza/config.yaml"), "threads: 7\n");
	setenv("XDG_CONFIG_HOME", scratch, 1);
	is_int(config_load(&c, NULL, &err), 0, "the file of the XDG directory");
	is_int(c.threads, 7, "is read");
	is_str(c.path, scratch_path("benanza/config.yaml"), "and named");
	config_free(&c);
	file_text(scratch_path("other.yaml"), "threads: 9\ncolor: true\ndb: /from/file.db\n");
	setenv("BENANZA_CONFIG", scratch_path("other.yaml"), 1);
	setenv("BENANZA_DB", "/from/environment.db", 1);
	setenv("NO_COLOR", "1", 1);
	is_int(config_load(&c, NULL, &err), 0, "BENANZA_CONFIG");
	is_int(c.threads, 9, "goes before it");
	is_str(c.db, "/from/environment.db", "BENANZA_DB goes before the file");
	ok(c.color, "the file goes before NO_COLOR");
	config_free(&c);
	is_int(load("threads: 1\n"), 0, "a path that is given");
	ok(c.threads == 1 && !c.color, "goes before all; NO_COLOR is the default");
	config_free(&c);
	setenv("BENANZA_CONFIG", scratch_path("nowhere.yaml"), 1);
	is_int(config_load(&c, NULL, &err), -1, "BENANZA_CONFIG must exist");
	unsetenv("BENANZA_CONFIG");
	unsetenv("BENANZA_DB");
	unsetenv("NO_COLOR");
	setenv("XDG_CONFIG_HOME", "relative", 1);
	setenv("HOME", scratch, 1);
	is_int(load("db: ~/x.db\nrunners: {a: ~/bin/run here}\n"), 0, "home");
	is_str(c.db, scratch_path("x.db"), "of the database");
	is_str(c.runners[1].argv[0], scratch_path("bin/run"), "and of a command");
	config_free(&c);
	struct arena a = { 0 };
	setenv("XDG_DATA_HOME", "/data", 1);
	is_str(config_default_db(&a), "/data/benanza/benanza.db", "default database");
	setenv("XDG_DATA_HOME", "data", 1);
	is_str(config_default_db(&a), scratch_path(".local/share/benanza/benanza.db"),
		"a relative directory is ignored");
	arena_free(&a);
}

static void test_set(void)
{
	config_load(&c, NULL, &err);
	is_int(config_set(&c, "batch", "1,8", &err), 0, "a list");
	ok(c.batch_count == 2 && c.batch[1] == 8, "is set");
	is_int(config_set(&c, "batch", "4,x", &err), -1, "a bad list");
	has(err.text, "batch: x is not an integer", "is said");
	ok(c.batch_count == 2 && c.batch[0] == 1, "and changes nothing");
	is_int(config_set(&c, "batch", "32", &err), 0, "another");
	ok(c.batch_count == 1 && c.batch[0] == 32, "replaces it");
	is_int(config_set(&c, "batch", "", &err), -1, "an empty one does not");
	is_int(config_set(&c, "dtype", "bf16", &err), 0, "a type");
	is_int(config_set(&c, "color", "off", &err), 0, "a flag");
	ok(!c.color, "is off");
	is_int(config_set(&c, "dims", "seq=1=12", &err), 0, "a dimension");
	ok(c.dim_count == 1 && text_is(c.dims[0].name, "seq=1") && c.dims[0].value == 12,
		"with a '=' in its name");
	is_int(config_set(&c, "dims", "seq=1=13", &err), 0, "again");
	ok(c.dim_count == 1 && c.dims[0].value == 13, "replaces it");
	is_int(config_set(&c, "dims", "seq", &err), -1, "one without a value");
	has(err.text, "'seq' is not NAME=VALUE", "is said");
	is_int(config_set(&c, "runners", "far=ssh host run", &err), 0, "a runner");
	ok(c.runner_count == 2 && c.runners[1].argc == 3, "is added");
	is_int(config_set(&c, "device ", "x", &err), -1, "no such key");
	has(err.text, "did you mean device", "and what was meant");
	config_free(&c);
	struct arena a = { 0 };
	struct dim_binding d;
	is_int(config_parse_dim("batch=4", &a, &d, &err), 0, "NAME=VALUE");
	ok(text_is(d.name, "batch") && d.value == 4, "is cut");
	is_int(config_parse_dim("batch=-4", &a, &d, &err), -1, "out of range");
	is_int(config_parse_dim("=4", &a, &d, &err), -1, "no name");
	is_int(config_parse_dim("batch=", &a, &d, &err), -1, "no value");
	arena_free(&a);
}

static void test_sidecar(void)
{
	struct arena a = { 0 };
	struct dim_binding *dims;
	int count = 9;
	is_int(config_sidecar(scratch_path("model.onnx"), &a, &dims, &count, &err), 0, "no sidecar");
	is_int(count, 0, "no dimensions");
	file_text(scratch_path("model.yaml"), "dims:\n  batch: 1\n  sequence: 128\n");
	is_int(config_sidecar(scratch_path("model.onnx"), &a, &dims, &count, &err), 0, "a sidecar");
	ok(count == 2 && text_is(dims[1].name, "sequence") && dims[1].value == 128, "its dimensions");
	file_text(scratch_path("model.yaml"), "threads: 3\n");
	is_int(config_sidecar(scratch_path("model.onnx"), &a, &dims, &count, &err), -1, "other keys");
	has(err.text, "model.yaml:1: unknown key threads; this file has dims only", "are refused");
	file_text(scratch_path("model.yaml"), "password-of-a-private-file: 3\n");
	is_int(config_sidecar(scratch_path("model.onnx"), &a, &dims, &count, &err), -1,
		"a file that is no sidecar");
	ok(strstr(err.text, "model.yaml:1: unknown key; this file has dims only") &&
			!strstr(err.text, "password"),
		"is refused and not quoted: %s", err.text);
	is_int(count, 0, "and give nothing");
	unlink(scratch_path("model.yaml"));
	is_int(symlink("/etc/passwd", scratch_path("model.yaml")), 0, "a link to another folder");
	is_int(config_sidecar(scratch_path("model.onnx"), &a, &dims, &count, &err), -1, "is not read");
	has(err.text, "a link out of the model's folder is not read", "says why");
	unlink(scratch_path("model.yaml"));
	is_int(config_sidecar("-", &a, &dims, &count, &err), 0, "standard input has none");
	arena_free(&a);
}

static void test_scenarios(void)
{
	is_int(load("scenarios:\n  fast: [fusion, matrix=off]\n  text: parallel\n  none:\n  whole: {what_if: "
		    "[fusion], batch: 8, dtype: bf16, device: h100, dims: {sequence: 512, \"a b\": 3}}\n"),
		0, "scenarios: %s", err.text);
	is_int(c.scenario_count, 4, "all of them");
	const struct config_scenario *fast = config_scenario(&c, TEXT("fast")),
		*whole = config_scenario(&c, TEXT("whole"));
	is_str(fast->what_if, "fusion,matrix=off", "a list");
	ok(!fast->batch && !fast->has_dtype && !fast->device && !fast->dim_count && !fast->saved,
		"sets nothing else");
	is_str(config_scenario(&c, TEXT("text"))->what_if, "parallel", "a text");
	ok(!config_scenario(&c, TEXT("none"))->what_if, "nothing");
	ok(whole->batch == 8 && whole->has_dtype && whole->dtype == DTYPE_BF16 &&
			!strcmp(whole->device, "h100") && whole->dim_count == 2 &&
			whole->dims[0].value == 512 && text_is(whole->dims[1].name, "a b"),
		"a map");
	ok(c.batch_count == 0 && c.dtype_count == 0 && !c.device && c.dim_count == 0 && !c.what_if,
		"the configuration itself is unchanged");
	is_str(config_scenario_nearest(&c, TEXT("fats")), "fast", "a misspelt name");
	ok(!config_scenario_nearest(&c, TEXT("telepathy")), "nothing is near");
	struct str once = { 0 }, twice = { 0 };
	config_print(&c, &once);
	config_free(&c);
	is_int(load(once.p), 0, "what is printed loads: %s", err.text);
	config_print(&c, &twice);
	is_str(strchr(twice.p, '\n'), strchr(once.p, '\n'), "and prints the same");
	str_free(&once);
	str_free(&twice);
	is_int(config_set(&c, "scenarios", "fast=parallel=path", &err), 0, "one is set");
	is_str(config_scenario(&c, TEXT("fast"))->what_if, "parallel=path", "and replaced");
	is_int(config_set(&c, "scenarios", "a b=fusion", &err), -1, "a bad name");
	is_int(c.scenario_count, 4, "adds none");
	config_free(&c);
	bad("scenarios: [a]\n", "scenarios: expected a map");
	bad("scenarios: {a: {b: c}}\n", "scenarios: unknown key b; a scenario has what_if");
	bad("scenarios: {a: {batch: 0}}\n", "batch: 0 is out of range 1..65536");
	bad("scenarios: {a: {batch: [1, 8]}}\n", "one batch and one data type");
	bad("scenarios: {a: {batch: 1, batch: 8}}\n", "batch is given twice");
	bad("scenarios: {a: {dtype: i4}}\n", "i4 is not a type to run a model in");
	bad("scenarios: {a: fusion, a: parallel}\n", "a is given twice");
	bad("scenarios: {\"a,b\": fusion}\n", "the name of a scenario has");
	bad("scenarios: {\"a\\0b\": fusion}\n", "the name of a scenario has");
	bad("scenarios: {\"\": fusion}\n", "the name of a scenario has");
	bad("scenarios: {a: [[fusion]]}\n", "expected a what-if");
	bad("what_if: [[fusion]]\n", "expected a what-if");
	is_int(load("device: x\nwhat_if: [fusion,\n  'matrix=off,pad']\nscenarios:\n  a:\n    - fusion=9\n"),
		0, "lines are kept: %s", err.text);
	is_str(c.what_if, "fusion,matrix=off,pad", "what_if takes a list");
	const struct config_word *words = c.what_if_words;
	ok(c.what_if_word_count == 4 && !words[0].name && words[0].line == 2 && words[2].line == 3 &&
			!strcmp(words[2].value, "pad") && !strcmp(words[3].name, "a") && words[3].line == 6,
		"each what-if with its scenario and line");
	struct arena a = { 0 };
	has(config_place(&c, "device", &a), "x.yaml:1: device", "the place of an option");
	ok(!config_place(&c, "batch", &a), "one that the file does not set");
	is_int(config_set(&c, "device", "y", &err), 0, "from the command line");
	ok(!config_place(&c, "device", &a), "replaces that of the file");
	arena_free(&a);
	config_free(&c);
	bad("scenarios: {a: [fusion]}\nscenarios: {b: x}\n", "scenarios is given twice");
}

static void test_saved_scenarios(void)
{
	struct dim_binding dims[] = { { .name = TEXT("a: \"b\"\n"), .value = 7 } };
	struct config_scenario one = { .name = "mine", .what_if = "fusion=all,matrix=off", .batch = 4,
		.has_dtype = true, .dtype = DTYPE_F16, .device = "a: [b]", .dim_count = 1, .dims = dims };
	setenv("XDG_DATA_HOME", scratch_path("data/deep"), 1);
	is_int(load("scenarios: {own: fusion}\n"), 0, "nothing is saved yet");
	is_int(config_save_scenario(&c, &one, &err), 0, "a scenario is saved: %s", err.text);
	ok(c.scenario_count == 2 && c.scenarios[1].saved, "and known at once");
	one.name = "own";
	is_int(config_save_scenario(&c, &one, &err), -1, "one of the user's file is not replaced");
	has(err.text, "own is a scenario of", "says why");
	one.name = "../../etc";
	is_int(config_save_scenario(&c, &one, &err), -1, "a name that is none");
	one.name = "other";
	is_int(config_save_scenario(&c, &one, &err), 0, "another one");
	one.name = "mine";
	one.batch = 16;
	is_int(config_save_scenario(&c, &one, &err), 0, "the first again");
	is_int(c.scenario_count, 3, "it is replaced");
	char planted[512], victim[256];
	snprintf(victim, sizeof(victim), "%s", scratch_path("victim"));
	snprintf(planted, sizeof(planted), "%s.%ld.part", scratch_path("data/deep/benanza/scenarios.yaml"),
		(long)getpid());
	file_text(victim, "untouched");
	ok(symlink(victim, planted) == 0, "a link in place of the new file");
	is_int(config_save_scenario(&c, &one, &err), 0, "is not followed: %s", err.text);
	struct stat st;
	ok(stat(victim, &st) == 0 && st.st_size == 9 && access(planted, F_OK) != 0,
		"its target is unchanged");
	config_free(&c);
	is_int(load("scenarios: {own: fusion, other: parallel}\n"), 0, "they are read: %s", err.text);
	const struct config_scenario *got = config_scenario(&c, TEXT("mine"));
	ok(c.scenario_count == 3 && got && got->saved, "the user's own one goes before");
	is_str(config_scenario(&c, TEXT("other"))->what_if, "parallel", "as written");
	ok(got && got->batch == 16 && got->dtype == DTYPE_F16 && !strcmp(got->device, "a: [b]") &&
			got->dim_count == 1 && text_equal(got->dims[0].name, dims[0].name) &&
			got->dims[0].value == 7,
		"whatever the texts contain");
	config_free(&c);
	file_text(scratch_path("data/deep/benanza/scenarios.yaml"), "batch: 3\n");
	is_int(load(""), -1, "a file with other keys");
	has(err.text, "scenarios.yaml:1: unknown key batch", "is refused");
	unlink(scratch_path("data/deep/benanza/scenarios.yaml"));
	setenv("XDG_DATA_HOME", scratch, 1);
}

/* Two programs have read the file, and each changes it. */
static void test_two_programs(void)
{
	struct config other = { 0 };
	struct config_scenario mine = { .name = "mine", .batch = 1 };
	struct config_scenario theirs = { .name = "theirs", .batch = 2 },
		same = { .name = "mine", .batch = 3 };
	setenv("XDG_DATA_HOME", scratch_path("data/two"), 1);
	is_int(load("") | config_load(&other, scratch_path("x.yaml"), &err), 0, "two programs begin");
	is_int(config_save_scenario(&c, &mine, &err), 0, "one saves a scenario");
	is_int(config_save_scenario(&other, &theirs, &err), 0, "the other another one");
	is_int(config_save_scenario(&other, &same, &err), -1, "and one of the first's name");
	has(err.text, "another explorer has saved a scenario mine", "which is refused");
	is_int(config_rename_scenario(&c, "mine", "theirs", &err), -1, "nor may one be renamed to it");
	is_int(config_rename_scenario(&c, "mine", "ours", &err), 0, "a free name");
	config_free(&c);
	is_int(load(""), 0, "what is in the file: %s", err.text);
	ok(c.scenario_count == 2 && config_scenario(&c, TEXT("theirs")) && config_scenario(&c, TEXT("ours")),
		"is both");
	is_int(config_delete_scenario(&other, "theirs", &err), 0, "one deletes its own");
	is_int(config_rename_scenario(&c, "theirs", "late", &err), -1, "the other cannot rename it");
	has(err.text, "has deleted the scenario theirs", "says why");
	config_free(&c);
	is_int(load(""), 0, "in the end");
	ok(c.scenario_count == 1 && config_scenario(&c, TEXT("ours")), "the other one is left");
	config_free(&other);
	config_free(&c);
	setenv("XDG_DATA_HOME", scratch, 1);
}

static void test_keys(void)
{
	static const char good[] = "threads: 1\nkeys:\n  down: j ^N\n  up: k\n", twice[] =
		"keys:\n  down: j\n  down: k\n";
	file_write(scratch_path("keys.yaml"), good, sizeof(good) - 1);
	is_int(config_load(&c, scratch_path("keys.yaml"), &err), 0, "keys are read");
	ok(c.keys_count == 2 && strcmp(c.keys[0].value, "j ^N") == 0 && c.keys[1].line == 4,
		"with their lines");
	struct str out = { 0 };
	config_print(&c, &out);
	has(out.p, "\nkeys:\n    down: ", "and printed");
	str_free(&out);
	config_free(&c);
	file_write(scratch_path("keys.yaml"), twice, sizeof(twice) - 1);
	is_int(config_load(&c, scratch_path("keys.yaml"), &err), -1, "a name twice");
	has(err.text, "keys.yaml:3: keys: down is given twice", "is an error with its line");
	is_int(load("keys:\n  down: [j, Down]\n  up: [k,\n    ^P x]\n"), 0, "lists of keys: %s", err.text);
	ok(c.keys_count == 2 && !strcmp(c.keys[0].value, "j Down") && !strcmp(c.keys[1].value, "k ^P x") &&
			c.keys[1].line == 3, "are keys with blanks between them");
	config_free(&c);
	bad("keys: {down: []}\n", "x.yaml:1: keys: expected keys, e.g. \"j Down\" or [j, Down]");
	bad("keys: {down: [{a: b}]}\n", "expected keys, e.g.");
	bad("theme: {bad: [1]}\n", "expected a colour");
	file_write(scratch_path("keys.yaml"), "keys: [j]\n", 10);
	is_int(config_load(&c, scratch_path("keys.yaml"), &err), -1, "a list");
	has(err.text, "keys.yaml:1: keys: expected a map", "is none");
}

static void test_theme(void)
{
	is_int(load("threads: 1\ntheme: light,warning=208 bold\n"), 0, "a theme in one line");
	is_str(c.theme[0].name, "base", "a name alone");
	ok(c.theme_count == 2 && strcmp(c.theme[0].value, "light") == 0,
		"its base");
	ok(strcmp(c.theme[1].name, "warning") == 0 && strcmp(c.theme[1].value, "208 bold") == 0 &&
			c.theme[1].line == 2, "and a role with its line");
	config_free(&c);
	is_int(load("theme:\n  base: dark\n  selection: 'black on #e69f00'\nmouse: on\n"), 0, "a map");
	ok(c.theme_count == 2 && c.theme[1].line == 3 && c.mouse, "with lines");
	struct str out = { 0 };
	config_print(&c, &out);
	has(out.p, "\ntheme:\n    base: dark\n    selection: ", "is printed");
	config_free(&c);
	is_int(load(out.p), 0, "and reads back");
	is_str(c.theme[1].value, "black on #e69f00", "as it was");
	str_free(&out);
	is_int(config_set(&c, "theme", "mono", &err), 0, "an option");
	ok(c.theme_count == 1 && strcmp(c.theme[0].value, "mono") == 0 && !c.theme[0].line,
		"replaces all of it");
	is_int(config_set(&c, "theme", "dark,bad=1,bad=2", &err), -1, "a role twice");
	ok(c.theme_count == 1 && strcmp(c.theme[0].value, "mono") == 0, "changes nothing");
	is_int(config_set(&c, "theme", "", &err), -1, "nothing is no theme");
	config_free(&c);
	is_int(load("theme: [dark]\n"), -1, "a list is none");
	has(err.text, ":1: theme: expected a theme, or a map", "and is said");
}

/* The example and the manual page know every key. */
static void test_documents(void)
{
	const char *dir = getenv("srcdir");
	char path[512];
	size_t n;
	snprintf(path, sizeof(path), "%s/configs/benanza.yaml", dir ? dir : "..");
	is_int(config_load(&c, path, &err), 0, "the example loads");
	printf("# %s\n", err.text);
	is_int(c.runner_count, 4, "with its runners");
	config_free(&c);
	char *example = file_read(path, &n);
	snprintf(path, sizeof(path), "%s/man/benanza.yaml.5.in", dir ? dir : "..");
	char *page = file_read(path, &n);
	int count;
	const struct option *table = option_table(&count);
	for (int i = 0; i < count; i++) {
		char want[80];
		snprintf(want, sizeof(want), "\n%s:", table[i].key);
		has(example, want, "a key is in the example");
		snprintf(want, sizeof(want), " \"%s: ", table[i].key);
		has(page, want, "and on the page");
		if (table[i].most) {
			snprintf(want, sizeof(want), "%lld", (long long)table[i].most);
			has(page, want, "with its range");
		}
	}
	free(example);
	free(page);
}

int main(void)
{
	scratch_make();
	setenv("XDG_CONFIG_HOME", scratch, 1);
	setenv("XDG_DATA_HOME", scratch, 1);
	unsetenv("BENANZA_CONFIG");
	unsetenv("BENANZA_DB");
	unsetenv("NO_COLOR");
	test_defaults();
	test_good();
	test_agents();
	test_agents_again();
	test_bad();
	test_hostile();
	test_set();
	test_sidecar();
	test_scenarios();
	test_saved_scenarios();
	test_two_programs();
	test_keys();
	test_theme();
	test_documents();
	test_environment();
	scratch_remove();
	return done_testing();
}
