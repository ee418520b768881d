// What Swift's Glibc module leaves out: Linux calls that the lanes need. Each is the call itself, under a name that
// imports (`glibc_` and the C name); errors are told through errno as in the original, unless said otherwise.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// eventfd(2), always close-on-exec and non-blocking.
int glibc_eventfd(unsigned int initial_value);

/// timerfd_create(2) on the monotonic clock, close-on-exec and non-blocking.
int glibc_timerfd_create(void);

/// timerfd_settime(2), relative and once; 0 disarms.
int glibc_timerfd_set(int descriptor, int64_t nanoseconds);

/// epoll_create1(2), close-on-exec.
int glibc_epoll_create(void);

/// accept4(2) without the peer's address, close-on-exec and non-blocking.
int glibc_accept4(int listener);

/// getrandom(2) from the urandom source: the bytes written, or -1.
ptrdiff_t glibc_getrandom(void *_Nonnull buffer, size_t length);

/// pthread_setname_np(3) of the calling thread; the kernel keeps 15 bytes, what is longer is cut here. Returns the error number.
int glibc_pthread_setname(const char *_Nonnull name);

/// environ(7): the process's variables as NAME=value, ended by NULL.
char *_Nullable *_Nullable glibc_environ(void);

/// ioctl_tty(2) TIOCGWINSZ: columns of the terminal, or 0 when the descriptor is none or does not say.
int glibc_terminal_columns(int descriptor);

/// mallopt(3): memory that was freed is kept for the next batch, up to 64 MB of it, instead of being given back and faulted in again; blocks
/// up to 16 MB come from there too. Meant for processes that work in batches; allocations do not behave differently otherwise.
void glibc_keep_freed_memory(void);

/// sigaction(2): SIGPIPE is ignored from here on, so that a write to a closed pipe or socket is an error and no death.
int glibc_ignore_sigpipe(void);

/// sigaction(2) for SIGTERM, SIGINT and, unless it is ignored, SIGHUP: the first one writes its number (8 bytes) to `descriptor`, an eventfd; the second one ends the process
/// at once with 128 + its number. Nothing is inherited by a program that the process starts: exec resets handlers.
int glibc_catch_termination(int descriptor);

/// sigaction(2): these signals end the process again.
void glibc_release_termination(void);

#ifdef __cplusplus
}
#endif
