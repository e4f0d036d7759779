"""What both exporters need: text that another version of MLIR reads."""

import re

import numpy as np

# How a list of the operations that cannot be exported begins.
NO_FORM = "these operations have no linalg form:"


HEX_BOOLEANS = re.compile(r'dense<"0x([0-9A-F]+)"> : tensor<((?:\d+x)+)i1>')


def unpack_booleans(text: str) -> str:
    """Large boolean constants with a byte per element, as MLIR reads them since late 2025."""

    def unpack(found: re.Match) -> str:
        data, count = bytes.fromhex(found[1]), count_of(found[2])
        if len(data) != count:
            bits = np.unpackbits(np.frombuffer(data, np.uint8), count=count, bitorder="little")
            data = bits.tobytes()
        return f'dense<"0x{data.hex().upper()}"> : tensor<{found[2]}i1>'

    return HEX_BOOLEANS.sub(unpack, text)


def pack_booleans(text: str) -> str:
    """Large boolean constants with a bit per element, as MLIR 22 reads them."""

    def pack(found: re.Match) -> str:
        data = bytes.fromhex(found[1])
        if len(data) == count_of(found[2]):
            data = np.packbits(np.frombuffer(data, np.uint8), bitorder="little").tobytes()
        return f'dense<"0x{data.hex().upper()}"> : tensor<{found[2]}i1>'

    return HEX_BOOLEANS.sub(pack, text)


def count_of(shape: str) -> int:
    """The number of elements of a shape as written: 256x256x."""
    return int(np.prod([int(size) for size in shape.split("x") if size]))
