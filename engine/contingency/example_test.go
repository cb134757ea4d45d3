package contingency_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"microrisk/engine/contingency"
)

// Four records of sex and area are counted by a counter that spills after each batch, and looked up in a table on disk.
func ExampleMerge() {
	store := contingency.NewStore(context.Background(), "")
	defer store.Close()
	variables := []contingency.Variable{{Name: "sex", Categories: []string{"f", "m"}}, {Name: "area", Categories: []string{"north", "south"}}}
	final := [][]uint32{{2, 1, 0}, {2, 0, 1}} // m was met before f
	counter := contingency.NewCounter(2, 0)
	for _, batch := range [][][]uint32{{{1, 2}, {1, 1}}, {{1, 1}, {1, 2}}} {
		cols := []contingency.Column{{Index: []int32{0, 1}, Codes: batch[0]}, {Index: []int32{0, 1}, Codes: batch[1]}}
		if err := counter.Add(2, cols, nil, nil); err != nil {
			log.Fatal(err)
		}
		if err := counter.Spill(store); err != nil {
			log.Fatal(err)
		}
	}
	const memory = 1 // bytes: no table is as small
	table, err := contingency.Merge(context.Background(), variables, final, 1, memory, store, counter)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Classes(), "classes, on disk:", table.OnDisk())

	block := table.NewBlock()
	sex, area := contingency.Column{Index: []int32{0, 0}, Codes: []uint32{1}}, contingency.Column{Index: []int32{1, 0}, Codes: []uint32{0, 1}}
	if err := block.Add(2, []contingency.Column{sex, area}); err != nil {
		log.Fatal(err)
	}
	class, count := make([]int64, 2), make([]int64, 2)
	if err := block.Resolve(class, count); err != nil {
		log.Fatal(err)
	}
	fmt.Println(class, count)
	// Output:
	// 3 classes, on disk: true
	// [2 1] [1 2]
}

// Tables that two processes counted, each with categories of its own, come as files and add up.
func ExampleCombine() {
	ctx := context.Background()
	counted := func(categories []string, counts ...int64) *bytes.Buffer {
		codes := make([]uint32, len(counts))
		for c := range codes {
			codes[c] = uint32(c)
		}
		table, err := contingency.New([]contingency.Variable{{Name: "AGE", Categories: categories, Order: contingency.ByNumber}}, [][]uint32{codes}, counts)
		if err != nil {
			log.Fatal(err)
		}
		var file bytes.Buffer
		if err := contingency.Encode(ctx, &file, table); err != nil {
			log.Fatal(err)
		}
		return &file
	}
	var tables []*contingency.Table
	for _, file := range []*bytes.Buffer{counted([]string{"9", "10"}, 3, 1), counted([]string{"10", "11"}, 4, 1)} {
		table, err := contingency.Decode(ctx, file, 0, 0, nil)
		if err != nil {
			log.Fatal(err)
		}
		tables = append(tables, table)
	}
	sum, err := contingency.Combine(ctx, 0, 0, nil, tables...)
	if err != nil {
		log.Fatal(err)
	}
	for i := range sum.Classes() {
		age, _ := sum.Variables[0].Category(sum.Code(i, 0))
		fmt.Println(age, sum.Count(i))
	}
	// Output:
	// 9 3
	// 10 5
	// 11 1
}
