package redesign

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"microrisk/engine/tabular"
	"microrisk/engine/tabular/detection"
	"microrisk/engine/tabular/redesign"
	"microrisk/operators/protect"
	"microrisk/operators/tablefile"
	"microrisk/pipeline/session"
	"microrisk/schemas"
	"microrisk/schemas/pattern"
)

// A variable of the table, and what may become of it.
type variable struct {
	redesign.Variable
	how    string // in words
	bands  bool   // its codes are bands of numbers
	names  map[int32]string
	origin map[string][]string // codes of the records, by code of the table, where these are recodes
}

// Words of how categories may become one.
const (
	byHierarchy  = "below a code of the hierarchy"
	byNeighbours = "neighbours"
	byGroups     = "given groups"
	byAny        = "any two"
	byNone       = "none"
)

// variable finds out what may become of a variable.
func (r *redesigning) variable(v int) (*variable, error) {
	tree := r.table.Grid.Trees[v]
	x := &variable{Variable: redesign.Variable{Tree: tree, Pinned: make([]bool, len(tree.Nodes))}, how: byAny, names: make(map[int32]string),
		origin: make(map[string][]string)}
	for _, made := range r.table.Recodes {
		if made.Variable == tree.Name {
			for _, recode := range made.List {
				x.origin[recode.Code] = recode.Members
			}
		}
	}
	for code, at := range tree.Places() {
		if code.Kind != tabular.Value {
			continue
		}
		_, err := tablefile.FormatRecodes([]tablefile.Recode{{Code: "x", Members: []string{code.Label}}})
		for _, n := range at { // what a file of recodes cannot name stays
			x.Pinned[n] = err != nil || len(at) > 1
		}
	}
	bands, err := r.bands(tree)
	x.bands = err == nil
	ordered, list := r.ordered(tree.Name)
	groups, grouped := r.Groups[tree.Name]
	switch {
	case tree.Depth() > 1 && (ordered || grouped):
		return nil, fmt.Errorf(
			"%s has a hierarchy, and what is below a code of it becomes one: take --ordered and --groups of it away, or the hierarchy",
			tree.Name,
		)
	case tree.Depth() > 1:
		x.how = byHierarchy
	case ordered && grouped:
		return nil, fmt.Errorf("%s has groups and an order: say one", tree.Name)
	case grouped:
		x.how = byGroups
		if err := x.group(groups, r.Config.Total); err != nil {
			return nil, err
		}
	case ordered:
		x.how = byNeighbours
		if x.Order, err = orderOf(tree, list, bands); err != nil {
			return nil, err
		}
	case x.bands:
		x.how, x.Order = byNeighbours, bands
	}
	return x, r.pin(x)
}

// ordered tells whether a variable is said to be ordered, and the codes that are said in their order.
func (r *redesigning) ordered(name string) (bool, []string) {
	for _, text := range r.Ordered {
		if variable, list, given := strings.Cut(text, "="); variable == name {
			if given {
				return true, strings.Split(list, "|")
			}
			return true, nil
		}
	}
	return false, nil
}

var proper = pattern.New(`^\d.*\D|^\D.*\d`)

// bands are the nodes of bands of numbers in their order; an error if they are none, or numbers alone, which may be codes of anything.
func (r *redesigning) bands(tree *tabular.Tree) ([]int32, error) {
	type band struct {
		detection.Band
		node int32
	}
	var list []band
	any := false
	for n, node := range tree.Nodes {
		if n == 0 || node.Code.Kind != tabular.Value {
			continue
		}
		b, err := protect.BandOf(node.Code.Label)
		if err != nil {
			return nil, err
		}
		any = any || proper().MatchString(node.Code.Label)
		list = append(list, band{b, int32(n)})
	}
	slices.SortStableFunc(list, func(a, b band) int { return cmp.Or(cmp.Compare(a.Low, b.Low), cmp.Compare(a.High, b.High)) })
	var nodes []int32
	var found []detection.Band
	for _, b := range list {
		nodes, found = append(nodes, b.node), append(found, b.Band)
	}
	if !any {
		return nil, fmt.Errorf("%s has numbers alone", tree.Name)
	}
	return nodes, detection.CheckBands(found)
}

// orderOf are the nodes of a tree in their order: the one that is said, or that of bands, of numbers that all codes begin with, or of texts.
func orderOf(tree *tabular.Tree, said []string, bands []int32) ([]int32, error) {
	if said == nil && bands != nil {
		return bands, nil
	}
	var codes []string
	for _, n := range tree.Nodes[1:] {
		if n.Code.Kind == tabular.Value {
			codes = append(codes, n.Code.Label)
		}
	}
	if said == nil {
		said = tablefile.InOrder(codes)
	}
	var order []int32
	for _, code := range said {
		node := tree.Find(tabular.Of(code))
		switch {
		case node < 0:
			return nil, unknown(tree, code, codes)
		case slices.Contains(order, int32(node)):
			return nil, fmt.Errorf("the order of %s has %q twice", tree.Name, code)
		}
		order = append(order, int32(node))
	}
	for _, code := range codes {
		if !slices.Contains(said, code) {
			return nil, fmt.Errorf("the order of %s does not have %q, which the table has", tree.Name, code)
		}
	}
	return order, nil
}

func unknown(tree *tabular.Tree, code string, codes []string) error {
	near := ""
	if n := schemas.Nearest(code, codes); n != "" {
		near = fmt.Sprintf("; did you mean %s?", n)
	}
	return fmt.Errorf("%s has no code %q%s", tree.Name, code, near)
}

// group reads the merges that are allowed.
func (x *variable) group(file, total string) error {
	text, err := session.ReadRegular(file, protect.LargestFile)
	if err != nil {
		return fmt.Errorf("the groups %s cannot be read: %w", file, err)
	}
	var codes []string
	for _, n := range x.Tree.Nodes[1:] {
		if n.Code.Kind == tabular.Value {
			codes = append(codes, n.Code.Label)
		}
	}
	made, err := tablefile.ReadRecodes(file, text).Of(codes, total)
	if err != nil {
		return err
	}
	x.Groups = [][]int32{}
	for _, recode := range made.List {
		var nodes []int32
		for _, code := range recode.Members {
			nodes = append(nodes, int32(x.Tree.Find(tabular.Of(code))))
		}
		slices.Sort(nodes)
		x.names[nodes[0]] = recode.Code
		x.Groups = append(x.Groups, nodes)
	}
	return nil
}

// pin keeps what must stay.
func (r *redesigning) pin(x *variable) error {
	var codes []string
	for _, n := range x.Tree.Nodes[1:] {
		if n.Code.Kind == tabular.Value {
			codes = append(codes, n.Code.Label)
		}
	}
	for _, text := range r.Pins {
		name, code, given := strings.Cut(text, "=")
		if name != x.Tree.Name {
			continue
		}
		if !given {
			for n := range x.Pinned {
				x.Pinned[n] = true
			}
			continue
		}
		if !slices.Contains(codes, code) {
			return unknown(x.Tree, code, codes)
		}
		for _, n := range x.Tree.Places()[tabular.Of(code)] {
			x.Pinned[n] = true
		}
	}
	return nil
}

// recodes are those of a variable in a design, from the codes of the records.
func (r *redesigning) recodes(d redesign.Design, v int) []tablefile.Recode {
	x := &r.variables[v]
	var list []tablefile.Recode
	gone := make(map[string]bool)
	for _, group := range r.problem.Groups(d, v) {
		made := tablefile.Recode{Code: r.label(v, group)}
		if x.Tree.Depth() > 1 {
			made.Code = x.Tree.Nodes[d[v][group[0]]].Code.Label
		}
		for _, n := range group {
			code := x.Tree.Nodes[n].Code.Label
			if from, recoded := x.origin[code]; recoded {
				made.Members = append(made.Members, from...)
				gone[code] = true
				continue
			}
			made.Members = append(made.Members, code)
		}
		list = append(list, made)
	}
	for _, n := range x.Tree.Nodes[1:] {
		if from, recoded := x.origin[n.Code.Label]; recoded && !gone[n.Code.Label] && n.Code.Kind == tabular.Value {
			list = append(list, tablefile.Recode{Code: n.Code.Label, Members: from})
		}
	}
	return list
}

// longest is the longest label of categories that become one that names them all.
const longest = 200

// label names the categories that become one.
func (r *redesigning) label(v int, group []int32) string {
	x := &r.variables[v]
	if name, given := x.names[group[0]]; given {
		return name
	}
	var codes []string
	for _, n := range group {
		codes = append(codes, x.Tree.Nodes[n].Code.Label)
	}
	text := ""
	switch {
	case x.bands:
		text = band(codes[0], codes[len(codes)-1])
	case x.Order != nil && number().MatchString(codes[0]) && number().MatchString(codes[len(codes)-1]):
		text = codes[0] + "-" + codes[len(codes)-1]
	case x.Order != nil && len(codes) > 2:
		text = codes[0] + " to " + codes[len(codes)-1]
	default:
		text = strings.Join(codes, "+")
	}
	if utf8.RuneCountInString(text) > longest {
		text = some(codes)
	}
	text = strings.TrimSpace(strings.NewReplacer(":", ";", "\n", " ", "\r", " ").Replace(text))
	for text == "" || text == r.Config.Total || x.Tree.Find(tabular.Of(text)) >= 0 || x.origin[text] != nil {
		text += "*"
	}
	return text
}

// some names as many codes as there is room for, and how many more there are: files of recodes and logs name all.
func some(codes []string) string {
	text, named := codes[0], 1
	for named < len(codes)-1 && utf8.RuneCountInString(text)+utf8.RuneCountInString(codes[named]) < longest {
		text += "+" + codes[named]
		named++
	}
	return fmt.Sprintf("%s and %d more", text, len(codes)-named)
}

var (
	number = pattern.New(`^\d+$`)
	ends   = pattern.New(`\d+(?:\.\d+)?`)
	open   = pattern.New(`\+|more|over|>|inf`)
)

// band is that from the first to the last of bands, as they are written.
func band(first, last string) string {
	from, to := ends().FindString(first), ends().FindAllString(last, -1)
	if from == "" || len(to) == 0 {
		return first + " to " + last
	}
	end := to[len(to)-1]
	switch {
	case strings.HasPrefix(first, "["):
		_, upper, _ := strings.Cut(last, ",")
		return "[" + from + "," + strings.TrimSpace(upper)
	case strings.HasPrefix(first, "<") && open().MatchString(last):
		return first + " and " + last
	case strings.HasPrefix(first, "<"):
		n, err := strconv.Atoi(end)
		if err != nil {
			return first + " to " + last
		}
		return "<" + strconv.Itoa(n+1)
	case open().MatchString(last):
		return from + "+"
	}
	return from + "-" + end
}
