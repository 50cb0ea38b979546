#include "jobs.h"

#include "cli.h"
#include "text.h"

#include <errno.h>
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

int cli_jobs_parent_died(void) { return parent != 0 && getppid() != parent; }

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

/* waits for one of them; its result */
static int finish(worker *w, int jobs, size_t size, void *results) {
  int how, lost = 1;
  pid_t ended = 0;
  do {
    ended = waitpid(-1, &how, 0);
  } while (ended < 0 && errno == EINTR);
  for (int k = 0; k < jobs; k++) {
    if (w[k].process == ended && ended > 0) {
      char *data = cli_resize(NULL, size, 1);
      if (read_all(w[k].pipe, data, size) == size) {
        memcpy((char *)results + (size_t)w[k].piece * size, data, size);
        lost = 0;
      }
      free(data);
      close(w[k].pipe);
      w[k].process = 0;
    }
  }
  return lost;
}

int cli_jobs_run(int pieces, int jobs, size_t size, void *results, void (*work)(void *user, int piece, void *result),
                 void *user) {
  worker *workers = cli_resize(NULL, (size_t)jobs, sizeof(*workers));
  int next = 0, running = 0, lost = 0, failed = 0;
  memset(workers, 0, (size_t)jobs * sizeof(*workers));
  while (next < pieces || running > 0) {
    if (next < pieces && running < jobs && !failed) {
      int k = 0;
      while (workers[k].process != 0) {
        k++;
      }
      failed = begin(&workers[k], next, size, work, user) != 0;
      running += !failed;
      next += !failed;
      next = failed ? pieces : next;
      continue;
    }
    lost += finish(workers, jobs, size, results);
    running--;
  }
  free(workers);
  if (failed) {
    (void)cli_failed("cannot start a process: %s", strerror(errno));
    return -1;
  }
  return lost;
}
