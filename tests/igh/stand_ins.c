/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands for the calls of IgH's master: prints each frame's process image as it is sent. The
 * variable REFUSE names a call that fails.
 */
#include <ecrt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ec_master {
    int active;
};
struct ec_domain {
    int queued;
};
struct ec_slave_config {
    int outputs;
};

static struct ec_master master;
static struct ec_domain domain;
static struct ec_slave_config terminal;
static uint8_t image[2];

static int refuses(const char *call)
{
    const char *named = getenv("REFUSE");

    return named != NULL && strcmp(named, call) == 0;
}

ec_master_t *ecrt_request_master(unsigned int index)
{
    (void)index;
    return refuses("request") ? NULL : &master;
}

void ecrt_release_master(ec_master_t *of)
{
    (void)of;
    (void)printf("released\n");
}

ec_domain_t *ecrt_master_create_domain(ec_master_t *of)
{
    (void)of;
    return &domain;
}

ec_slave_config_t *ecrt_master_slave_config(ec_master_t *of, uint16_t alias, uint16_t position,
                                            uint32_t vendor, uint32_t product)
{
    (void)of;
    (void)printf("terminal %u:%u %x:%x\n", alias, position, vendor, product);
    return refuses("config") ? NULL : &terminal;
}

int ecrt_slave_config_pdos(ec_slave_config_t *config, unsigned int count,
                           const ec_sync_info_t syncs[])
{
    (void)count;
    config->outputs = (int)syncs[0].pdos[0].n_entries;
    return syncs[1].index == 0xff ? 0 : -1;
}

int ecrt_slave_config_reg_pdo_entry(ec_slave_config_t *config, uint16_t index, uint8_t subindex,
                                    ec_domain_t *in, unsigned int *bit)
{
    (void)in;
    *bit = 3;
    return config->outputs == 4 && index == 0x7000 && subindex == 1 ? 1 : -1;
}

int ecrt_master_activate(ec_master_t *of)
{
    of->active = 1;
    return refuses("activate") ? -1 : 0;
}

uint8_t *ecrt_domain_data(const ec_domain_t *of)
{
    (void)of;
    return image;
}

int ecrt_master_receive(ec_master_t *of)
{
    return of->active ? 0 : -1;
}

int ecrt_domain_process(ec_domain_t *of)
{
    of->queued = 0;
    return 0;
}

int ecrt_domain_queue(ec_domain_t *of)
{
    of->queued = 1;
    return 0;
}

int ecrt_master_send(ec_master_t *of)
{
    (void)of;
    (void)printf("frame %d %02x%02x\n", domain.queued, image[0], image[1]);
    return 0;
}
