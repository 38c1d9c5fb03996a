/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes on ThreadX: with inheritance, which is also the lock of kernel.h, and without.
 */
#include "threadx_port.h"

#include "kadenz/mechanism.h"

KDZ_HAS(mutex, "mutex");
KDZ_HAS(priority_inheritance, "priority-inheritance");

static TX_MUTEX mutexes[OBJECTS_MAX];
static bool taken[OBJECTS_MAX];

static kdz_handle create(UINT inherit)
{
    const kdz_handle place = kdz_threadx_place(taken);

    if (place >= 0) {
        (void)tx_mutex_create(&mutexes[place], kdz_threadx_name("mutex"), inherit);
    }
    return place;
}

kdz_handle kdz_mutex_create(void)
{
    return create(TX_INHERIT);
}

kdz_status kdz_mutex_lock(kdz_handle mutex, uint32_t timeout_ticks)
{
    return kdz_threadx_waited(tx_mutex_get(&mutexes[mutex], timeout_ticks));
}

kdz_status kdz_mutex_unlock(kdz_handle mutex)
{
    return kdz_threadx_done(tx_mutex_put(&mutexes[mutex]));
}

void kdz_mutex_destroy(kdz_handle mutex)
{
    if (mutex >= 0) {
        (void)tx_mutex_delete(&mutexes[mutex]);
        taken[mutex] = false;
    }
}

static kdz_handle create_plain(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : create(TX_NO_INHERIT);
}

static kdz_handle create_inherit(bool processes, uint8_t ceiling)
{
    (void)ceiling;
    return processes ? (kdz_handle)KDZ_UNSUPPORTED : create(TX_INHERIT);
}

static const struct kdz_lock_ops plain_ops = {
    create_plain, kdz_mutex_lock, kdz_mutex_unlock, kdz_mutex_destroy, KDZ_PROTOCOL_PLAIN, true};
static const struct kdz_mechanism plain = {.name = "mutex-plain", .lock = &plain_ops};
KDZ_MECHANISM(plain);

static const struct kdz_lock_ops inherit_ops = {create_inherit,       kdz_mutex_lock,
                                                kdz_mutex_unlock,     kdz_mutex_destroy,
                                                KDZ_PROTOCOL_INHERIT, true};
static const struct kdz_mechanism inherit = {.name = "mutex-inherit", .lock = &inherit_ops};
KDZ_MECHANISM(inherit);
