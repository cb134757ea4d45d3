package tablefile

import (
	"fmt"
	"slices"
	"strings"
)

// A Recode makes one category of several.
type Recode struct {
	Code    string
	Members []string // in the order of the categories
}

// ParseRecode reads recodes as the ARGUS programs have them (.grc): a new code a line, and after a colon what becomes it, codes and ranges
// of codes, with commas between them: 1:10-12, 2:13-15,20. A range without an end goes to the first or the last code. Ranges are by the
// order of codes. A code with a comma stands in double quotes, with those within it twice. Codes that no line has are kept: they are given
// back. Errors have the line.
func ParseRecode(name string, text []byte, codes []string) (list []Recode, kept []string, err error) {
	place := make(map[string]int, len(codes))
	for i, c := range codes {
		place[c] = i
	}
	owner := make([]int, len(codes)) // line, 0 for none
	news := make(map[string]int)
	err = eachLine(name, text, func(line int, s string) error {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("%s:%d: %s", name, line, fmt.Sprintf(format, args...))
		}
		code, of, ok := strings.Cut(s, ":")
		if code = strings.TrimSpace(code); !ok || code == "" {
			return wrong("%q is no recode; write a new code, a colon and the old ones, such as 1:10-12", s)
		}
		if first, twice := news[code]; twice {
			return wrong("the new code %q stands in line %d too", code, first)
		}
		news[code] = line
		var members []int
		for _, item := range itemsOf(of) {
			from, to, err := rangeOf(item, codes, place)
			if err != nil {
				return wrong("%v", err)
			}
			for i := from; i <= to; i++ {
				if owner[i] != 0 {
					return wrong("%q becomes %q, and has a new code in line %d already", codes[i], code, owner[i])
				}
				owner[i] = line
				members = append(members, i)
			}
		}
		slices.Sort(members)
		r := Recode{Code: code}
		for _, i := range members {
			r.Members = append(r.Members, codes[i])
		}
		list = append(list, r)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	for i, c := range codes {
		if owner[i] != 0 {
			continue
		}
		if line, taken := news[c]; taken {
			return nil, nil, fmt.Errorf("%s:%d: the new code %q is a code that stays as it is", name, line, c)
		}
		kept = append(kept, c)
	}
	return list, kept, nil
}

// itemsOf are the items between commas, but for those within quotes that begin an item.
func itemsOf(text string) []string {
	var list []string
	start, began, quoted := 0, false, false // began: the item does with a quote
	for i := range len(text) {
		switch {
		case text[i] == '"' && (began || strings.TrimSpace(text[start:i]) == ""):
			began, quoted = true, !quoted
		case text[i] == ',' && !quoted:
			list, start, began = append(list, strings.TrimSpace(text[start:i])), i+1, false
		}
	}
	if quoted { // they are no quotes
		return append(list, trimmed(strings.Split(text[start:], ","))...)
	}
	return append(list, strings.TrimSpace(text[start:]))
}

func trimmed(list []string) []string {
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

// FormatRecodes writes recodes as ParseRecode reads them. Errors: codes that cannot be written, as they have line ends, or a colon in a new one.
func FormatRecodes(list []Recode) ([]byte, error) {
	var b strings.Builder
	for _, r := range list {
		if strings.ContainsAny(r.Code, ":\n\r") || strings.TrimSpace(r.Code) != r.Code || r.Code == "" {
			return nil, fmt.Errorf("the code %q cannot be a new one in a file of recodes", r.Code)
		}
		b.WriteString(r.Code + ":")
		for i, code := range r.Members {
			if strings.ContainsAny(code, "\n\r") {
				return nil, fmt.Errorf("the code %q has a line end, and cannot stand in a file of recodes", code)
			}
			if i > 0 {
				b.WriteByte(',')
			}
			if strings.ContainsAny(code, `,"`) || strings.TrimSpace(code) != code || code == "" {
				code = `"` + strings.ReplaceAll(code, `"`, `""`) + `"`
			}
			b.WriteString(code)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String()), nil
}

// rangeOf are the places of an item of a recode: a code, or a range of codes, whose names may have dashes themselves.
func rangeOf(item string, codes []string, place map[string]int) (from, to int, err error) {
	if item == "" {
		return 0, 0, fmt.Errorf("there is no code where one should be")
	}
	if i, ok := place[item]; ok {
		return i, i, nil
	}
	if len(item) > 1 && item[0] == '"' && item[len(item)-1] == '"' {
		if i, ok := place[strings.ReplaceAll(item[1:len(item)-1], `""`, `"`)]; ok {
			return i, i, nil
		}
	}
	found := false
	for at := range item {
		if item[at] != '-' {
			continue
		}
		first, last := strings.TrimSpace(item[:at]), strings.TrimSpace(item[at+1:])
		a, b, okA, okB := 0, len(codes)-1, first == "", last == ""
		if !okA {
			a, okA = place[first]
		}
		if !okB {
			b, okB = place[last]
		}
		if !okA || !okB || first == "" && last == "" {
			continue
		}
		if found {
			return 0, 0, fmt.Errorf("%q can be read as two ranges", item)
		}
		found, from, to = true, a, b
	}
	switch {
	case !found:
		return 0, 0, fmt.Errorf("%q is no code, and no range of codes", item)
	case from > to:
		return 0, 0, fmt.Errorf("the range %q is empty: %q comes after %q", item, codes[from], codes[to])
	}
	return from, to, nil
}
