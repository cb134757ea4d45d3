package hierarchy

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"microrisk/engine/recoding"
	"microrisk/engine/tabular"
	"microrisk/operators"
	"microrisk/operators/recode"
	"microrisk/operators/tablefile"
)

// All is the name of the group of all values.
const All = "*"

// A Hierarchy has the levels of a variable's values in a file.
type Hierarchy struct {
	Variable string
	Levels   []recoding.Level // of the codes of categories, the missing one last; the last level is one group
	recodes  []recode.Column  // of each level but the first and the last
	Proposed string           // how it was made where nothing was said; "" where something was
	missing  bool             // the last code is that of missing values
}

// Of makes the levels of a variable: of the categories of its column, in the order of their codes, of which missing says that there is one more, of
// missing values. text is that of the config's file. A nil config proposes bands for whole numbers of many values, and else leaves the variable or
// drops it.
func Of(c *Config, variable string, t arrow.DataType, categories []string, missing bool, text []byte) (*Hierarchy, error) {
	h := &Hierarchy{Variable: variable, missing: missing}
	level := recoding.Level{Names: slices.Clone(categories)}
	for code := range categories {
		level.Group = append(level.Group, uint32(code))
	}
	if missing {
		level.Group, level.Names = append(level.Group, uint32(len(categories))), append(level.Names, "")
	}
	h.Levels = []recoding.Level{level}
	if c == nil {
		c = h.propose(t, categories)
	}
	if c.Fixed {
		return h, nil
	}
	var err error
	switch {
	case c.File != "":
		err = h.table(c, categories, missing, text)
	case len(c.Widths) > 0 || len(c.Top) > 0:
		err = h.bands(c, t, categories, missing)
	case len(c.Truncate) > 0:
		for _, n := range c.Truncate {
			if err = h.add(recode.Column{Name: variable, Replace: true, Truncate: int(n)}, t, categories, missing); err != nil {
				break
			}
		}
	}
	if err != nil {
		return nil, err
	}
	h.close()
	return h, nil
}

// Bands are proposed for whole numbers of so many values that fill so large a part of their range: codes of categories seldom do.
const (
	many  = 20
	dense = 0.6
)

// propose is what is done where nothing is said.
func (h *Hierarchy) propose(t arrow.DataType, categories []string) *Config {
	c := &Config{Variable: h.Variable}
	h.Proposed = "as it is, or left out"
	t = operators.ValueType(t)
	if !operators.IsInteger(t) && !operators.IsText(t) || len(categories) < many {
		return c
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, text := range categories {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != text {
			return c
		}
		low, high = min(low, float64(n)), max(high, float64(n))
	}
	if float64(len(categories)) < dense*(high-low+1) {
		return c
	}
	for _, w := range []float64{5, 10, 20, 100, 1000} {
		if high-low >= w && w <= (high-low+1)/2 {
			c.Widths = append(c.Widths, w)
		}
	}
	var texts []string
	for _, w := range c.Widths {
		texts = append(texts, figure(w))
	}
	if texts != nil {
		h.Proposed = "bands of " + strings.Join(texts, ", ") + ", or left out"
	}
	return c
}

// close adds the group of all, unless the last level is one group.
func (h *Hierarchy) close() {
	last := h.Levels[len(h.Levels)-1]
	codes := len(last.Group)
	if codes > 1 && slices.Max(last.Group) == 0 && slices.Min(last.Group) == 0 && len(h.Levels) > 1 {
		h.recodes = h.recodes[:max(0, len(h.recodes)-1)]
		h.Levels[len(h.Levels)-1].Names = []string{All}
		return
	}
	total := 0
	for _, n := range h.sizes(0) {
		total += n
	}
	h.Levels = append(h.Levels, recoding.Level{Group: make([]uint32, codes), Names: []string{All}, Size: []int{total}})
}

func (h *Hierarchy) sizes(level int) []int {
	l := &h.Levels[level]
	if l.Size != nil {
		return l.Size
	}
	sizes := make([]int, len(l.Names))
	for _, g := range l.Group {
		sizes[g]++
	}
	return sizes
}

// add makes a level by a recode.
func (h *Hierarchy) add(r recode.Column, t arrow.DataType, categories []string, missing bool) error {
	texts, err := r.Texts(t, categories)
	if err != nil {
		return err
	}
	return h.level(texts, missing, nil, r)
}

// level adds a level of these groups of categories; missing values stay apart, unless the recode puts them with others.
func (h *Hierarchy) level(groups []string, missing bool, sizes map[string]int, r recode.Column) error {
	l := recoding.Level{}
	at := map[string]uint32{}
	for _, text := range groups {
		g, seen := at[text]
		if !seen {
			g = uint32(len(at))
			at[text] = g
			l.Names = append(l.Names, text)
			if sizes != nil {
				l.Size = append(l.Size, sizes[text])
			}
		}
		l.Group = append(l.Group, g)
	}
	switch {
	case missing && r.Missing != nil:
		l.Group = append(l.Group, at[*r.Missing])
	case missing:
		l.Group, l.Names = append(l.Group, uint32(len(l.Names))), append(l.Names, "")
		if sizes != nil {
			l.Size = append(l.Size, 1)
		}
	}
	below := h.Levels[len(h.Levels)-1]
	up := map[uint32]uint32{}
	for code, g := range below.Group {
		if to, seen := up[g]; seen && to != l.Group[code] {
			return fmt.Errorf("the levels of %s do not nest: %q of level %d lies in %q and in %q of level %d", h.Variable, below.Names[g], len(h.Levels)-1,
				l.Names[to], l.Names[l.Group[code]], len(h.Levels))
		}
		up[g] = l.Group[code]
	}
	h.Levels, h.recodes = append(h.Levels, l), append(h.recodes, r)
	return nil
}

// bands adds the levels of widths and tops.
func (h *Hierarchy) bands(c *Config, t arrow.DataType, categories []string, missing bool) error {
	for i := range max(len(c.Widths), len(c.Top)) {
		r := recode.Column{Name: h.Variable, Replace: true}
		if len(c.Widths) > 0 {
			r.Width, r.Origin = c.Widths[min(i, len(c.Widths)-1)], c.Origin
		}
		if len(c.Top) > 0 {
			top := c.Top[min(i, len(c.Top)-1)]
			r.Top = &top
			if len(c.Widths) > 0 {
				if off := math.Mod(top-c.Origin, r.Width); math.Abs(off) > 1e-9 {
					return fmt.Errorf("the top %s of %s is no end of a band of %s from %s", figure(top), h.Variable, figure(r.Width), figure(c.Origin))
				}
			}
		}
		if err := h.add(r, t, categories, missing); err != nil {
			return err
		}
	}
	return nil
}

// table adds the levels of a file: each has the sizes of its groups in the file, of which not all values need be there.
func (h *Hierarchy) table(c *Config, categories []string, missing bool, text []byte) error {
	lines, err := linesOf(c, text)
	if err != nil {
		return err
	}
	at := map[string][]string{}
	for _, line := range lines {
		at[line[0]] = line
	}
	var without []string
	for _, value := range categories {
		if at[value] == nil {
			without = append(without, strconv.Quote(value))
		}
	}
	if without != nil {
		shown := without[:min(5, len(without))]
		return fmt.Errorf(
			"%s does not have %s of the column %s; every value of the file needs a line",
			c.File,
			strings.Join(shown, ", ")+more(len(without)-len(shown)),
			h.Variable,
		)
	}
	h.Levels[0].Size = slices.Repeat([]int{1}, len(h.Levels[0].Group))
	for range len(lines) - len(categories) { // values that the file lacks
		h.Levels[0].Names, h.Levels[0].Size = append(h.Levels[0].Names, ""), append(h.Levels[0].Size, 1)
	}
	if missing && at[""] != nil { // the line of missing values is theirs
		h.Levels[0].Names, h.Levels[0].Size = h.Levels[0].Names[:len(h.Levels[0].Names)-1], h.Levels[0].Size[:len(h.Levels[0].Size)-1]
	}
	for l := 1; l < len(lines[0]); l++ {
		groups, sizes := make([]string, len(categories)), map[string]int{}
		used := map[string]string{}
		one := true
		for i, value := range categories {
			groups[i] = at[value][l]
			used[value] = groups[i]
			one = one && groups[i] == groups[0]
		}
		for _, line := range lines {
			if line[0] == "" && missing {
				continue
			}
			sizes[line[l]]++
		}
		if one && l == len(lines[0])-1 {
			break // the group of all
		}
		r := recode.Column{Name: h.Variable, Replace: true, Map: used}
		if missing && at[""] != nil && slices.Contains(groups, at[""][l]) {
			joined := at[""][l]
			r.Missing = &joined
			sizes[joined]++
		}
		if err := h.level(groups, missing, sizes, r); err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
	}
	return nil
}

func more(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// linesOf reads a file: the levels of each value, itself the first.
func linesOf(c *Config, text []byte) ([][]string, error) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	if strings.EqualFold(filepath.Ext(c.File), ".hrc") || bytes.Contains(first, []byte("parent")) {
		return linesOfTree(c, text)
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
	r.Comma, r.FieldsPerRecord = ';', -1
	if !bytes.Contains(first, []byte(";")) {
		r.Comma = ','
	}
	var lines [][]string
	seen := map[string]int{}
	for {
		line, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.File, err)
		}
		at, _ := r.FieldPos(0)
		switch {
		case len(lines) > 0 && len(line) != len(lines[0]):
			return nil, fmt.Errorf("%s:%d: the line has %d levels, the first has %d", c.File, at, len(line), len(lines[0]))
		case seen[line[0]] > 0:
			return nil, fmt.Errorf("%s:%d: the value %q stands in line %d too", c.File, at, line[0], seen[line[0]])
		case len(line) < 2:
			return nil, fmt.Errorf("%s:%d: there is no level above the value %q; write value;level;...;*", c.File, at, line[0])
		}
		seen[line[0]] = at
		lines = append(lines, line)
	}
	if lines == nil {
		return nil, fmt.Errorf("%s has no lines", c.File)
	}
	return lines, nested(c.File, lines)
}

// nested tells whether values that share a group share it at all levels above, also those that the data lack.
func nested(file string, lines [][]string) error {
	for l := 1; l+1 < len(lines[0]); l++ {
		up := map[string]int{}
		for i, line := range lines {
			j, seen := up[line[l]]
			if !seen {
				up[line[l]] = i
			} else if other := lines[j]; other[l+1] != line[l+1] {
				return fmt.Errorf("%s: the levels do not nest: %q of level %d is in %q (value %q) and in %q (value %q) of level %d", file, line[l], l,
					other[l+1], other[0], line[l+1], line[0], l+1)
			}
		}
	}
	return nil
}

// linesOfTree are the levels of the lowest codes of a hierarchy of tables; those of less deep ones stay at the lower levels.
func linesOfTree(c *Config, text []byte) ([][]string, error) {
	file, err := tablefile.ReadHierarchy(c.File, text, tablefile.DefaultLead, false)
	if err != nil {
		return nil, err
	}
	t, err := file.Tree(c.Variable, All)
	if err != nil {
		return nil, err
	}
	deep := t.Depth()
	var lines [][]string
	for n := range t.Nodes {
		if n == 0 || !t.Leaf(n) {
			continue
		}
		path := pathOf(t, n)
		line := []string{path[0]}
		for k := 1; k < deep; k++ { // from below
			line = append(line, path[max(0, k-(deep-len(path)))])
		}
		line = append(line, All)
		lines = append(lines, line)
	}
	return lines, nil
}

// pathOf are the codes from a node up, without the total.
func pathOf(t *tabular.Tree, n int) []string {
	var path []string
	for ; n > 0; n = t.Nodes[n].Parent {
		path = append(path, t.Nodes[n].Code.Label)
	}
	return path
}

// Recode is what makes the column of a level; left says that the column is left out, and a nil recode that it stays as it is.
func (h *Hierarchy) Recode(level int) (r *recode.Column, left bool) {
	switch {
	case level == 0:
		return nil, false
	case level == len(h.Levels)-1:
		return nil, true
	}
	column := h.recodes[level-1]
	return &column, false
}

// Describe says what a level is, in a few words.
func (h *Hierarchy) Describe(level int) string {
	r, left := h.Recode(level)
	groups := h.Groups(level)
	switch {
	case left:
		return "left out"
	case r == nil:
		return "as it is"
	case r.Width > 0 && r.Top != nil:
		return fmt.Sprintf("bands of %s up to %s", figure(r.Width), figure(*r.Top))
	case r.Width > 0:
		return "bands of " + figure(r.Width)
	case r.Top != nil:
		return figure(*r.Top) + " and above together"
	case r.Truncate > 0:
		return fmt.Sprintf("the first %d characters", r.Truncate)
	}
	return fmt.Sprintf("level %d, %d groups", level, groups)
}

// Groups is how many groups of values of the file a level has, that of missing values among them.
func (h *Hierarchy) Groups(level int) int {
	return len(slices.Compact(slices.Sorted(slices.Values(h.Levels[level].Group))))
}

// Missing tells whether a group of a level is that of missing values alone.
func (h *Hierarchy) Missing(level int, group uint32) bool {
	l := &h.Levels[level]
	return h.missing && l.Group[len(l.Group)-1] == group && l.Names[group] == ""
}
