/* Earlier commands, in a file of at most twice HISTORY_LINES lines: it is appended to, so that several
 * explorers lose nothing, and shortened when one starts. */
#include "config.h"

#include "ui/frame/frame.h"

#include "base/output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MOST (4 * HISTORY_LINES * PROMPT_SIZE) /* bytes that are read */

static void keep(struct history *h, const char *line)
{
	if (!h->lines)
		h->lines = base_calloc(HISTORY_LINES, sizeof(*h->lines));
	if (h->count == HISTORY_LINES) {
		free(h->lines[0]);
		memmove(h->lines, h->lines + 1, (size_t)--h->count * sizeof(*h->lines));
	}
	h->lines[h->count++] = base_strdup(line);
}

static void append(const char *path, const char *line)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_APPEND, 0600);
	struct str text = { 0 };
	str_addf(&text, "%s\n", line);
	if (fd >= 0) { /* a history that cannot be kept is no reason to say so */
		ssize_t ignored = write(fd, text.p ? text.p : "", text.n);
		(void)ignored;
		close(fd);
	}
	str_free(&text);
}

/* Replaces the file by the lines that are kept. */
static void shorten(const struct history *h)
{
	const struct output_rules rules = { .files_only = true, .mode = 0600 };
	struct str text = { 0 };
	struct error ignored = ERROR_NONE;
	for (int i = 0; i < h->count; i++)
		str_addf(&text, "%s\n", h->lines[i]);
	output_put(h->path, &rules, text.p, text.n, &ignored);
	str_free(&text);
}

void history_open(struct history *h, const char *path)
{
	char line[PROMPT_SIZE + 1];
	int read = 0, fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat st;
	h->path = path ? base_strdup(path) : NULL;
	if (fd < 0)
		return;
	bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	FILE *f = regular ? fdopen(fd, "r") : NULL;
	if (!f) {
		close(fd);
		free(h->path);
		h->path = NULL;
		return;
	}
	bool begins = st.st_size <= FILE_MOST; /* else the first line is cut */
	if (!begins)
		fseek(f, -(long)FILE_MOST, SEEK_END);
	while (fgets(line, sizeof(line), f)) {
		size_t n = strcspn(line, "\n");
		bool whole = line[n] == '\n';
		line[n] = '\0';
		read++;
		if (begins && whole && n && text_is_clean(text_of(line)))
			keep(h, line);
		begins = whole;
	}
	fclose(f);
	if (read > 2 * HISTORY_LINES || st.st_size > FILE_MOST)
		shorten(h);
}

void history_add(struct history *h, const char *line)
{
	if ((h->count && strcmp(h->lines[h->count - 1], line) == 0) || !text_is_clean(text_of(line)))
		return;
	keep(h, line);
	if (h->path)
		append(h->path, h->lines[h->count - 1]);
}

void history_free(struct history *h)
{
	for (int i = 0; i < h->count; i++)
		free(h->lines[i]);
	free(h->lines);
	free(h->path);
	*h = (struct history){ 0 };
}
