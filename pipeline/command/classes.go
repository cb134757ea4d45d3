package command

import (
	"math"
	"strconv"

	"github.com/urfave/cli/v2"

	"microrisk/operators/kanonymity"
	"microrisk/operators/ldiversity"
	"microrisk/schemas"
)

// classFlags are the flags of kanonymity, ldiversity and individual.
func classFlags() []cli.Flag {
	const category = "Classes"
	return []cli.Flag{
		&cli.StringFlag{Name: "anonymity", Category: category, Usage: "kanonymity: fewer than `K` records with a key violate it (default: 3)"},
		&cli.StringFlag{Name: "combinations", Category: category, Usage: "kanonymity: look at combinations of at most `N` key variables too"},
		&cli.StringSliceFlag{Name: "sensitive", Category: category, Usage: "ldiversity: `VARIABLES` that must be diverse, separated by commas"},
		&cli.StringFlag{Name: "diversity", Category: category, Usage: "ldiversity: `L` of the counts in the summary (default: 2)"},
		&cli.StringFlag{Name: "diversity-factor", Category: category, Usage: "ldiversity: `C` of recursive (c, l)-diversity (default: 2)"},
		&cli.StringFlag{Name: "household", Category: category, Usage: "individual: `COLUMN` that is the same for all members of a household"},
		&cli.StringFlag{Name: "risk-estimator", Category: category, Usage: "individual: exact or approximate, the closed formula of other programs (default: exact)"},
	}
}

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

func kAnonymityOf(ctx *cli.Context) (*kanonymity.Config, error) {
	k := &kanonymity.Config{}
	var err error
	if k.K, err = wholeOf(ctx, "anonymity", 2); err != nil {
		return nil, err
	}
	n, err := wholeOf(ctx, "combinations", 1)
	k.Combinations = int(n)
	k.Force = n > 0 && ctx.Bool("force")
	return k, err
}

func lDiversityOf(ctx *cli.Context) (*ldiversity.Config, error) {
	l := &ldiversity.Config{}
	names, err := words("sensitive", ctx.StringSlice("sensitive"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, usage("ldiversity needs the variables that must be diverse: --sensitive HEALTH,...")
	}
	for _, name := range names {
		l.Sensitive = append(l.Sensitive, schemas.KeyVariable{Name: name})
	}
	if l.L, err = wholeOf(ctx, "diversity", 2); err != nil {
		return nil, err
	}
	if text := ctx.String("diversity-factor"); text != "" {
		if l.C, err = strconv.ParseFloat(text, 64); err != nil || !(l.C > 0) || math.IsInf(l.C, 1) {
			return nil, usage("--diversity-factor is %q; it must be a number above 0", text)
		}
	}
	return l, nil
}
