// Writes the tables that the Go program made (flat_SHAPE, nested_SHAPE) with parquet-wasm, Polars, DuckDB and hyparquet-writer, in the
// encodings, versions of pages and codecs that each has. Names of files: WRITER+ENCODINGS+PAGES+CODEC+TABLE+SHAPE.parquet.
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { gzipSync, brotliCompressSync } from "node:zlib";
import { join } from "node:path";
import * as wasm from "parquet-wasm/node";
import { parquetWriteBuffer } from "hyparquet-writer";
import { parquetMetadata, parquetSchema } from "hyparquet";

const shapes = ["many", "one", "none", "nulls", "few"];
const name = (folder, ...parts) => join(folder, parts.join("+") + ".parquet");

// leavesOf lists the leaf columns of a file: path and physical type.
function leavesOf(path) {
  const b = readFileSync(path);
  const list = [];
  const walk = (node) => {
    if (node.children.length === 0) list.push([node.path.join("."), node.element.type]);
    node.children.forEach(walk);
  };
  parquetSchema(parquetMetadata(b.buffer.slice(b.byteOffset, b.byteOffset + b.length))).children.forEach(walk);
  return list;
}

// anyOf is a file of arrow-go with the table.
function anyOf(folder, table, shape) {
  return join(folder, readdirSync(folder).find((f) => f.startsWith("arrow-go+plain+") && f.endsWith(`+${table}+${shape}.parquet`)));
}

const encodings = {
  delta: { BOOLEAN: "RLE", INT32: "DELTA_BINARY_PACKED", INT64: "DELTA_BINARY_PACKED", BYTE_ARRAY: "DELTA_LENGTH_BYTE_ARRAY", FLOAT: "BYTE_STREAM_SPLIT", DOUBLE: "BYTE_STREAM_SPLIT", FIXED_LEN_BYTE_ARRAY: "BYTE_STREAM_SPLIT" },
  prefix: { INT32: "BYTE_STREAM_SPLIT", INT64: "BYTE_STREAM_SPLIT", BYTE_ARRAY: "DELTA_BYTE_ARRAY", FIXED_LEN_BYTE_ARRAY: "DELTA_BYTE_ARRAY" },
};

export function writeByWasm(folder, _, full) {
  const failures = [];
  for (const table of ["flat", "nested"]) for (const shape of shapes) {
    if (table === "nested" && shape === "few") continue;
    const stream = readFileSync(join(folder, `${table}_${shape}.arrows`));
    const leaves = leavesOf(anyOf(folder, table, shape));
    let turn = 0;
    for (const version of ["V1", "V2"]) for (const family of ["plain", "dictionary", "fallback", "delta", "prefix"]) {
      turn++;
      for (const [k, codec] of (shape === "many" ? ["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4_RAW"] : ["ZSTD"]).entries()) {
        if (shape === "many" ? !full && (k + turn) % 3 !== 0 : turn % 2 === 0) continue;
        let p = new wasm.WriterPropertiesBuilder().setCompression(wasm.Compression[codec]).setWriterVersion(wasm.WriterVersion[version])
          .setDictionaryEnabled(family === "dictionary" || family === "fallback").setMaxRowGroupSize(600).setDataPageSizeLimit(900).setWriteBatchSize(64);
        if (family === "fallback") p = p.setDictionaryPageSizeLimit(600);
        for (const [path, type] of leaves) {
          const e = family === "plain" ? "PLAIN" : encodings[family]?.[type];
          if (e) p = p.setColumnEncoding(path, wasm.Encoding[e]);
        }
        try {
          const out = wasm.writeParquet(wasm.Table.fromIPCStream(stream), p.build());
          writeFileSync(name(folder, "parquet-wasm", family, version.toLowerCase(), codec.toLowerCase(), table, shape), out);
        } catch (e) {
          failures.push(`parquet-wasm ${family} ${version} ${codec} ${table} ${shape}: ${String(e).slice(0, 200)}`);
        }
      }
    }
  }
  return failures;
}

export async function writeByPolars(folder) {
  const failures = [];
  let pl;
  try {
    pl = (await import("nodejs-polars")).default;
  } catch (e) {
    return [`nodejs-polars cannot be loaded here: ${String(e).split("\n")[0]}`];
  }
  for (const table of ["flat", "nested"]) for (const shape of shapes) {
    if (table === "nested" && shape === "few") continue;
    for (const compression of shape === "many" ? ["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"] : ["zstd"]) {
      try {
        const frame = pl.readIPC(readFileSync(join(folder, `${table}_${shape}.arrow`)));
        frame.writeParquet(name(folder, "polars", "own", "v1", compression === "lz4" ? "lz4_raw" : compression, table, shape), { compression });
      } catch (e) {
        failures.push(`polars ${compression} ${table} ${shape}: ${String(e).slice(0, 200)}`);
      }
    }
  }
  return failures;
}

export async function writeByDuckDB(folder, db, full) {
  const failures = [];
  for (const table of ["flat", "nested"]) for (const shape of shapes) {
    if (table === "nested" && shape === "few") continue;
    if (table === "nested" && shape === "nulls") continue; // DuckDB does not cast an empty list of timestamps
    const from = anyOf(folder, table, shape);
    let turn = 0;
    for (const version of ["V1", "V2"]) for (const family of ["dictionary", "own"]) {
      turn++;
      for (const [k, codec] of (shape === "many" ? ["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4_raw"] : ["snappy"]).entries()) {
        if (shape === "many" ? !full && (k + turn) % 3 !== 0 : turn % 2 === 0) continue;
        const to = name(folder, "duckdb", family, version.toLowerCase(), codec, table, shape);
        try {
          await db.run(`COPY (SELECT * FROM read_parquet('${from}')) TO '${to}' (FORMAT parquet, CODEC ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE 600, DICTIONARY_SIZE_LIMIT ${family === "own" ? 1 : 1000})`);
        } catch (e) {
          failures.push(`duckdb ${family} ${version} ${codec} ${table} ${shape}: ${String(e).slice(0, 200)}`);
        }
      }
    }
  }
  return failures;
}

// The values of hyparquet-writer's files are made here: it takes JavaScript's.
function ownColumns(n, nulls) {
  const lo = -(2n ** 63n), hi = 2n ** 63n - 1n;
  const of = {
    boolean: ["BOOLEAN", (i) => i % 40 < 20 || i % 3 === 0],
    int32: ["INT32", (i) => (i % 80 < 40 ? [-2147483648, 2147483647, 0, 17][i % 4] : i)],
    int64: ["INT64", (i) => (i % 80 < 40 ? [lo, hi, 0n, 17n][i % 4] : BigInt(i))],
    float: ["FLOAT", (i) => [NaN, -0, Infinity, 1.5, i][i % 5]],
    double: ["DOUBLE", (i) => [NaN, -0, -Infinity, 0.1, i / 7][i % 5]],
    string: ["STRING", (i) => (i % 80 < 40 ? ["", "a", "ä€😀", "long and shared prefix"][i % 4] : "long and shared prefix " + i)],
    bytes: ["BYTE_ARRAY", (i) => new Uint8Array([i & 255, 0, 255].slice(0, i % 4))],
  };
  return Object.entries(of).flatMap(([name, [type, value]]) => [true, false].map((nullable) => ({
    name: name + (nullable ? "_o" : ""), type, nullable,
    data: Array.from({ length: n }, (_, i) => (nullable && (nulls || i % 7 === 3) ? null : value(i))),
  })));
}

export function writeByHyparquet(folder) {
  const failures = [], compressors = { GZIP: (b) => gzipSync(b), BROTLI: (b) => brotliCompressSync(b) };
  const physical = { STRING: "BYTE_ARRAY" };
  for (const [shape, n] of [["many", 1500], ["one", 1], ["nulls", 300]]) for (const codec of shape === "many" ? ["UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI"] : ["SNAPPY"]) {
    for (const family of ["plain", "own", "delta", "prefix"]) {
      const columnData = [{ name: "part", type: "INT32", nullable: false, data: Array.from({ length: n }, (_, i) => i % 3) }, ...ownColumns(n, shape === "nulls")];
      for (const c of columnData) {
        const e = family === "plain" ? "PLAIN" : encodings[family]?.[physical[c.type] ?? c.type];
        if (e) c.encoding = e;
      }
      try {
        const b = parquetWriteBuffer({ columnData, codec, compressors, rowGroupSize: 600, pageSize: 900 });
        writeFileSync(name(folder, "hyparquet-writer", family, "v2", codec.toLowerCase(), "own", shape), new Uint8Array(b));
      } catch (e) {
        failures.push(`hyparquet-writer ${family} ${codec} ${shape}: ${String(e).slice(0, 200)}`);
      }
    }
  }
  return failures;
}
