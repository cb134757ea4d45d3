package schemas

import (
	_ "embed"
	"strings"
)

//go:embed GLOSSARY.md
var glossary string

// Glossary is what words mean, in the order of the glossary.
func Glossary() (words [][2]string) {
	for line := range strings.Lines(glossary) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if len(cells) != 4 || strings.HasPrefix(cells[1], "---") || strings.TrimSpace(cells[1]) == "term" {
			continue
		}
		clean := func(s string) string {
			return strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(s), "\x00", "|"), "`", "")
		}
		words = append(words, [2]string{clean(cells[1]), clean(cells[2])})
	}
	return words
}
