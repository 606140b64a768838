// SPDX-License-Identifier: Apache-2.0
/* Messages with remedies, finding domains, printing what a guest may have written. */
#include "ctl.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <xenstore.h>

enum ctl_status ctl_fail(enum ctl_status status, const char *format, ...) {
    va_list args;

    fputs("vcudactl: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return status;
}

enum ctl_status ctl_fail_errno(int err, const char *doing) {
    if (err == -EACCES || err == -EPERM)
        return ctl_fail(CTL_FAILED, "%s: %s: run as root in dom0", doing, strerror(-err));
    if (err == -EBUSY)
        return ctl_fail(CTL_FAILED, "%s: others keep writing to the same nodes: try again", doing);
    if (err == -EINPROGRESS)
        return ctl_fail(CTL_FAILED,
                        "%s: vcuda-back still holds the former device: try again (dmesg)", doing);
    return ctl_fail(CTL_FAILED, "%s: %s", doing, strerror(-err));
}

void ctl_help(const struct ctl_command *command, FILE *out) {
    fprintf(out, "usage: vcudactl %s%s%s\n\n%s %s\n", command->name,
            command->arguments[0] ? " " : "", command->arguments, command->name, command->what);
    if (command->options)
        fprintf(out, "\n%s", command->options);
}

enum ctl_status ctl_usage(const struct ctl_command *command) {
    ctl_help(command, stderr);
    return CTL_USAGE;
}

struct xs_handle *ctl_open(void) {
    struct xs_handle *xs = xs_open(0);

    if (!xs)
        ctl_fail(CTL_FAILED, "xenstored cannot be reached (%s): is this dom0? run as root",
                 strerror(errno));
    return xs;
}

void ctl_name(struct xs_handle *xs, struct ctl_domain *domain) {
    if (vcuda_xs_read_name(xs, domain->id, domain->name))
        domain->name[0] = '\0';
}

static bool is_attached(struct xs_handle *xs, uint32_t domid) {
    uint32_t *domids;
    int count = vcuda_xs_attached(xs, &domids);
    bool found = false;

    for (int i = 0; i < count; i++)
        found |= domids[i] == domid;
    free(domids);
    return found;
}

static enum ctl_status find_id(struct xs_handle *xs, bool leftover, struct ctl_domain *domain) {
    if (domain->id == 0)
        return ctl_fail(CTL_USAGE, "domain 0 is the host: it has its GPUs already");
    if (!vcuda_xs_alive(xs, domain->id) && !(leftover && is_attached(xs, domain->id)))
        return ctl_fail(CTL_NO_DOMAIN, "no domain has the id %u: xl list shows them", domain->id);
    ctl_name(xs, domain);
    return CTL_OK;
}

static enum ctl_status find_name(struct xs_handle *xs, const char *name,
                                 struct ctl_domain *domain) {
    uint32_t *domids;
    int count = vcuda_xs_domains(xs, &domids);
    bool found = false;

    if (count < 0)
        return ctl_fail_errno(count, "listing domains");
    for (int i = 0; i < count && !found; i++) {
        domain->id = domids[i];
        ctl_name(xs, domain);
        found = !strcmp(domain->name, name) && vcuda_xs_alive(xs, domain->id);
    }
    free(domids);
    if (!found)
        return ctl_fail(CTL_NO_DOMAIN, "domain \"%s\" is not running: xl list shows those that are",
                        name);
    return CTL_OK;
}

enum ctl_status ctl_find(struct xs_handle *xs, const char *text, bool leftover,
                         struct ctl_domain *domain) {
    /* As in xl, a number is an id. */
    if (!vcuda_parse_domid(text, strlen(text), &domain->id))
        return find_id(xs, leftover, domain);
    if (!*text)
        return ctl_fail(CTL_USAGE, "the name of a domain cannot be empty");
    return find_name(xs, text, domain);
}

const char *ctl_hint(const struct vcuda_back *back, const struct vcuda_front *front) {
    if (back->state == VCUDA_STATE_UNKNOWN)
        return NULL;
    if (!front->present)
        return "the guest has removed its nodes: vcudactl detach --force, then attach again";
    if (!back->offers)
        return "the backend has not answered: is vcuda-back loaded in dom0? "
               "(modprobe vcuda-back; dmesg)";
    if (back->state == VCUDA_STATE_CLOSED)
        return "the guest's driver has closed the device: vcudactl detach, then attach again";
    if (front->state == VCUDA_STATE_INITIALISING)
        return "the guest has not answered: is vcuda-front loaded in it? (modprobe vcuda-front)";
    return NULL;
}

void ctl_print_safe(FILE *out, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        fputc(isascii(text[i]) && isprint(text[i]) ? text[i] : '?', out);
}

void ctl_print_json_string(const char *text) {
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}
