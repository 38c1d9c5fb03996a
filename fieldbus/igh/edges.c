/* SPDX-License-Identifier: Apache-2.0
 *
 * A pulse train over IgH's EtherCAT master: the output of a digital terminal changes every half
 * period, as in the edge task of kadenz-motion. IgH sends by kernel modules; this is the program
 * in front of them, for frames that are stamped outside of it. README.md says how to build it.
 *
 *   edges PERIOD_US CYCLES [POSITION VENDOR PRODUCT]
 *
 * Exit codes: 0 all cycles were sent; 1 the master, the terminal or the kernel refused; 2 the
 * arguments are wrong. The last line says how many cycles were late by more than a quarter of a
 * period.
 */
#define _GNU_SOURCE /* clock_nanosleep, sched_setscheduler */
#include <ecrt.h>

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define PRIORITY 98 /* cereia2011's -99 */
#define SECOND_NS 1000000000LL
#define PDO 0x1600
#define ENTRY 0x7000
#define CHANNELS 4

struct settings {
    int64_t half_ns;
    uint64_t cycles;
    uint16_t position;
    uint32_t vendor, product;
};

struct bus {
    ec_master_t *master;
    ec_domain_t *domain;
    uint8_t *image;
    unsigned offset, bit;
};

/* The outputs of a terminal of kadenz's ring; a real one may have another map. */
static ec_pdo_entry_info_t entries[CHANNELS];
static ec_pdo_info_t pdo = {PDO, CHANNELS, entries};
static const ec_sync_info_t sync_managers[] = {
    {0, EC_DIR_OUTPUT, 1, &pdo, EC_WD_ENABLE},
    {0xff, EC_DIR_INVALID, 0, NULL, EC_WD_DEFAULT},
};

static int refused(const char *what)
{
    (void)fprintf(stderr, "edges: %s\n", what);
    return 1;
}

static int open_bus(const struct settings *settings, struct bus *bus)
{
    ec_slave_config_t *terminal;
    int offset;

    for (uint8_t channel = 0; channel < CHANNELS; channel++) {
        entries[channel] = (ec_pdo_entry_info_t){ENTRY, (uint8_t)(channel + 1u), 1};
    }
    bus->master = ecrt_request_master(0);
    if (bus->master == NULL) {
        return refused("master 0 cannot be had: are IgH's modules loaded, and is it free?");
    }
    bus->domain = ecrt_master_create_domain(bus->master);
    terminal = ecrt_master_slave_config(bus->master, 0, settings->position, settings->vendor,
                                        settings->product);
    if (bus->domain == NULL || terminal == NULL) {
        return refused("no domain, or no terminal at that position");
    }
    if (ecrt_slave_config_pdos(terminal, EC_END, sync_managers) != 0) {
        return refused("the terminal does not take this map of outputs");
    }
    offset = ecrt_slave_config_reg_pdo_entry(terminal, ENTRY, 1, bus->domain, &bus->bit);
    if (offset < 0) {
        return refused("the terminal has no first output");
    }
    bus->offset = (unsigned)offset;
    if (ecrt_master_activate(bus->master) != 0) {
        return refused("the master does not start: see the kernel's messages");
    }
    bus->image = ecrt_domain_data(bus->domain);
    return bus->image == NULL ? refused("the domain has no process image") : 0;
}

static int64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

static void sleep_until(int64_t due_ns)
{
    const struct timespec due = {.tv_sec = due_ns / SECOND_NS, .tv_nsec = due_ns % SECOND_NS};

    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR) {
    }
}

/* A frame in every half period, with the output on in every second one. */
static uint64_t drive(const struct settings *settings, const struct bus *bus)
{
    int64_t due = now_ns() + settings->half_ns;
    uint64_t late = 0;

    for (uint64_t cycle = 0; cycle < settings->cycles; cycle++, due += settings->half_ns) {
        sleep_until(due);
        late += now_ns() - due > settings->half_ns / 2 ? 1u : 0u;
        (void)ecrt_master_receive(bus->master);
        (void)ecrt_domain_process(bus->domain);
        if (cycle % 2u == 0) {
            bus->image[bus->offset] |= (uint8_t)(1u << bus->bit);
        } else {
            bus->image[bus->offset] &= (uint8_t) ~(1u << bus->bit);
        }
        (void)ecrt_domain_queue(bus->domain);
        (void)ecrt_master_send(bus->master);
    }
    return late;
}

static int number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && *value >= low && *value <= high;
}

static int parse(int count, char **words, struct settings *settings)
{
    uint64_t period_us, position = 1, vendor = 0, product = 0;

    if ((count != 3 && count != 6) || !number(words[1], 100, 1000000, &period_us) ||
        !number(words[2], 1, UINT32_MAX, &settings->cycles) ||
        (count == 6 && (!number(words[3], 0, UINT16_MAX, &position) ||
                        !number(words[4], 0, UINT32_MAX, &vendor) ||
                        !number(words[5], 0, UINT32_MAX, &product)))) {
        (void)fprintf(stderr, "usage: edges PERIOD_US CYCLES [POSITION VENDOR PRODUCT]\n"
                              "  PERIOD_US from 100 to 1000000, of the pulses: two frames each\n");
        return 2;
    }
    settings->half_ns = (int64_t)period_us * 500;
    settings->position = (uint16_t)position;
    settings->vendor = (uint32_t)vendor;
    settings->product = (uint32_t)product;
    return 0;
}

int main(int count, char **words)
{
    const struct sched_param priority = {.sched_priority = PRIORITY};
    struct settings settings;
    struct bus bus = {0};
    uint64_t late;
    int code = parse(count, words, &settings);

    if (code != 0) {
        return code;
    }
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0 ||
        sched_setscheduler(0, SCHED_FIFO, &priority) != 0) {
        (void)fprintf(stderr, "edges: no real-time priority: %s\n", strerror(errno));
    }
    code = open_bus(&settings, &bus);
    if (code == 0) {
        late = drive(&settings, &bus);
        (void)printf("%" PRIu64 " cycles, %" PRIu64 " late by more than a quarter of a period\n",
                     settings.cycles, late);
    }
    if (bus.master != NULL) {
        ecrt_release_master(bus.master);
    }
    return code;
}
