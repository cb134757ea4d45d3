"""Arrow's C stream interface by the standard library alone: what microrisk.py takes and gives."""

import array
import ctypes
import datetime
import struct


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


ReleaseSchema = ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))
ReleaseArray = ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))
ReleaseStream = ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))
GetSchema = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))
GetNext = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))
GetLastError = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(Stream))

Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
                   ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", ReleaseSchema), ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
                  ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", ReleaseArray), ("private_data", ctypes.c_void_p)]
Stream._fields_ = [("get_schema", GetSchema), ("get_next", GetNext), ("get_last_error", GetLastError), ("release", ReleaseStream),
                   ("private_data", ctypes.c_void_p)]

NULLABLE = 2
_capsule = b"arrow_array_stream"
_api = ctypes.pythonapi
_api.PyCapsule_GetPointer.restype = ctypes.c_void_p
_api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_Destructor = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_api.PyCapsule_New.restype = ctypes.py_object
_api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, _Destructor]

_held = {}  # what exported memory needs, until it is released


def stream_of(table):
    """The stream of a table: of its own, or made of lists."""
    if hasattr(table, "__arrow_c_stream__"):
        return _Capsule(table.__arrow_c_stream__())
    if type(table).__module__.split(".")[0] == "pandas" and hasattr(table, "columns"):
        names = [str(name) for name in table.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"two columns are called {next(n for n in names if names.count(n) > 1)!r}: rename one of them first")
        table = {name: _plain(name, table.iloc[:, i]) for i, name in enumerate(names)}
    if isinstance(table, dict):
        return _Made(table)
    raise TypeError(f"a {type(table).__name__} is no table: give what has __arrow_c_stream__ (pyarrow, Polars, pandas, DuckDB), or a dict of lists")


def _plain(name, column):
    """A pandas column as a list of Python's values, None for missing ones."""
    if column.dtype.kind == "M" and any(getattr(v, "nanosecond", 0) for v in column):
        raise ValueError(f"the column {name} has times finer than microseconds: round them first (dt.floor('us'))")
    return [None if missing else value.item() if hasattr(value, "item") else value for value, missing in zip(column.tolist(), column.isna().tolist())]


class _Capsule:
    def __init__(self, capsule):
        self.capsule = capsule

    def address(self):
        return _api.PyCapsule_GetPointer(self.capsule, _capsule)


class _Made:
    """A stream of one batch of columns."""

    def __init__(self, columns):
        for name in columns:
            if not isinstance(name, str):
                raise TypeError(f"the column {name!r} has a {type(name).__name__} for a name: names are texts")
            if "\0" in name or any("\ud800" <= c <= "\udfff" for c in name):
                raise ValueError(f"the name of the column {name!r} has what no text in UTF-8 without zeros has")
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise ValueError("columns have different lengths: " + ", ".join(f"{name} {len(values)}" for name, values in columns.items()))
        self.columns = [(name, *_buffers(name, values)) for name, values in columns.items()]
        self.rows = lengths.pop() if lengths else 0
        self.stream = Stream()
        batches = [1]
        get_schema = GetSchema(lambda _, out: self._schema(out.contents))
        get_next = GetNext(lambda _, out: self._next(out.contents, batches))
        keep = (get_schema, get_next, GetLastError(lambda _: None))

        def release(stream):
            stream.contents.release = ReleaseStream()
            _held.pop(("stream", id(keep)), None)

        done = ReleaseStream(release)
        _held["stream", id(keep)] = (keep, done, self)
        self.stream.get_schema, self.stream.get_next, self.stream.get_last_error, self.stream.release = *keep, done

    def address(self):
        return ctypes.addressof(self.stream)

    def _schema(self, out):
        fill_schema(out, b"+s", b"", 0, [(format, name.encode(), NULLABLE) for name, format, *_ in self.columns])
        return 0

    def _next(self, out, batches):
        if not batches:
            ctypes.memset(ctypes.byref(out), 0, ctypes.sizeof(Array))
            return 0
        batches.pop()
        fill_array(out, self.rows, 0, [None], [(self.rows, nulls, buffers) for _, _, nulls, buffers in self.columns])
        return 0


def fill_schema(out, format, name, flags, children=()):
    """Makes out the schema of a struct of flat columns."""
    list_ = [Schema() for _ in children]
    for child, (child_format, child_name, child_flags) in zip(list_, children):
        fill_schema(child, child_format, child_name, child_flags)
    pointers = (ctypes.POINTER(Schema) * len(list_))(*(ctypes.pointer(c) for c in list_))
    keep = [list_, pointers, format, name]

    def release(schema):
        for child in list_:
            if child.release:
                child.release(ctypes.byref(child))
        schema.contents.release = ReleaseSchema()
        _held.pop(("schema", id(keep)), None)

    done = ReleaseSchema(release)
    keep.append(done)
    _held["schema", id(keep)] = keep
    out.format, out.name, out.metadata, out.flags = format, name, None, flags
    out.n_children, out.children = len(list_), ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(Schema)))
    out.dictionary, out.release, out.private_data = None, done, None


def fill_array(out, length, nulls, buffers, children=()):
    """Makes out an array of buffers, bytes or None, with flat children."""
    list_ = [Array() for _ in children]
    for child, (child_length, child_nulls, child_buffers) in zip(list_, children):
        fill_array(child, child_length, child_nulls, child_buffers)
    pointers = (ctypes.POINTER(Array) * len(list_))(*(ctypes.pointer(c) for c in list_))
    memory = [None if b is None else (ctypes.c_char * max(1, len(b))).from_buffer_copy(b or b"\0") for b in buffers]
    addresses = (ctypes.c_void_p * len(memory))(*(None if m is None else ctypes.addressof(m) for m in memory))
    keep = [list_, pointers, memory, addresses]

    def release(array_):
        for child in list_:
            if child.release:
                child.release(ctypes.byref(child))
        array_.contents.release = ReleaseArray()
        _held.pop(("array", id(keep)), None)

    done = ReleaseArray(release)
    keep.append(done)
    _held["array", id(keep)] = keep
    out.length, out.null_count, out.offset = length, nulls, 0
    out.n_buffers, out.buffers = len(memory), ctypes.cast(addresses, ctypes.POINTER(ctypes.c_void_p))
    out.n_children, out.children = len(list_), ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(Array)))
    out.dictionary, out.release, out.private_data = None, done, None


def _bits(flags):
    out = bytearray((len(flags) + 7) // 8)
    for i, flag in enumerate(flags):
        if flag:
            out[i >> 3] |= 1 << (i & 7)
    return bytes(out)


def _buffers(name, values):
    """The format, number of nulls and buffers of a list or an array.array of one kind of values, None for missing."""
    if isinstance(values, array.array):
        formats = {"b": b"c", "h": b"s", "i": b"i", "q": b"l", "B": b"C", "H": b"S", "I": b"I", "Q": b"L", "f": b"f", "d": b"g",
                   "l": b"l" if values.itemsize == 8 else b"i", "L": b"L" if values.itemsize == 8 else b"I"}
        if values.typecode not in formats:
            raise TypeError(f"the column {name} is an array of {values.typecode!r}, which is no number")
        return formats[values.typecode], 0, [None, values.tobytes()]
    there = [v is not None for v in values]
    nulls = len(there) - sum(there)
    valid = _bits(there) if nulls else None
    kinds = {type(v) for v in values if v is not None}
    if any(k.__module__ == "numpy" for k in kinds):
        values = [v.item() if type(v).__module__ == "numpy" else v for v in values]
        kinds = {type(v) for v in values if v is not None}
    if not kinds:
        return b"n", len(values), []
    if kinds == {bool}:
        return b"b", nulls, [valid, _bits([bool(v) for v in values])]
    if kinds == {int}:
        least, most = min(v for v in values if v is not None), max(v for v in values if v is not None)
        if least < -2**63 or most >= 2**64 or least < 0 and most >= 2**63:
            raise ValueError(f"the column {name} has a whole number beyond 64 bits")
        code = "q" if most < 2**63 else "Q"
        return b"l" if code == "q" else b"L", nulls, [valid, struct.pack(f"<{len(values)}{code}", *(v or 0 for v in values))]
    if kinds <= {int, float}:
        if any(type(v) is int and int(float(v)) != v for v in values):
            raise ValueError(f"the column {name} has fractions, and a whole number that has more digits than they")
        return b"g", nulls, [valid, struct.pack(f"<{len(values)}d", *(float(v or 0) for v in values))]
    if kinds == {str}:
        texts = [(v or "").encode() for v in values]
        offsets = [0]
        for t in texts:
            offsets.append(offsets[-1] + len(t))
        return b"U", nulls, [valid, struct.pack(f"<{len(offsets)}q", *offsets), b"".join(texts)]
    if kinds == {datetime.date}:
        first = datetime.date(1970, 1, 1)
        return b"tdD", nulls, [valid, struct.pack(f"<{len(values)}i", *((v - first).days if v else 0 for v in values))]
    if kinds and all(issubclass(k, datetime.datetime) for k in kinds):
        zones = {v.tzinfo is not None for v in values if v is not None}
        if len(zones) > 1:
            raise TypeError(f"the column {name} has times with and without a zone")
        first = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc if True in zones else None)
        step = datetime.timedelta(microseconds=1)
        return (b"tsu:UTC" if True in zones else b"tsu:"), nulls, [valid, struct.pack(f"<{len(values)}q", *((v - first) // step if v else 0 for v in values))]
    raise TypeError(f"the column {name} has values of {', '.join(sorted(k.__name__ for k in kinds))}: a column has texts, numbers, truths, dates or times")


class Records:
    """Record batches, which can be taken once: by __arrow_c_stream__, or as lists."""

    def __init__(self, stream):
        self._stream = stream

    def _take(self):
        if self._stream is None or not self._stream.release:
            raise ValueError("these records were taken before")
        stream, self._stream = self._stream, None
        return stream

    def __del__(self):
        stream = getattr(self, "_stream", None)
        if stream is not None and stream.release:
            stream.release(ctypes.byref(stream))

    def __arrow_c_stream__(self, requested_schema=None):
        stream = self._take()

        def destroy(_):
            if stream.release:
                stream.release(ctypes.byref(stream))
            _held.pop(("capsule", id(stream)), None)

        done = _Destructor(destroy)
        _held["capsule", id(stream)] = (stream, done)
        return _api.PyCapsule_New(ctypes.addressof(stream), _capsule, done)

    def to_pydict(self):
        """The columns as lists, by name."""
        stream, schema, out = self._take(), Schema(), {}
        try:
            _check(stream, stream.get_schema(ctypes.byref(stream), ctypes.byref(schema)))
            columns = [schema.children[i].contents for i in range(schema.n_children)]
            names = [c.name for c in columns]
            if len(set(names)) < len(names):
                raise ValueError(f"two columns are called {next(n for n in names if names.count(n) > 1).decode()}, which a dict has not: take the records "
                                 "by __arrow_c_stream__")
            out = {c.name.decode(): [] for c in columns}
            while True:
                batch = Array()
                _check(stream, stream.get_next(ctypes.byref(stream), ctypes.byref(batch)))
                if not batch.release:
                    return out
                try:
                    for i, c in enumerate(columns):
                        out[c.name.decode()].extend(_values(c, batch.children[i].contents, batch.offset, batch.length))
                finally:
                    batch.release(ctypes.byref(batch))
        finally:
            if schema.release:
                schema.release(ctypes.byref(schema))
            stream.release(ctypes.byref(stream))


def _check(stream, code):
    if code:
        text = stream.get_last_error(ctypes.byref(stream))
        raise OSError(code, ctypes.string_at(text).decode() if text else "the records cannot be read")


_numbers = {"c": "b", "C": "B", "s": "h", "S": "H", "i": "i", "I": "I", "l": "q", "L": "Q", "f": "f", "g": "d", "tdD": "i", "tdm": "q", "tts": "i", "ttm": "i",
            "ttu": "q", "ttn": "q", "tDs": "q", "tDm": "q", "tDu": "q", "tDn": "q"}


_steps = {"tss": datetime.timedelta(seconds=1), "tsm": datetime.timedelta(milliseconds=1), "tsu": datetime.timedelta(microseconds=1)}


def _values(schema, array_, offset, length):
    """A column as a list; what the standard library has no type for stays a number."""
    format, first = schema.format.decode(), array_.offset + offset

    def buffer(i, size):
        return ctypes.string_at(array_.buffers[i], size) if size and array_.buffers[i] else b""

    if format == "n":
        return [None] * length
    valid = buffer(0, (first + length + 7) // 8) if array_.n_buffers and array_.null_count else b""
    there = [not valid or valid[i >> 3] >> (i & 7) & 1 for i in range(first, first + length)]
    if schema.dictionary:
        codes = _numbered(format, buffer(1, 0), array_, first, length)
        words = array_.dictionary.contents
        texts = _values(schema.dictionary.contents, words, 0, words.length)
        return [texts[c] if is_ else None for c, is_ in zip(codes, there)]
    if format == "b":
        bits = buffer(1, (first + length + 7) // 8)
        values = [bool(bits[i >> 3] >> (i & 7) & 1) for i in range(first, first + length)]
    elif format in ("u", "U", "z", "Z"):
        width, code = (4, "i") if format in "uz" else (8, "q")
        offsets = struct.unpack(f"<{length + 1}{code}", buffer(1, (first + length + 1) * width)[first * width:]) if length else [0]
        data = buffer(2, offsets[-1])
        values = [data[a:b] if format in "zZ" else data[a:b].decode() for a, b in zip(offsets, offsets[1:])]
    elif format in ("+l", "+L"):
        width, code = (4, "i") if format == "+l" else (8, "q")
        offsets = struct.unpack(f"<{length + 1}{code}", buffer(1, (first + length + 1) * width)[first * width:]) if length else [0]
        inner = _values(schema.children[0].contents, array_.children[0].contents, 0, offsets[-1])
        values = [inner[a:b] for a, b in zip(offsets, offsets[1:])]
    elif format == "+s":
        names = [schema.children[i].contents.name.decode() for i in range(schema.n_children)]
        parts = [_values(schema.children[i].contents, array_.children[i].contents, first, length) for i in range(schema.n_children)]
        values = [dict(zip(names, row)) for row in zip(*parts)]
    elif format in _numbers or format[:2] == "ts":
        values = _numbered(format, b"", array_, first, length)
        if format == "tdD":
            values = [datetime.date(1970, 1, 1) + datetime.timedelta(days=v) if is_ else None for v, is_ in zip(values, there)]
        elif format[:3] in _steps:
            first = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc if format[4:] else None)
            values = [first + v * _steps[format[:3]] if is_ else None for v, is_ in zip(values, there)]
    else:
        raise TypeError(f"the column {schema.name.decode()} is of the Arrow format {format}, which lists have not: take the records by __arrow_c_stream__")
    return [v if is_ else None for v, is_ in zip(values, there)]


def _numbered(format, _, array_, first, length):
    code = "q" if format[:2] == "ts" else _numbers[format]
    width = struct.calcsize("<" + code)
    text = ctypes.string_at(array_.buffers[1] + first * width, length * width) if length else b""
    return list(struct.unpack(f"<{length}{code}", text))
