// Measures the program on made-up files that a reader can make again, and compares it with DuckDB in turns within one run.
//
//   node bench.mjs count|suda|annotate|mc3|scale [--file FILE.parquet --keys A,B,...] [--rows N] [--threads 2] [--runs 5]
//
// count     the counting scan against GROUP BY, over twelve and over five keys
// suda      all minimal sample uniques of up to 3 variables against counts of the same combinations by GROUPING SETS, and alone to
//           full depth
// annotate  from file to annotated file: sample frequencies against a join with the counts and COPY; in full and in little memory
// mc3       models of the population against the search for minimal sample uniques, and alone for more keys
// scale     the whole way for growing numbers of rows, of keys and of cores
//
// Without --file, build/generate makes the data in build/data.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';

const [mode, ...rest] = process.argv.slice(2);
const arg = (name, otherwise) => {
  const at = rest.indexOf('--' + name);
  return at < 0 ? otherwise : rest[at + 1];
};
const threads = Number(arg('threads', String(Math.min(2, cpus().length))));
const runs = Number(arg('runs', '5'));
const exe = name => join(process.cwd(), 'build', process.platform === 'win32' ? name + '.exe' : name);
const folder = mkdtempSync(join(tmpdir(), 'microrisk-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const run = (program, args, o = {}) => {
  const start = process.hrtime.bigint();
  const r = spawnSync(program, args, { stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 26, ...o });
  if (r.status !== 0) {
    console.error(`${program} ${args.join(' ')}: status ${r.status}`);
    process.exit(1);
  }
  return { seconds: Number(process.hrtime.bigint() - start) / 1e9, out: r.stdout.toString() };
};

// A file is made once and kept. Row i is the same in files of any size.
const data = (shape, rows) => {
  const path = join('build', 'data', `${shape}_${rows}.parquet`);
  if (!existsSync(path)) {
    mkdirSync(join('build', 'data'), { recursive: true });
    console.log(`making ${path}`);
    run(exe('generate'), ['--shape', shape, '--rows', String(rows), '--out', path]);
  }
  return path;
};
const census = ['age', 'sex', 'marital_status', 'education', 'race', 'household', 'class_of_worker', 'industry', 'occupation', 'origin',
  'birth_country', 'citizenship'];

// measure runs the program and tells seconds of the whole process and peak memory.
const measure = (args, workers = threads) => {
  const summary = join(folder, 'summary.json');
  const counting = args[0] === 'count';
  const { seconds, out } = run(exe('microrisk'), args.concat('--workers', workers, '--quiet', counting ? [] : ['--summary', summary]),
    { env: { ...process.env, GOMAXPROCS: String(workers) } });
  if (counting) return { seconds, peak: Number(/peak memory (\d+)/.exec(out)[1]), spilled: 0 };
  const { run: r } = JSON.parse(readFileSync(summary, 'utf8'));
  return { seconds, peak: r.peak_memory_bytes, spilled: r.spilled_bytes };
};

// duckdb runs a statement in a process of its own, and tells the seconds of the statement alone and the peak memory.
const duckdb = sql => {
  const script = `import { DuckDBInstance } from '@duckdb/node-api';
    const db = await (await DuckDBInstance.create(':memory:', { threads: '${threads}' })).connect();
    const start = process.hrtime.bigint();
    await db.run(process.argv[1]);
    console.log(Number(process.hrtime.bigint() - start) / 1e9, process.resourceUsage().maxRSS * 1024);`;
  const { out } = run(process.execPath, ['--input-type=module', '-e', script, sql], { cwd: join(process.cwd(), '.tools', 'bench') });
  const [seconds, peak] = out.trim().split(' ').map(Number);
  return { seconds, peak };
};

const median = list => list.toSorted((a, b) => a - b)[list.length >> 1];
const MB = n => `${(n / 1e6).toFixed(0)} MB`;
const line = (name, rows, list) => {
  const s = list.map(x => x.seconds), m = median(s);
  console.log(`  ${name.padEnd(44)} ${m.toFixed(3).padStart(8)} s  (${Math.min(...s).toFixed(3)} to ${Math.max(...s).toFixed(3)})  ` +
    `${(rows / m / 1e6).toFixed(2).padStart(7)} M rows/s  peak ${MB(Math.max(...list.map(x => x.peak)))}` +
    (list[0].spilled ? `  spilled ${MB(list[0].spilled)}` : ''));
  return m;
};
// alone measures the program, against measures it and DuckDB in turns. The first run of each is not counted.
const alone = (name, rows, args, workers, n = runs) => {
  if (n > 1) measure(args, workers);
  return line(name, rows, Array.from({ length: n }, () => measure(args, workers)));
};
const against = (name, rows, args, sql) => {
  measure(args);
  duckdb(sql);
  const a = [], b = [];
  for (let i = 0; i < runs; i++) {
    a.push(measure(args));
    b.push(duckdb(sql));
  }
  const ours = line(name, rows, a), theirs = line('  DuckDB', rows, b);
  console.log(`  ${'  ratio'.padEnd(44)} ${(ours / theirs).toFixed(2).padStart(8)}`);
};

const quoted = keys => keys.map(k => `"${k.replaceAll('"', '""')}"`);
const source = file => `read_parquet('${join(process.cwd(), file).replaceAll("'", "''")}')`;
const input = (shape, rows) => {
  const file = arg('file');
  return file ? { file: file.startsWith('/') ? file : join(file), keys: arg('keys', '').split(','), rows: Number(arg('rows', '0')) }
    : { file: data(shape, rows), keys: census, rows };
};
const from = file => file.startsWith('/') ? `read_parquet('${file.replaceAll("'", "''")}')` : source(file);
const grouped = (file, keys) => `SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM ${from(file)} GROUP BY ${quoted(keys).join(', ')})`;
const subsets = (keys, most) => {
  const sets = [];
  const grow = (set, at) => {
    if (set.length) sets.push(set);
    if (set.length < most) for (let i = at; i < keys.length; i++) grow([...set, keys[i]], i + 1);
  };
  grow([], 0);
  return sets;
};
const key = keys => ['--key', keys.join(',')];
const out = ['--out', join(folder, 'out.parquet')];

const modes = {
  count() {
    const { file, keys, rows } = input('census', Number(arg('rows', '10000000')));
    for (const k of [keys, keys.slice(0, 5)]) against(`count ${k.length} keys`, rows, ['count', file, ...key(k)], grouped(file, k));
  },
  suda() {
    const { file, keys, rows } = input('census', Number(arg('rows', '1000000')));
    against(`assess ${keys.length} keys, sets of up to 3`, rows, ['assess', file, ...key(keys), '--max-size', '3', ...out],
      `SELECT count(*) FROM (SELECT count(*) AS n FROM ${from(file)} GROUP BY GROUPING SETS (${
        subsets(quoted(keys), 3).map(s => `(${s.join(', ')})`).join(', ')})) WHERE n = 1`);
    alone(`assess ${keys.length} keys, full depth`, rows, ['assess', file, ...key(keys), '--contributions', ...out]);
    if (arg('file')) return;
    const hard = data('census8', 1_000_000);
    alone('assess 8 independent keys, full depth', 1e6, ['assess', hard, ...key(['region', 'sex', 'age', 'marital_status',
      'household_size', 'education', 'occupation', 'industry']), '--contributions', ...out]);
    alone('assess 50,000 codes and 3 small keys', 1e5, ['assess', data('codes', 100_000), ...key(['code', 'sex', 'region', 'band']),
      '--contributions', ...out]);
    alone('assess 20 binary keys', 1e5, ['assess', data('binary', 100_000), ...key(Array.from({ length: 20 },
      (_, i) => `item${String(i + 1).padStart(2, '0')}`)), '--contributions', ...out], threads, Math.min(runs, 3));
  },
  annotate() {
    const { file, keys, rows } = input('census', Number(arg('rows', '10000000')));
    const q = quoted(keys), args = ['assess', file, ...key(keys), '--measures', 'frequency', ...out];
    against(`sample frequencies of ${keys.length} keys`, rows, args, `COPY (WITH t AS (SELECT * FROM ${from(file)}), c AS (SELECT ${
      q.join(', ')}, count(*) AS sample_frequency FROM t GROUP BY ${q.join(', ')}) SELECT t.*, c.sample_frequency FROM t JOIN c ON ${
      q.map(k => `t.${k} IS NOT DISTINCT FROM c.${k}`).join(' AND ')}) TO '${join(folder, 'duckdb.parquet')}' (FORMAT parquet, COMPRESSION zstd)`);
    alone('  with --memory 96MiB', rows, [...args, '--memory', '96MiB']);
  },
  mc3() {
    const { file, keys, rows } = input('census', Number(arg('rows', '1000000')));
    const sample = ['assess', file, ...key(keys), '--fraction', '0.01', ...out];
    const theirs = alone(`suda, ${keys.length} keys`, rows, sample);
    const ours = alone(`mc3 exact, ${keys.length} keys`, rows, [...sample, '--measures', 'mc3', '--search', 'exact']);
    console.log(`  ${'  ratio'.padEnd(44)} ${(ours / theirs).toFixed(2).padStart(8)}`);
    alone(`mc3 in 4 chains, 12 temperatures, ${keys.length} keys`, rows, [...sample, '--measures', 'mc3', '--search', 'mc3', '--temperatures', '12']);
    if (arg('file')) return;
    for (const n of [12, 14, 16]) {
      alone(`mc3 exact, ${n} binary keys`, 1e5, ['assess', data('binary', 100_000), ...key(Array.from({ length: n },
        (_, i) => `item${String(i + 1).padStart(2, '0')}`)), '--fraction', '0.01', '--measures', 'mc3', '--search', 'exact', ...out],
      threads, Math.min(runs, 3));
    }
  },
  scale() {
    const few = Math.min(runs, 3);
    for (const rows of [1e6, 3e6, 1e7, 3e7]) {
      alone(`${rows / 1e6} million rows, 5 keys, suda`, rows, ['assess', data('census', rows), ...key(census.slice(0, 5)), ...out], threads, few);
    }
    for (const n of [6, 8, 10, 12]) {
      alone(`${n} keys, 1 million rows, suda`, 1e6, ['assess', data('census', 1e6), ...key(census.slice(0, n)), ...out], threads, few);
    }
    for (const workers of [1, 2]) {
      alone(`${workers} core${workers > 1 ? 's' : ''}, 12 keys, 1 million rows, suda`, 1e6, ['assess', data('census', 1e6), ...key(census), ...out], workers, few);
    }
  },
};
if (!modes[mode]) {
  console.error(`name what to measure: ${Object.keys(modes).join(', ')}`);
  process.exit(2);
}
console.log(`${mode}, ${threads} threads, medians of ${runs} runs of the whole process (DuckDB: the statement alone)`);
modes[mode]();
