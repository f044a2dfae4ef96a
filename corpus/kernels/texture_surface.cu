// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: resample an image, read a layered and a mipmapped texture.
// Exercises: tex.2d.v4.f32, tex.level, tex.a2d, tld4 (gather), sust/suld with bounds modes.

extern "C" __global__ void resample(cudaTextureObject_t image, cudaSurfaceObject_t target,
                                    int width, int height, float angle) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    float s, c;
    __sincosf(angle, &s, &c);
    const float4 p = tex2D<float4>(image, u * c - v * s + 0.5f, u * s + v * c + 0.5f);
    surf2Dwrite(make_uchar4(__float2int_rn(p.x * 255.0f), __float2int_rn(p.y * 255.0f),
                            __float2int_rn(p.z * 255.0f), __float2int_rn(p.w * 255.0f)),
                target, x * static_cast<int>(sizeof(uchar4)), y);
}

extern "C" __global__ void blend_layers(cudaTextureObject_t layers, cudaTextureObject_t pyramid,
                                        float *__restrict__ out, int width, int count,
                                        float level) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width) return;
    float sum = 0.0f;
    for (int l = 0; l < count; ++l) sum += tex2DLayered<float>(layers, x + 0.5f, 0.5f, l);
    const float4 corners = tex2Dgather<float4>(pyramid, x + 0.5f, 0.5f, 0);
    sum += tex2DLod<float>(pyramid, x + 0.5f, 0.5f, level);
    out[x] = sum + corners.x + corners.y + corners.z + corners.w;
}

extern "C" __global__ void invert_rows(cudaSurfaceObject_t image, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= width || y >= height) return;
    const unsigned v = surf2Dread<unsigned>(image, x * 4, y, cudaBoundaryModeClamp);
    surf2Dwrite(~v, image, x * 4, y, cudaBoundaryModeZero);
}
