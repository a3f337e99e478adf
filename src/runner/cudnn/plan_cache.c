/* A file for each plan, with a checksum, written under another name and then renamed. At the limit of the
 * folder the plans that were not used for longest are removed. */
#include "config.h"

#include "runner/cudnn/plan_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/str.h"

#define MAGIC "benanza plan 1"
#define SUFFIX ".plan"
#define DRAFT "draft-"            /* beginning of the name of a file that is being written */
#define DRAFT_S 3600              /* older ones are remains of a process that died */
#define PLAN_MOST (64 << 20)      /* maximum bytes of a file */
#define HEADER_MOST 128
#define FNV_BASIS 0xcbf29ce484222325u
#define FNV_PRIME 0x100000001b3u

/* FNV-1a; names a file and detects damage, which needs no cryptographic hash. */
static uint64_t hash_of(const char *bytes, size_t n, uint64_t h)
{
	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)bytes[i]) * FNV_PRIME;
	return h;
}

void plan_cache_open(struct plan_cache *c)
{
	const char *own = getenv("BENANZA_PLAN_CACHE"), *mb = getenv("BENANZA_PLAN_CACHE_MB"),
		   *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int64_t most;
	int n = 0;
	*c = (struct plan_cache){ .limit_bytes = (int64_t)PLAN_CACHE_MB << 20 };
	if (mb && text_to_int64(text_of(mb), &most) && most >= 0 && most < (int64_t)1 << 40)
		c->limit_bytes = most << 20;
	if (own && *own)
		n = snprintf(c->folder, sizeof(c->folder), "%s", strcmp(own, "none") == 0 ? "" : own);
	else if (xdg && *xdg == '/')
		n = snprintf(c->folder, sizeof(c->folder), "%s/benanza/plans", xdg);
	else if (home && *home == '/')
		n = snprintf(c->folder, sizeof(c->folder), "%s/.cache/benanza/plans", home);
	if (n < 0 || (size_t)n >= sizeof(c->folder))
		c->folder[0] = '\0';
}

static void path_write(const struct plan_cache *c, const char *key, char *path, size_t size)
{
	uint64_t a = hash_of(key, strlen(key), FNV_BASIS), b = hash_of(key, strlen(key), ~a);
	snprintf(path, size, "%s/%016" PRIx64 "%016" PRIx64 SUFFIX, c->folder, a, b);
}

static int header_write(char *header, const char *key, const char *plan, size_t size)
{
	return snprintf(header, HEADER_MOST, MAGIC " %zu %zu %016" PRIx64 "\n", strlen(key), size,
		hash_of(plan, size, FNV_BASIS));
}

/* --- reading --- */

/* True if nobody else can have written it. */
static bool is_own(const struct stat *s)
{
	return s->st_uid == geteuid() && !(s->st_mode & (S_IWGRP | S_IWOTH));
}

static char *file_read(int fd, size_t size)
{
	char *all = base_malloc(size + 1);
	size_t n = 0;
	for (ssize_t got = 1; got > 0 && n < size; n += got > 0 ? (size_t)got : 0)
		got = read(fd, all + n, size - n);
	all[n] = '\0';
	if (n == size)
		return all;
	free(all);
	return NULL;
}

/* Moves the plan to the beginning of the file's contents if all else is as it must be. */
static bool plan_extract(char *all, size_t size, const char *key, size_t *plan_size)
{
	char header[HEADER_MOST];
	size_t key_size = strlen(key), begin = strcspn(all, "\n") + 1 + key_size;
	if (begin > size || memcmp(all + begin - key_size, key, key_size) != 0)
		return false;
	size_t header_size = (size_t)header_write(header, key, all + begin, size - begin);
	if (header_size != begin - key_size || memcmp(header, all, header_size) != 0)
		return false;
	*plan_size = size - begin;
	memmove(all, all + begin, *plan_size + 1);
	return true;
}

char *plan_cache_load(const struct plan_cache *c, const char *key, size_t *size)
{
	char path[sizeof(c->folder) + 64], *all = NULL;
	struct stat s;
	if (!*c->folder)
		return NULL;
	path_write(c, key, path, sizeof(path));
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && is_own(&s) && s.st_size > 0 && s.st_size <= PLAN_MOST)
		all = file_read(fd, (size_t)s.st_size);
	if (all && !plan_extract(all, (size_t)s.st_size, key, size)) {
		free(all);
		all = NULL;
	}
	if (all)
		futimens(fd, NULL); /* now: eviction goes by this date */
	close(fd);
	return all;
}

/* --- writing --- */

static int folder_make(const char *folder, struct error *err)
{
	char path[1024];
	struct stat s;
	snprintf(path, sizeof(path), "%s", folder);
	for (char *at = path + 1; *at; at++)
		if (*at == '/') {
			*at = '\0';
			mkdir(path, 0700); /* a failure shows below */
			*at = '/';
		}
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_set(err, "%s: %s", folder, strerror(errno));
	if (stat(path, &s) || !S_ISDIR(s.st_mode))
		return error_set(err, "%s is not a folder", folder);
	return is_own(&s) ? 0 : error_set(err, "others can write to %s", folder);
}

static int whole_write(int fd, const char *bytes, size_t n)
{
	while (n) {
		ssize_t wrote = write(fd, bytes, n);
		if (wrote < 0 && errno != EINTR)
			return -1;
		bytes += wrote > 0 ? wrote : 0;
		n -= wrote > 0 ? (size_t)wrote : 0;
	}
	return 0;
}

struct kept {
	char name[64];
	int64_t bytes;
	struct timespec used;
};

static int kept_compare(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;
	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	return n > m && strcmp(name + n - m, end) == 0;
}

/* Lists the plans of the folder, and removes remains of drafts. */
static struct kept *kept_list(DIR *d, int *count, int64_t *bytes)
{
	struct kept *list = NULL;
	int capacity = 0;
	time_t now = time(NULL);
	struct stat s;
	*count = 0;
	*bytes = 0;
	for (struct dirent *e; (e = readdir(d));) {
		if (fstatat(dirfd(d), e->d_name, &s, AT_SYMLINK_NOFOLLOW) || !S_ISREG(s.st_mode))
			continue;
		if (strncmp(e->d_name, DRAFT, strlen(DRAFT)) == 0 && s.st_mtime < now - DRAFT_S)
			unlinkat(dirfd(d), e->d_name, 0);
		if (!ends_with(e->d_name, SUFFIX) || strlen(e->d_name) >= sizeof(list->name))
			continue;
		VEC_GROW(list, *count, capacity);
		struct kept *k = &list[(*count)++];
		*k = (struct kept){ .bytes = s.st_size, .used = s.st_mtim };
		memcpy(k->name, e->d_name, strlen(e->d_name) + 1);
		*bytes += s.st_size;
	}
	return list;
}

/* Removes the plans that were not used for longest until the others fit the limit. Another process may do so
 * at the same time: a plan that is gone already counts as removed. */
static void evict(const struct plan_cache *c)
{
	int count;
	int64_t bytes;
	DIR *d = opendir(c->folder);
	if (!d)
		return;
	struct kept *list = kept_list(d, &count, &bytes);
	if (bytes > c->limit_bytes)
		qsort(list, (size_t)count, sizeof(*list), kept_compare);
	for (int i = 0; i < count && bytes > c->limit_bytes; i++) {
		unlinkat(dirfd(d), list[i].name, 0);
		bytes -= list[i].bytes;
	}
	free(list);
	closedir(d);
}

int plan_cache_store(
	const struct plan_cache *c, const char *key, const char *plan, size_t size, struct error *err)
{
	char path[sizeof(c->folder) + 64], draft[sizeof(c->folder) + 64], header[HEADER_MOST];
	size_t header_size = (size_t)header_write(header, key, plan, size), key_size = strlen(key);
	size_t all = header_size + key_size + size;
	if (!*c->folder || all > PLAN_MOST || (int64_t)all > c->limit_bytes)
		return 0;
	if (folder_make(c->folder, err))
		return -1;
	path_write(c, key, path, sizeof(path));
	snprintf(draft, sizeof(draft), "%s/" DRAFT "XXXXXX", c->folder);
	int fd = mkostemp(draft, O_CLOEXEC);
	if (fd < 0)
		return error_set(err, "%s: %s", c->folder, strerror(errno));
	int bad = whole_write(fd, header, header_size) || whole_write(fd, key, key_size) ||
		whole_write(fd, plan, size);
	bad = (close(fd) || bad) || rename(draft, path);
	if (bad) {
		error_set(err, "%s: %s", c->folder, strerror(errno));
		unlink(draft);
		return -1;
	}
	evict(c);
	return 0;
}
