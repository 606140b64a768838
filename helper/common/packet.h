/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages with descriptors over SOCK_SEQPACKET sockets. What comes is checked for nothing but its
 * length and the number of its descriptors.
 */
#ifndef VCUDA_HELPER_PACKET_H
#define VCUDA_HELPER_PACKET_H

#include <stddef.h>

/* Descriptors of one message at most. */
#define VCUDA_PACKET_FDS_MAX 3u

/* `flags` are MSG_DONTWAIT or 0. Both: -EPIPE, the peer is gone; -EAGAIN; or another -errno. */

/* One message, with `count` descriptors, which stay the caller's. */
int vcuda_packet_send(int sock, const void *message, size_t bytes, const int *fds, unsigned count,
                      int flags);
/*
 * One message of at most *bytes, which become as many as there were. Its descriptors, up to `most`,
 * are the caller's, close-on-exec, and -1 follows the last of them.
 *
 * -EPROTO: it was longer. -EMFILE: more descriptors came along, or this process has no room for
 * them; the message is there. Then no descriptor is.
 */
int vcuda_packet_receive(int sock, void *message, size_t *bytes, int *fds, unsigned most,
                         int flags);

#endif
