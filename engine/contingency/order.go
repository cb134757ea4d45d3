package contingency

import (
	"cmp"
	"strings"
)

// An Order is how the categories of a variable follow each other: by their values, of which the labels are the text.
type Order uint8

const (
	ByBytes  Order = iota // texts, dates, booleans
	ByNumber              // decimal numerals without exponents, of any length
)

func (o Order) String() string {
	if o == ByNumber {
		return "by number"
	}
	return "by bytes"
}

// Compare compares the labels of two categories. Only equal labels compare equal.
func (o Order) Compare(a, b string) int {
	if o == ByBytes {
		return strings.Compare(a, b)
	}
	return cmp.Or(CompareNumerals(a, b), strings.Compare(a, b))
}

// CompareNumerals compares decimal numerals without exponents, exactly and of any length.
func CompareNumerals(a, b string) int {
	negative := strings.HasPrefix(a, "-")
	if negative != strings.HasPrefix(b, "-") {
		if negative {
			return -1
		}
		return 1
	}
	if negative {
		a, b = b[1:], a[1:]
	}
	wholeA, restA, _ := strings.Cut(a, ".")
	wholeB, restB, _ := strings.Cut(b, ".")
	wholeA, wholeB = strings.TrimLeft(wholeA, "0"), strings.TrimLeft(wholeB, "0")
	return cmp.Or(cmp.Compare(len(wholeA), len(wholeB)), cmp.Compare(wholeA, wholeB), cmp.Compare(strings.TrimRight(restA, "0"), strings.TrimRight(restB, "0")))
}
