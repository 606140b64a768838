// SPDX-License-Identifier: Apache-2.0
/* nvcc: -lcusparse */
/* cuSPARSE: a sparse matrix times a vector and times a dense matrix; conversion. */
#include "common.cuh"

#include <cusparse.h>

#define SPARSE(call) printf("%s = %d\n", #call, (int)(call))

int main() {
    const int rows = 500, columns = 300;
    std::vector<int> offsets(1, 0), index;
    std::vector<float> values, x(columns * 4), y(rows * 4, 0);
    uint32_t seed = 9;
    float one = 1, zero = 0;
    cusparseHandle_t h;
    cusparseSpMatDescr_t a;
    cusparseDnVecDescr_t vx, vy;
    cusparseDnMatDescr_t mx, my, dense;
    size_t bytes = 0;
    void *space;

    for (int r = 0; r < rows; r++) {
        for (int c = next_random(&seed) % 20; c < columns; c += 1 + next_random(&seed) % 40) {
            index.push_back(c);
            values.push_back((float)(next_random(&seed) % 64) / 8);
        }
        offsets.push_back((int)index.size());
    }
    for (size_t i = 0; i < x.size(); i++)
        x[i] = (float)(i % 13) - 6;
    printf("nonzero %zu\n", values.size());
    int *dr = on_device(offsets), *di = on_device(index);
    float *dv = on_device(values), *dx = on_device(x), *dy = on_device(y), *dd;
    CK(cudaMalloc(&dd, rows * columns * sizeof(float)));
    SPARSE(cusparseCreate(&h));
    SPARSE(cusparseCreateCsr(&a, rows, columns, values.size(), dr, di, dv, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&vx, columns, dx, CUDA_R_32F));
    SPARSE(cusparseCreateDnVec(&vy, rows, dy, CUDA_R_32F));
    SPARSE(cusparseSpMV_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy,
                                   CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CK(cudaMalloc(&space, bytes + 1));
    SPARSE(cusparseSpMV(h, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, vx, &zero, vy, CUDA_R_32F,
                        CUSPARSE_SPMV_ALG_DEFAULT, space));
    SHOW(cudaDeviceSynchronize());
    show_digest("SpMV", from_device(dy, rows));
    printf("first %.9g\n", from_device(dy, rows)[0]);
    SPARSE(cusparseCreateDnMat(&mx, columns, 4, columns, dx, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseCreateDnMat(&my, rows, 4, rows, dy, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseSpMM_bufferSize(h, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                   CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, mx, &zero, my,
                                   CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, &bytes));
    CK(cudaFree(space));
    CK(cudaMalloc(&space, bytes + 1));
    SPARSE(cusparseSpMM(h, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                        a, mx, &zero, my, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, space));
    SHOW(cudaDeviceSynchronize());
    show_digest("SpMM", from_device(dy, rows * 4));
    SPARSE(cusparseCreateDnMat(&dense, rows, columns, rows, dd, CUDA_R_32F, CUSPARSE_ORDER_COL));
    SPARSE(cusparseSparseToDense_bufferSize(h, a, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT,
                                            &bytes));
    CK(cudaFree(space));
    CK(cudaMalloc(&space, bytes + 1));
    SPARSE(cusparseSparseToDense(h, a, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, space));
    SHOW(cudaDeviceSynchronize());
    show_digest("dense", from_device(dd, rows * columns));
    SPARSE(cusparseDestroySpMat(a));
    SPARSE(cusparseCreateDnVec(&vx, -1, dx, CUDA_R_32F));
    SPARSE(cusparseDestroy(h));
    return 0;
}
