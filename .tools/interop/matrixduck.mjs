// What DuckDB reads of a file is compared with what it reads of the program's outputs, and with what inspect and tabulate say.
const text = (s) => "'" + s.replaceAll("'", "''") + "'";
const name = (s) => '"' + s.replaceAll('"', '""') + '"';

// byDuckDB returns the number of values compared, the problems, and what DuckDB itself cannot read.
export async function byDuckDB(db, run, done) {
  const r = { values: 0, problems: [], unread: [] };
  const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjects();
  const input = `read_parquet(${text(done.path)}, file_row_number = true)`;
  let columns;
  try {
    await db.run(`CREATE OR REPLACE TEMP TABLE whole AS SELECT * FROM ${input}`);
    columns = (await rows("DESCRIBE whole")).filter((c) => c.column_name !== "file_row_number");
  } catch (e) {
    r.unread.push(`DuckDB, ${done.form}: ${e.message.slice(0, 120)}`);
    return r;
  }
  const [{ n }] = await rows("SELECT count(*) AS n FROM whole");
  const differing = async (what, from, list, condition = "true") => {
    const tests = list.map((c, i) => `count(*) FILTER (a.${name(c.column_name)} IS DISTINCT FROM ${c.as ?? `b.${name(c.column_name)}`}) AS d${i}`);
    const [found] = await rows(`SELECT count(*) AS n, ${tests.join(", ")} FROM (SELECT * FROM whole WHERE ${condition} ORDER BY file_row_number) a POSITIONAL JOIN ${from} b`);
    list.forEach((c, i) => found["d" + i] > 0n && r.problems.push(`${what}: column ${c.column_name} differs in ${found["d" + i]} of ${found.n} rows`));
    r.values += Number(found.n) * list.length;
  };
  if (done.annotated) await differing("annotated", `read_parquet(${text(done.stem + ".all.parquet")})`, columns);
  if (done.selected) {
    const selected = `read_parquet(${text(done.stem + ".selected.parquet")})`;
    await differing("selected", selected, columns, "file_row_number % 3 = 1");
    if (/\+(plain|own)\+v1\+/.test(done.file)) await pruned(rows, r, selected, columns);
  }
  if (done.csv) await differing("csv", `read_csv(${text(done.stem + ".csv")}, all_varchar = true, header = true, allow_quoted_nulls = false, delim = ',', quote = '"', escape = '"', max_line_size = 10000000)`, asText(columns));
  if (done.inspect && done.flat) await inspected(rows, r, done, columns);
  if (done.flat && n > 0n) await tabulated(rows, run, r, done, columns);
  return r;
}

// asText are the columns that can be compared with their texts in CSV; DuckDB misreads subnormal halves.
function asText(columns) {
  const list = [];
  for (const c of columns) {
    const b = `b.${name(c.column_name)}`;
    if (c.column_name.startsWith("half")) continue;
    if (c.column_type === "VARCHAR") list.push({ ...c, as: b });
    else if (/^(BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|DATE|DOUBLE|FLOAT|DECIMAL.*|TIME|TIMESTAMP.*)$/.test(c.column_type)) list.push({ ...c, as: `CAST(${b} AS ${c.column_type})` });
  }
  return list;
}

// pruned finds rows by filters that use the statistics, and by those that cannot.
async function pruned(rows, r, from, columns) {
  const flat = columns.filter((c) => /^(BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|DATE|DOUBLE|FLOAT|DECIMAL.*|TIME|TIMESTAMP.*|VARCHAR|BLOB|UUID)$/.test(c.column_type));
  if (flat.length === 0) return;
  const [bounds] = await rows(`SELECT ${flat.map((c, i) => `min(${name(c.column_name)})::VARCHAR AS lo${i}, max(${name(c.column_name)})::VARCHAR AS hi${i}`).join(", ")} FROM (SELECT * FROM ${from} OFFSET 0)`);
  for (const [i, c] of flat.entries()) {
    for (const v of [bounds["lo" + i], bounds["hi" + i]]) {
      if (v === null) continue;
      const test = `${name(c.column_name)} = CAST(${text(v)} AS ${c.column_type})`;
      const [{ k, m }] = await rows(`SELECT (SELECT count(*) FROM ${from} WHERE ${test}) AS k, (SELECT count(*) FILTER (${test}) FROM (SELECT * FROM ${from} OFFSET 0)) AS m`);
      if (k !== m) r.problems.push(`selected: column ${c.column_name}: ${k} rows found by statistics, ${m} without them`);
    }
  }
}

// inspected compares numbers of categories and of missing values.
async function inspected(rows, r, done, columns) {
  const lines = new Map(done.inspect.split("\n").map((l) => l.match(/^ {2}(\S+) +(\S.*?) +([\d,]+|-) +([\d,]+)( .*)?$/)).filter(Boolean).map((m) => [m[1], m]));
  const number = (s) => BigInt(s.replaceAll(",", ""));
  const [found] = await rows(`SELECT ${columns.map((c, i) => `count(DISTINCT ${name(c.column_name)}) AS k${i}, count(*) - count(${name(c.column_name)}) AS m${i}`).join(", ")} FROM whole`);
  for (const [i, c] of columns.entries()) {
    const line = lines.get(c.column_name);
    if (!line) r.problems.push(`inspect does not list ${c.column_name}`);
    else if (number(line[4]) !== found["m" + i]) r.problems.push(`inspect: ${c.column_name} has ${line[4]} missing values, not ${found["m" + i]}`);
    else if (line[3] !== "-" && number(line[3]) !== found["k" + i]) r.problems.push(`inspect: ${c.column_name} has ${line[3]} categories, not ${found["k" + i]}`);
    r.values += 2;
  }
}

// tabulated compares the counts of two columns, which take turns, as text.
let turn = 0;
async function tabulated(rows, run, r, done, columns) {
  const list = columns.filter((c) => /^(BOOLEAN|U?(TINY|SMALL|BIG)INT|U?INTEGER|DATE|VARCHAR|DECIMAL.*)$/.test(c.column_type));
  const cells = [list[turn % list.length], list[(turn + 5) % list.length]];
  turn++;
  const out = done.stem + ".table.parquet";
  const of = [...new Set(cells.map((c) => c.column_name))];
  const t = await run(["tabulate", done.path, "--cells", of.join(","), "--out", out]);
  if (t.status !== 0) {
    r.problems.push(`tabulate ${of}: ${t.stderr}`);
    return;
  }
  const casts = cells.slice(0, of.length).map((c) => (`CAST(${name(c.column_name)} AS VARCHAR)`));
  const own = `SELECT ${casts.map((c, i) => `${c} AS v${i}`).join(", ")}, count(*) AS n FROM whole GROUP BY ALL`;
  const table = `SELECT ${of.map((c, i) => `CAST(CAST(${name(c)} AS ${cells[i].column_type}) AS VARCHAR) AS v${i}`).join(", ")}, CAST(count AS BIGINT) AS n FROM read_parquet(${text(out)})`;
  try {
    const [{ a, b, k }] = await rows(`SELECT (SELECT count(*) FROM (${own} EXCEPT ${table})) AS a, (SELECT count(*) FROM (${table} EXCEPT ${own})) AS b, (SELECT count(*) FROM (${own})) AS k`);
    if (a > 0n || b > 0n) r.problems.push(`tabulate ${of}: ${a} counts are missing, ${b} are not DuckDB's`);
    r.values += Number(k);
  } catch (e) {
    r.problems.push(`tabulate ${of}: ${e.message}`);
  }
}
