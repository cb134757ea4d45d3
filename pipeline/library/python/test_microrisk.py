"""Tests of the module by arrays made by hand: MICRORISK_LIBRARY=libmicrorisk.so python3 -m unittest"""

import array
import ctypes
import datetime
import gc
import random
import struct
import threading
import unittest
import warnings

import microrisk
import microrisk_arrow as arrow


class Node:
    """An array and its type, made by hand; count[0] is how many releases were called for it and its children, and count[1] how often too many."""

    def __init__(self, format, length, buffers, children=(), dictionary=None, offset=0, nulls=0, name="", flags=arrow.NULLABLE):
        self.format, self.length, self.buffers, self.children, self.dictionary = format, length, buffers, list(children), dictionary
        self.offset, self.nulls, self.name, self.flags = offset, nulls, name, flags
        self.keep, self.schemas, self.arrays = [], [0, 0], [0, 0]

    def schema(self, out):
        kids = [arrow.Schema() for _ in self.children]
        for kid, c in zip(kids, self.children):
            c.schema(kid)
        words = arrow.Schema() if self.dictionary else None
        if words:
            self.dictionary.schema(words)
        pointers = (ctypes.POINTER(arrow.Schema) * len(kids))(*(ctypes.pointer(k) for k in kids))

        def release(s):
            self.schemas[1] += 1
            for kid in kids + ([words] if words else []):
                if kid.release:
                    kid.release(ctypes.byref(kid))
            s.contents.release = arrow.ReleaseSchema()

        self.schemas[0] += 1
        done = arrow.ReleaseSchema(release)
        format, name = self.format.encode(), self.name.encode()
        out.format, out.name, out.metadata, out.flags = format, name, None, self.flags
        out.n_children, out.children = len(kids), ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(arrow.Schema)))
        out.dictionary = ctypes.pointer(words) if words else None
        out.release = done
        self.keep.append((kids, words, pointers, done, format, name))

    def array(self, out):
        kids = [arrow.Array() for _ in self.children]
        for kid, c in zip(kids, self.children):
            c.array(kid)
        words = arrow.Array() if self.dictionary else None
        if words:
            self.dictionary.array(words)
        pointers = (ctypes.POINTER(arrow.Array) * len(kids))(*(ctypes.pointer(k) for k in kids))
        memory = [None if b is None else (ctypes.c_char * max(1, len(b))).from_buffer_copy(b or b"\0") for b in self.buffers]
        addresses = (ctypes.c_void_p * max(1, len(memory)))(*(None if m is None else ctypes.addressof(m) for m in memory))

        def release(a):
            self.arrays[1] += 1
            for kid in kids + ([words] if words else []):
                if kid.release:
                    kid.release(ctypes.byref(kid))
            a.contents.release = arrow.ReleaseArray()

        self.arrays[0] += 1
        done = arrow.ReleaseArray(release)
        out.length, out.null_count, out.offset = self.length, self.nulls, self.offset
        out.n_buffers, out.buffers = len(memory), ctypes.cast(addresses, ctypes.POINTER(ctypes.c_void_p))
        out.n_children, out.children = len(kids), ctypes.cast(pointers, ctypes.POINTER(ctypes.POINTER(arrow.Array)))
        out.dictionary = ctypes.pointer(words) if words else None
        out.release = done
        self.keep.append((kids, words, pointers, memory, addresses, done))

    def counts(self):
        yield self.schemas
        yield self.arrays
        for c in self.children + ([self.dictionary] if self.dictionary else []):
            yield from c.counts()


class Handmade:
    """A table of batches made by hand, each a Node of the format +s with the same columns."""

    def __init__(self, *batches, fail_at=None):
        self.batches, self.fail_at, self.released, self.streams = batches, fail_at, 0, []

    def __arrow_c_stream__(self, requested_schema=None):
        stream, at = arrow.Stream(), [0]
        message = ctypes.create_string_buffer(b"the disk is gone")

        def get_schema(_, out):
            self.batches[0].schema(out.contents)
            return 0

        def get_next(_, out):
            if at[0] == self.fail_at:
                return 5
            ctypes.memset(out, 0, ctypes.sizeof(arrow.Array))
            if at[0] < len(self.batches):
                self.batches[at[0]].array(out.contents)
                at[0] += 1
            return 0

        def release(s):
            self.released += 1
            s.contents.release = arrow.ReleaseStream()

        calls = (arrow.GetSchema(get_schema), arrow.GetNext(get_next), arrow.GetLastError(lambda _: ctypes.addressof(message)), arrow.ReleaseStream(release))
        stream.get_schema, stream.get_next, stream.get_last_error, stream.release = calls
        none = arrow._Destructor(lambda _: None)
        self.streams.append((stream, calls, none, message))
        return arrow._api.PyCapsule_New(ctypes.addressof(stream), arrow._capsule, none)

    def balanced(self):
        gc.collect()
        return self.released == len(self.streams) and all(made == let for b in self.batches for made, let in b.counts())


def texts(values, name, format="u", offset=0):
    code = "q" if format in "UZ" else "i"
    data, ends = b"", [0]
    for v in values:
        data += (v or "").encode()
        ends.append(len(data))
    nulls = sum(v is None for v in values[offset:])
    valid = arrow._bits([v is not None for v in values]) if nulls else None
    return Node(format, len(values) - offset, [valid, struct.pack(f"<{len(ends)}{code}", *ends), data], name=name, offset=offset, nulls=nulls)


def numbers(values, name, format, code, offset=0):
    nulls = sum(v is None for v in values[offset:])
    valid = arrow._bits([v is not None for v in values]) if nulls else None
    return Node(format, len(values) - offset, [valid, struct.pack(f"<{len(values)}{code}", *(v or 0 for v in values))], name=name, offset=offset, nulls=nulls)


def words(codes, values, name, offset=0):
    nulls = sum(c is None for c in codes[offset:])
    valid = arrow._bits([c is not None for c in codes]) if nulls else None
    return Node("c", len(codes) - offset, [valid, struct.pack(f"<{len(codes)}b", *(c or 0 for c in codes))], dictionary=texts(values, ""), name=name,
                offset=offset, nulls=nulls)


def table(*columns, offset=0):
    return Node("+s", columns[0].length - offset, [None], columns, offset=offset, flags=0)


SEX, AGE = ["m", None, "f", "f", "m", "f", None, "m"], [30, 30, 41, None, 30, 41, 7, 30]


def every_type(offset=0):
    n = len(SEX)
    small = [i % 5 for i in range(n)]
    columns = [texts(SEX, "SEX", offset=offset), numbers(AGE, "AGE", "s", "h", offset=offset), texts(SEX, "large", "U", offset=offset)]
    for i, (format, code) in enumerate([("c", "b"), ("C", "B"), ("S", "H"), ("i", "i"), ("I", "I"), ("l", "q"), ("L", "Q"), ("tdD", "i"), ("tdm", "q"),
                                        ("tts", "i"), ("ttm", "i"), ("ttu", "q"), ("ttn", "q"), ("tss:UTC", "q"), ("tsn:", "q"), ("tDs", "q"), ("f", "f"),
                                        ("g", "d")]):
        values = [None if k == i % n else v for k, v in enumerate(small)]
        columns.append(numbers(values, f"of {format}", format, code, offset))
    columns.append(Node("b", n - offset, [None, arrow._bits([k % 2 for k in range(n)])], name="truth", offset=offset))
    columns.append(Node("n", n - offset, [], name="nothing", nulls=n - offset))
    columns.append(words([0, 1, None, 1, 0, 0, 1, 1], ["x", "y"], "coded", offset))
    columns.append(Node("z", n - offset, texts(SEX, "").buffers, name="bytes", offset=offset, nulls=sum(v is None for v in SEX[offset:])))
    inner = numbers(list(range(2 * n)), "item", "i", "i")
    columns.append(Node("+l", n - offset, [None, struct.pack(f"<{n + 1}i", *range(0, 2 * n + 1, 2))], [inner], name="list", offset=offset))
    columns.append(Node("+s", n - offset, [None], [texts(SEX, "a"), numbers(small, "b", "i", "i")], name="struct", offset=offset))
    valid = arrow._bits([k != 4 for k in range(n)])
    columns.append(Node("+s", n - offset, [valid], [texts(SEX, "a"), Node("+s", n, [None], [numbers(small, "c", "i", "i")], name="b")], name="deep",
                        offset=offset, nulls=int(offset <= 4)))
    inside = Node("+s", 2 * n - 2, [None], [numbers(list(range(2 * n)), "c", "i", "i")], name="item", offset=2)
    columns.append(Node("+l", n - offset, [None, struct.pack(f"<{n + 1}i", *range(0, 2 * n - 2, 2), 14, 14)], [inside], name="structs", offset=offset))
    columns.append(Node("d:9,2", n - offset, [None, b"".join(int(v).to_bytes(16, "little") for v in small)], name="decimal", offset=offset))
    columns.append(Node("w:3", n - offset, [None, bytes(range(3 * n))], name="fixed", offset=offset))
    return table(*columns)


class TestMicrorisk(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")

    def tearDown(self):
        gc.collect()
        self.assertEqual([k[0] for k in arrow._held], [])

    def test_version(self):
        self.assertIn("microrisk", microrisk.version())

    def test_lists(self):
        out = microrisk.assess({"SEX": SEX, "AGE": AGE, "day": [datetime.date(2020, 1, 1 + i) for i in range(8)], "x": array.array("d", range(8)),
                                "at": [None] + [datetime.datetime(1960, 1, 1, 12, 30, 0, i) for i in range(7)]},
                               key=["SEX", "AGE"], fraction=0.5, operators=["suda"])
        self.assertEqual(out.table["sample_frequency"], [3, 1, 2, 1, 3, 2, 1, 3])
        self.assertEqual(out.table["SEX"], SEX)
        self.assertEqual(out.table["day"][3], datetime.date(2020, 1, 4))
        self.assertEqual(out.table["x"][7], 7.0)
        self.assertEqual(out.table["at"][:2], [None, datetime.datetime(1960, 1, 1, 12, 30)])
        self.assertEqual(out.summary["rows"], 8)

    def test_names_and_numbers_are_kept_or_refused(self):
        def assess(columns):
            return microrisk.assess(columns, key=["AGE"], operators=["suda"]).table

        for columns, error, want in [({1: AGE, "AGE": AGE}, TypeError, "names are texts"), ({"A\0GE": AGE, "AGE": AGE}, ValueError, "the name of the column"),
                                     ({"\ud800": AGE, "AGE": AGE}, ValueError, "the name of the column"),
                                     ({"AGE": [2**64]}, ValueError, "beyond 64 bits"), ({"AGE": [2**63, -1]}, ValueError, "beyond 64 bits"),
                                     ({"AGE": [1], "x": [2**53 + 1]}, None, ""), ({"AGE": [1, 2], "x": [2**53 + 1, 0.5]}, ValueError, "more digits")]:
            if error:
                with self.assertRaisesRegex(error, want):
                    assess(columns)
            else:
                self.assertEqual(assess(columns)["x"], columns["x"])
        self.assertEqual(assess({"AGE": [2**64 - 1, None, 5, 5]})["AGE"], [2**64 - 1, None, 5, 5])
        with self.assertRaisesRegex(ValueError, "not JSON compliant"):
            microrisk.assess({"AGE": AGE}, key=["AGE"], fraction=float("nan"))
        with self.assertRaisesRegex(TypeError, "a spec has texts"):
            microrisk.assess({"AGE": AGE}, key=[object()])
        self.assertEqual(list(microrisk.inspect({"AGE": AGE}, values="AGE")["values"]), ["AGE"])
        twice, _ = microrisk.assess(Handmade(table(numbers(AGE, "AGE", "s", "h"), texts(SEX, "x"), texts(SEX, "x"))), key=["AGE"], operators=["suda"])
        with self.assertRaisesRegex(ValueError, "two columns are called x"):
            twice.to_pydict()

    def test_numpy_and_pandas(self):
        try:
            import numpy
            import pandas
        except ImportError:
            self.skipTest("pandas is not there")
        call = dict(key=["AGE"], operators=["suda"])
        out = microrisk.assess({"AGE": numpy.array([1, 2, 2]), "x": [numpy.float64(1.5), None, numpy.nan]}, fraction=numpy.float32(0.5), **call).table
        self.assertEqual((out["AGE"], out["sample_frequency"], out["x"][:2]), ([1, 2, 2], [1, 2, 2], [1.5, None]))
        self.assertEqual(microrisk.explain({"AGE": [1, 2, 2]}, numpy.int64(1), key="AGE")["sample_frequency"], 2)
        frame = pandas.DataFrame({"AGE": [1, 2, 2]}, index=["x", "y", "z"])
        if not hasattr(frame, "__arrow_c_stream__"):
            self.assertEqual(list(microrisk.assess(frame, **call).table.index), ["x", "y", "z"])
            for columns, rows, want in [([1, "1"], [[1, 2]], "two columns are called '1'"), (["AGE", "AGE"], [[1, 2]], "two columns are called 'AGE'"),
                                        (["AGE", "at"], [[1, pandas.Timestamp("2020-01-01 00:00:00.123456789")]], "finer than microseconds")]:
                with self.assertRaisesRegex(ValueError, want):
                    microrisk.assess(pandas.DataFrame(rows, columns=columns), **call)

    def test_broken_batches(self):
        age = numbers(AGE, "AGE", "s", "h")
        for want, columns in [("-1 values", [Node("s", -1, [None, b""], name="x")]), ("from -1 on", [Node("s", 8, [None, b""], name="x", offset=-1)]),
                              ('"x": 1 buffers', [Node("s", 8, [None], name="x")]), ('"x": a buffer of int16', [Node("s", 8, [None, None], name="x")]),
                              ('"x": a buffer of utf8', [Node("u", 8, [None, None, None], name="x")]),
                              ('"x": 3 values, where there must be 8', [numbers([1, 2, 3], "x", "s", "h")]),
                              ('"x": 8 values are null', [Node("s", 8, [None, bytes(16)], name="x", nulls=8)]),
                              ('"x": offsets from 5 to 1', [Node("u", 8, [None, struct.pack("<9i", *[5] * 8, 1), b"abcde"], name="x")]),
                              ('"x": its items: 1 values, where there must be 9',
                               [Node("+l", 8, [None, struct.pack("<9i", *range(1, 10))], [numbers([1], "item", "s", "h")], name="x")])]:
            given = Handmade(table(age, *columns))
            with self.assertRaisesRegex(microrisk.Error, want):
                microrisk.assess(given, key=["AGE"], operators=["suda"])
            self.assertTrue(given.balanced(), want)
        first = table(age, texts(SEX, "x"))
        given = Handmade(first, table(age))
        with self.assertRaisesRegex(microrisk.Error, "record batch 1 is not as Arrow has it: 1 parts"):
            microrisk.assess(given, key=["AGE"], operators=["suda"])
        self.assertTrue(given.balanced())
        with self.assertRaisesRegex(microrisk.Error, "values of -4 bytes"):
            microrisk.assess(Handmade(table(age, Node("w:-4", 8, [None, b""], name="x"))), key=["AGE"], operators=["suda"])
        none = Node("+s", 0, [None], [Node("s", 0, [None, None], name="AGE"), Node("u", 0, [None, None, None], name="x")], flags=0)
        out, _ = microrisk.assess(Handmade(first, none), key=["AGE"], operators=["suda"])
        self.assertEqual(out.to_pydict()["x"], SEX)

    def test_every_type(self):
        for offset in (0, 3):
            given = Handmade(every_type(offset), every_type(offset))
            out, summary = microrisk.assess(given, key=["SEX", "AGE"], operators=["suda"])
            self.assertIsInstance(out, arrow.Records)
            decimals = Handmade(table(*[c for c in every_type(offset).children if c.format[0] not in "dw"]))
            plain = arrow.Stream.from_address(arrow.stream_of(decimals).address())
            want = arrow.Records(plain).to_pydict()
            with self.assertRaisesRegex(TypeError, "decimal"):
                out.to_pydict()
            got, _ = microrisk.assess(Handmade(*[table(*[c for c in every_type(offset).children if c.format[0] not in "dw"]) for _ in range(2)]),
                                      key=["SEX", "AGE"], operators=["suda"])
            got = got.to_pydict()
            for name, values in want.items():
                self.assertEqual(got[name], values + values, name)
            del out
            self.assertTrue(given.balanced())
            self.assertEqual(summary["rows"], 2 * (8 - offset))

    def test_rows_of_a_slice(self):
        given = Handmade(table(texts(SEX, "SEX"), numbers(AGE, "AGE", "s", "h"), offset=2))
        out, _ = microrisk.assess(given, key=["SEX", "AGE"], operators=["suda"])
        out = out.to_pydict()
        self.assertEqual(out["SEX"], SEX[2:])
        self.assertEqual(out["sample_frequency"], [2, 1, 2, 2, 1, 2])
        self.assertTrue(given.balanced())

    def test_views(self):
        def view(text):
            data = text.encode()
            if len(data) <= 12:
                return struct.pack("<i12s", len(data), data)
            return struct.pack("<i4sii", len(data), data[:4], 0, 0)

        long = "a text of more than twelve bytes"
        values = ["short", long, "short", "", long]
        column = Node("vu", 5, [None, b"".join(view(v) for v in values), long.encode(), struct.pack("<q", len(long))], name="V")
        given = Handmade(table(column))
        out, _ = microrisk.assess(given, key=["V"], operators=["suda"])
        out = out.to_pydict()
        self.assertEqual(out["V"], values)
        self.assertEqual(out["sample_frequency"], [2, 2, 2, 1, 2])
        self.assertTrue(given.balanced())

    def test_empty(self):
        for given in (Handmade(table(texts([], "SEX"))), Handmade(table(texts([], "SEX")), table(texts(["m"], "SEX")), table(texts([], "SEX")))):
            out, summary = microrisk.assess(given, key=["SEX"], operators=["suda"])
            self.assertEqual(len(out.to_pydict()["SEX"]), summary["rows"])
            self.assertTrue(given.balanced())

    def test_explain_and_inspect(self):
        given = Handmade(table(texts(SEX, "SEX"), numbers(AGE, "AGE", "s", "h")))
        told = microrisk.explain(given, 3, key=["SEX", "AGE"])
        self.assertEqual(told["msus"], [["AGE"]])
        self.assertEqual(told["values"], {"SEX": "f", "AGE": None})
        self.assertEqual(microrisk.inspect(given)["columns"][0], {"name": "SEX", "type": "string", "categories": 2, "missing": 2})
        self.assertEqual(microrisk.inspect(given, key=["SEX", "AGE"])["key"]["sample_uniques"], 3)
        self.assertTrue(given.balanced())

    def test_errors_are_values(self):
        given = Handmade(table(texts(SEX, "SEX")))
        for kind, word, call in [
            ("spec", "did you mean", lambda: microrisk.assess(given, key=["SXE"])),
            ("spec", "sampling", lambda: microrisk.assess(given, key=["SEX"], operators=["mc3"])),
            ("spec", "no row 8", lambda: microrisk.explain(given, 8, key=["SEX"])),
            ("spec", "workers", lambda: microrisk.assess(given, key=["SEX"], workers="two")),
            ("spec", "source is that of the call", lambda: microrisk.assess(given, spec={"source": {"path": "x"}})),
            ("input", "the disk is gone", lambda: microrisk.assess(Handmade(table(texts(SEX, "SEX")), fail_at=1), key=["SEX"])),
            ("input", "not that of a struct", lambda: microrisk.assess(Handmade(texts(SEX, "SEX")), key=["SEX"])),
            ("input", "schema", lambda: microrisk.assess(Handmade(table(Node("?", 3, [None, b"abc"], name="SEX"))), key=["SEX"])),
        ]:
            with self.assertRaises(microrisk.Error) as caught:
                call()
            self.assertEqual(caught.exception.kind, kind)
            self.assertIn(word, str(caught.exception))
        self.assertTrue(given.balanced())
        with self.assertRaisesRegex(TypeError, "is no table"):
            microrisk.assess([1, 2], key=["A"])

    def test_limits(self):
        warnings.simplefilter("always")
        with self.assertWarnsRegex(microrisk.Breached, "sample_uniques"):
            out = microrisk.assess({"AGE": AGE}, key=["AGE"], operators=["suda"], limits={"sample_uniques": 1})
        self.assertTrue(out.summary["limits"][0]["breached"])
        self.assertEqual(len(out.table["AGE"]), 8)

    def test_records_are_taken_once(self):
        out, _ = microrisk.assess(Handmade(table(texts(SEX, "SEX"))), key=["SEX"], operators=["suda"])
        again, _ = microrisk.assess(out, key=["SEX"], operators=["kanonymity"], replace=True)
        self.assertEqual(len(again.to_pydict()["SEX"]), 8)
        with self.assertRaisesRegex(ValueError, "taken before"):
            out.to_pydict()

    def large(self, rows=60_000):
        r = random.Random(3)
        return {f"K{v}": [r.randrange(9) for _ in range(rows)] for v in range(12)}

    def test_interrupt(self):
        given = self.large()
        stages = []

        def stop(stage, done, total):
            stages.append((stage, done, total))
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            microrisk.assess(given, key=list(given), operators=["suda"], progress=stop)
        self.assertEqual(len(stages), len({s[0] for s in stages}) if len(stages) == 1 else len(stages))
        self.assertTrue(stages)

    def test_two_threads(self):
        given, out = self.large(5000), {}

        def work(name):
            out[name] = microrisk.assess(given, key=list(given)[:5], fraction=0.1, operators=["suda"]).table

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(out), 4)
        for k in range(1, 4):
            self.assertEqual(out[k], out[0])

    def test_a_thousand_calls(self):
        def resident():
            with open("/proc/self/statm") as f:
                return int(f.read().split()[1]) * 4096

        given = self.large(300)

        def call():
            microrisk.assess(given, key=list(given)[:4], operators=["suda"])
            with self.assertRaises(microrisk.Error):
                microrisk.assess(given, key=["?"])

        for _ in range(200):
            call()
        gc.collect()
        before = resident()
        for _ in range(1000):
            call()
        gc.collect()
        self.assertLess(resident() - before, 16 << 20)


if __name__ == "__main__":
    unittest.main()
