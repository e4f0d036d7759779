"""Reads and writes .npz files, without numpy."""
import re
import struct
import zipfile

CODES = {"b1": "?", "i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q", "u8": "Q",
         "f2": "e", "f4": "f", "f8": "d", "V1": "B", "V2": "H"}


def write(path, arrays):
    """The arrays are a list of a kind, such as "f4", its elements, and a shape where they are not flat."""
    with zipfile.ZipFile(path, "w") as archive:
        for number, (kind, values, *shape) in enumerate(arrays):
            shape = shape[0] if shape else (len(values),)
            order = "|" if kind[1] == "1" else "<"
            header = f"{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': {shape}, }}\n"
            member = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
            archive.writestr(f"arg{number:03}.npy", member + struct.pack(f"<{len(values)}{CODES[kind]}", *values))


def read(path):
    """The elements of each array in the order of their names; of types that numpy
    does not know, the bits."""
    arrays = []
    with zipfile.ZipFile(path) as archive:
        for name in sorted(archive.namelist()):
            member = archive.read(name)
            size = struct.unpack_from("<H", member, 8)[0]
            kind = re.search(r"'descr': '[<|](\w+)'", member[10 : 10 + size].decode())[1]
            data = member[10 + size :]
            arrays.append(list(struct.unpack(f"<{len(data) // int(kind[1:])}{CODES[kind]}", data)))
    return arrays
