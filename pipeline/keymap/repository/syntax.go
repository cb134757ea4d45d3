package repository

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"microrisk/schemas/pattern"
)

var (
	atLine = pattern.New(`^yaml: (?:line (\d+): )?`)
	// What the library's parser says, beside its scanner, has a line that counts from 0 (yaml.v3, decode.go, fail).
	fromZero = pattern.New(`^(did not find expected (<|node content|'-' indicator|key|',' or )|found (duplicate|undefined tag|incompatible) )`)
)

// syntaxError is what a YAML library says is wrong with a text, and the line of it.
func syntaxError(err error, text []byte) (line int, says string) {
	first, _, _ := strings.Cut(err.Error(), "\n")
	says = atLine().ReplaceAllString(first, "")
	m := atLine().FindStringSubmatch(first)
	if m == nil || m[1] == "" {
		return 1, says
	}
	line, _ = strconv.Atoi(m[1])
	if fromZero().MatchString(says) {
		line++
	}
	return min(line, 1+lineBreaks(string(text))), says // the library thinks of a line break at the end
}

// lineBreaks counts those of YAML.
func lineBreaks(text string) int {
	n := strings.Count(text, "\n") + strings.Count(text, "\u0085") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
	return n + strings.Count(text, "\r") - strings.Count(text, "\r\n")
}

// notUTF8 tells where a text is not UTF-8, and what to do.
func notUTF8(text []byte) (line int, says string) {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(text, []byte(mark)) {
			return 1, "it is UTF-16; convert it first: iconv -f UTF-16 -t UTF-8"
		}
	}
	line = 1
	for {
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size <= 1 {
			return line, "it is not UTF-8 here; convert it first, as from Windows-1252: iconv -f WINDOWS-1252 -t UTF-8"
		}
		if r == '\n' {
			line++
		}
		text = text[size:]
	}
}
