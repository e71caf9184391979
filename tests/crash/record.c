/* A layer between a process and the disk, loaded with LD_PRELOAD (see preload.py).
 *
 * For files below $CRASH_DIR it can
 *   record  every call that changes a file or makes it durable, with its data and in order, into $CRASH_LOG;
 *   delay   every fsync and fdatasync by $CRASH_SYNC_DELAY_US microseconds, as a slower disk would
 *           (without $CRASH_DIR: those of every file);
 *   fail    the n-th write or sync, as the process itself asks for by crash_fault() (through ctypes).
 *
 * What lies below $CRASH_DIR/outside stands for the world outside the store (acknowledgements, effects):
 * it is recorded, but neither delayed nor failed.
 *
 * A sync is logged twice, at its begin and at its end, and the lock is not held in between: only what was
 * written before its begin is durable at its end, and another thread may go on meanwhile. Every other
 * call is made and logged under one lock, so that the order of the log is the order on the disk.
 * Writes through mmap are not seen: SQLite makes them to its -shm file only, which is no durable state.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if !defined(__linux__) || !defined(__LP64__)
#error "record.c needs 64-bit Linux"
#endif

enum { OP_OPEN = 1, OP_WRITE, OP_TRUNCATE, OP_ALLOCATE, OP_SYNC, OP_SYNCED, OP_SYNC_FAILED, OP_UNLINK,
       OP_RENAME };
enum { MADE = 1, EMPTIED = 2, FOLDER = 4 };
enum { UNSEEN = 0, STORE = 1, OUTSIDE = 2 };
enum { FAIL_WRITE = 1, FAIL_SYNC = 2 };
enum { MAX_FD = 65536 };

struct header { uint32_t op; int32_t fd; int64_t a; int64_t b; uint64_t size; };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char dir[PATH_MAX];
static size_t dir_length;
static int log_fd = -1;
static long delay_us;
static int64_t syncs;
static unsigned char kind_of[MAX_FD];
static struct { int what; long after; long times; int error; long met; } fault;

__attribute__((constructor)) static void start(void) {
    const char *where = getenv("CRASH_DIR"), *log = getenv("CRASH_LOG");
    const char *delay = getenv("CRASH_SYNC_DELAY_US");
    if (where && realpath(where, dir)) dir_length = strlen(dir);
    if (delay) delay_us = atol(delay);
    if (!log || !dir_length) return;
    int fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    log_fd = fd < 0 ? -1 : (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 900);
    if (log_fd < 0) { perror("record.c: the log cannot be opened"); abort(); }
    syscall(SYS_close, fd);
}

/* From now on the calls after the next `after` ones of that kind fail, `times` of them (-1: all). */
void crash_fault(int what, long after, long times, int error) {
    pthread_mutex_lock(&lock);
    fault.what = what; fault.after = after; fault.times = times; fault.error = error; fault.met = 0;
    pthread_mutex_unlock(&lock);
}

/* How many calls have failed since the fault was asked for. */
long crash_fault_met(void) { return fault.met; }

static void note(uint32_t op, int fd, int64_t a, int64_t b, const void *data, size_t size) {
    if (log_fd < 0) return;
    struct header head = { op, fd, a, b, size };
    struct iovec parts[2] = { { &head, sizeof head }, { (void *)data, size } };
    int saved = errno;
    if (syscall(SYS_writev, log_fd, parts, size ? 2 : 1) != (long)(sizeof head + size)) {
        perror("record.c: the log cannot be written"); abort();
    }
    errno = saved;
}

/* The path below the directory ("" for itself), or NULL for what lies elsewhere. */
static const char *below(const char *path) {
    if (!dir_length || strncmp(path, dir, dir_length)) return NULL;
    if (path[dir_length] == 0) return path + dir_length;
    return path[dir_length] == '/' ? path + dir_length + 1 : NULL;
}

static int kind(int fd) { return fd >= 0 && fd < MAX_FD ? kind_of[fd] : UNSEEN; }

static int fails(int what, int fd) {
    if (fault.what != what || fault.times == 0 || kind(fd) != STORE) return 0;
    if (fault.after > 0) { fault.after--; return 0; }
    if (fault.times > 0) fault.times--;
    fault.met++;
    errno = fault.error;
    return 1;
}

/* ---- opening and closing ---- */

static int open_at(int at, const char *path, int flags, mode_t mode) {
    char link[64], real[PATH_MAX];
    struct stat before;
    pthread_mutex_lock(&lock);
    int existed = !(flags & O_CREAT) || fstatat(at, path, &before, 0) == 0;
    int fd = syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && fd < MAX_FD) {
        kind_of[fd] = UNSEEN;
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = dir_length ? readlink(link, real, sizeof real - 1) : -1;
        if (length > 0) {
            real[length] = 0;
            const char *name = below(real);
            if (name) {
                struct stat now;
                int folder = fstat(fd, &now) == 0 && S_ISDIR(now.st_mode);
                kind_of[fd] = strncmp(name, "outside/", 8) ? STORE : OUTSIDE;
                note(OP_OPEN, fd, (existed ? 0 : MADE) | (flags & O_TRUNC ? EMPTIED : 0)
                     | (folder ? FOLDER : 0), 0, name, strlen(name));
            }
        }
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); \
        mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return open_at(at, path, flags, mode); }
int creat(const char *path, mode_t mode) {
    return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
#ifdef __GLIBC__
int open64(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) {
    MODE(flags) return open_at(at, path, flags, mode);
}
int __open_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_at(AT_FDCWD, path, flags, 0); }
#endif

int close(int fd) {
    pthread_mutex_lock(&lock);
    if (fd >= 0 && fd < MAX_FD) kind_of[fd] = UNSEEN;
    int done = syscall(SYS_close, fd);
    pthread_mutex_unlock(&lock);
    return done;
}

/* ---- writing ---- */

/* offset -1: at the file's own position. */
static ssize_t write_at(int fd, const void *data, size_t size, off_t offset) {
    if (!kind(fd))
        return offset < 0 ? syscall(SYS_write, fd, data, size)
                          : syscall(SYS_pwrite64, fd, data, size, offset);
    pthread_mutex_lock(&lock);
    ssize_t done = -1;
    if (!fails(FAIL_WRITE, fd)) {
        if (offset < 0) {
            done = syscall(SYS_write, fd, data, size);
            if (done > 0) offset = syscall(SYS_lseek, fd, 0, SEEK_CUR) - done;
        } else {
            done = syscall(SYS_pwrite64, fd, data, size, offset);
        }
        if (done > 0) note(OP_WRITE, fd, offset, 0, data, done);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

static ssize_t write_parts(int fd, const struct iovec *parts, int count, off_t offset) {
    ssize_t total = 0;
    for (int i = 0; i < count; i++) {
        ssize_t done = write_at(fd, parts[i].iov_base, parts[i].iov_len, offset);
        if (done < 0) return total ? total : -1;
        total += done;
        if (offset >= 0) offset += done;
        if ((size_t)done < parts[i].iov_len) break;
    }
    return total;
}

ssize_t write(int fd, const void *data, size_t size) { return write_at(fd, data, size, -1); }
ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return write_at(fd, data, size, at); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
    return kind(fd) ? write_parts(fd, parts, count, -1) : syscall(SYS_writev, fd, parts, count);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    return write_parts(fd, parts, count, at);
}

static int resize(int fd, off_t length) {
    pthread_mutex_lock(&lock);
    int done = fails(FAIL_WRITE, fd) ? -1 : (int)syscall(SYS_ftruncate, fd, length);
    if (done == 0 && kind(fd)) note(OP_TRUNCATE, fd, length, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    return done;
}

static int reserve(int fd, int mode, off_t offset, off_t length) {
    pthread_mutex_lock(&lock);
    int done = fails(FAIL_WRITE, fd) ? -1 : (int)syscall(SYS_fallocate, fd, mode, offset, length);
    if (done == 0 && kind(fd)) {
        if (mode) { fputs("record.c: this mode of fallocate is not modelled\n", stderr); abort(); }
        note(OP_ALLOCATE, fd, offset, length, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

int ftruncate(int fd, off_t length) { return resize(fd, length); }
int fallocate(int fd, int mode, off_t offset, off_t length) { return reserve(fd, mode, offset, length); }
int posix_fallocate(int fd, off_t offset, off_t length) {
    return reserve(fd, 0, offset, length) ? errno : 0;
}
#ifdef __GLIBC__
ssize_t pwrite64(int fd, const void *data, size_t size, off_t at) { return write_at(fd, data, size, at); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) {
    return write_parts(fd, parts, count, at);
}
ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t at, int flags) {
    (void)flags; /* Hints of speed, and RWF_DSYNC, without which a write is only forgotten sooner. */
    return write_parts(fd, parts, count, at);
}
ssize_t pwritev64v2(int fd, const struct iovec *parts, int count, off_t at, int flags) {
    return pwritev2(fd, parts, count, at, flags);
}
int ftruncate64(int fd, off_t length) { return resize(fd, length); }
int fallocate64(int fd, int mode, off_t offset, off_t length) {
    return reserve(fd, mode, offset, length);
}
int posix_fallocate64(int fd, off_t offset, off_t length) { return posix_fallocate(fd, offset, length); }
#endif

/* ---- making durable ---- */

static int sync_with(long call, int fd) {
    if (dir_length ? kind(fd) != STORE : !delay_us) return syscall(call, fd);
    pthread_mutex_lock(&lock);
    int64_t number = ++syncs;
    int failing = fails(FAIL_SYNC, fd);
    int error = errno;
    note(OP_SYNC, fd, number, 0, NULL, 0);
    pthread_mutex_unlock(&lock);

    int done = failing ? -1 : (int)syscall(call, fd);
    if (!failing) error = errno;
    if (delay_us) {
        struct timespec pause = { delay_us / 1000000, delay_us % 1000000 * 1000 };
        while (nanosleep(&pause, &pause)) { }
    }

    pthread_mutex_lock(&lock);
    note(done == 0 ? OP_SYNCED : OP_SYNC_FAILED, fd, number, 0, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return done;
}

int fsync(int fd) { return sync_with(SYS_fsync, fd); }
int fdatasync(int fd) { return sync_with(SYS_fdatasync, fd); }

/* ---- names ---- */

static int unlink_at(int at, const char *path, int flags) {
    pthread_mutex_lock(&lock);
    int done = syscall(SYS_unlinkat, at, path, flags);
    const char *name = below(path);
    if (done == 0 && name) note(OP_UNLINK, -1, 0, 0, name, strlen(name));
    pthread_mutex_unlock(&lock);
    return done;
}

static int rename_at(int from_at, const char *from, int to_at, const char *to) {
    char both[2 * PATH_MAX];
    pthread_mutex_lock(&lock);
    int done = syscall(SYS_renameat2, from_at, from, to_at, to, 0);
    const char *old = below(from), *new = below(to);
    if (done == 0 && old && new) {
        int size = snprintf(both, sizeof both, "%s%c%s", old, 0, new);
        note(OP_RENAME, -1, 0, 0, both, size);
    }
    pthread_mutex_unlock(&lock);
    return done;
}

int unlink(const char *path) { return unlink_at(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return unlink_at(at, path, flags); }
int rename(const char *from, const char *to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to); }
int renameat(int from_at, const char *from, int to_at, const char *to) {
    return rename_at(from_at, from, to_at, to);
}
