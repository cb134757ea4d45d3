// Annotates the files of other writers with the program, then has check.mjs compare all columns of input and output by DuckDB.
//
//   node annotate.mjs [--data FOLDER] [--out FOLDER]      from the repository's root, after task build
//
// All forms of one table must get the same scores. A file that the program refuses by name is listed; any other failure ends the check.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";

const arg = (name, otherwise) => {
  const at = process.argv.indexOf("--" + name);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const data = arg("data", "../shared/data");
const out = arg("out", "build/interop");
const program = join("build", process.platform === "win32" ? "microrisk.exe" : "microrisk");

if (!existsSync(data)) {
  console.log(`${data} is not there: nothing to check`);
  process.exit(0);
}
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });

const adult = "age,workclass,education,marital_status,occupation,race,sex,native_country";
const kdd = "age,sex,race,marital_status,education,class_of_worker,major_occupation,birth_country_self";
const jobs = [];
const folder = join(data, "interop");
for (const file of existsSync(folder) ? readdirSync(folder).filter((f) => f.endsWith(".parquet")).sort() : []) {
  jobs.push({ input: join(folder, file), key: file.startsWith("adult") ? adult : null, group: file.startsWith("adult") ? "adult" : null });
}
jobs.push({ input: join(data, "micro", "adult.parquet"), key: adult, group: "adult" });
jobs.push({ input: join(data, "micro", "census_income_kdd.parquet"), key: kdd, group: null });

const instance = await DuckDBInstance.create(":memory:");
const db = await instance.connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjects();

// flatKey takes the first flat columns of a file that can be key variables.
async function flatKey(input) {
  const list = await rows(`DESCRIBE SELECT * FROM read_parquet('${input}')`);
  return list.filter((c) => /^(VARCHAR|BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|DATE|DECIMAL\(.*\)|TIMESTAMP.*)$/.test(c.column_type))
    .slice(0, 4).map((c) => c.column_name).join(",");
}

// scores is a digest of the added columns in the order of rows.
async function scores(output) {
  const list = await rows(`SELECT sample_frequency, suda_score, suda_is, suda_msu_count, suda_msu_min_size FROM read_parquet('${output}')`);
  const hash = createHash("sha256");
  for (const r of list) hash.update(Object.values(r).join(" ") + "\n");
  return hash.digest("hex").slice(0, 16);
}

const pairs = [], refused = [], digests = new Map();
for (const { input, key, group } of jobs) {
  if (!existsSync(input)) continue;
  const output = join(out, basename(input));
  const r = spawnSync(program, ["assess", input, "--key", key ?? (await flatKey(input)), "--fraction", "0.01", "--out", output, "--quiet"], { encoding: "utf8" });
  if (r.status !== 0) {
    const message = (r.stderr || String(r.error)).trim();
    if (r.status === 1 && message.includes(basename(input)) && !message.includes("internal error") && !message.includes("\n") && !existsSync(output)) {
      refused.push(message);
      continue;
    }
    console.error(`${input}: status ${r.status}: ${message}`);
    process.exit(1);
  }
  pairs.push(input, output);
  if (group) {
    const digest = await scores(output);
    digests.set(digest, [...(digests.get(digest) ?? []), basename(input)]);
  }
}
for (const message of refused) console.log(`refused: ${message}`);
for (const [digest, files] of digests) console.log(`scores ${digest}: ${files.length} files`);
if (digests.size > 1) {
  console.error("forms of one table have different scores:", Object.fromEntries(digests));
  process.exit(1);
}
const check = spawnSync(process.execPath, [join(dirname(fileURLToPath(import.meta.url)), "check.mjs"), ...pairs], { stdio: "inherit" });
process.exit(check.status ?? 1);
