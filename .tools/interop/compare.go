package main

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// A cell is what one entry of a column chunk is, by arrow-go's reader: its levels, and its value unless it is null.
type cell struct {
	repetition, definition int16
	value                  string
}

// rowsOf reads a leaf column of all row groups, row by row.
func rowsOf(f *file.Reader, column int) (rows [][]cell, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	for g := range f.NumRowGroups() {
		c, err := f.RowGroup(g).Column(column)
		if err != nil {
			return nil, err
		}
		n := f.MetaData().RowGroup(g).NumRows()
		before := len(rows)
		if rows, err = appendRows(rows, c, n); err != nil {
			return nil, err
		}
		if int64(len(rows)-before) != n {
			return nil, fmt.Errorf("%d rows of %d in row group %d", len(rows)-before, n, g)
		}
	}
	return rows, nil
}

func appendRows(rows [][]cell, c file.ColumnChunkReader, most int64) ([][]cell, error) {
	const batch = 512
	d, r := make([]int16, batch), make([]int16, batch)
	deep, wide := c.Descriptor().MaxDefinitionLevel(), c.Descriptor().MaxRepetitionLevel()
	for c.HasNext() {
		n, texts, err := readBatch(c, batch, d, r)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			break
		}
		next := 0
		for i := range n {
			x := cell{definition: deep}
			if deep > 0 {
				x.definition = d[i]
			}
			if wide > 0 {
				x.repetition = r[i]
			}
			if x.definition == deep {
				if next >= len(texts) {
					return nil, errors.New("fewer values than levels")
				}
				x.value = texts[next]
				next++
			}
			if x.repetition == 0 {
				rows = append(rows, nil)
			}
			rows[len(rows)-1] = append(rows[len(rows)-1], x)
		}
	}
	return rows, c.Err()
}

func readBatch(c file.ColumnChunkReader, n int64, d, r []int16) (int64, []string, error) {
	switch c := c.(type) {
	case *file.BooleanColumnChunkReader:
		return batchOf(n, d, r, c.ReadBatch)
	case *file.Int32ColumnChunkReader:
		return batchOf(n, d, r, c.ReadBatch)
	case *file.Int64ColumnChunkReader:
		return batchOf(n, d, r, c.ReadBatch)
	case *file.Int96ColumnChunkReader:
		return batchOf(n, d, r, c.ReadBatch)
	case *file.Float32ColumnChunkReader:
		return batchOf(n, d, r, c.ReadBatch)
	case *file.Float64ColumnChunkReader:
		return batchOf(n, d, r, c.ReadBatch)
	case *file.ByteArrayColumnChunkReader:
		return batchOf(n, d, r, c.ReadBatch)
	case *file.FixedLenByteArrayColumnChunkReader:
		return batchOf(n, d, r, c.ReadBatch)
	}
	return 0, nil, fmt.Errorf("a reader of type %T", c)
}

func batchOf[T any](n int64, d, r []int16, read func(int64, []T, []int16, []int16) (int64, int, error)) (int64, []string, error) {
	values := make([]T, n)
	total, k, err := read(n, values, d, r)
	texts := make([]string, k)
	for i := range texts {
		texts[i] = physicalText(values[i])
	}
	return total, texts, err
}

// physicalText tells values apart by their bits.
func physicalText(v any) string {
	switch v := v.(type) {
	case parquet.ByteArray:
		return string(v)
	case parquet.FixedLenByteArray:
		return string(v)
	case float32, float64:
		return floatText(v)
	}
	return fmt.Sprint(v)
}

// levels compares all leaves of a file with those of an output that has all of its rows, or those that are 1 modulo 3.
func levels(input, output string, selected bool) (columns, values int, problems []string) {
	a, err := file.OpenParquetFile(input, false)
	if err != nil {
		return 0, 0, []string{"arrow-go cannot read the input: " + err.Error()}
	}
	defer a.Close()
	b, err := file.OpenParquetFile(output, false)
	if err != nil {
		return 0, 0, []string{"arrow-go cannot read the output: " + err.Error()}
	}
	defer b.Close()
	for i := range a.MetaData().Schema.NumColumns() {
		path := a.MetaData().Schema.Column(i).Path()
		was, err := rowsOf(a, i)
		if err != nil {
			problems = append(problems, fmt.Sprintf("unread: column %s of the input by arrow-go: %v", path, err))
			continue
		}
		if selected {
			was = everyThird(was)
		}
		is, err := rowsOf(b, b.MetaData().Schema.ColumnIndexByName(path))
		if err != nil {
			problems = append(problems, fmt.Sprintf("column %s of the output: %v", path, err))
			continue
		}
		columns, values = columns+1, values+len(was)
		if n, at := differing(was, is); n > 0 {
			problems = append(problems, fmt.Sprintf("column %s differs in %d of %d rows, first in %d", path, n, len(was), at))
		}
	}
	return columns, values, problems
}

func everyThird[T any](rows []T) []T {
	var list []T
	for i, row := range rows {
		if i%3 == 1 {
			list = append(list, row)
		}
	}
	return list
}

func differing(a, b [][]cell) (n, first int) {
	if len(a) != len(b) {
		return max(len(a), len(b)), min(len(a), len(b))
	}
	for i := range a {
		if fmt.Sprint(a[i]) != fmt.Sprint(b[i]) {
			if n++; n == 1 {
				first = i
			}
		}
	}
	return n, first
}
