/* A slow disk, one that takes no writes, and a clock that steps, for one process and all its threads. Control file: three
   64-bit numbers: how long a sync takes at least and how far the wall clock is off, in ms; the error of every write in
   SHIM_FOLDER, or 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *control;

__attribute__((constructor)) static void begin(void) {
  int file = open(getenv("SHIM_CONTROL"), O_RDONLY);
  void *at = file < 0 ? MAP_FAILED : mmap(0, 24, PROT_READ, MAP_SHARED, file, 0);
  if (at != MAP_FAILED) control = at;
  if (file >= 0) close(file);
}

static void slow(void) {
  int64_t ms = control ? control[0] : 0;
  struct timespec rest = {ms / 1000, ms % 1000 * 1000000};
  if (ms > 0) nanosleep(&rest, 0);
}

int fsync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fsync");
  slow();
  return real(fd);
}

int fdatasync(int fd) {
  static int (*real)(int);
  if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
  slow();
  return real(fd);
}

int clock_gettime(clockid_t id, struct timespec *to) {
  static int (*real)(clockid_t, struct timespec *);
  if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
  int result = real(id, to);
  if (control && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE)) {
    int64_t ms = control[1] + to->tv_nsec / 1000000;
    int64_t s = ms >= 0 ? ms / 1000 : -((999 - ms) / 1000);
    to->tv_sec += s;
    to->tv_nsec = (ms - s * 1000) * 1000000 + to->tv_nsec % 1000000;
  }
  return result;
}

int gettimeofday(struct timeval *restrict to, void *restrict zone) {
  struct timespec now;
  (void)zone;
  clock_gettime(CLOCK_REALTIME, &now);
  to->tv_sec = now.tv_sec;
  to->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *to) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (to) *to = now.tv_sec;
  return now.tv_sec;
}

/* Whether a path is in the folder whose disk takes no writes. */
static int refuses(const char *path) {
  const char *folder = getenv("SHIM_FOLDER");
  if (!control || control[2] == 0 || !folder || strncmp(path, folder, strlen(folder)) != 0) return 0;
  errno = (int)control[2];
  return 1;
}

static int refuses_fd(int fd) {
  char link[64], path[PATH_MAX];
  if (!control || control[2] == 0) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return refuses(path);
}

#define FORWARD(type, name, parameters, arguments, refused)        \
  type name parameters {                                           \
    static type(*real) parameters;                                 \
    if (!real) real = (type(*) parameters)dlsym(RTLD_NEXT, #name); \
    return refused ? -1 : real arguments;                          \
  }

FORWARD(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), refuses_fd(fd))
FORWARD(ssize_t, writev, (int fd, const struct iovec *from, int n), (fd, from, n), refuses_fd(fd))
FORWARD(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), refuses_fd(fd))
FORWARD(ssize_t, pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at), refuses_fd(fd))
FORWARD(int, ftruncate, (int fd, off_t to), (fd, to), refuses_fd(fd))
FORWARD(int, ftruncate64, (int fd, off64_t to), (fd, to), refuses_fd(fd))
FORWARD(int, rename, (const char *from, const char *to), (from, to), refuses(to))
FORWARD(int, unlink, (const char *path), (path), refuses(path))
FORWARD(int, access, (const char *path, int how), (path, how), (how & W_OK) && refuses(path))
FORWARD(int, mkdir, (const char *path, mode_t mode), (path, mode), refuses(path))

#define OPEN(name)                                                       \
  int name(const char *path, int flags, ...) {                           \
    static int (*real)(const char *, int, ...);                          \
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, #name); \
    va_list more;                                                        \
    va_start(more, flags);                                               \
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0; \
    va_end(more);                                                        \
    if (flags & (O_WRONLY | O_RDWR | O_CREAT) && refuses(path)) return -1; \
    return real(path, flags, mode);                                      \
  }

OPEN(open)
OPEN(open64)
