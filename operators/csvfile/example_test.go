package csvfile_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"microrisk/operators/csvfile"
)

// Types follow from all values of a column: one that is no number makes it text.
func ExampleOpen() {
	dir, _ := os.MkdirTemp("", "")
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "people.csv")
	if err := os.WriteFile(path, []byte("age;code;income\n34;01;1200.5\n51;02;\n"), 0o600); err != nil {
		log.Fatal(err)
	}
	source, err := csvfile.Open(context.Background(), []string{path}, csvfile.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer source.Close()
	for _, f := range source.Schema().Fields() {
		fmt.Println(f.Name, f.Type)
	}
	// Output:
	// age int64
	// code utf8
	// income float64
}
