//go:build !nofigures

package figures

import (
	"fmt"
	"math"
)

// Kinds of scale.
const (
	linear = iota
	logarithmic
	logit
)

// most is the largest number that is drawn: sums and differences of those stay finite.
const most = 1e100

// A scale says where the values of an axis go. What is drawn on it are positions: the value itself, its logarithm to base 10, or its
// logit.
type scale struct {
	axis     string
	kind     int
	min, max float64 // positions at the ends
}

func newScale(axis string, isLog, isLogit bool) (*scale, error) {
	s := &scale{axis: axis, min: math.Inf(1), max: math.Inf(-1)}
	switch {
	case isLog && isLogit:
		return nil, fmt.Errorf("the %s axis is both logarithmic and logit", axis)
	case isLog:
		s.kind = logarithmic
	case isLogit:
		s.kind = logit
	}
	return s, nil
}

// position is infinite for what is beyond the scale's ends, and NaN for NaN.
func (s *scale) position(v float64) float64 {
	switch s.kind {
	case logarithmic:
		v = math.Log10(max(v, 0))
	case logit:
		p := min(max(v, 0), 1)
		v = math.Log(p / (1 - p))
	}
	if math.Abs(v) > most {
		return math.Inf(int(math.Copysign(1, v)))
	}
	return v
}

// value is the inverse of position.
func (s *scale) value(position float64) float64 {
	switch s.kind {
	case logarithmic:
		return math.Pow(10, position)
	case logit:
		return 1 / (1 + math.Exp(-position))
	}
	return position
}

// see widens the scale to a position, unless that is infinite or NaN.
func (s *scale) see(position float64) {
	if !math.IsInf(position, 0) && !math.IsNaN(position) {
		s.min, s.max = min(s.min, position), max(s.max, position)
	}
}

// Share of an axis that is left free beyond the data.
const margin = 0.03

// close fixes the ends: where they are asked to be, else where the data end and a little beyond.
func (s *scale) close(low, high *float64) error {
	if s.min > s.max { // no data
		s.min, s.max = 0, 1
		switch s.kind {
		case logarithmic:
			s.min = -1
		case logit:
			s.min, s.max = -3, 3
		}
		// An end that is asked for must not be on the wrong side of one that is not.
		if low != nil {
			s.min, s.max = s.position(*low), s.position(*low)+1
		} else if high != nil {
			s.min, s.max = s.position(*high)-1, s.position(*high)
		}
	}
	room := (s.max - s.min) * margin
	if !(room > 1e-12*max(math.Abs(s.min), math.Abs(s.max))) { // one value, or none that can be told apart
		room = max(math.Abs(s.min), math.Abs(s.max)) / 20
		if room == 0 || s.kind != linear {
			room = 0.5
		}
	}
	if low == nil {
		s.min -= room
	}
	if high == nil {
		s.max += room
	}
	if low != nil {
		s.min = s.position(*low)
		if high == nil && s.max <= s.min {
			s.max = s.min + max(math.Abs(s.min)/20, 0.5)
		}
	}
	if high != nil {
		s.max = s.position(*high)
		if low == nil && s.min >= s.max {
			s.min = s.max - max(math.Abs(s.max)/20, 0.5)
		}
	}
	if !(s.min < s.max) || math.IsInf(s.max-s.min, 0) {
		return fmt.Errorf("the %s axis cannot go from %v to %v", s.axis, s.value(s.min), s.value(s.max))
	}
	return nil
}
