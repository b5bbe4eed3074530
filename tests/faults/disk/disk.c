/* A preloaded library that records the system calls on files below a directory and makes one of them fail.
 *
 * Calls are numbered from 1 after `disk_arm`. A call is made and recorded under one lock, so the record has the order of the
 * effects; `record.py` reads it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define REAL(name, result, ...) ((result (*)(__VA_ARGS__))real(#name))

enum kind { NO_FAULT, BEFORE, AFTER, TORN, KILL, TORN_KILL };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX];
static long calls, failing;
static int is_armed, fault, code, record = -1;

static void *real(const char *name) { return dlsym(RTLD_NEXT, name); }

/* ---- control, called through ctypes */

void disk_arm(const char *directory, long number, int kind, int error, const char *log) {
    int opened = REAL(open, int, const char *, int, ...)(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    pthread_mutex_lock(&lock);
    snprintf(root, sizeof root, "%s/", directory);
    calls = 0, failing = number, fault = kind, code = error, record = opened, is_armed = 1;
    pthread_mutex_unlock(&lock);
}

void disk_disarm(void) {
    pthread_mutex_lock(&lock);
    is_armed = 0;
    if (record >= 0) close(record);
    record = -1;
    pthread_mutex_unlock(&lock);
}

/* ---- paths */

static void full_path(char *found, int directory, const char *path) {
    char base[PATH_MAX / 2] = "";
    if (path[0] != '/') {
        char link[64];
        if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
        ssize_t length = readlink(link, base, sizeof base - 2);
        if (length < 0) length = 0;
        base[length] = path[0] ? '/' : 0;
        base[length + 1] = 0;
    }
    snprintf(found, PATH_MAX, "%s%s", base, path);
}

static int is_below(const char *path) {
    size_t length = strlen(path), whole = strlen(root);
    return strncmp(path, root, whole) == 0 || (length + 1 == whole && strncmp(path, root, length) == 0);
}

/* Whether a call is observed. Takes the lock if it is. */
static int observed(const char *path) {
    if (!is_armed) return 0;
    pthread_mutex_lock(&lock);
    if (is_armed && is_below(path)) return 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

/* ---- the record: a line of fields separated by tabs for each call, followed by the written bytes */

static void note(const char *name, const char *path, const char *other, unsigned long inode, long offset, const void *data, long length) {
    if (record < 0) return;
    char line[2 * PATH_MAX + 128];
    int size = snprintf(line, sizeof line, "%s\t%s\t%s\t%lu\t%ld\t%ld\n", name, path, other, inode, offset, length);
    ssize_t (*real_write)(int, const void *, size_t) = REAL(write, ssize_t, int, const void *, size_t);
    real_write(record, line, size);
    if (length > 0 && data) real_write(record, data, length);
}

static unsigned long inode_of(int file) {
    struct stat facts;
    return fstat(file, &facts) == 0 ? facts.st_ino : 0;
}

/* The fault of the next call. Kills the process for a fault that does. */
static int next_fault(const char *name, const char *path) {
    if (++calls != failing) return NO_FAULT;
    int is_write = strcmp(name, "write") == 0;
    int found = is_write || fault < TORN ? fault : fault == TORN ? BEFORE : KILL;
    note("fault", path, name, 0, found, NULL, 0);
    if (found == KILL) kill(getpid(), SIGKILL);
    return found;
}

static int done(long outcome, int found) {
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = outcome < 0 ? error : 0;
    if (found == NO_FAULT || outcome < 0) return outcome;
    errno = code;
    return -1;
}

static int refused(void) {
    pthread_mutex_unlock(&lock);
    errno = code;
    return -1;
}

/* ---- calls that change names */

#define CHANGE(name, path, other, effect)                                          \
    int found = next_fault(name, path);                                            \
    if (found == BEFORE) { note("refused", path, name, 0, 0, NULL, 0); return refused(); } \
    long outcome = effect;                                                         \
    int kept = errno;                                                              \
    note(outcome < 0 ? "refused" : name, path, outcome < 0 ? name : other, 0, 0, NULL, 0); \
    errno = kept;                                                                  \
    return done(outcome, found)

static int opening(int (*open_file)(int, const char *, int, mode_t), int directory, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    full_path(path, directory, name);
    if (!observed(path)) return open_file(directory, name, flags, mode);
    const char *call = flags & O_CREAT ? "create" : "open";
    int found = next_fault(call, path);
    if (found == BEFORE) { note("refused", path, call, 0, 0, NULL, 0); return refused(); }
    int is_new = faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
    int file = open_file(directory, name, flags, mode);
    int kept = errno;
    if (file < 0) note("refused", path, call, 0, 0, NULL, 0);
    else if (is_new) note("create", path, "", inode_of(file), 0, NULL, 0);
    else note(call[0] == 'c' ? "reopen" : "open", path, flags & O_TRUNC ? "truncate" : "", inode_of(file), 0, NULL, 0);
    errno = kept;
    if (found != NO_FAULT && file >= 0) { close(file); file = 0; }
    return file < 0 || found == NO_FAULT ? (pthread_mutex_unlock(&lock), file) : refused();
}

static int real_openat(int directory, const char *name, int flags, mode_t mode) {
    return REAL(openat, int, int, const char *, int, ...)(directory, name, flags, mode);
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags) return opening(real_openat, AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return opening(real_openat, AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return opening(real_openat, at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return opening(real_openat, at, path, flags, mode); }

int renameat(int from, const char *old, int to, const char *new) {
    int (*effect)(int, const char *, int, const char *) = REAL(renameat, int, int, const char *, int, const char *);
    char first[PATH_MAX], second[PATH_MAX];
    full_path(first, from, old), full_path(second, to, new);
    if (!observed(second)) return effect(from, old, to, new);
    CHANGE("rename", first, second, effect(from, old, to, new));
}
int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    int (*effect)(int, const char *, int, const char *, int) = REAL(linkat, int, int, const char *, int, const char *, int);
    char first[PATH_MAX], second[PATH_MAX];
    full_path(first, from, old), full_path(second, to, new);
    if (!observed(second)) return effect(from, old, to, new, flags);
    CHANGE("link", first, second, effect(from, old, to, new, flags));
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int unlinkat(int at, const char *name, int flags) {
    int (*effect)(int, const char *, int) = REAL(unlinkat, int, int, const char *, int);
    char path[PATH_MAX];
    full_path(path, at, name);
    if (!observed(path)) return effect(at, name, flags);
    CHANGE(flags & AT_REMOVEDIR ? "rmdir" : "unlink", path, "", effect(at, name, flags));
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdirat(int at, const char *name, mode_t mode) {
    int (*effect)(int, const char *, mode_t) = REAL(mkdirat, int, int, const char *, mode_t);
    char path[PATH_MAX];
    full_path(path, at, name);
    if (!observed(path)) return effect(at, name, mode);
    CHANGE("mkdir", path, "", effect(at, name, mode));
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

/* ---- calls on open files */

static int path_of(int file, char *path) {
    if (!is_armed) return 0;
    full_path(path, file, "");
    return observed(path);
}

static int syncing(int file, const char *name) {
    int (*effect)(int) = real(name);
    char path[PATH_MAX];
    if (!path_of(file, path)) return effect(file);
    int found = next_fault("sync", path);
    if (found == BEFORE) { note("refused", path, "sync", 0, 0, NULL, 0); return refused(); }
    int outcome = effect(file), kept = errno;
    note("sync", path, "", inode_of(file), 0, NULL, 0);
    errno = kept;
    return done(outcome, found);
}
int fsync(int file) { return syncing(file, "fsync"); }
int fdatasync(int file) { return syncing(file, "fdatasync"); }

static int truncating(int file, off_t length) {
    int (*effect)(int, off_t) = REAL(ftruncate, int, int, off_t);
    char path[PATH_MAX];
    if (!path_of(file, path)) return effect(file, length);
    int found = next_fault("truncate", path);
    if (found == BEFORE) return refused();
    int outcome = effect(file, length), kept = errno;
    note("truncate", path, "", inode_of(file), length, NULL, 0);
    errno = kept;
    return done(outcome, found);
}
int ftruncate(int file, off_t length) { return truncating(file, length); }
int ftruncate64(int file, off_t length) { return truncating(file, length); }

/* `offset` is -1 for a write at the position of the file. */
static ssize_t writing(int file, const void *data, size_t length, off_t offset) {
    ssize_t (*effect)(int, const void *, size_t) = REAL(write, ssize_t, int, const void *, size_t);
    ssize_t (*effect_at)(int, const void *, size_t, off_t) = REAL(pwrite, ssize_t, int, const void *, size_t, off_t);
    char path[PATH_MAX];
    if (!path_of(file, path)) return offset < 0 ? effect(file, data, length) : effect_at(file, data, length, offset);
    int found = next_fault("write", path);
    if (found == BEFORE) { note("refused", path, "write", 0, 0, NULL, 0); return refused(); }
    size_t part = found == TORN || found == TORN_KILL ? length / 2 : length;
    off_t start = offset;
    if (offset < 0) start = lseek(file, 0, fcntl(file, F_GETFL) & O_APPEND ? SEEK_END : SEEK_CUR);
    ssize_t outcome = offset < 0 ? effect(file, data, part) : effect_at(file, data, part, offset);
    int kept = errno;
    if (found == TORN_KILL) kill(getpid(), SIGKILL);
    if (outcome >= 0) note("write", path, "", inode_of(file), start, data, outcome);
    pthread_mutex_unlock(&lock);
    errno = found == NO_FAULT ? kept : code;
    return found == NO_FAULT ? outcome : -1;
}
ssize_t write(int file, const void *data, size_t length) { return writing(file, data, length, -1); }
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return writing(file, data, length, offset); }
ssize_t pwrite64(int file, const void *data, size_t length, off_t offset) { return writing(file, data, length, offset); }

/* A vector is written up to the end of its first part: a short write, which callers continue. */
ssize_t writev(int file, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    if (!is_armed) return REAL(writev, ssize_t, int, const struct iovec *, int)(file, parts, count);
    full_path(path, file, "");
    if (!is_below(path)) return REAL(writev, ssize_t, int, const struct iovec *, int)(file, parts, count);
    int first = 0;
    while (first + 1 < count && parts[first].iov_len == 0) first++;
    return writing(file, parts[first].iov_base, parts[first].iov_len, -1);
}

static ssize_t reading(int file, void *data, size_t length, off_t offset) {
    ssize_t (*effect)(int, void *, size_t) = REAL(read, ssize_t, int, void *, size_t);
    ssize_t (*effect_at)(int, void *, size_t, off_t) = REAL(pread, ssize_t, int, void *, size_t, off_t);
    char path[PATH_MAX];
    if (path_of(file, path)) {
        int found = next_fault("read", path);
        note(found == BEFORE ? "refused" : "read", path, "read", 0, 0, NULL, 0);
        if (found == BEFORE) return refused();
        pthread_mutex_unlock(&lock);
    }
    return offset < 0 ? effect(file, data, length) : effect_at(file, data, length, offset);
}
ssize_t read(int file, void *data, size_t length) { return reading(file, data, length, -1); }
ssize_t pread(int file, void *data, size_t length, off_t offset) { return reading(file, data, length, offset); }
ssize_t pread64(int file, void *data, size_t length, off_t offset) { return reading(file, data, length, offset); }
