/* SPDX-License-Identifier: Apache-2.0
 *
 * The wire of a guest: a pair of virtual Ethernet interfaces, both up. What leaves one arrives at
 * the other. Requests of rtnetlink(7); the pair as drivers/net/veth.c describes it: VETH_INFO_PEER
 * holds the description of the second interface.
 *
 *   wire NAME PEER
 */
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

static int bring_up(const char *name)
{
    struct ifreq request = {0};
    const int any = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int answer;

    (void)snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    request.ifr_flags = IFF_UP;
    answer = any < 0 ? -1 : ioctl(any, SIOCSIFFLAGS, &request);
    (void)close(any);
    return answer;
}

int main(int count, char **arguments)
{
    if (count != 3) {
        (void)fprintf(stderr, "usage: wire NAME PEER\n");
        return 2;
    }
    if (make_pair(arguments[1], arguments[2]) != 0 || bring_up(arguments[1]) != 0 ||
        bring_up(arguments[2]) != 0) {
        (void)fprintf(stderr, "kadenz-wire: no pair %s, %s: %s\n", arguments[1], arguments[2],
                      strerror(errno));
        return 1;
    }
    return 0;
}
