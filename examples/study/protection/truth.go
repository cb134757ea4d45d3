package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	_ "microrisk/operators/builtin"
	"microrisk/operators/hierarchy"
	"microrisk/pipeline/session"
	"microrisk/schemas"
)

// Missing values are a category of people, and hidden in releases.
const (
	none   = "none"
	hidden = "\x00"
)

// classes are the people of each key.
type classes struct {
	names  []string
	values [][]string // by class
	counts []int64
}

// tableOf counts a file; what is missing is hidden.
func tableOf(ctx context.Context, path string, names []string) (*classes, error) {
	out := &classes{names: names}
	if len(names) == 0 {
		return out, nil
	}
	spec := &schemas.Spec{Source: schemas.Source{Path: []string{path}}, Key: keyOf(names)}
	t, err := session.CountKey(ctx, "file", spec, session.Options{}.WithDefaults())
	if err != nil {
		return nil, err
	}
	for i := range t.Classes() {
		row := make([]string, len(names))
		for v := range names {
			text, shown := t.Variables[v].Category(t.Code(i, v))
			if !shown {
				text = hidden
			}
			row[v] = text
		}
		out.values, out.counts = append(out.values, row), append(out.counts, t.Count(i))
	}
	return out, nil
}

// population has all people; who has no value of a variable is a category.
func (s *study) population(ctx context.Context) (*classes, error) {
	p, err := tableOf(ctx, s.data, strings.Split(s.key, ","))
	if err != nil {
		return nil, err
	}
	for _, row := range p.values {
		for v := range row {
			if row[v] == hidden {
				row[v] = none
			}
		}
	}
	return p, nil
}

func (c *classes) size() (n int64) {
	for _, m := range c.counts {
		n += m
	}
	return n
}

// draw is a simple random sample without replacement.
func (c *classes) draw(fraction float64, seed uint64) *classes {
	r := rand.New(rand.NewPCG(seed, 8))
	var people []int
	for i, n := range c.counts {
		for range n {
			people = append(people, i)
		}
	}
	out := &classes{names: c.names, values: c.values, counts: make([]int64, len(c.counts))}
	for i, at := range r.Perm(len(people)) {
		if float64(i) >= fraction*float64(len(people)) {
			break
		}
		out.counts[people[at]]++
	}
	return out
}

// write makes a file of them, a row each.
func (c *classes) write(path string) (rows int, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	w := csv.NewWriter(f)
	_ = w.Write(c.names) // w.Error tells
	for i, n := range c.counts {
		for range n {
			_ = w.Write(c.values[i])
			rows++
		}
	}
	w.Flush()
	return rows, w.Error()
}

func kept(names []string, levels []int) (list []string) {
	for v, name := range names {
		if levels[v] >= 0 {
			list = append(list, name)
		}
	}
	return list
}

// groups are what each value of the people becomes, by variable; nil where it stays.
func (s *study) groups(people *classes, levels []int) ([]map[string]string, error) {
	list, err := s.list(way{})
	if err != nil {
		return nil, err
	}
	out := make([]map[string]string, len(levels))
	for v, level := range levels {
		if level <= 0 {
			continue
		}
		var categories []string
		seen := map[string]bool{}
		for _, row := range people.values {
			if !seen[row[v]] {
				seen[row[v]] = true
				categories = append(categories, row[v])
			}
		}
		config := list.Of(people.names[v])
		if config == nil { // protect proposes bands by itself
			return nil, fmt.Errorf("say how %s can be made coarser (--hierarchy)", people.names[v])
		}
		var text []byte
		if config.File != "" {
			if text, err = os.ReadFile(config.File); err != nil {
				return nil, err
			}
		}
		h, err := hierarchy.Of(config, people.names[v], arrow.BinaryTypes.String, categories, false, text)
		if err != nil {
			return nil, err
		}
		out[v] = map[string]string{}
		for i, value := range categories {
			out[v][value] = h.Levels[level].Names[h.Levels[level].Group[i]]
		}
	}
	return out, nil
}

// recoded are the people by the categories of a release.
func (c *classes) recoded(groups []map[string]string, levels []int) *classes {
	out := &classes{names: kept(c.names, levels)}
	for i, n := range c.counts {
		if n == 0 {
			continue
		}
		var row []string
		for v, value := range c.values[i] {
			if levels[v] < 0 {
				continue
			}
			if groups[v] != nil {
				value = groups[v][value]
			}
			row = append(row, value)
		}
		out.values, out.counts = append(out.values, row), append(out.counts, n)
	}
	return out
}

// A truth is what an intruder gets right who knows the true values of everybody.
type truth struct {
	matches float64 // by guessing, of each record, among the people whom it fits: the sum of 1/F
	unique  int64   // people of the population whom one record fits
	correct int64   // of them those of the sample: the record is theirs
}

// judge tries everybody against every record, whose hidden cells fit everything: one table for each pattern of hidden cells.
func judge(release, people, sample *classes) truth {
	var out truth
	patterns := map[string]map[string]int64{} // records by what they show
	for i, row := range release.values {
		mask, shown := masked(row)
		if patterns[mask] == nil {
			patterns[mask] = map[string]int64{}
		}
		patterns[mask][shown] += release.counts[i]
	}
	if len(release.names) == 0 {
		return out
	}
	fit := func(c *classes, mask string) []string { // what each class would show under a mask
		keys := make([]string, len(c.values))
		for i, row := range c.values {
			keys[i] = show(row, mask)
		}
		return keys
	}
	rows := func(c *classes) []int64 { // records that fit each class
		list := make([]int64, len(c.values))
		for mask, shown := range patterns {
			for i, key := range fit(c, mask) {
				list[i] += shown[key]
			}
		}
		return list
	}
	for mask, shown := range patterns {
		f := map[string]int64{}
		for i, key := range fit(people, mask) {
			f[key] += people.counts[i]
		}
		for key, n := range shown {
			if f[key] > 0 {
				out.matches += float64(n) / float64(f[key])
			}
		}
	}
	for i, n := range rows(people) {
		if n == 1 {
			out.unique += people.counts[i]
		}
	}
	for i, n := range rows(sample) {
		if n == 1 {
			out.correct += sample.counts[i]
		}
	}
	return out
}

// masked is which cells of a row are hidden, and what it shows.
func masked(row []string) (mask, shown string) {
	var b strings.Builder
	for _, value := range row {
		b.WriteString(strconv.Itoa(map[bool]int{true: 1}[value == hidden]))
	}
	return b.String(), show(row, b.String())
}

func show(row []string, mask string) string {
	var b strings.Builder
	for v, value := range row {
		if mask[v] == '0' {
			b.WriteString(value)
		}
		b.WriteByte(0)
	}
	return b.String()
}
