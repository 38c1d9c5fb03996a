/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations of the calls of IgH's EtherCAT master (ecrt, 1.5 and 1.6) that edges.c makes, so
 * that it compiles where that master is not installed. A build against the master uses its own
 * ecrt.h instead.
 */
#ifndef KDZ_IGH_CALLS_H
#define KDZ_IGH_CALLS_H

#include <stddef.h>
#include <stdint.h>

#define EC_END (~0U)

typedef struct ec_master ec_master_t;
typedef struct ec_domain ec_domain_t;
typedef struct ec_slave_config ec_slave_config_t;

typedef enum { EC_DIR_INVALID, EC_DIR_OUTPUT, EC_DIR_INPUT } ec_direction_t;
typedef enum { EC_WD_DEFAULT, EC_WD_ENABLE, EC_WD_DISABLE } ec_watchdog_mode_t;

typedef struct {
    uint16_t index;
    uint8_t subindex;
    uint8_t bit_length;
} ec_pdo_entry_info_t;

typedef struct {
    uint16_t index;
    unsigned int n_entries;
    ec_pdo_entry_info_t const *entries;
} ec_pdo_info_t;

typedef struct {
    uint8_t index;
    ec_direction_t dir;
    unsigned int n_pdos;
    ec_pdo_info_t const *pdos;
    ec_watchdog_mode_t watchdog_mode;
} ec_sync_info_t;

ec_master_t *ecrt_request_master(unsigned int index);
void ecrt_release_master(ec_master_t *master);
ec_domain_t *ecrt_master_create_domain(ec_master_t *master);
ec_slave_config_t *ecrt_master_slave_config(ec_master_t *master, uint16_t alias, uint16_t position,
                                            uint32_t vendor, uint32_t product);
int ecrt_slave_config_pdos(ec_slave_config_t *config, unsigned int count,
                           const ec_sync_info_t syncs[]);
int ecrt_slave_config_reg_pdo_entry(ec_slave_config_t *config, uint16_t index, uint8_t subindex,
                                    ec_domain_t *domain, unsigned int *bit);
int ecrt_master_activate(ec_master_t *master);
uint8_t *ecrt_domain_data(const ec_domain_t *domain);
/* From 1.6 on these four have a status; in 1.5 they have none. edges.c ignores it. */
int ecrt_master_receive(ec_master_t *master);
int ecrt_domain_process(ec_domain_t *domain);
int ecrt_domain_queue(ec_domain_t *domain);
int ecrt_master_send(ec_master_t *master);

#endif
