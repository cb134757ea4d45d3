// Files of every physical type in every encoding, version of pages and codec that five writers have, required, optional, repeated and
// nested, through the program: inspect, tabulate, a rewrite by --select, the annotated file (--verify), Arrow and CSV. What comes out is
// compared by value with what went in, by arrow-go's reader (level by level, and as Arrow with the table that was written) and by DuckDB.
//
//   node matrix.mjs [--out FOLDER] [--only TEXT] [--full]      from the repository's root, after task build
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { byDuckDB } from "./matrixduck.mjs";
import { writeByDuckDB, writeByHyparquet, writeByPolars, writeByWasm } from "./writers.mjs";

const arg = (name, otherwise) => {
  const at = process.argv.indexOf("--" + name);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const folder = resolve(arg("out", "build/matrix")), only = arg("only", ""), full = process.argv.includes("--full");
const program = resolve("build", process.platform === "win32" ? "microrisk.exe" : "microrisk");
const tool = join(folder, "interop-go");

rmSync(folder, { recursive: true, force: true });
for (const sub of ["in", "out"]) mkdirSync(join(folder, sub), { recursive: true });
const must = (r, what) => {
  if (r.status !== 0) throw new Error(`${what}: ${r.stderr || r.error}`);
};
must(spawnSync("go", ["build", "-o", tool, "."], { cwd: ".tools/interop", encoding: "utf8" }), "go build");
const input = join(folder, "in");
must(spawnSync(tool, ["write", input, ...(full ? ["full"] : [])], { encoding: "utf8" }), "arrow-go");
const db = await (await DuckDBInstance.create(":memory:", { threads: "2" })).connect();
await db.run("SET TimeZone = 'UTC'");
for (const write of [writeByWasm, writeByPolars, writeByDuckDB, writeByHyparquet]) {
  for (const failure of await write(input, db, full)) console.log(`not written: ${failure}`);
}

const run = (args) => new Promise((done) => {
  const p = spawn(program, [...args, "--quiet", "--no-warnings", "--workers", "1"]);
  let stdout = "", stderr = "";
  p.stdout.on("data", (b) => (stdout += b));
  p.stderr.on("data", (b) => (stderr += b));
  p.on("close", (status) => done({ status, stdout, stderr: stderr.trim() }));
});

const problems = [], refused = new Map(), lines = [], table = new Map();
const files = readdirSync(input).filter((f) => f.endsWith(".parquet") && f.includes(only)).sort();

// through runs the program on a file and notes what to compare.
async function through(file) {
  const path = join(input, file), stem = join(folder, "out", file.replace(/\.parquet$/, ""));
  const [writer, family, , codec, form, shape] = file.replace(/\.parquet$/, "").split("+");
  const flat = form !== "nested" && form !== "repeated";
  const measure = ["assess", path, "--key", "part", "--measures", "frequency"];
  const jobs = [["annotated", [...measure, "--verify", "--out", stem + ".all.parquet"]], ["inspect", ["inspect", path]]];
  if (shape === "many") jobs.push(["selected", [...measure, "--select", "part=1", "--out", stem + ".selected.parquet"]]);
  if (flat) jobs.push(["arrow", [...measure, "--out", stem + ".arrow"]]);
  if (flat && shape === "many" && (codec === "snappy" || family === "own")) jobs.push(["csv", [...measure, "--out", stem + ".csv"]]);
  const done = { file, path, stem, form, shape, flat };
  for (const [name, args] of jobs) {
    const r = await run(args);
    if (r.status === 0) {
      done[name] = r.stdout || true;
      continue;
    }
    const message = r.stderr.replaceAll(path, "FILE");
    if (r.status === 1 && (name === "arrow" || name === "csv") && /column/.test(message) && !/internal error/.test(message)) {
      refused.set(message, (refused.get(message) ?? 0) + 1);
    } else {
      problems.push(`${file}: ${name}: status ${r.status}: ${message}`);
    }
  }
  if (done.annotated) lines.push(["all", path, stem + ".all.parquet"]);
  if (done.selected) lines.push(["selected", path, stem + ".selected.parquet"]);
  // DuckDB's dictionaries make one of -0 and 0, and it changes small halves: its files are compared with themselves only.
  if (done.arrow && form === "flat" && writer !== "duckdb") lines.push(["arrow", join(input, `flat_${shape}.arrow`), stem + ".arrow"]);
  return done;
}

const started = Date.now();
const queue = [...files], results = [];
await Promise.all([1, 2].map(async () => {
  for (let f = queue.shift(); f; f = queue.shift()) results.push(await through(f));
}));
results.sort((a, b) => (a.file < b.file ? -1 : 1));
console.log(`${files.length} files through the program in ${Math.round((Date.now() - started) / 1000)} s`);

// count adds to the line of the table that a file belongs to.
function count(file, key, columns, values) {
  const [writer, family, pages, , form] = file.split("+");
  const line = [writer, family, pages, form].join("+");
  const t = table.get(line) ?? { files: new Set(), columns: 0, arrowGo: 0, duckdb: 0 };
  t.files.add(file);
  t.columns += columns;
  t[key] += values;
  table.set(line, t);
}

const unread = new Map();
const compared = spawnSync(tool, ["compare"], { input: lines.map((l) => l.join("\t")).join("\n") + "\n", encoding: "utf8", maxBuffer: 1 << 28 });
must(compared, "comparing");
for (const text of compared.stdout.trim().split("\n")) {
  const r = JSON.parse(text);
  const file = r.input.split(/[\\/]/).pop().replace(/\.arrow$/, ".parquet");
  count(file, "arrowGo", r.columns, r.values);
  for (const p of r.problems) {
    if (p.startsWith("unread: ")) unread.set(p, (unread.get(p) ?? 0) + 1);
    else problems.push(`${file}: ${r.check}: ${p}`);
  }
}
for (const done of results) {
  const r = await byDuckDB(db, run, done);
  count(done.file, "duckdb", 0, r.values);
  for (const p of r.problems) problems.push(`${done.file}: ${p}`);
  for (const p of r.unread) unread.set(p, (unread.get(p) ?? 0) + 1);
}

const row = (...cells) => cells.map((c, i) => (i < 4 ? String(c).padEnd([17, 11, 6, 9][i]) : String(c).padStart(12))).join(" ");
console.log(row("writer", "encodings", "pages", "table", "files", "columns", "by arrow-go", "by DuckDB"));
for (const [line, t] of [...table].sort()) console.log(row(...line.split("+"), t.files.size, t.columns, t.arrowGo, t.duckdb));
const sum = [...table.values()].reduce((s, t) => [s[0] + t.files.size, s[1] + t.columns, s[2] + t.arrowGo, s[3] + t.duckdb], [0, 0, 0, 0]);
console.log(row("all", "", "", "", ...sum));
for (const [message, n] of refused) console.log(`refused by name, ${n} times: ${message}`);
for (const [message, n] of unread) console.log(`${n} times: ${message}`);
console.log(`${problems.length} differences`);
for (const p of problems.slice(0, 100)) console.log("  " + p);
process.exit(problems.length > 0 || files.length === 0 || !existsSync(program) ? 1 : 0);
