// SPDX-License-Identifier: Apache-2.0
// A segment inside a test in C: frames and their times go through a socket to `kadenz-segment
// embed`.
//
//   cc -std=c11 -Wall -Wextra -o embed embed.c && ./embed RING [PROGRAM]
//
// counts the devices of the ring, asks all of them for INIT, and prints what came of it. Nothing
// here needs a network or a right. POSIX and a little-endian machine.
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONGEST = 1514, BRD = 7, BWR = 8, AL_CONTROL = 0x0120, AL_STATUS = 0x0130 };
enum fate { IGNORED, RETURNED, LOST, DOUBLED, LATE, ENDED };

struct segment {
    int socket;
    pid_t process;
};

// Starts a segment at time 0, with a fault as `--fault` takes it.
static struct segment segment_start(const char *program, const char *ring, const char *fault)
{
    struct segment segment = {-1, -1};
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) {
        return segment;
    }
    segment.process = fork();
    if (segment.process == 0) {
        dup2(ends[1], STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp(program, program, "embed", "--ring", ring, "--fault", fault, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    segment.socket = ends[0];
    return segment;
}

static int all(int socket, void *bytes, size_t length, int writes)
{
    for (size_t done = 0; done < length;) {
        char *at = (char *)bytes + done;
        ssize_t count = writes ? send(socket, at, length - done, MSG_NOSIGNAL)
                               : recv(socket, at, length - done, 0);
        if (count <= 0) {
            return 0;
        }
        done += (size_t)count;
    }
    return 1;
}

// Passes a frame that arrives at `at_ns` through the devices, in place. The time never goes back.
static enum fate segment_process(struct segment *segment, uint8_t *frame, size_t length,
                                 uint64_t at_ns)
{
    uint8_t message[12 + LONGEST];
    uint8_t head[9];
    uint32_t size = (uint32_t)(sizeof at_ns + length);
    memcpy(message, &size, sizeof size);
    memcpy(message + 4, &at_ns, sizeof at_ns);
    memcpy(message + 12, frame, length);
    if (!all(segment->socket, message, 12 + length, 1) ||
        !all(segment->socket, &size, sizeof size, 0) || size != sizeof head + length ||
        !all(segment->socket, head, sizeof head, 0) || !all(segment->socket, frame, length, 0)) {
        return ENDED;
    }
    return (enum fate)head[0];
}

static void segment_stop(struct segment *segment)
{
    close(segment->socket);
    waitpid(segment->process, NULL, 0);
}

// A frame with one datagram of two bytes to all devices; gives its length.
static size_t datagram(uint8_t *frame, uint8_t command, uint16_t reg, uint16_t data)
{
    static const uint8_t ethernet[] = {255, 255, 255, 255, 255,  255,  16, 16,
                                       16,  16,  16,  16,  0x88, 0xA4, 14, 0x10};
    const uint8_t body[] = {command, 0, 0, 0, (uint8_t)reg,  (uint8_t)(reg >> 8),
                            2,       0, 0, 0, (uint8_t)data, (uint8_t)(data >> 8),
                            0,       0};
    memcpy(frame, ethernet, sizeof ethernet);
    memcpy(frame + sizeof ethernet, body, sizeof body);
    return sizeof ethernet + sizeof body;
}

int main(int count, char **arguments)
{
    if (count < 2) {
        fprintf(stderr, "usage: embed RING [PROGRAM]\n");
        return 2;
    }
    struct segment segment = segment_start(count > 2 ? arguments[2] : "kadenz-segment",
                                           arguments[1], "lose-frame@frame=4");
    uint8_t frame[LONGEST];
    size_t length = datagram(frame, BRD, 0, 0);
    segment_process(&segment, frame, length, 0);
    unsigned devices = frame[length - 2];
    length = datagram(frame, BWR, AL_CONTROL, 1);
    segment_process(&segment, frame, length, 100000);
    length = datagram(frame, BRD, AL_STATUS, 0);
    segment_process(&segment, frame, length, 200000);
    unsigned states = frame[26];
    length = datagram(frame, BRD, AL_STATUS, 0);
    enum fate fate = segment_process(&segment, frame, length, 300000);
    segment_stop(&segment);
    printf("%u devices, AL status 0x%02x, the fourth frame was %s\n", devices, states,
           fate == LOST ? "lost" : "not lost");
    return devices > 0 && states == 1 && fate == LOST ? 0 : 1;
}
