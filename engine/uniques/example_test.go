package uniques_test

import (
	"context"
	"fmt"
	"log"

	"microrisk/engine/contingency"
	"microrisk/engine/uniques"
)

// The ten records of the table that the SDC practice guide explains SUDA with.
func Example() {
	names := []string{"residence", "gender", "education", "labour"}
	categories := [][]string{
		{"rural", "urban"},
		{"female", "male"},
		{"post-secondary", "primary complete", "primary incomplete", "secondary complete", "secondary incomplete"},
		{"employed", "non-LF", "unemployed"},
	}
	codes := [][]uint32{
		{1, 1, 1, 1, 0, 1, 1, 1, 1, 1},
		{0, 0, 0, 1, 0, 1, 0, 1, 0, 0},
		{4, 4, 2, 3, 3, 3, 1, 0, 4, 4},
		{0, 0, 1, 0, 2, 0, 1, 2, 1, 1},
	}
	variables := make([]contingency.Variable, len(names))
	for v, name := range names {
		variables[v] = contingency.Variable{Name: name, Categories: categories[v]}
	}
	table, err := contingency.New(variables, codes, []int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1})
	if err != nil {
		log.Fatal(err)
	}
	r, err := uniques.Search(context.Background(), table, uniques.Options{Score: uniques.Factorial, Contributions: true, MSUs: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sample uniques:", r.Uniques, "doubles:", r.Doubles, "MSUs by size:", r.BySize)
	for i := range table.Classes() {
		if r.Count[i] == 0 {
			continue
		}
		fmt.Print("class ", i, " score ", r.Score[i], ":")
		for _, set := range r.MSUs(i, nil) {
			fmt.Print(" {")
			for v, name := range names {
				if set>>v&1 == 1 {
					fmt.Print(" ", name)
				}
			}
			fmt.Print(" }")
		}
		fmt.Println()
	}
	fmt.Printf("DIS %.4f\n", uniques.DIS(.01, r.Uniques, r.Doubles))
	// Output:
	// sample uniques: 4 doubles: 3 MSUs by size: [4 5 0 0]
	// class 0 score 12: { residence } { gender education } { gender labour } { education labour }
	// class 1 score 6: { education }
	// class 2 score 6: { education }
	// class 5 score 10: { education } { residence labour } { gender labour }
	// DIS 0.0067
}
