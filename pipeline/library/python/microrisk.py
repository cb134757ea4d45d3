"""Disclosure risk of tables in memory: which records could be recognised, and what could be learnt about them.

    import microrisk
    table, summary = microrisk.assess(table, key=["AGE", "SEX", "REGION"], fraction=0.01)
    microrisk.explain(table, row=17, key=["AGE", "SEX", "REGION"])
    microrisk.inspect(table)

A table is anything with ``__arrow_c_stream__`` (pyarrow, Polars, pandas from 2.2 on, DuckDB, nanoarrow), which is read without a copy, a pandas
DataFrame of any version, or a dict of lists. What comes back is of the same kind. The library is found beside this file or by MICRORISK_LIBRARY:

    go build -buildmode=c-shared -o libmicrorisk.so ./pipeline/library/shared
"""

import collections
import ctypes
import json
import os
import sys
import threading
import warnings

from microrisk_arrow import Records, Stream, stream_of

__all__ = ["Assessed", "Error", "assess", "explain", "inspect", "version"]

Assessed = collections.namedtuple("Assessed", ["table", "summary"])
Assessed.__doc__ = "A table with the columns of risk, and the summary document as a dict."


class Error(Exception):
    """What was wrong, where, and what would be right. kind is spec, input, memory, work, contradiction, interrupted, fault or other; fields has
    what the error is about (file, column, row, operator and the like)."""

    def __init__(self, kind, message, fields):
        super().__init__(message)
        self.kind, self.fields = kind, fields


class Breached(UserWarning):
    """A limit of the spec was passed; the table is there nevertheless, and summary["limits"] says which."""


def assess(table, key=None, *, fraction=None, population_size=None, weight=None, missing=None, operators=None, limits=None, profile=None, replace=False,
           spec=None, progress=None, **options):
    """The table with columns of risk, and the summary: Assessed(table, summary).

    key: names of the key variables, or mappings as a spec has them. fraction, population_size, weight: how the records were drawn from the population.
    operators: names or mappings as in a spec; without them suda, and mc3 where the sampling is known. replace: columns of risk that the table has are
    replaced, by operators that are named. limits: {figure: greatest value}.
    spec: a whole spec (a mapping, without source and sink) in place of all these. progress: called with a stage, what is done and the total; an
    exception of it, as of Ctrl-C, ends the call. options: workers, memory (bytes), temp_dir, seed.
    """
    if spec is None:
        spec = _spec(key, fraction, population_size, weight, missing)
        if operators is None:
            operators = ["suda", "mc3"] if "sampling" in spec else ["suda"]
        spec["operators"] = [_operator(o, replace) for o in operators]
        if limits:
            spec["limits"] = limits
        if profile:
            spec["profile"] = profile
    answer, records = _call("assess", {"spec": spec, "options": options}, table, progress, True)
    summary = answer["summary"]
    for text in summary.get("warnings", []):
        warnings.warn(text, stacklevel=2)
    if answer["status"] == 3:
        over = [x["limit"] for x in summary.get("limits", []) if x["breached"]]
        warnings.warn("above its limit: " + ", ".join(over), Breached, stacklevel=2)
    return Assessed(_like(table, records), summary)


def explain(table, row, key=None, *, fraction=None, population_size=None, weight=None, missing=None, operators=None, spec=None, progress=None, **options):
    """Why the record at row (from 0) is at risk, as a dict: its minimal sample uniques, scores, and the records that nearly match it."""
    if spec is None:
        spec = _spec(key, fraction, population_size, weight, missing)
        spec["operators"] = [_operator(o) for o in operators or []]
    return _call("explain", {"spec": spec, "row": row, "options": options}, table, progress)[0]["record"]


def inspect(table, key=None, *, values=(), missing=None, progress=None, **options):
    """What is in the table, as a dict: its columns, or the categories of those in values, or how a key singles records out."""
    spec = _spec(key, None, None, None, missing) if key else {}
    return _call("inspect", {"spec": spec, "values": [values] if isinstance(values, str) else list(values), "options": options}, table, progress)[0]["table"]


def version():
    """The version of the library."""
    text = _library().microrisk_version()
    try:
        return ctypes.string_at(text).decode()
    finally:
        _library().microrisk_free(text)


def _spec(key, fraction, population_size, weight, missing):
    spec = {}
    if key is not None:
        spec["key"] = {"variables": [key] if isinstance(key, str) else list(key)}
        if missing is not None:
            spec["key"]["missing"] = missing
    sampling = {"fraction": fraction, "population_size": population_size, "weight": weight}
    sampling = {name: value for name, value in sampling.items() if value is not None}
    if sampling:
        spec["sampling"] = sampling
    return spec


def _operator(o, replace=False):
    return ({o: {"replace": True}} if replace else {o: {}}) if isinstance(o, str) else o


def _number(value):
    """A scalar or array of numpy as Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}: a spec has texts, numbers, truths, lists and mappings")


_Progress = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_int64)
_loaded = None
_loading = threading.Lock()


def _library():
    global _loaded
    with _loading:
        if _loaded is None:
            name = {"darwin": "libmicrorisk.dylib", "win32": "microrisk.dll"}.get(sys.platform, "libmicrorisk.so")
            path = os.environ.get("MICRORISK_LIBRARY") or os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
            if not os.path.exists(path):
                raise ImportError(f"{path} is not there: make it by go build -buildmode=c-shared -o {name} ./pipeline/library/shared, "
                                  "and name it in MICRORISK_LIBRARY")
            lib = ctypes.CDLL(path)
            lib.microrisk_version.restype = ctypes.c_void_p
            lib.microrisk_free.argtypes = [ctypes.c_void_p]
            lib.microrisk_free.restype = None
            lib.microrisk_call.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, _Progress, ctypes.c_void_p,
                                           ctypes.POINTER(ctypes.c_void_p)]
            lib.microrisk_call.restype = ctypes.c_int32
            _loaded = lib
    return _loaded


def _call(verb, request, table, progress, makes=False):
    raised = []

    def told(_, stage, done, total):
        try:
            if progress is not None and stage is not None:
                progress(stage.decode(), done, total)
        except BaseException as e:  # Ctrl-C comes here too
            raised.append(e)
            return 1
        return 0

    text = json.dumps(request, default=_number, allow_nan=False).encode()
    lib = _library()
    given, made, answer = stream_of(table), Stream(), ctypes.c_void_p()
    callback = _Progress(told)
    status = lib.microrisk_call(verb.encode(), text, given.address(), ctypes.addressof(made) if makes else None, callback, None,
                                ctypes.byref(answer))
    try:
        text = json.loads(ctypes.string_at(answer).decode())
    finally:
        lib.microrisk_free(answer)
    records = Records(made)
    if raised:
        raise raised[0]
    if "error" in text:
        e = text["error"]
        raise Error(e["kind"], e["message"], e.get("fields", {}))
    text["status"] = status
    return text, records


def _like(table, records):
    """The records as a table of the same kind."""
    kind = type(table).__module__.split(".")[0]
    if isinstance(table, dict):
        return records.to_pydict()
    if kind == "polars":
        import polars
        return polars.DataFrame(records)
    if kind == "pandas":
        import pandas
        try:
            import pyarrow
        except ImportError:
            columns = records.to_pydict()
            made = pandas.DataFrame(columns)
            if len(made) == len(table):  # no row was left out
                made.index = table.index
            return made
        return pyarrow.table(records).to_pandas()
    if kind in ("pyarrow", "duckdb"):
        import pyarrow
        return pyarrow.table(records)
    return records
