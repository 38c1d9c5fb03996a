/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls of NuttX that kernels/nuttx makes, as its documentation and POSIX specify them. The
 * port never looks into a structure: each is a placeholder.
 */
#ifndef NUTTX_PTHREAD_H
#define NUTTX_PTHREAD_H

#include <stddef.h>
#include <time.h>

#include <sched.h>

struct placeholder {
    int placeholder;
};
typedef int nuttx_pthread_t; /* a thread is a number; the C library here has one of its own */
#define pthread_t nuttx_pthread_t

/* ---- threads --------------------------------------------------------------------------------- */
typedef struct placeholder nuttx_pthread_attr_t;
#define pthread_attr_t nuttx_pthread_attr_t
#define PTHREAD_EXPLICIT_SCHED 1

int pthread_attr_init(pthread_attr_t *attributes);
int pthread_attr_setinheritsched(pthread_attr_t *attributes, int inherit);
int pthread_attr_setschedpolicy(pthread_attr_t *attributes, int policy);
int pthread_attr_setschedparam(pthread_attr_t *attributes, const struct sched_param *param);
int pthread_attr_setstacksize(pthread_attr_t *attributes, size_t bytes);
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*entry)(void *),
                   void *arg);
int pthread_join(pthread_t thread, void **result);
pthread_t pthread_self(void);
int pthread_setname_np(pthread_t thread, const char *name);

/* ---- mutexes --------------------------------------------------------------------------------- */
typedef struct placeholder nuttx_pthread_mutex_t;
typedef struct placeholder nuttx_pthread_mutexattr_t;
#define pthread_mutex_t nuttx_pthread_mutex_t
#define pthread_mutexattr_t nuttx_pthread_mutexattr_t
#define PTHREAD_PRIO_NONE 0
#define PTHREAD_PRIO_INHERIT 1
#define PTHREAD_PRIO_PROTECT 2
#define PTHREAD_MUTEX_STALLED 0
#define PTHREAD_MUTEX_ROBUST 1

int pthread_mutexattr_init(pthread_mutexattr_t *attributes);
int pthread_mutexattr_setprotocol(pthread_mutexattr_t *attributes, int protocol);
int pthread_mutexattr_setrobust(pthread_mutexattr_t *attributes, int robust);
int pthread_mutexattr_setprioceiling(pthread_mutexattr_t *attributes, int ceiling);
int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int pthread_mutex_destroy(pthread_mutex_t *mutex);
int pthread_mutex_lock(pthread_mutex_t *mutex);
int pthread_mutex_trylock(pthread_mutex_t *mutex);
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until);
int pthread_mutex_unlock(pthread_mutex_t *mutex);
int pthread_mutex_consistent(pthread_mutex_t *mutex);

/* ---- conditions, barriers, read-write locks ----------------------------------------------------
 */
typedef struct placeholder nuttx_pthread_cond_t;
typedef struct placeholder nuttx_pthread_barrier_t;
typedef struct placeholder nuttx_pthread_rwlock_t;
#define pthread_cond_t nuttx_pthread_cond_t
#define pthread_barrier_t nuttx_pthread_barrier_t
#define pthread_rwlock_t nuttx_pthread_rwlock_t
#define PTHREAD_BARRIER_SERIAL_THREAD (-1)

int pthread_cond_init(pthread_cond_t *condition, const void *attributes);
int pthread_cond_destroy(pthread_cond_t *condition);
int pthread_cond_signal(pthread_cond_t *condition);
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until);
int pthread_barrier_init(pthread_barrier_t *barrier, const void *attributes, unsigned int threads);
int pthread_barrier_destroy(pthread_barrier_t *barrier);
int pthread_barrier_wait(pthread_barrier_t *barrier);
int pthread_rwlock_init(pthread_rwlock_t *lock, const void *attributes);
int pthread_rwlock_destroy(pthread_rwlock_t *lock);
int pthread_rwlock_rdlock(pthread_rwlock_t *lock);
int pthread_rwlock_wrlock(pthread_rwlock_t *lock);
int pthread_rwlock_unlock(pthread_rwlock_t *lock);

#endif
