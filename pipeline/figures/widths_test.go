//go:build !nofigures

package figures

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The widths that are known without the font are those of the font.
func TestWidthsAreTheFonts(t *testing.T) {
	s := style(em, ink)
	end := rune(0)
	for _, w := range widths {
		require.Greater(t, w.first, end)
		for i := range w.advance {
			letter := string(w.first + rune(i))
			require.InDelta(t, s.Width(letter).Points(), textWidth(letter, em), 1e-6, "%q", letter)
		}
		end = w.first + rune(len(w.advance)) - 1
	}
	for _, text := range []string{"sample uniques", "Years of schooling, 12–16", "größer", "Возраст", "AVATAR", "..."} {
		require.InEpsilon(t, s.Width(text).Points(), textWidth(text, em), 0.12, text) // pairs of letters
	}
}
