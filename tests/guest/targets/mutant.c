/* SPDX-License-Identifier: Apache-2.0
 *
 * Mechanisms with three defects, laid over the port's by the linker (--wrap): an eventfd that loses
 * its third notification, a plain mutex that lends ranks, a robust one that is not.
 */
#include "kadenz/mechanism.h"

const struct kdz_mechanism *__wrap_kdz_mechanism_at(size_t index);
const struct kdz_mechanism *__real_kdz_mechanism_at(size_t index);

static unsigned notifications;

static kdz_status notify(kdz_handle object)
{
    notifications++;
    return notifications == 3 ? KDZ_OK : kdz_mechanism("eventfd")->notify->notify(object);
}

static bool is(const struct kdz_mechanism *mechanism, const char *name)
{
    return kdz_mechanism(name) == mechanism;
}

const struct kdz_mechanism *__wrap_kdz_mechanism_at(size_t index)
{
    static struct kdz_notify_ops forgetful;
    static struct kdz_lock_ops lending;
    static struct kdz_lock_ops stalling;
    static struct kdz_mechanism changed;
    const struct kdz_mechanism *mechanism = __real_kdz_mechanism_at(index);

    if (mechanism == NULL) {
        return NULL;
    }
    changed = *mechanism;
    if (is(mechanism, "eventfd")) {
        forgetful = *mechanism->notify;
        forgetful.notify = notify;
        changed.notify = &forgetful;
    } else if (is(mechanism, "mutex-plain")) {
        lending = *kdz_mechanism("mutex-inherit")->lock;
        lending.protocol = KDZ_PROTOCOL_PLAIN;
        changed.lock = &lending;
    } else if (is(mechanism, "mutex-robust")) {
        stalling = *kdz_mechanism("mutex-plain")->lock;
        stalling.robust = true;
        changed.lock = &stalling;
    }
    return &changed;
}
