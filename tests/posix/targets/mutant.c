/* SPDX-License-Identifier: Apache-2.0
 *
 * Notifications with three defects, laid over the port's by the linker (--wrap): an eventfd that
 * loses its third notification, a plain mutex that lends ranks, a robust one that is not.
 */
#include "kadenz/kernel.h"

const struct kdz_notify_ops *__wrap_kdz_notify(kdz_notify_kind kind);
const struct kdz_notify_ops *__real_kdz_notify(kdz_notify_kind kind);

static struct kdz_notify_ops forgetful;
static unsigned notifications;

static kdz_status notify(kdz_handle object)
{
    notifications++;
    return notifications == 3 ? KDZ_OK : __real_kdz_notify(KDZ_NOTIFY_EVENTFD)->notify(object);
}

const struct kdz_notify_ops *__wrap_kdz_notify(kdz_notify_kind kind)
{
    if (kind == KDZ_NOTIFY_MUTEX_PLAIN) {
        return __real_kdz_notify(KDZ_NOTIFY_MUTEX_INHERIT);
    }
    if (kind == KDZ_NOTIFY_MUTEX_ROBUST) {
        return __real_kdz_notify(KDZ_NOTIFY_MUTEX_PLAIN);
    }
    if (kind != KDZ_NOTIFY_EVENTFD) {
        return __real_kdz_notify(kind);
    }
    forgetful = *__real_kdz_notify(kind);
    forgetful.notify = notify;
    return &forgetful;
}
