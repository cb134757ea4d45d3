// Checks by DuckDB that an annotated Parquet file has every column of its input, the same in type and in the value of every
// row, and lists the columns that were added.
//
//   node check.mjs input.parquet output.parquet [input output ...]
//
// The rows are compared in the order of the files. Exit status 1 if anything differs.
import { DuckDBInstance } from "@duckdb/node-api";

const paths = process.argv.slice(2);
if (paths.length === 0 || paths.length % 2 !== 0) {
  console.error("usage: node check.mjs INPUT OUTPUT [INPUT OUTPUT ...]");
  process.exit(2);
}

const text = (s) => "'" + s.replaceAll("'", "''") + "'";
const name = (s) => '"' + s.replaceAll('"', '""') + '"';

const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
await db.run("SET preserve_insertion_order = true");
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjects();

async function columns(path) {
  const list = await rows(`DESCRIBE SELECT * FROM read_parquet(${text(path)})`);
  return new Map(list.map((c) => [c.column_name, c.column_type]));
}

async function count(path) {
  return (await rows(`SELECT count(*) AS n FROM read_parquet(${text(path)})`))[0].n;
}

// differing tells in how many rows the column differs, by position.
async function differing(input, output, column) {
  const c = name(column);
  const [{ n }] = await rows(
    `SELECT count(*) AS n FROM
       (SELECT ${c} AS v FROM read_parquet(${text(input)})) a
       POSITIONAL JOIN
       (SELECT ${c} AS w FROM read_parquet(${text(output)})) b
     WHERE v IS DISTINCT FROM w`);
  return n;
}

// pruned compares filters, which use the statistics, with the same filters on values that were read before.
async function pruned(output, column, type) {
  if (!/^(DOUBLE|FLOAT|.*INT|VARCHAR|DATE)$/.test(type)) return [];
  const c = name(column);
  const from = `read_parquet(${text(output)})`;
  const [{ lo, hi, nulls, n }] = await rows(
    `SELECT min(${c})::VARCHAR AS lo, max(${c})::VARCHAR AS hi, count(*) - count(${c}) AS nulls, count(*) AS n
     FROM (SELECT ${c} FROM ${from} OFFSET 0)`);
  if (lo === null) return [];
  const [found] = await rows(
    `SELECT count(*) FILTER (${c} IS NULL) AS nulls, count(*) FILTER (${c} >= CAST(${text(lo)} AS ${type}) AND ${c} <= CAST(${text(hi)} AS ${type})) AS inside FROM ${from}`);
  const [{ k }] = await rows(`SELECT count(*) AS k FROM ${from} WHERE ${c} >= CAST(${text(lo)} AS ${type}) AND ${c} <= CAST(${text(hi)} AS ${type})`);
  const [{ m }] = await rows(`SELECT count(*) AS m FROM ${from} WHERE ${c} IS NULL`);
  return m === nulls && m === found.nulls && k === found.inside && k === n - nulls ? [] : [`column ${column}: filters and statistics disagree`];
}

async function check(input, output) {
  const before = await columns(input);
  const after = await columns(output);
  const problems = [];
  const [n, m] = [await count(input), await count(output)];
  if (n !== m) problems.push(`${n} rows became ${m}`);
  for (const [column, type] of before) {
    if (!after.has(column)) {
      problems.push(`column ${column} is gone`);
    } else if (after.get(column) !== type) {
      problems.push(`column ${column} was ${type} and is ${after.get(column)}`);
    } else if (n === m) {
      const k = await differing(input, output, column);
      if (k > 0n) problems.push(`column ${column} differs in ${k} rows`);
    }
  }
  const added = [...after].filter(([column]) => !before.has(column));
  for (const [column, type] of added) problems.push(...(await pruned(output, column, type)));
  await rows(`SELECT count(*) AS n FROM parquet_metadata(${text(output)})`); // statistics of every chunk can be decoded
  return { before: before.size, added, problems, rows: n };
}

let failed = false;
for (let i = 0; i < paths.length; i += 2) {
  try {
    const r = await check(paths[i], paths[i + 1]);
    const added = r.added.map(([column, type]) => `${column} ${type}`).join(", ") || "none";
    console.log(`${r.problems.length ? "FAIL" : "ok  "} ${paths[i + 1]}: ${r.rows} rows, ${r.before} columns of the input; added: ${added}`);
    for (const p of r.problems) console.log(`     ${p}`);
    failed ||= r.problems.length > 0;
  } catch (e) {
    console.log(`FAIL ${paths[i + 1]}: ${e.message}`);
    failed = true;
  }
}
process.exit(failed ? 1 : 0);
