package keymap

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// AnyCode is the code of arbitrary precision. Its 0 means that no categories are given.
const AnyCode = "C0.001"

// BlockNames are the sinks of each block by name, and the blocks by their first.
func (g *Graph) BlockNames(p Partition) [][]string {
	var blocks [][]string
	for _, block := range p.Blocks() {
		names := make([]string, len(block))
		for i, s := range block {
			names[i] = g.nodes[g.sinks[s]]
		}
		slices.Sort(names)
		blocks = append(blocks, names)
	}
	slices.SortFunc(blocks, slices.Compare)
	return blocks
}

// StableID names a partition by its blocks: the first 12 hexadecimal digits of the SHA-256 of a text of them, such as a,b|c. Serials of
// codes may change as forms come; this does not.
func (g *Graph) StableID(p Partition) string {
	var blocks []string
	for _, block := range g.BlockNames(p) {
		blocks = append(blocks, strings.Join(block, ","))
	}
	sum := sha256.Sum256([]byte(strings.Join(blocks, "|")))
	return hex.EncodeToString(sum[:])[:12]
}

// Codes name the harmonizations of a variable: a letter, the number of categories and a serial, such as C4.001. C is a categorization that a
// form has, in the order of forms, after those that have a code already; H one that harmonizing made, by size and canonical order. No code
// is given twice. A harmonization that a form takes up gets a code of C.
func (g *Graph) Codes(known map[string]Partition, observed, generated []Partition) map[Partition]string {
	codes := map[Partition]string{Any: AnyCode}
	serials := make(map[string]int)
	for _, code := range sortedCodes(known) {
		head, tail, _ := strings.Cut(code, ".")
		var n int
		fmt.Sscanf(tail, "%d", &n)
		serials[head] = max(serials[head], n)
		if _, twice := codes[known[code]]; !twice {
			codes[known[code]] = code
		}
	}
	name := func(letter string, p Partition) {
		if _, ok := codes[p]; !ok {
			head := fmt.Sprintf("%s%d", letter, p.Size())
			serials[head]++
			codes[p] = fmt.Sprintf("%s.%03d", head, serials[head])
		}
	}
	for _, p := range observed {
		name("C", p)
	}
	generated = slices.Clone(generated)
	slices.SortFunc(generated, func(a, b Partition) int { return cmp.Or(cmp.Compare(a.Size(), b.Size()), cmp.Compare(a, b)) })
	for _, p := range generated {
		name("H", p)
	}
	return codes
}

func sortedCodes(known map[string]Partition) []string {
	codes := make([]string, 0, len(known))
	for code := range known {
		codes = append(codes, code)
	}
	slices.Sort(codes)
	return codes
}

// CodeSize is the number of categories that a code tells of, [Unbounded] for that of Any, 0 for what is no code.
func CodeSize(code string) int {
	head, _, _ := strings.Cut(code, ".")
	n, err := strconv.Atoi(strings.TrimLeft(head, "CH"))
	switch {
	case code == AnyCode:
		return Unbounded
	case err != nil:
		return 0
	}
	return n
}
