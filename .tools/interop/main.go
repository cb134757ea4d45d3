// Writes Parquet files of every physical type and encoding with arrow-go, and compares what became of files with arrow-go's reader.
//
//	interop write FOLDER [full]
//	interop values FILE.arrow   its values as JSON, as the tests of the repository have them
//	interop compare       reads lines CHECK, INPUT, OUTPUT, separated by tabs; CHECK is all, selected or arrow
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

type result struct {
	Check    string   `json:"check"`
	Input    string   `json:"input"`
	Columns  int      `json:"columns"`
	Values   int      `json:"values"`
	Problems []string `json:"problems"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case (len(args) == 2 || len(args) == 3 && args[2] == "full") && args[0] == "write":
		full = len(args) == 3
		return writeAll(args[1])
	case len(args) == 2 && args[0] == "values":
		return values(args[1])
	case len(args) == 1 && args[0] == "compare":
		return compare()
	}
	return fmt.Errorf("usage: interop write FOLDER [full] | interop compare < LIST")
}

func compare() error {
	lines := bufio.NewScanner(os.Stdin)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		if len(f) != 3 {
			return fmt.Errorf("%d fields in %q", len(f), lines.Text())
		}
		r := result{Check: f[0], Input: f[1], Problems: []string{}}
		var problems []string
		if f[0] == "arrow" {
			r.Columns, r.Values, problems = arrows(f[1], f[2])
			r.Input = f[2]
		} else {
			r.Columns, r.Values, problems = levels(f[1], f[2], f[0] == "selected")
		}
		r.Problems = append(r.Problems, problems...)
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return lines.Err()
}
