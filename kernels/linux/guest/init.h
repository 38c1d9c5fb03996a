/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of a guest's first program share.
 */
#ifndef KADENZ_GUEST_INIT_H
#define KADENZ_GUEST_INIT_H

/* A line on the console, after "kadenz-init: ". */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what failed, and why by errno; switches the machine off. */
_Noreturn void fail(const char *what);

/* Gives threads of the kernel a policy and a priority: rules GLOB:POLICY:PRIORITY joined by commas;
 * a later rule wins. */
void tune_threads(char *rules);

/* The shared memory of a PCI device: "0000:00:07.0". */
void open_window(const char *device);

/* Hands all that can be read from `frames` to the lab, through the window that is open. */
void send_through_window(int frames);

#endif
