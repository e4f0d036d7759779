"""Makes the archives of this folder with NumPy; run it here."""
import io
import zipfile

import numpy as np

types = dict(
    f32=np.arange(6, dtype=np.float32).reshape(2, 3),
    f64=np.array([1.5, -2.0]),
    f16=np.array([1, 2, 3], np.float16),
    bf16=np.array([0x3F80, 0x4000], np.uint16).view("V2"),
    b1=np.array([True, False, True]),
    i8=np.array([-1, 2], np.int8),
    i16=np.array([-300], np.int16),
    i32=np.array([[1], [2]], np.int32),
    i64=np.array([1 << 40]),
    u32=np.array([4000000000], np.uint32),
    scalar=np.float32(2.5),
    empty=np.zeros((0, 3), np.float32),
)
ones = np.ones((2, 3), np.float32)
np.savez("types.npz", **types)
np.savez_compressed("compressed.npz", x=np.zeros((64, 64), np.float32), **types)
np.savez("fortran.npz", ok=np.float32(1), x=np.asfortranarray(ones))
np.savez("big-endian.npz", x=ones.astype(">f4"))
np.savez("complex.npz", x=ones.astype(np.complex64))
np.savez("structured.npz", x=np.zeros(2, dtype=[("a", "f4"), ("b", "i4")]))

member = io.BytesIO()
np.lib.format.write_array(member, ones, version=(2, 0))
with zipfile.ZipFile("version2.npz", "w") as archive:
    archive.writestr("x.npy", member.getvalue())
with zipfile.ZipFile("twice.npz", "w") as archive:
    archive.writestr("x.npy", member.getvalue())
    archive.writestr("x.npy", member.getvalue())
