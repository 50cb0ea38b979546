#include "jobs.h"

#include "cli.h"
#include "text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
  pid_t process; /* 0: none */
  int piece, pipe;
} worker;

static pid_t parent; /* of this process, when it was made here */

bool cli_jobs_parent_died(void) { return parent != 0 && getppid() != parent; }

static void write_all(int file, const char *data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(file, data, size);
    if (n <= 0 && errno != EINTR) {
      return;
    }
    data += n > 0 ? n : 0;
    size -= n > 0 ? (size_t)n : 0;
  }
}

static size_t read_all(int file, char *data, size_t size) {
  size_t got = 0;
  while (got < size) {
    const ssize_t n = read(file, data + got, size - got);
    if (n == 0 || (n < 0 && errno != EINTR)) {
      break;
    }
    got += n > 0 ? (size_t)n : 0;
  }
  return got;
}

/* SIGTERM may come twice, to all processes of a group and from the parent: it never ends this one at once */
static void keep_handler(void) {
  struct sigaction action;
  if (sigaction(SIGTERM, NULL, &action) == 0 && action.sa_handler != SIG_DFL) {
    action.sa_flags &= ~(int)SA_RESETHAND;
    sigaction(SIGTERM, &action, NULL);
  }
}

static int begin(worker *w, int piece, size_t size, void (*work)(void *user, int piece, void *result), void *user) {
  int ends[2];
  const pid_t own = getpid();
  if (pipe(ends) != 0) {
    return -1;
  }
  fflush(NULL);
  const pid_t process = fork();
  if (process == 0) {
    void *result = cli_resize(NULL, size, 1);
    memset(result, 0, size);
    parent = own;
    keep_handler();
    close(ends[0]);
    work(user, piece, result);
    write_all(ends[1], result, size);
    fflush(NULL);
    _exit(0);
  }
  close(ends[1]);
  if (process < 0) {
    close(ends[0]);
    return -1;
  }
  *w = (worker){process, piece, ends[0]};
  return 0;
}

/* the result of a process that has ended, or is about to */
static int finish(worker *w, size_t size, void *results) {
  char *data = cli_resize(NULL, size, 1);
  const bool whole = read_all(w->pipe, data, size) == size;
  if (whole) {
    memcpy((char *)results + (size_t)w->piece * size, data, size);
  }
  free(data);
  close(w->pipe);
  while (waitpid(w->process, NULL, 0) < 0 && errno == EINTR) {
  }
  w->process = 0;
  return !whole;
}

/* one of them with a result, or NULL after a moment */
static worker *wait_for_one(worker *workers, int jobs, struct pollfd *ends) {
  enum { MILLISECONDS = 100 };
  for (int k = 0; k < jobs; k++) {
    ends[k] = (struct pollfd){.fd = workers[k].process ? workers[k].pipe : -1, .events = POLLIN};
  }
  const int ready = poll(ends, (nfds_t)jobs, MILLISECONDS);
  for (int k = 0; ready > 0 && k < jobs; k++) {
    if (ends[k].fd >= 0 && ends[k].revents) {
      return &workers[k];
    }
  }
  return NULL;
}

/* what stops this process stops the others: a signal to it alone does not reach them */
static void stop_all(const worker *workers, int jobs) {
  for (int k = 0; k < jobs; k++) {
    if (workers[k].process) {
      kill(workers[k].process, SIGTERM);
    }
  }
}

static worker *unused(worker *workers) {
  while (workers->process != 0) {
    workers++;
  }
  return workers;
}

int cli_jobs_run(const cli_jobs *j) {
  const int jobs = j->jobs < j->pieces ? j->jobs : j->pieces;
  worker *workers = cli_resize(NULL, (size_t)jobs, sizeof(*workers));
  struct pollfd *ends = cli_resize(NULL, (size_t)jobs, sizeof(*ends));
  int next = 0, running = 0, lost = 0;
  bool failed = false, stopped = false;
  memset(workers, 0, (size_t)jobs * sizeof(*workers));
  while (running > 0 || (next < j->pieces && !failed && !stopped)) {
    if (!stopped && j->stop(j->user)) {
      stopped = true;
      stop_all(workers, jobs);
    } else if (next < j->pieces && running < jobs && !failed && !stopped) {
      failed = begin(unused(workers), next, j->size, j->work, j->user) != 0;
      running += !failed;
      next += !failed;
    } else {
      worker *ended = wait_for_one(workers, jobs, ends);
      lost += ended ? finish(ended, j->size, j->results) : 0;
      running -= ended != NULL;
    }
  }
  free(ends);
  free(workers);
  if (failed) {
    (void)cli_failed("cannot start a process: %s", strerror(errno));
    return -1;
  }
  return lost + j->pieces - next;
}
