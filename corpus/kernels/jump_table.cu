// SPDX-License-Identifier: Apache-2.0
// A small stack machine: each thread interprets one program with its own operand. n is a power of
// two.
// Exercises: brx.idx and .branchtargets (built with a low --jump-table-density), a loop with
// several exits, a local-memory stack, div and rem, shifts by registers.

extern "C" __global__ void jump_table(const unsigned char *__restrict__ code, int length,
                                      const int *__restrict__ operands, int *__restrict__ results,
                                      int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int stack[16];
    int depth = 0, top = operands[i];
    for (int pc = 0; pc < length; ++pc) {
        const int below = depth > 0 ? stack[(depth - 1) & 15] : 0;
        switch (code[pc]) {
            case 0: results[i] = top; return;
            case 1: stack[depth++ & 15] = top; break;
            case 2: top = below + top; --depth; break;
            case 3: top = below - top; --depth; break;
            case 4: top = below * top; --depth; break;
            case 5: top = top != 0 ? below / top : 0; --depth; break;
            case 6: top = top != 0 ? below % top : 0; --depth; break;
            case 7: top = below & top; --depth; break;
            case 8: top = below | top; --depth; break;
            case 9: top = below ^ top; --depth; break;
            case 10: top = below << (top & 31); --depth; break;
            case 11: top = below >> (top & 31); --depth; break;
            case 12: top = -top; break;
            case 13: top = __popc(top); break;
            case 14: top = __clz(top); break;
            case 15: top = operands[(i + top) & (n - 1)]; break;
            default: results[i] = -1; return;
        }
        depth = max(depth, 0);
    }
    results[i] = top;
}
