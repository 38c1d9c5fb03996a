/* SPDX-License-Identifier: Apache-2.0 */
#include "linux_board.h"

#include "kadenz/fault.h"
#include "kadenz/suite.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int stop_descriptor;
/* A destroyed stack cannot carry the handler that reports it. */
static char handler_stack[64 * 1024];

int linux_stop_descriptor(void)
{
    return stop_descriptor;
}

static void on_stop(int signal_number)
{
    const uint64_t one = 1;

    (void)signal_number;
    kdz_stop_requested = true;
    if (write(stop_descriptor, &one, sizeof one) < 0) {
        /* The counter is at its maximum: it is readable all the same. */
    }
}

static const char *in_words(int signal_number)
{
    switch (signal_number) {
    case SIGSEGV:
        return "SIGSEGV: memory that is not there, or a stack that ran out";
    case SIGBUS:
        return "SIGBUS: memory that cannot be reached";
    case SIGFPE:
        return "SIGFPE: an arithmetic error";
    case SIGILL:
        return "SIGILL: an instruction this processor does not know";
    default:
        return "SIGABRT: the C library gave up, see standard error";
    }
}

static void on_fault(int signal_number, siginfo_t *info, void *context)
{
    const uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    const struct kdz_register registers[] = {
        {"address_high", (uint32_t)(address >> 32)},
        {"address_low", (uint32_t)address},
    };

    (void)context;
    kdz_fault(KDZ_FAULT_EXCEPTION, in_words(signal_number), registers, 2);
}

void linux_signals_init(void)
{
    static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    const stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof handler_stack};
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};

    stop_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (stop_descriptor < 0 || sigaltstack(&stack, NULL) != 0) {
        abort();
    }
    (void)signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof stops / sizeof stops[0]; i++) {
        (void)sigaction(stops[i], &action, NULL);
    }
#ifndef __SANITIZE_ADDRESS__ /* which reports these itself, with more to say */
    action = (struct sigaction){.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        (void)sigaction(faults[i], &action, NULL);
    }
#else
    (void)faults;
    (void)on_fault;
#endif
}
