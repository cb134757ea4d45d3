package command

import (
	"math"
	"strconv"

	"github.com/urfave/cli/v2"
)

// wholeOf is the value of a flag that is a whole number of at least least; 0 if it is not given.
func wholeOf(ctx *cli.Context, flag string, least int64) (int64, error) {
	if !ctx.IsSet(flag) {
		return 0, nil
	}
	v, err := strconv.ParseInt(ctx.String(flag), 10, 32)
	if err != nil || v < least {
		return 0, usage("--%s is %q; it must be a whole number from %d to %d", flag, ctx.String(flag), least, math.MaxInt32)
	}
	return v, nil
}
