/* A disk that loses what was not synced, and fails when told to: an LD_PRELOAD shim for tests of durable things.
 *
 * Watched is what lies below the folder FAULTY_DISK_UNDER. Writes go to the real files, so that the process sees
 * them; beside them, the folder FAULTY_DISK_DURABLE holds what a power cut would leave:
 *   inodes/N   the synced contents of the file with inode number N;
 *   names/...  the synced directory entries: hard links to those, so that a rename moves no contents;
 *   control    memory shared by all processes: a lock, and which operation fails.
 * What counts as synced:
 *   - fsync or fdatasync of a file, by whichever process: its contents, its length and its name. What changed since
 *     the last is found by comparing, not by noting writes: no way to write is missed, fork and exec lose nothing;
 *   - fsync or fdatasync of a folder: the names in it. A file that was never synced itself is there, but empty;
 *   - unlink at once. A rename waits for a sync of the file (new name) or of the folder (the old name goes, too);
 *   - nothing else: not sync_file_range, sync, syncfs, msync, O_SYNC, closing. Names that end in -shm, files which
 *     SQLite only maps, are never durable.
 * The real disk is not synced: its cache outlives a killed process. Folders may be made, but not renamed.
 *
 * Faults: FAULTY_DISK_FAIL_AT=n makes the n-th operation from the start of the process fail with FAULTY_DISK_ERRNO
 * (EIO or ENOSPC), and with FAULTY_DISK_STICKY=1 every later one; faulty_disk_arm does so from now on. Operations are
 * writes, ftruncate, open with O_CREAT, fsync and fdatasync; for ENOSPC only what needs space: writes, and open where
 * there is no file yet. What a failed sync left out, the next one brings; Linux may have dropped it by then. */
#undef _FORTIFY_SOURCE /* its inline versions of open and write would clash with ours */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROOM (3 * PATH_MAX) /* for a folder and a path in it */
#define REAL(f) ({ static __typeof__(&f) real; if (!real) real = (__typeof__(&f))dlsym(RTLD_NEXT, #f); real; })

static char under[PATH_MAX], durable[PATH_MAX];
static struct shared {
    pthread_mutex_t lock;
    long count, fail_at;
    int error, sticky;
} *shared; /* NULL before the shim is set up, when everything passes through */

static void must(int fine, const char *what) {
    if (fine) return;
    fprintf(stderr, "faulty_disk: %s: %s\n", what, strerror(errno));
    abort(); /* or else the durable copy would be wrong, and a test might pass by it */
}

static void lock(void) { /* robust, since its holder may be killed at any time */
    if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD) pthread_mutex_consistent(&shared->lock);
}
static void unlock(void) { pthread_mutex_unlock(&shared->lock); }

/* A name is the path from the watched folder on: "/trial.db", or "" for the folder itself; NULL is not watched. */
static const char *name_of(const char *path) {
    size_t length = strlen(under);
    return !strncmp(path, under, length) && (!path[length] || path[length] == '/') ? path + length : NULL;
}

static char *read_link(char path[PATH_MAX], const char *format, int fd) {
    char link[64];
    int saved = errno; /* a write that succeeds should not change it */
    snprintf(link, sizeof link, format, fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    errno = saved;
    return path;
}

static const char *name_of_fd(int fd, char path[PATH_MAX]) { /* asked each time: files are renamed, numbers reused */
    return shared ? name_of(read_link(path, "/proc/self/fd/%d", fd)) : NULL;
}

static const char *name_of_path(int folder, const char *path, char full[ROOM]) {
    char joined[ROOM] = "";
    if (!shared || strlen(path) >= PATH_MAX) return NULL;
    if (*path != '/') read_link(joined, folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", folder);
    strcat(strcat(joined, "/"), path);
    char *last = strrchr(joined, '/'); /* only the folder is resolved: the file may not be there */
    *last++ = 0;
    return realpath(*joined ? joined : "/", full) ? name_of(strcat(strcat(full, "/"), last)) : NULL;
}

static const char *contents_of(ino_t inode, char path[ROOM]) {
    snprintf(path, ROOM, "%s/inodes/%lu", durable, (unsigned long)inode);
    return path;
}

static void enter(const char *name, ino_t inode) {
    char contents[ROOM], entry[ROOM], fresh[ROOM];
    struct stat one, other;
    snprintf(entry, ROOM, "%s/names%s", durable, name);
    snprintf(fresh, ROOM, "%s/fresh", durable);
    must(!stat(contents_of(inode, contents), &one), contents);
    if (!stat(entry, &other) && one.st_ino == other.st_ino) return;
    for (char *slash = entry + strlen(durable) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        must(!mkdir(entry, 0700) || errno == EEXIST, entry);
    }
    REAL(unlink)(fresh); /* of a process killed between the next two; an entry is replaced wholly or not at all */
    must(!link(contents, fresh) && !REAL(rename)(fresh, entry), entry);
}

static void sync_file(int fd, const char *name, const struct stat *status) {
    static char now[1 << 16], then[sizeof now]; /* guarded by the lock */
    char path[ROOM], again[64];
    int n, to = REAL(open)(contents_of(status->st_ino, path), O_RDWR | O_CREAT | O_CLOEXEC, 0600), from = fd;
    if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY) { /* only then: closing a file drops SQLite's locks on it */
        snprintf(again, sizeof again, "/proc/self/fd/%d", fd);
        from = REAL(open)(again, O_RDONLY | O_CLOEXEC);
    }
    must(to >= 0 && from >= 0 && !REAL(ftruncate)(to, status->st_size), path);
    for (off_t at = 0; at < status->st_size && (n = pread(from, now, sizeof now, at)) != 0; at += n) {
        must(n > 0, name);
        if (pread(to, then, n, at) != n || memcmp(now, then, n)) must(REAL(pwrite)(to, now, n, at) == n, path);
    }
    close(to);
    if (from != fd) close(from);
    enter(name, status->st_ino);
}

static void sync_folder(const char *name) {
    char real[ROOM], kept[ROOM], path[2 * ROOM], contents[ROOM];
    struct stat status;
    snprintf(real, ROOM, "%s%s", under, name);
    snprintf(kept, ROOM, "%s/names%s", durable, name);
    DIR *folders[] = {opendir(real), opendir(kept)};
    for (int old = 0; old < 2; old++) { /* what came is in the real folder, what went only in the durable one */
        for (struct dirent *entry; folders[old] && (entry = readdir(folders[old]));) {
            snprintf(path, sizeof path, "%s/%s", real, entry->d_name);
            int gone = lstat(path, &status);
            if (gone && old) REAL(unlinkat)(dirfd(folders[old]), entry->d_name, 0);
            if (!gone && S_ISREG(status.st_mode) && fnmatch("*-shm", path, 0)) {
                close(REAL(open)(contents_of(status.st_ino, contents), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
                enter(path + strlen(under), status.st_ino);
            }
        }
        if (folders[old]) closedir(folders[old]);
    }
}

static int fails(int needs_space) {
    lock();
    int counts = needs_space || shared->error != ENOSPC;
    long n = shared->count += counts, at = shared->fail_at;
    int fault = counts && at && (shared->sticky ? n >= at : n == at);
    if (fault) errno = shared->error;
    unlock();
    return fault;
}

static int sync_fd(int fd, int (*real)(int)) {
    char path[PATH_MAX];
    struct stat status;
    const char *name = name_of_fd(fd, path);
    if (!name) return real(fd);
    if (fails(0)) return -1;
    lock();
    must(!fstat(fd, &status), path);
    if (S_ISDIR(status.st_mode)) sync_folder(name);
    else if (S_ISREG(status.st_mode) && status.st_nlink && fnmatch("*-shm", name, 0)) sync_file(fd, name, &status);
    unlock();
    return 0;
}

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    char full[ROOM];
    if ((flags & O_CREAT) && name_of_path(folder, path, full) && fails(access(full, F_OK))) return -1;
    return REAL(openat)(folder, path, flags, mode);
}

static int unlink_or_rename(int folder, const char *path, int flags, int old_folder, const char *old) {
    char full[ROOM], kept[ROOM];
    struct stat status;
    const char *name = name_of_path(folder, path, full);
    if (name) lock();
    int last = name && !lstat(full, &status) && status.st_nlink == 1;
    int result = old ? REAL(renameat)(old_folder, old, folder, path) : REAL(unlinkat)(folder, path, flags);
    if (!result && last) REAL(unlink)(contents_of(status.st_ino, kept)); /* a new file may get its number */
    if (!result && name && !old) snprintf(kept, ROOM, "%s/names%s", durable, name), remove(kept);
    if (name) unlock();
    return result;
}

/* In place of the C library's functions. Most programs call those with 64 in their names, which are the same here. */
#define WRITES(space, f, ...) { char path[PATH_MAX]; \
    return name_of_fd(fd, path) && fails(space) ? -1 : REAL(f)(fd, __VA_ARGS__); }
#define OPENS(folder) { va_list rest; va_start(rest, flags); \
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0; \
    va_end(rest); return open_at(folder, path, flags, mode); }
ssize_t write(int fd, const void *p, size_t n) WRITES(1, write, p, n)
ssize_t pwrite(int fd, const void *p, size_t n, off_t at) WRITES(1, pwrite, p, n, at)
ssize_t pwrite64(int fd, const void *p, size_t n, off_t at) WRITES(1, pwrite, p, n, at)
ssize_t writev(int fd, const struct iovec *v, int n) WRITES(1, writev, v, n)
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) WRITES(1, pwritev, v, n, at)
ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t at) WRITES(1, pwritev, v, n, at)
ssize_t pwritev64v2(int fd, const struct iovec *v, int n, off_t at, int how) WRITES(1, pwritev2, v, n, at, how)
int ftruncate(int fd, off_t length) WRITES(0, ftruncate, length)
int ftruncate64(int fd, off_t length) WRITES(0, ftruncate, length)
int fsync(int fd) { return sync_fd(fd, REAL(fsync)); }
int fdatasync(int fd) { return sync_fd(fd, REAL(fdatasync)); }
int open(const char *path, int flags, ...) OPENS(AT_FDCWD)
int open64(const char *path, int flags, ...) OPENS(AT_FDCWD)
int openat(int folder, const char *path, int flags, ...) OPENS(folder)
int openat64(int folder, const char *path, int flags, ...) OPENS(folder)
int unlink(const char *path) { return unlink_or_rename(AT_FDCWD, path, 0, 0, NULL); }
int unlinkat(int folder, const char *path, int flags) { return unlink_or_rename(folder, path, flags, 0, NULL); }
int rename(const char *old, const char *new) { return unlink_or_rename(AT_FDCWD, new, 0, AT_FDCWD, old); }
int renameat(int a, const char *old, int b, const char *new) { return unlink_or_rename(b, new, 0, a, old); }

/* For the process itself: the n-th operation from now on fails, or none with 0; and how many there were since. */
void faulty_disk_arm(long n, int error, int sticky) {
    lock();
    shared->count = 0, shared->fail_at = n, shared->error = error, shared->sticky = sticky;
    unlock();
}
long faulty_disk_count(void) { return shared->count; }

__attribute__((constructor)) static void set_up(void) {
    const char *folder = getenv("FAULTY_DISK_UNDER"), *copy = getenv("FAULTY_DISK_DURABLE");
    const char *at = getenv("FAULTY_DISK_FAIL_AT"), *error = getenv("FAULTY_DISK_ERRNO");
    const char *sticky = getenv("FAULTY_DISK_STICKY");
    char path[ROOM];
    struct stat status;
    if (!folder) return;
    must(copy && realpath(folder, under) && realpath(copy, durable), "FAULTY_DISK_UNDER or FAULTY_DISK_DURABLE");
    snprintf(path, ROOM, "%s/control", durable);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    must(fd >= 0 && !lockf(fd, F_LOCK, 0) && !fstat(fd, &status) && !ftruncate(fd, sizeof *shared), path);
    struct shared *memory = mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must(memory != MAP_FAILED, path);
    if (!status.st_size) { /* the first process; the others find it done */
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&memory->lock, &kind);
    }
    close(fd); /* and with it the lock on the file */
    shared = memory;
    if (at) faulty_disk_arm(atol(at), error && !strcmp(error, "ENOSPC") ? ENOSPC : EIO, sticky && atoi(sticky));
    unsetenv("FAULTY_DISK_FAIL_AT"); /* its children share the count and must not start it anew */
}
