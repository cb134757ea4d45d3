// Package pattern has regular expressions that are compiled when they are first used: a program knows many, and a run needs few.
//
//	var word = pattern.New(`^[a-z]+$`)
//	word().MatchString(text)
package pattern

import (
	"regexp"
	"sync"
)

// New is a regular expression; one that is none panics when it is used.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
