#define _GNU_SOURCE
#include "shim.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

int glibc_eventfd(unsigned int initial_value) { return eventfd(initial_value, EFD_CLOEXEC | EFD_NONBLOCK); }

int glibc_timerfd_create(void) { return timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK); }

int glibc_timerfd_set(int descriptor, int64_t nanoseconds) {
    struct itimerspec spec = {0};
    if (nanoseconds > 0) {
        spec.it_value.tv_sec = nanoseconds / 1000000000;
        spec.it_value.tv_nsec = nanoseconds % 1000000000;
    }
    return timerfd_settime(descriptor, 0, &spec, NULL);
}

int glibc_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int glibc_accept4(int listener) { return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK); }

ptrdiff_t glibc_getrandom(void *buffer, size_t length) { return getrandom(buffer, length, 0); }

int glibc_pthread_setname(const char *name) {
    char cut[16] = {0};
    strncpy(cut, name, sizeof cut - 1);
    return pthread_setname_np(pthread_self(), cut);
}

char **glibc_environ(void) { return environ; }

int glibc_terminal_columns(int descriptor) {
    struct winsize size = {0};
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int glibc_ignore_sigpipe(void) {
    struct sigaction action = {0};
    action.sa_handler = SIG_IGN;
    return sigaction(SIGPIPE, &action, NULL);
}

static atomic_int termination_descriptor = -1;
static atomic_int termination_signals = 0;

// Only what signal-safety(7) allows: atomics without locks, write, _exit.
static void on_termination(int number) {
    int saved = errno;
    if (atomic_fetch_add(&termination_signals, 1) > 0) {
        _exit(128 + number);
    }
    uint64_t value = (uint64_t)number;
    ssize_t written = write(atomic_load(&termination_descriptor), &value, sizeof value);
    (void)written;
    errno = saved;
}

int glibc_catch_termination(int descriptor) {
    atomic_store(&termination_descriptor, descriptor);
    atomic_store(&termination_signals, 0);
    struct sigaction action = {0};
    action.sa_handler = on_termination;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGTERM, &action, NULL) != 0 || sigaction(SIGINT, &action, NULL) != 0) {
        return -1;
    }
    // A process that was told not to care about its terminal (nohup) goes on not caring.
    struct sigaction present = {0};
    if (sigaction(SIGHUP, NULL, &present) != 0 || present.sa_handler == SIG_IGN) {
        return 0;
    }
    return sigaction(SIGHUP, &action, NULL);
}

void glibc_release_termination(void) {
    struct sigaction action = {0};
    action.sa_handler = SIG_DFL;
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct sigaction present = {0};
    if (sigaction(SIGHUP, NULL, &present) == 0 && present.sa_handler == on_termination) {
        sigaction(SIGHUP, &action, NULL);
    }
    atomic_store(&termination_descriptor, -1);
}

void glibc_keep_freed_memory(void) {
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_MMAP_THRESHOLD, 16 << 20);
    mallopt(M_TOP_PAD, 1 << 20);
    // Threads have caches of their own for small blocks; behind them this list only costs time when a batch is freed.
    mallopt(M_MXFAST, 0);
}
