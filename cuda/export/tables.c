// SPDX-License-Identifier: Apache-2.0
/* cuGetExportTable: which table an identifier means. */
#include "export/tables.h"

#include <string.h>

#include "cuda_calls.h"

static const struct {
    unsigned char id[16];
    const void *const *table;
} tables[] = {
    {"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a\x89\x87\xd9\x39\x12\xfd\x9d\xf9", export_cudart_interface},
    {"\xa0\x94\x79\x8c\x2e\x74\x2e\x74\x93\xf2\x08\x00\x20\x0c\x0a\x66", export_callback_hooks},
    {"\x42\xd8\x5a\x81\x23\xf6\xcb\x47\x82\x98\xf6\xe7\x8a\x3a\xec\xdc", export_tools_tls},
    {"\xc6\x93\x33\x6e\x11\x21\xdf\x11\xa8\xc3\x68\xf3\x55\xd8\x95\x93", export_context_locals},
    {"\x26\x3e\x88\x60\x7c\xd2\x61\x43\x92\xf6\xbb\xd5\x00\x6d\xfa\x7e", export_context_checks},
    {"\xd4\x08\x20\x55\xbd\xe6\x70\x4b\x8d\x34\xba\x12\x3c\x66\xe1\xf2", export_integrity_check},
    {"\x21\x31\x8c\x60\x97\x14\x32\x48\x8c\xa6\x41\xff\x73\x24\xc8\xf2", export_streams},
    {"\x17\x34\xdc\x26\x80\x0d\x47\x45\x87\x26\xc0\xf1\xe7\xdd\x8b\xca", export_topology},
    {"\x6e\x16\x3f\xbe\xb9\x58\x44\x4d\x83\x5c\xe1\x82\xaf\xf1\x99\x1e", export_module_functions},
};

CUresult export_refused(void) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

/* Asked before cuInit too. Of the tables that profilers want there is none: they do without. */
__attribute__((visibility("default"))) CUresult cuGetExportTable(const void **ppExportTable,
                                                                 const CUuuid *pExportTableId) {
    if (!ppExportTable || !pExportTableId)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (!memcmp(tables[i].id, pExportTableId->bytes, sizeof(tables[i].id))) {
            *ppExportTable = tables[i].table;
            return CUDA_SUCCESS;
        }
    }
    *ppExportTable = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}
