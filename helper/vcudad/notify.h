/* SPDX-License-Identifier: Apache-2.0 */
#ifndef VCUDAD_NOTIFY_H
#define VCUDAD_NOTIFY_H

/* Tells systemd (NOTIFY_SOCKET), if it is there, that sessions can come: guests start after that.
 */
void notify_ready(void);

#endif
