/* SPDX-License-Identifier: Apache-2.0
 *
 * The wire of a guest: two Ethernet interfaces, both up. What leaves one arrives at the other. They
 * are network cards if the guest has some of these names; else a pair of virtual interfaces is
 * made. Requests of rtnetlink(7); the pair as drivers/net/veth.c describes it: VETH_INFO_PEER holds
 * the description of the second interface.
 *
 *   wire NAME PEER
 */
#define _GNU_SOURCE /* IFF_RUNNING */
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINK_S_MAX 10u
#define LOOK_US 10000u

/* A request that grows by attributes. */
struct request {
    struct nlmsghdr head;
    struct ifinfomsg info;
    unsigned char attributes[512];
};

static void *end_of(struct request *request)
{
    return (unsigned char *)request + NLMSG_ALIGN(request->head.nlmsg_len);
}

static void append(struct request *request, const void *bytes, size_t count)
{
    memcpy(end_of(request), bytes, count);
    request->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(request->head.nlmsg_len) + count);
}

/* Opens an attribute; `close_attribute` sets its length. */
static struct rtattr *open_attribute(struct request *request, unsigned short type)
{
    struct rtattr *const attribute = end_of(request);
    const struct rtattr head = {.rta_len = sizeof head, .rta_type = type};

    append(request, &head, sizeof head);
    return attribute;
}

static void close_attribute(struct request *request, struct rtattr *attribute)
{
    const unsigned char *const end = (unsigned char *)request + request->head.nlmsg_len;

    attribute->rta_len = (unsigned short)(end - (unsigned char *)attribute);
}

static void append_text(struct request *request, unsigned short type, const char *text)
{
    struct rtattr *const attribute = open_attribute(request, type);

    append(request, text, strlen(text) + 1);
    close_attribute(request, attribute);
}

/* Asks the kernel and waits for its answer; 0, or -1 with errno. */
static int ask(const struct request *request)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        unsigned char rest[512];
    } answer;
    const int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    ssize_t received = -1;

    if (netlink < 0) {
        return -1;
    }
    if (send(netlink, request, request->head.nlmsg_len, 0) >= 0) {
        received = recv(netlink, &answer, sizeof answer, 0);
    }
    (void)close(netlink);
    if (received < (ssize_t)(sizeof answer.head + sizeof answer.error)) {
        return -1;
    }
    errno = -answer.error.error;
    return answer.error.error == 0 ? 0 : -1;
}

static int make_pair(const char *name, const char *peer)
{
    struct request request = {
        .head = {.nlmsg_len = NLMSG_LENGTH(sizeof request.info),
                 .nlmsg_type = RTM_NEWLINK,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK},
    };
    const struct ifinfomsg second = {0};
    struct rtattr *link;
    struct rtattr *data;
    struct rtattr *other;

    append_text(&request, IFLA_IFNAME, name);
    link = open_attribute(&request, IFLA_LINKINFO);
    append_text(&request, IFLA_INFO_KIND, "veth");
    data = open_attribute(&request, IFLA_INFO_DATA);
    other = open_attribute(&request, VETH_INFO_PEER);
    append(&request, &second, sizeof second);
    append_text(&request, IFLA_IFNAME, peer);
    close_attribute(&request, other);
    close_attribute(&request, data);
    close_attribute(&request, link);
    return ask(&request);
}

/* 0 once the interface runs: a card first agrees with its peer on a rate. -1 with errno. */
static int await_link(int any, struct ifreq *request)
{
    for (unsigned i = 0; i < LINK_S_MAX * 1000000 / LOOK_US; i++) {
        if (ioctl(any, SIOCGIFFLAGS, request) != 0) {
            return -1;
        }
        if (request->ifr_flags & IFF_RUNNING) {
            return 0;
        }
        (void)usleep(LOOK_US);
    }
    errno = ENOLINK;
    return -1;
}

static int set_up(int any, const char *name)
{
    struct ifreq request = {0};

    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    request.ifr_flags = IFF_UP;
    return ioctl(any, SIOCSIFFLAGS, &request);
}

/* Brings both interfaces up, each of which may need the other for its link. */
static int bring_up(const char *name, const char *peer)
{
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int answer = any < 0 || set_up(any, name) != 0 || set_up(any, peer) != 0 ? -1 : 0;

    for (const char *const *end = (const char *const[]){name, peer, NULL};
         answer == 0 && *end != NULL; end++) {
        struct ifreq request = {0};

        (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", *end);
        answer = await_link(any, &request);
    }
    (void)close(any);
    return answer;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        (void)fprintf(stderr, "usage: wire NAME PEER\n");
        return 2;
    }
    if ((if_nametoindex(arguments[1]) == 0 && make_pair(arguments[1], arguments[2]) != 0) ||
        bring_up(arguments[1], arguments[2]) != 0) {
        (void)fprintf(stderr, "kadenz-wire: no wire from %s to %s: %s\n", arguments[1],
                      arguments[2], strerror(errno));
        return 1;
    }
    return 0;
}
