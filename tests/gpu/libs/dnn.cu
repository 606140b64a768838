// SPDX-License-Identifier: Apache-2.0
/* needs: cudnn.h */
/* nvcc: -lcudnn */
/* cuDNN: a convolution forward and backward, pooling, activation, softmax. */
#include "common.cuh"

#include <cudnn.h>

#define DNN(call) printf("%s = %d\n", #call, (int)(call))

static float *values(int n, uint32_t seed) {
    std::vector<float> v(n);

    for (float &x : v)
        x = (float)(next_random(&seed) % 256) / 64 - 2;
    return on_device(v);
}

static void show(const char *what, const float *p, int n) {
    std::vector<float> v = from_device(p, n);

    show_digest(what, v);
    printf("first %.9g last %.9g\n", v[0], v[n - 1]);
}

int main() {
    const int n = 4, c = 8, h = 16, k = 12, in_size = n * c * h * h, out_size = n * k * h * h;
    cudnnHandle_t dnn;
    cudnnTensorDescriptor_t in, out, pooled;
    cudnnFilterDescriptor_t filter;
    cudnnConvolutionDescriptor_t conv;
    cudnnPoolingDescriptor_t pool;
    cudnnActivationDescriptor_t relu;
    float one = 1, zero = 0, *x = values(in_size, 1), *w = values(k * c * 9, 2),
          *y = values(out_size, 3), *dx = values(in_size, 4), *dw = values(k * c * 9, 5),
          *z = values(out_size, 6);
    size_t bytes = 0, more = 0;
    void *space;

    DNN(cudnnCreate(&dnn));
    DNN(cudnnCreateTensorDescriptor(&in));
    DNN(cudnnCreateTensorDescriptor(&out));
    DNN(cudnnCreateTensorDescriptor(&pooled));
    DNN(cudnnSetTensor4dDescriptor(in, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, c, h, h));
    DNN(cudnnSetTensor4dDescriptor(out, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, k, h, h));
    DNN(cudnnSetTensor4dDescriptor(pooled, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, n, k, h / 2, h / 2));
    DNN(cudnnCreateFilterDescriptor(&filter));
    DNN(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, k, c, 3, 3));
    DNN(cudnnCreateConvolutionDescriptor(&conv));
    DNN(cudnnSetConvolution2dDescriptor(conv, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION,
                                        CUDNN_DATA_FLOAT));
    cudnnConvolutionFwdAlgo_t forward = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    cudnnConvolutionBwdDataAlgo_t data = CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
    cudnnConvolutionBwdFilterAlgo_t weights = CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1;
    DNN(cudnnGetConvolutionForwardWorkspaceSize(dnn, in, filter, conv, out, forward, &more));
    bytes = more;
    DNN(cudnnGetConvolutionBackwardDataWorkspaceSize(dnn, filter, out, conv, in, data, &more));
    bytes = more > bytes ? more : bytes;
    DNN(cudnnGetConvolutionBackwardFilterWorkspaceSize(dnn, in, out, conv, filter, weights, &more));
    bytes = more > bytes ? more : bytes;
    CK(cudaMalloc(&space, bytes + 1));
    DNN(cudnnConvolutionForward(dnn, &one, in, x, filter, w, conv, forward, space, bytes, &zero,
                                out, y));
    show("forward", y, out_size);
    DNN(cudnnConvolutionBackwardData(dnn, &one, filter, w, out, y, conv, data, space, bytes, &zero,
                                     in, dx));
    show("to the data", dx, in_size);
    DNN(cudnnConvolutionBackwardFilter(dnn, &one, in, x, out, y, conv, weights, space, bytes, &zero,
                                       filter, dw));
    show("to the filter", dw, k * c * 9);
    DNN(cudnnCreateActivationDescriptor(&relu));
    DNN(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
    DNN(cudnnActivationForward(dnn, relu, &one, out, y, &zero, out, z));
    show("activation", z, out_size);
    DNN(cudnnCreatePoolingDescriptor(&pool));
    DNN(cudnnSetPooling2dDescriptor(pool, CUDNN_POOLING_MAX, CUDNN_NOT_PROPAGATE_NAN, 2, 2, 0, 0, 2,
                                    2));
    DNN(cudnnPoolingForward(dnn, pool, &one, out, y, &zero, pooled, z));
    show("pooling", z, out_size / 4);
    DNN(cudnnSoftmaxForward(dnn, CUDNN_SOFTMAX_ACCURATE, CUDNN_SOFTMAX_MODE_CHANNEL, &one, out, y,
                            &zero, out, z));
    show("softmax", z, out_size);
    DNN(cudnnSetTensor4dDescriptor(in, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, -1, c, h, h));
    DNN(cudnnDestroy(dnn));
    SHOW(cudaGetLastError());
    return 0;
}
