"""The CUDA driver through ctypes: load PTX, launch, copy. Needs an NVIDIA driver, no toolkit."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any


class DriverError(RuntimeError):
    """A driver call failed; ``code`` is the CUresult (716: misaligned address)."""

    def __init__(self, call: str, code: int, log: str = "") -> None:
        super().__init__(f"{call}: CUresult {code} {log}".strip())
        self.code = code


class Device:
    """The first GPU and a context on it. A fault spoils the context: make a new one."""

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._call("cuInit", 0)
        handle = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(handle), 0)
        self._handle = handle
        self._context = ctypes.c_void_p()
        self._call("cuCtxCreate_v2", ctypes.byref(self._context), 0, handle)

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._driver, name)(*arguments)
        if code:
            raise DriverError(name, code)

    def close(self) -> None:
        """Give the context back, spoilt or not."""
        self._driver.cuCtxDestroy_v2(self._context)

    def name(self) -> str:
        """The GPU's name."""
        text = ctypes.create_string_buffer(100)
        self._call("cuDeviceGetName", text, 100, self._handle)
        return text.value.decode()

    def load(self, ptx: str) -> ctypes.c_void_p:
        """A module of the PTX, compiled by the driver."""
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(8192)
        # CU_JIT_ERROR_LOG_BUFFER and its size
        options = (ctypes.c_int * 2)(5, 6)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), 8192)
        code = self._driver.cuModuleLoadDataEx(
            ctypes.byref(module), ptx.encode() + b"\0", 2, options, values
        )
        if code:
            raise DriverError("cuModuleLoadDataEx", code, log.value.decode())
        return module

    def load_image(self, image: bytes) -> ctypes.c_void_p:
        """A module of a cubin."""
        module = ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(module), image)
        return module

    def allow_shared(self, function: ctypes.c_void_p, size: int) -> None:
        """Let a kernel be launched with so many bytes of dynamic shared memory."""
        # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        self._call("cuFuncSetAttribute", function, 8, size)

    def function(self, module: ctypes.c_void_p, name: str) -> ctypes.c_void_p:
        """A kernel of a module."""
        function = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def memory(self, size: int, data: bytes = b"") -> int:
        """The address of ``size`` fresh bytes, zero but for ``data`` at the start."""
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self._call("cuMemsetD8_v2", address, 0, ctypes.c_size_t(size))
        if data:
            self._call("cuMemcpyHtoD_v2", address, data, ctypes.c_size_t(len(data)))
        return address.value

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at a device address."""
        buffer = ctypes.create_string_buffer(size)
        self._call("cuMemcpyDtoH_v2", buffer, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return buffer.raw

    def launch(
        self,
        function: ctypes.c_void_p,
        block: tuple[int, int, int],
        parameters: Sequence[bytes],
        grid: tuple[int, int, int] = (1, 1, 1),
        shared: int = 0,
    ) -> None:
        """Run a kernel to its end; parameters as raw bytes. Raises DriverError on a fault."""
        buffers = [ctypes.create_string_buffer(each, len(each)) for each in parameters]
        pointers = (ctypes.c_void_p * max(1, len(buffers)))(*map(ctypes.addressof, buffers))
        self._call("cuLaunchKernel", function, *grid, *block, shared, None, pointers, None)
        self._call("cuCtxSynchronize")
