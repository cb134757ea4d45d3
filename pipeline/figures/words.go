package figures

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// oneLine leaves only what can be drawn on a line, and written in XML.
func oneLine(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || r == 0xFFFE || r == 0xFFFF:
			return '\uFFFD'
		case unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp):
			return ' '
		}
		return r
	}, name))
}

// shortened is as much of a text as fits.
func shortened(name string, fits func(string) bool) string {
	if fits(name) {
		return name
	}
	runes := []rune(name)
	// Half of the rest is tried at a time.
	short, long := 0, len(runes)
	for short+1 < long {
		middle := (short + long) / 2
		if fits(string(runes[:middle]) + "…") {
			short = middle
		} else {
			long = middle
		}
	}
	return strings.TrimSpace(string(runes[:short])) + "…"
}

// within is as much of a text of a size as there is room for.
func within(name string, size, room float64) string {
	return shortened(name, func(part string) bool { return textWidth(part, size) <= room })
}

// em is the size of the font in the units of widths.
const em = 2048

// textWidth is how wide a text of a size is, about: pairs of letters that stand nearer to each other are not told apart.
func textWidth(text string, size float64) float64 {
	sum := 0
	for _, r := range text {
		sum += letterWidth(r)
	}
	return float64(sum) * size / em
}

// letterWidth is the width of a letter; of one that is in no table, as a viewer's font may have it.
func letterWidth(r rune) int {
	next := sort.Search(len(widths), func(i int) bool { return widths[i].first > r })
	if next > 0 {
		if t := widths[next-1]; int(r-t.first) < len(t.advance) {
			return int(t.advance[r-t.first])
		}
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
		return em
	}
	return em * 3 / 4
}
