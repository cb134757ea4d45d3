package tablefile

import (
	"fmt"
	"strconv"
	"strings"
)

// A Setting is what somebody said of a cell.
type Setting struct {
	Line         int      // of the file
	Codes        []string // of the cell, one a variable
	Set          string   // safe, unsafe, protected, or "" where only other things are said
	Cost         *float64 // of hiding it
	Lower, Upper *float64 // the protection that it needs
	Reason, Name string
}

// Sets are the words of settings; hidden is a cell that is hidden for others.
var Sets = []string{"safe", "unsafe", "protected", "hidden"}

// ParseAPriori reads what is said of cells as tau-ARGUS has it (.hst): the codes of a cell, and s (safe), u (unsafe), p (protected),
// c and a cost, or pl and the lower and upper protection level; between all a comma, a semicolon or a tab. Errors have the line.
func ParseAPriori(name string, text []byte, variables int) ([]Setting, error) {
	separator := ""
	var list []Setting
	err := eachLine(name, text, func(line int, s string) error {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
		}
		if separator == "" {
			for _, c := range []string{";", "\t", ","} {
				if strings.Count(s, c) >= variables {
					separator = c
					break
				}
			}
			if separator == "" {
				return wrong("%q has fewer than the %d codes of a cell and a status, between semicolons, tabs or commas", s, variables)
			}
		}
		fields := strings.Split(s, separator)
		for i := range fields {
			fields[i] = strings.Trim(strings.TrimSpace(fields[i]), `"`)
		}
		if len(fields) <= variables {
			return wrong("there are %d fields, and a cell has %d codes and a status", len(fields), variables)
		}
		x := Setting{Line: line, Codes: fields[:variables]}
		status, figures := fields[variables], fields[variables+1:]
		number := func(i int) (*float64, error) {
			if i >= len(figures) {
				return nil, wrong("%s has %d numbers, and needs %d", status, len(figures), i+1)
			}
			v, err := strconv.ParseFloat(figures[i], 64)
			if err != nil || v < 0 || v-v != 0 {
				return nil, wrong("%q is no number of at least 0", figures[i])
			}
			return &v, nil
		}
		wants := 0
		var err error
		switch strings.ToLower(status) {
		case "s":
			x.Set = "safe"
		case "u":
			x.Set = "unsafe"
		case "p":
			x.Set = "protected"
		case "c":
			wants = 1
			x.Cost, err = number(0)
		case "pl":
			wants = 2
			if x.Lower, err = number(0); err == nil {
				x.Upper, err = number(1)
			}
		default:
			return wrong("the status %q is none of s (safe), u (unsafe), p (protected), c (a cost), pl (protection levels)", status)
		}
		if err != nil {
			return err
		}
		if len(figures) > wants {
			return wrong("there is more after %q than it has numbers: %q", status, strings.Join(figures[wants:], separator))
		}
		list = append(list, x)
		return nil
	})
	return list, err
}
