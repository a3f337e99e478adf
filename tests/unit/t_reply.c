/* What terminals send besides keys: mouse and answers, whole, cut and hostile. */
#include "config.h"

#include "ui/screen/reply.h"

#include "tap.h"

#include <stdlib.h>

/* The state after a sequence without its ESC; false: it begins keys. *used: codes taken. */
static bool read_all(struct reply *r, const char *text, size_t n, size_t *used)
{
	const unsigned char *b = (const unsigned char *)text;
	enum reply_step step = REPLY_MORE;
	*used = 1;
	if (n < 2 || !reply_begin(r, b[0]))
		return false;
	while (*used < n && step == REPLY_MORE)
		step = reply_add(r, b[(*used)++]);
	return step != REPLY_KEYS;
}

static void clicks(const char *text, int kind, int x, int y)
{
	struct reply r;
	struct mouse m = { 0 };
	size_t used;
	bool good = read_all(&r, text, strlen(text), &used) && used == strlen(text) && reply_mouse(&r, &m);
	ok(good && (int)m.kind == kind && m.x == x && m.y == y, "%s is at %d, %d", text, x, y);
}

static void ignored(const char *text)
{
	struct reply r;
	struct mouse m;
	uint32_t rgb;
	size_t used;
	ok(read_all(&r, text, strlen(text), &used) && !reply_mouse(&r, &m) && !reply_ground(&r, &rgb),
		"%.30s is read and means nothing", text);
}

static void test_mouse(void)
{
	clicks("[<0;12;5M", MOUSE_PRESS, 11, 4);
	clicks("[<4;1;1M", MOUSE_PRESS, 0, 0);
	clicks("[<64;300;200M", MOUSE_WHEEL_UP, 299, 199);
	clicks("[<65;2;3M", MOUSE_WHEEL_DOWN, 1, 2);
	clicks("[M !!", MOUSE_PRESS, 0, 0);
	clicks("[M`+&", MOUSE_WHEEL_UP, 10, 5);
	ignored("[<0;12;5m");
	ignored("[<2;12;5M");
	ignored("[<35;12;5M");
	ignored("[<0;0;5M");
	ignored("[<0;-1;5M");
	ignored("[<0;99999999999999999999;5M");
	ignored("[<0;12M");
	ignored("[<0;12;5;6M");
	ignored("[<;;M");
	ignored("[<M");
	ignored("[?62;22c");
	ignored("[200~");
	ignored("[1;5A");
	ignored("[M\001\001\001");
}

static void keys(const char *text)
{
	struct reply r;
	size_t used;
	ok(!read_all(&r, text, strlen(text), &used), "Esc %s: keys", text);
}

static void test_keys(void)
{
	keys("[c");
	keys("]c");
	keys("]u");
	keys("zo");
	keys("\033[");
	keys("P\tq");
	keys("\205q");
}

/* A string ends where it should: what follows is read as keys. */
static void test_strings(void)
{
	static const char *const firsts[] = { "]1", "P", "X", "^", "_", "\235", "\220", "\230",
		"\236", "\237" };
	static const char *const ends[] = { "\033\\", "\a", "\234", "\030", "\032" };
	for (size_t i = 0; i < sizeof(firsts) / sizeof(*firsts); i++)
		for (size_t k = 0; k < sizeof(ends) / sizeof(*ends); k++) {
			struct reply r;
			size_t used;
			char text[64];
			int n = snprintf(text, sizeof(text), "%s;qj %sQQ", firsts[i], ends[k]);
			ok(read_all(&r, text, (size_t)n, &used) && used == (size_t)n - 2 &&
				r.kind == REPLY_STRING, "string %zu with end %zu", i, k);
		}
	struct reply r;
	reply_begin(&r, 'P');
	ok(reply_add(&r, '>') == REPLY_MORE && reply_add(&r, 27) == REPLY_MORE &&
		reply_add(&r, '[') == REPLY_CUT, "ESC and another code cut a string");
}

static void test_ground(void)
{
	struct reply r;
	uint32_t rgb = 0;
	size_t used;
	const char *text = "]11;rgb:fdfd/f6f6/e3e3\033\\";
	ok(read_all(&r, text, strlen(text), &used) && used == strlen(text) && reply_ground(&r, &rgb),
		"an answer that ends with ST");
	is_int(rgb, 0xfdf6e3, "its colour");
	text = "]11;rgb:0/8/f\a";
	ok(read_all(&r, text, strlen(text), &used) && reply_ground(&r, &rgb) && rgb == 0x0088ff,
		"with BEL, of one digit");
	text = "[?997;2n";
	ok(read_all(&r, text, strlen(text), &used) && reply_ground(&r, &rgb) && rgb == 0xffffff,
		"the terminal turned light");
	text = "\233?997;1n";
	ok(read_all(&r, text, strlen(text), &used) && reply_ground(&r, &rgb) && rgb == 0,
		"and dark, said with 8 bits");
	ignored("[?997;3n");
	ignored("P11;rgb:ff/ff/ff\a");
	ignored("]10;rgb:ff/ff/ff\a");
	ignored("]11;rgb:ff/ff\a");
	ignored("]11;rgb:fffff/ff/ff\a");
	ignored("]11;rgb:ff/ff/ff/ff\a");
	ignored("]52;c;aGVsbG8=\a");
}

/* Random sequences, and endless ones. */
static void test_hostile(void)
{
	char text[200];
	int endless = 0;
	srand(7);
	for (int turn = 0; turn < 20000; turn++) {
		struct reply r;
		struct mouse m;
		uint32_t rgb;
		size_t used, n = 2 + (size_t)rand() % 190;
		for (size_t i = 0; i < n; i++)
			text[i] = (char)(rand() % 3 ? "0123456789;<M[]\033"[rand() % 16] : rand());
		text[0] = rand() % 2 ? '[' : ']';
		text[1] = "0<M1"[rand() % 4];
		if (!read_all(&r, text, n, &used))
			continue;
		endless += r.n >= REPLY_MAX;
		if (reply_mouse(&r, &m))
			endless += m.x < 0 || m.y < 0 || m.x > 9999 || m.y > 9999;
		endless += reply_ground(&r, &rgb) && rgb > 0xffffff;
	}
	is_int(endless, 0, "20000 random sequences say nothing impossible");
	struct reply r;
	reply_begin(&r, ']');
	reply_add(&r, '1');
	int n = 0;
	while (n < 5000 && reply_add(&r, n % 7 ? '1' : 0x5c42) == REPLY_MORE)
		n++;
	ok(n == 5000 && r.lost && r.n < REPLY_MAX, "an endless one is not kept");
	ok(reply_add(&r, 27) == REPLY_MORE && reply_add(&r, 'q') == REPLY_CUT, "Esc and any key end it");
	reply_begin(&r, '[');
	reply_add(&r, '<');
	for (n = 0; n < 5000 && reply_add(&r, '9') == REPLY_MORE; n++)
		;
	struct mouse m;
	ok(n == 5000 && reply_add(&r, 'M') == REPLY_ENDED && !reply_mouse(&r, &m),
		"nor one of digits: its end ends it");
}

static void test_paste(void)
{
	static const struct {
		const char *text;
		bool begins, ends;
	} cases[] = { { "[200~", true, false }, { "[201~", false, true }, { "[202~", false, false },
		{ "[200;1~", false, false } };
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct reply r;
		size_t used;
		bool good = read_all(&r, cases[i].text, strlen(cases[i].text), &used);
		ok(good && reply_pastes(&r, true) == cases[i].begins &&
			reply_pastes(&r, false) == cases[i].ends, "ESC %s", cases[i].text);
	}
}

int main(void)
{
	test_mouse();
	test_keys();
	test_strings();
	test_ground();
	test_paste();
	test_hostile();
	return done_testing();
}
