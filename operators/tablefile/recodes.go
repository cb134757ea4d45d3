package tablefile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"microrisk/schemas/pattern"
)

// Recodes are those of a variable, as a file has them, before its codes are known.
type Recodes struct {
	Name string // of the file
	text []byte
}

// ReadRecodes reads the text of recodes; ParseRecode says what it has.
func ReadRecodes(name string, text []byte) Recodes { return Recodes{name, text} }

// A Recoding says what becomes of the codes of a variable.
type Recoding struct {
	New   map[string]string // by old code, those that are kept too
	Order []string          // the new codes, in the order of the old ones
	List  []Recode
}

// Of recodes the codes of a variable. Ranges go by the numbers that codes begin with, if all do, and then by their texts. total is what files
// call the total, which no code is.
func (r Recodes) Of(codes []string, total string) (*Recoding, error) {
	ordered := InOrder(codes)
	list, kept, err := ParseRecode(r.Name, r.text, ordered)
	if err != nil {
		return nil, err
	}
	made := &Recoding{New: make(map[string]string, len(codes)), List: list}
	for _, code := range kept {
		made.New[code] = code
	}
	for _, x := range list {
		if x.Code == total {
			return nil, fmt.Errorf("%s has the new code %q, which names the total over all: take another, or call totals something else (total)", r.Name, total)
		}
		for _, code := range x.Members {
			made.New[code] = x.Code
		}
	}
	met := make(map[string]bool)
	for _, code := range ordered {
		if n := made.New[code]; !met[n] {
			met[n] = true
			made.Order = append(made.Order, n)
		}
	}
	return made, nil
}

// leading is the number that a code begins with.
var leading = pattern.New(`^-?\d+(?:\.\d+)?`)

// InOrder are codes in the order that ranges go by.
func InOrder(codes []string) []string {
	list := slices.Sorted(slices.Values(codes))
	numbers := make(map[string]float64, len(codes))
	for _, c := range codes {
		v, err := strconv.ParseFloat(leading().FindString(c), 64)
		if err != nil {
			return list
		}
		numbers[c] = v
	}
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(numbers[a], numbers[b]) })
	return list
}
