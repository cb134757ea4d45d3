package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A tableFormat keeps, beside its data files, a log of which of them are of which version.
type tableFormat struct {
	name, log string // log is a pattern within the folder, with slashes
	way       string // how to get the rows of a version
}

var tableFormats = []tableFormat{
	{"a Delta Lake table", "_delta_log", "delta_scan"},
	{"a Hudi table", ".hoodie", ""},
	{"an Iceberg table", "metadata/*.metadata.json", "iceberg_scan"},
}

// refuseLogged refuses a folder of a table format, or a file in one: its files are of several versions, and those that were replaced
// would be counted with those that replaced them.
func refuseLogged(path string, folder bool) error {
	dir, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	if !folder {
		dir = filepath.Dir(dir)
	}
	for {
		for _, f := range tableFormats {
			if found, _ := filepath.Glob(filepath.Join(Globbed(dir), filepath.FromSlash(f.log))); len(found) == 0 {
				continue
			}
			way := "its own reader"
			if f.way != "" {
				way = fmt.Sprintf("DuckDB: COPY (SELECT * FROM %s('%s')) TO 'rows.parquet'", f.way, dir)
			}
			return Wrong(
				fmt.Errorf(
					"cannot read %s: %s is %s, whose files are not all of its current version (%s says which): write its rows to a file by %s, and read that",
					path,
					dir,
					f.name,
					filepath.Join(filepath.Base(dir), f.log),
					way,
				),
			)
		}
		// Data files are in folders of their own within the table.
		if base := filepath.Base(dir); !isPartition(dir) && base != "data" {
			return nil
		}
		dir = filepath.Dir(dir)
	}
}

// regularFile tells what keeps a path from being read as a file, nil if nothing does.
func regularFile(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("cannot read %s: it is not a regular file; take it out of the folder, or name the files", path)
	}
	return nil
}

// Globbed is a path as a part of a pattern that means it.
func Globbed(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}
