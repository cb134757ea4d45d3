// Package pagetest checks how pages are made: tests of all who make one call it.
package pagetest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// MostBytes is what a page may have.
const MostBytes = 1 << 20

// outside is what would be read from elsewhere, or run.
var outside = regexp.MustCompile(`(?i)<script|<link|<iframe|<img|@import|url\(|\ssrc=|\son[a-z]+=|href="[^#]`)

// HTML checks a page: its elements close in order, identifiers are there once, what refers to one finds it, headings go down by one at most,
// and nothing comes from elsewhere.
func HTML(t *testing.T, text []byte) {
	t.Helper()
	require.True(t, bytes.HasPrefix(text, []byte("<!DOCTYPE html>\n")))
	require.Less(t, len(text), MostBytes)
	_, body, _ := strings.Cut(string(text), "</style>")
	require.Empty(t, outside.FindString(body), "nothing comes from elsewhere")
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Entity = xml.HTMLEntity
	ids, level, ones, title := map[string]bool{}, 0, 0, ""
	var refers, open []string
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		switch x := token.(type) {
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 && open[len(open)-1] == "title" && !slices.Contains(open, "svg") {
				title += string(x)
			}
		case xml.StartElement:
			open = append(open, x.Name.Local)
			for _, a := range x.Attr {
				switch a.Name.Local {
				case "id":
					require.False(t, ids[a.Value], "the id %s is there twice", a.Value)
					ids[a.Value] = true
				case "href":
					refers = append(refers, strings.TrimPrefix(a.Value, "#"))
				case "aria-labelledby":
					refers = append(refers, strings.Fields(a.Value)...)
				}
			}
			if n := x.Name.Local; len(n) == 2 && n[0] == 'h' && n[1] >= '1' && n[1] <= '6' {
				next := int(n[1] - '0')
				require.LessOrEqual(t, next, level+1, "a heading of level %d after one of %d", next, level)
				if level = next; next == 1 {
					ones++
				}
			}
		}
	}
	require.Equal(t, 1, ones, "one first heading")
	require.NotEmpty(t, title)
	for _, id := range refers {
		require.True(t, ids[id], "nothing has the id %s", id)
	}
	require.Contains(t, string(text), `<html lang="en">`)
}
