package repository

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"microrisk/engine/keymap"
)

func TestBandLabels(t *testing.T) {
	inf := math.Inf(1)
	for label, want := range map[string]keymap.Band{
		"16-20": {Lo: 16, Hi: 21}, "16–20": {Lo: 16, Hi: 21}, "16 — 20 years": {Lo: 16, Hi: 21}, "16 to 20": {Lo: 16, Hi: 21}, "-5 - -1": {Lo: -5, Hi: 0},
		"0.5-1.5": {Lo: 0.5, Hi: 2.5}, "65+": {Lo: 65, Hi: inf}, "65 and over": {Lo: 65, Hi: inf}, "65 years or older": {Lo: 65, Hi: inf}, "≥65": {Lo: 65, Hi: inf},
		">= 65": {Lo: 65, Hi: inf}, "over 64": {Lo: 65, Hi: inf}, "> 64": {Lo: 65, Hi: inf}, "under 16": {Lo: -inf, Hi: 16}, "<16": {Lo: -inf, Hi: 16},
		"<= 15": {Lo: -inf, Hi: 16}, "up to 15": {Lo: -inf, Hi: 16}, "15 and under": {Lo: -inf, Hi: 16}, "16": {Lo: 16, Hi: 17}, "16 years": {Lo: 16, Hi: 17},
	} {
		got, ok := bandOf(label, 1)
		require.True(t, ok, label)
		require.Equal(t, want, got, label)
	}
	for _, label := range []string{"", "a", "C4-5x", "20-16", "16-20-30", "1,000-2,000", "under", "sixteen", "10-A", "+5", "12 Main Street"} {
		_, ok := bandOf(label, 1)
		require.False(t, ok, label)
	}
	got, ok := bandOf("16-21", 0)
	require.True(t, ok)
	require.Equal(t, keymap.Band{Lo: 16, Hi: 21}, got)
	_, ok = bandOf("16", 0)
	require.False(t, ok, "without a step one number is no band")
}

// Variables that are named in other letters are not alike because a slug has none of them.
func TestSimilar(t *testing.T) {
	r := &Repository{Variables: []*Variable{{Name: "Возраст"}, {Name: "Economic status"}}}
	for name, want := range map[string]string{"Пол": "", "возраст": "Возраст", "economic_status": "Economic status", "Economic (status)": "Economic " +
		"status", "Age": ""} {
		require.Equal(t, want, r.Similar(name), name)
	}
}
