package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// A subject is a file that is damaged, and the commands that read it: FILE and OUT stand for paths.
type subject struct {
	name     string
	path     string
	checked  bool // bytes before the footer, or all of them, are under a checksum
	commands [][]string
}

// data are the commands for a file of records.
func data(key, where string) [][]string {
	return [][]string{
		{"assess", "FILE", "--key", key, "--replace", "--measures", "frequency", "--out", "OUT.csv"},
		{"assess", "FILE", "--key", key, "--replace", "--measures", "frequency", "--out", "OUT.risk"},
		{"assess", "FILE", "--key", key, "--replace", "--select", where, "--out", "OUT.risk"},
		{"assess", "FILE", "--key", key, "--replace", "--fraction", "0.1", "--verify", "--out", "OUT.arrow"},
		{"inspect", "FILE"},
	}
}

// nested are those of them that a nested column passes.
func nested(key, where string) [][]string { return data(key, where)[1:3] }

const keys, where = "education,ethnicity,smsa,region", "smsa=yes"

// subjects makes the files: from the sample data with the program itself, and those of other writers that are tests here.
func subjects(program, folder string) ([]subject, error) {
	const sample = "examples/data/cps1988.parquet"
	few := filepath.Join(folder, "few.parquet")
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, args := range [][]string{
		{"assess", sample, "--key", keys, "--measures", "frequency", "--select", "experience=30..31", "--out", few},
		{"assess", few, "--key", keys, "--replace", "--measures", "frequency", "--out", in("few.arrow")},
		{"assess", few, "--key", keys, "--replace", "--measures", "frequency", "--out", in("few.csv")},
		{"assess", few, "--key", keys, "--replace", "--measures", "frequency", "--out", in("few.csv.gz")},
		{
			"assess", few, "--key", keys, "--replace", "--measures", "mc3", "--fraction", "0.1", "--search", "exact", "--out", in("with.parquet"), "--model-out",
			in("model.json"),
		},
		{"tabulate", few, "--cells", "ethnicity,region", "--out", in("table.parquet")},
		{"tabulate", few, "--cells", "ethnicity,region", "--margins", "--out", in("table.csv")},
	} {
		if out, err := exec.Command(program, append(args, "--quiet", "--no-warnings")...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%v: %w: %s", args, err, out)
		}
	}
	spec := fmt.Sprintf("version: 1\nsource: {path: %s}\nkey: {variables: [education, ethnicity, {name: smsa, missing: wildcard}, region]}\noperators:\n"+
		"  - recode: {E5: {from: experience, width: 5}}\n  - select: {rows: {smsa: [yes], education: {min: 3}}}\n  - suda: {contributions: true, replace: true}\n"+
		"sink: {path: OUT.parquet}\n", few)
	if err := os.WriteFile(in("spec.yaml"), []byte(spec), 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(in("band.yaml"), []byte("experience: {width: 5}\nregion: {map: {south: s, west: w}, other: rest}\n"), 0o600); err != nil {
		return nil, err
	}
	model := []string{"assess", few, "--key", keys, "--replace", "--measures", "mc3", "--fraction", "0.1", "--model-in", "FILE", "--out", "OUT.csv"}
	bounds := []string{"bounds", "FILE", "--out", "OUT.csv"}
	parquets, arrows := "operators/parquetfile/testdata/", "operators/arrowfile/testdata/"
	return []subject{
		{"Parquet with checksums", few, true, data(keys, where)},
		{"annotated Parquet", in("with.parquet"), false, data(keys, where)},
		{"Parquet, v2, no checksums", parquets + "01_bool_rle_v2.parquet", false, data("v,k", "v=true")},
		{"Parquet, delta", parquets + "16_int32_delta_wide.parquet", false, data("id", "id=17")},
		{"Parquet of DuckDB", parquets + "duckdb_uint32_delta.parquet", false, nested("wide", "wide=0..")},
		{"Parquet of Spark", parquets + "02_spark_metadata.parquet", false, data("region,age", "region=n")},
		{"Parquet of arrow-go", parquets + "matrix_arrow-go_delta_v1.parquet", false, data("part,bool,int32_o,string", "part=1")},
		{"Parquet of parquet-wasm", parquets + "matrix_parquet-wasm_prefix_v1.parquet", false, data("part,bool,int32_o,string", "part=1")},
		{"Arrow file", in("few.arrow"), false, data(keys, where)},
		{"Arrow file of Polars", arrows + "20_polars_text.arrow", false, data("region,age", "region=n")},
		{"Arrow stream", arrows + "21_dictionary_replaced.arrows", false, data("v,k", "k=0..")},
		{"CSV", in("few.csv"), false, data(keys, where)},
		{"CSV, gzip", in("few.csv.gz"), true, data(keys, where)},
		{"model", in("model.json"), false, [][]string{model}},
		{"published table, Parquet", in("table.parquet"), true, [][]string{bounds}},
		{"published table, CSV", in("table.csv"), false, [][]string{bounds}},
		{"spec", in("spec.yaml"), false, [][]string{{"run", "FILE"}, {"validate", "FILE"}}},
	}, nil
}
