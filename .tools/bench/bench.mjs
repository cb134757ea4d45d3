// Compares the program with DuckDB on the same file, in turns within one run, and prints medians and their ratio.
//
//   node bench.mjs count|suda|annotate [--data FOLDER] [--file FILE.parquet] [--keys A,B,...] [--threads 2] [--runs 5]
//
// count     the counting scan of the program against GROUP BY over the same keys
// suda      all minimal sample uniques of up to 3 variables against counts of the same combinations by GROUPING SETS
// annotate  the whole way from file to annotated file (single uniques only) against a join with the counts and COPY
import { DuckDBInstance } from '@duckdb/node-api';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

const [mode, ...rest] = process.argv.slice(2);
const arg = (name, otherwise) => {
  const at = rest.indexOf('--' + name);
  return at < 0 ? otherwise : rest[at + 1];
};
const file = arg('file', join(arg('data', '../shared/data'), 'micro/census_1m.parquet'));
const keys = arg('keys', 'age,sex,household_summary,marital_status,education,class_of_worker,major_industry,' +
  'major_occupation,race,hispanic_origin,birth_country_self,citizenship').split(',');
const threads = Number(arg('threads', String(Math.min(2, cpus().length))));
const runs = Number(arg('runs', '5'));
const program = join(process.cwd(), 'build', process.platform === 'win32' ? 'microrisk.exe' : 'microrisk');

if (!['count', 'suda', 'annotate'].includes(mode)) {
  console.error('name what to measure: count, suda or annotate');
  process.exit(2);
}
if (!existsSync(file)) {
  console.log(`${file} is not there: nothing to measure`);
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), 'microrisk-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const quoted = keys.map(k => `"${k.replaceAll('"', '""')}"`);
const source = `read_parquet('${file.replaceAll("'", "''")}')`;

const subsets = most => {
  const sets = [];
  const grow = (set, from) => {
    if (set.length) sets.push(set);
    if (set.length === most) return;
    for (let i = from; i < quoted.length; i++) grow([...set, quoted[i]], i + 1);
  };
  grow([], 0);
  return sets;
};

const sql = {
  count: `SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM ${source} GROUP BY ${quoted.join(', ')})`,
  suda: `SELECT count(*) FROM (SELECT count(*) AS n FROM ${source} GROUP BY GROUPING SETS (${
    subsets(3).map(s => `(${s.join(', ')})`).join(', ')})) WHERE n = 1`,
  annotate: `COPY (WITH t AS (SELECT * FROM ${source}), c AS (SELECT ${quoted.join(', ')}, count(*) AS sample_frequency FROM t GROUP BY ${
    quoted.join(', ')}) SELECT t.*, c.sample_frequency FROM t JOIN c ON ${
    quoted.map(k => `t.${k} IS NOT DISTINCT FROM c.${k}`).join(' AND ')}) TO '${join(folder, 'duckdb.parquet')}' (FORMAT parquet, COMPRESSION zstd)`,
}[mode];

const flags = {
  count: ['count', file],
  suda: ['assess', file, '--max-size', '3', '--out', join(folder, 'microrisk.parquet')],
  annotate: ['assess', file, '--max-size', '1', '--out', join(folder, 'microrisk.parquet')],
}[mode].concat('--key', keys.join(','), '--workers', String(threads), '--quiet');

const database = await DuckDBInstance.create(':memory:', { threads: String(threads) });
const connection = await database.connect();

const seconds = async work => {
  const start = process.hrtime.bigint();
  await work();
  return Number(process.hrtime.bigint() - start) / 1e9;
};
const ours = () => seconds(() => {
  const r = spawnSync(program, flags, { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, GOMAXPROCS: String(threads) } });
  if (r.status !== 0) {
    console.error(`the program ended with status ${r.status}`);
    process.exit(1);
  }
});
const theirs = () => seconds(() => connection.run(sql));
const median = list => list.toSorted((a, b) => a - b)[list.length >> 1];

// The first run of each warms the page cache and is not counted.
await ours();
await theirs();
const a = [], b = [];
for (let i = 0; i < runs; i++) {
  a.push(await ours());
  b.push(await theirs());
}
const show = list => `${median(list).toFixed(3)} s  (${Math.min(...list).toFixed(3)} to ${Math.max(...list).toFixed(3)})`;
console.log(`${mode}: ${file}, ${keys.length} keys, ${threads} threads, medians of ${runs}`);
console.log(`  microrisk  ${show(a)}`);
console.log(`  DuckDB     ${show(b)}`);
console.log(`  ratio      ${(median(a) / median(b)).toFixed(2)}`);
