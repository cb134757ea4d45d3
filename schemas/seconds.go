package schemas

import (
	"math"
	"time"
)

// Seconds is a number of seconds as a duration; more than there are is the longest.
func Seconds(x float64) time.Duration {
	if x >= math.MaxInt64/float64(time.Second) {
		return math.MaxInt64
	}
	return time.Duration(x * float64(time.Second))
}
