/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a local client hears that it gets no worker.
 */
#ifndef VCUDAD_REFUSAL_H
#define VCUDAD_REFUSAL_H

/*
 * Answers the client's LOCAL_OPEN, which may not be there yet, with error (a
 * negative errno) and closes the connection: fd is ours from here on. Does not
 * wait long for a client that says nothing.
 */
void refusal_start(int fd, int error);

#endif
