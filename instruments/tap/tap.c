/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The tap: a QEMU TCG plugin (API v4) that watches one register of a device and stamps each store
 * to it with the virtual time, in ns. The store that hands a frame to a network card is such a
 * register: the emulated card sends the frame in that moment.
 *
 *   -plugin libkadenz-tap.so,device=e1000e-mmio,bytes=0x20000,offset=0x3818,
 *           text=0xffffffffc0000000,end=0,stamps=FILE
 *
 * `bytes` is the size of the device's region, a power of two, and `offset` the register's place in
 * it. Only code from the address `text` on is watched, where a driver is, and below `end` unless
 * that is 0: a call for every store of the machine would cost several times as much.
 */
#include <dlfcn.h>
#include <errno.h>
#include <qemu-plugin.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "KDZTAP01" /* of the file: 8 bytes, no terminator */
#define LAST UINT64_MAX  /* time of the stamp that ends a complete file */
#define VIRTUAL_CLOCK 1  /* QEMU_CLOCK_VIRTUAL of include/qemu/timer.h */
#define CLOCK "qemu_clock_get_ns"

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static struct {
    const char *device, *stamps;
    uint64_t bytes, offset, text, end;
} asked;

static FILE *file;
static int64_t (*virtual_ns)(int clock);

/* Little-endian, as every file of an instrument. */
static void put(uint64_t value)
{
    uint8_t bytes[8];

    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(value >> (8 * i));
    }
    (void)fwrite(bytes, sizeof bytes, 1, file);
}

static void put_stamp(uint64_t time_ns, uint64_t address)
{
    put(time_ns);
    put(address);
}

static void on_store(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *unused)
{
    const struct qemu_plugin_hwaddr *place = qemu_plugin_get_hwaddr(info, address);
    uint64_t physical;

    (void)vcpu;
    (void)unused;
    if (place == NULL || !qemu_plugin_hwaddr_is_io(place)) {
        return;
    }
    physical = qemu_plugin_hwaddr_phys_addr(place);
    if ((physical & (asked.bytes - 1)) == asked.offset &&
        strcmp(qemu_plugin_hwaddr_device_name(place), asked.device) == 0) {
        put_stamp((uint64_t)virtual_ns(VIRTUAL_CLOCK), physical);
    }
}

static void on_translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block)
{
    const size_t count = qemu_plugin_tb_n_insns(block);
    const uint64_t place = qemu_plugin_tb_vaddr(block);

    (void)id;
    if (place < asked.text || (asked.end != 0 && place >= asked.end)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(block, i), on_store,
                                         QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W, NULL);
    }
}

/* A file without its last stamp was cut: the emulator was killed, or the disk is full. */
static void on_shutdown(qemu_plugin_id_t id, void *unused)
{
    (void)id;
    (void)unused;
    put_stamp(LAST, 0);
    if (ferror(file) || fclose(file) != 0) {
        fprintf(stderr, "kadenz-tap: the stamps could not be written: %s. Free some space\n",
                strerror(errno));
    }
}

/* The text or the number of "name=value" when `argument` is named so. */
static bool take(const char *argument, const char *name, const char **text, uint64_t *number)
{
    const size_t length = strlen(name);
    char *end;

    if (strncmp(argument, name, length) != 0 || argument[length] != '=') {
        return false;
    }
    argument += length + 1;
    if (text != NULL) {
        *text = argument;
        return true;
    }
    errno = 0;
    *number = strtoull(argument, &end, 0);
    return errno == 0 && end != argument && *end == '\0';
}

static bool understand(const char *argument)
{
    return take(argument, "device", &asked.device, NULL) ||
           take(argument, "stamps", &asked.stamps, NULL) ||
           take(argument, "bytes", NULL, &asked.bytes) ||
           take(argument, "offset", NULL, &asked.offset) ||
           take(argument, "text", NULL, &asked.text) || take(argument, "end", NULL, &asked.end);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc,
                                           char **argv)
{
    for (int i = 0; i < argc; i++) {
        if (!understand(argv[i])) {
            fprintf(stderr,
                    "kadenz-tap: cannot take %s. Known: device=NAME, bytes=N, offset=N, text=N, "
                    "end=N, stamps=FILE\n",
                    argv[i]);
            return -1;
        }
    }
    if (asked.device == NULL || asked.stamps == NULL || asked.bytes == 0) {
        fprintf(stderr, "kadenz-tap: needs device, bytes and stamps\n");
        return -1;
    }
    if (!info->system_emulation) {
        fprintf(stderr, "kadenz-tap: needs a machine with devices, not a program\n");
        return -1;
    }
    /* The plugin's own interface has a count of instructions and no clock; time that passes while
     * all processors wait is in the clock alone. */
    *(void **)&virtual_ns = dlsym(RTLD_DEFAULT, CLOCK);
    if (virtual_ns == NULL) {
        fprintf(stderr, "kadenz-tap: this QEMU does not export %s. Use the one of `kadenz setup`\n",
                CLOCK);
        return -1;
    }
    file = fopen(asked.stamps, "wbe");
    if (file == NULL || fwrite(MAGIC, sizeof MAGIC - 1, 1, file) != 1) {
        fprintf(stderr, "kadenz-tap: cannot write %s: %s. Name a file in a writable folder\n",
                asked.stamps, strerror(errno));
        return -1;
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
    qemu_plugin_register_atexit_cb(id, on_shutdown, NULL);
    return 0;
}
