"""Array files as Python's own libraries see them, for python_files.cpp.

read FOLDER     prints a line for each array in the .npy and .safetensors files of a folder
write FOLDER    writes such files and prints the same lines of what a reader should find in them

A line is FILE, NAME, DTYPE, SIZES and VALUES between tabs. The name and the bytes of the values, in row-major order,
are hexadecimal; half precision is told as f32, as which it is read. Metadata is a line of the dtype "metadata".
"""

import json
import math
import pathlib
import struct
import sys

import numpy

try:
    import safetensors
    import safetensors.numpy
except ImportError:  # no package of Debian 12; the functions below follow the format's description
    safetensors = None

NUMPY_NAMES = {"<f4": "f32", "<f8": "f64", "<i8": "i64", "|b1": "bool"}
SAFETENSORS_NAMES = {"F32": "f32", "F64": "f64", "BF16": "bf16", "I64": "i64", "BOOL": "bool"}
BYTES = {"F32": 4, "F64": 8, "BF16": 2, "I64": 8, "BOOL": 1}


def line(file, name, dtype, shape, data):
    sizes = ",".join(str(size) for size in shape)
    return "\t".join([file, name.encode().hex(), dtype, sizes, data.hex()])


def line_of_array(file, name, array):
    if array.dtype == numpy.float16:
        array = array.astype(numpy.float32)
    return line(file, name, NUMPY_NAMES[array.dtype.str], array.shape, array.tobytes())


def lines_of_metadata(file, metadata):
    return [line(file, key, "metadata", (), value.encode()) for key, value in metadata.items()]


def read_safetensors(path):
    """{name: (dtype, shape, bytes)} and the metadata: header length, JSON header, data without holes."""
    content = path.read_bytes()
    (length,) = struct.unpack_from("<Q", content)
    text, data = content[8 : 8 + length], content[8 + length :]
    assert text.startswith(b"{") and len(text) == length
    header = json.loads(text.decode())
    metadata = header.pop("__metadata__", {})
    tensors, place = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = entry["data_offsets"]
        assert begin == place and end - begin == math.prod(entry["shape"]) * BYTES[entry["dtype"]], name
        tensors[name] = (entry["dtype"], tuple(entry["shape"]), data[begin:end])
        place = end
    assert place == len(data)
    return tensors, metadata


def expect_the_package_to_agree(path, tensors, metadata):
    entries = safetensors.deserialize(path.read_bytes())
    assert tensors == {name: (e["dtype"], tuple(e["shape"]), bytes(e["data"])) for name, e in entries}
    with safetensors.safe_open(path, framework="numpy") as file:
        assert metadata == (file.metadata() or {})


def read(folder):
    lines = [line_of_array(path.name, "", numpy.load(path)) for path in folder.glob("*.npy")]
    for path in folder.glob("*.safetensors"):
        tensors, metadata = read_safetensors(path)
        if safetensors:
            expect_the_package_to_agree(path, tensors, metadata)
        for name, (dtype, shape, data) in tensors.items():
            lines.append(line(path.name, name, SAFETENSORS_NAMES[dtype], shape, data))
        lines += lines_of_metadata(path.name, metadata)
    return lines


# Of each floating type: 0, -0, the smallest and largest below the normal numbers, the largest, infinities, NaN, 1.5.
BITS = {
    "<f2": ("<u2", [0, 0x8000, 1, 0x83FF, 0x7BFF, 0x7C00, 0xFC00, 0x7E01, 0x3E00]),
    "<f4": ("<u4", [0, 1 << 31, 1, 0x807FFFFF, 0x7F7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00001, 0x3FC00000]),
    "<f8": ("<u8", [0, 1 << 63, 1, (1 << 63) + (1 << 52) - 1, (2047 << 52) - 1, 2047 << 52, 4095 << 52,
                    (4095 << 51) + 1, (2047 << 51) + 5]),
    "<i8": ("<i8", [0, -1, 2**63 - 1, -(2**63), 2**53 + 1, 7, -8]),
    "|b1": ("|u1", [0, 1, 1, 0, 1]),
}


def values(dtype, shape):
    stored, bits = BITS[dtype]
    return numpy.resize(numpy.array(bits, stored), shape).view(dtype)


def layouts(dtype):
    return {
        "plain": values(dtype, (2, 3, 4)),
        "scalar": values(dtype, (9,))[8:].reshape(()),
        "empty": values(dtype, (0, 3)),
        "eight_axes": values(dtype, (2, 1, 1, 2, 1, 1, 1, 3)),
        "fortran": numpy.asfortranarray(values(dtype, (2, 3, 4))),
        "transposed": values(dtype, (3, 5)).T,
        "strided": values(dtype, (4, 6))[::-2, 1::2],
    }


def write_npy(folder):
    lines = []
    for dtype in BITS:
        for layout, array in layouts(dtype).items():
            path = folder / f"{dtype[1:]}_{layout}.npy"
            numpy.save(path, array)
            lines.append(line_of_array(path.name, "", array))
    for version in (1, 2, 3):
        path = folder / f"version_{version}.npy"
        with path.open("wb") as file:
            numpy.lib.format.write_array(file, values("<f4", (2, 3)), version=(version, 0))
        lines.append(line_of_array(path.name, "", values("<f4", (2, 3))))
    return lines


def write_refused_npy(folder):
    types = {"big_endian": ">f4", "int32": "<i4", "byte": "|u1", "complex": "<c8", "text": "<U2",
             "object": "|O", "record": [("a", "<f4"), ("b", "<i8")]}
    for name, dtype in types.items():
        numpy.save(folder / f"{name}.npy", numpy.ones(2, dtype))
    return []


ODD_NAME = 'a "quoted" \\ name\n\tcaf\u00e9 \U0001f600 \u2028'
METADATA = {"format": "np", ODD_NAME: ODD_NAME, "": ""}


def write_safetensors(folder):
    """All the types, in an order of their own, with spaces in the JSON as json.dumps puts them and names escaped."""
    names = {"<f2": "F16", "<f4": "F32", "<f8": "F64", "<i8": "I64", "|b1": "BOOL"}
    arrays = [(f"{dtype[1:]}/{layout}", array) for dtype in BITS for layout, array in layouts(dtype).items()]
    arrays.append((ODD_NAME, values("<i8", (3,))))
    header, data, file = {"__metadata__": METADATA}, b"", "described.safetensors"
    lines = lines_of_metadata(file, METADATA)
    for name, array in arrays:
        end = len(data) + array.nbytes
        header[name] = {"data_offsets": [len(data), end], "shape": array.shape, "dtype": names[array.dtype.str]}
        data += array.tobytes()
        lines.append(line_of_array(file, name, array))
    brains = values("<f2", (2, 2)).tobytes()  # 16 bits are 16 bits
    header["brains"] = {"dtype": "BF16", "shape": (2, 2), "data_offsets": (len(data), len(data) + len(brains))}
    lines.append(line(file, "brains", "bf16", (2, 2), brains))
    text = json.dumps(header).encode()
    (folder / file).write_bytes(struct.pack("<Q", len(text)) + text + data + brains)
    return lines + (write_with_package(folder, arrays) if safetensors else [])


def write_with_package(folder, arrays):
    file = "package.safetensors"
    contiguous = {name: array.copy(order="C") for name, array in arrays}  # it writes memory as it lies
    safetensors.numpy.save_file(contiguous, folder / file, METADATA)
    return lines_of_metadata(file, METADATA) + [line_of_array(file, *item) for item in arrays]


ACTIONS = {
    "read": read,
    "write_npy": write_npy,
    "write_refused_npy": write_refused_npy,
    "write_safetensors": write_safetensors,
}

if __name__ == "__main__":
    for each in ACTIONS[sys.argv[1]](pathlib.Path(sys.argv[2])):
        print(each)
