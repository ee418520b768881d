// libpq, PostgreSQL's client library.
#pragma once
#include <fcntl.h>
#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

// PQcancel connects, sends and reads in blocking mode, without a bound that a frozen server would respect. So it
// runs on a thread of its own, which nobody waits for.
struct pq_cancel_job {
    PGcancel *cancel;
    int delivered;
};

static inline void *pq_cancel_run(void *argument) {
    struct pq_cancel_job *job = (struct pq_cancel_job *)argument;
    char error[256];
    PQcancel(job->cancel, error, sizeof error);
    PQfreeCancel(job->cancel);
    close(job->delivered);
    free(job);
    return NULL;
}

// Sends a cancel request in the background and takes ownership of `cancel`, whatever happens.
// Returns a descriptor that reaches its end of file once the request is delivered (or has failed), for the caller
// to close; or -1 if nothing could be started.
static inline int pq_cancel_start(PGcancel *cancel) {
    int ends[2];
    struct pq_cancel_job *job = (struct pq_cancel_job *)malloc(sizeof *job);
    if (job == NULL || pipe(ends) != 0) {
        free(job);
        PQfreeCancel(cancel);
        return -1;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    job->cancel = cancel;
    job->delivered = ends[1];

    // Signals are for the threads that expect them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int failed = pthread_create(&thread, NULL, pq_cancel_run, job);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (failed) {
        close(ends[0]);
        close(ends[1]);
        PQfreeCancel(cancel);
        free(job);
        return -1;
    }
    pthread_detach(thread);
    return ends[0];
}
