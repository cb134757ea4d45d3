// Package builtin registers the operators that microrisk comes with: one line each, and the only list of them.
package builtin

import (
	_ "microrisk/operators/attribution"
	_ "microrisk/operators/audit"
	_ "microrisk/operators/frequency"
	_ "microrisk/operators/individual"
	_ "microrisk/operators/kanonymity"
	_ "microrisk/operators/ldiversity"
	_ "microrisk/operators/mc3"
	_ "microrisk/operators/protect"
	_ "microrisk/operators/protectrecords"
	_ "microrisk/operators/recode"
	_ "microrisk/operators/sap"
	_ "microrisk/operators/selection"
	_ "microrisk/operators/suda"
	_ "microrisk/operators/suppress"
	_ "microrisk/operators/tabulate"
)
