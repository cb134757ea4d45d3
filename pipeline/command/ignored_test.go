package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is said and not looked at is wrong usage that says what would be right, in all verbs that read records.
func TestFlagsThatDoNothing(t *testing.T) {
	surveyFolder(t)
	const key = " survey.csv --key region,sex "
	for command, says := range map[string]string{
		"assess" + key + "--measures kanonymity --fraction 0.1":                                 "--fraction says how the records were drawn, and kanonymity does not look at it",
		"assess" + key + "--measures kanonymity,ldiversity --sensitive sex --population-size 9": "--population-size says how the records were drawn",
		"assess" + key + "--measures frequency --weight region":                                 "--weight says how the records were drawn",
		"assess" + key + "--measures kanonymity --force":                                        "force is about the search for combinations",
		"assess" + key + "--allow-empty":                                                        "--allow-empty lets --select, and recodes, name values",
		"assess" + key + "--footer none --out out.csv":                                          "the footer is that of Parquet outputs, and out.csv is none",
		"assess" + key + "--format parquet --delimiter ;":                                       "--delimiter stands between the fields of CSV, and no input is CSV",
		"assess made.parquet --key a --delimiter ;":                                             "--delimiter stands between the fields of CSV",
		"tabulate made.parquet --cells a --delimiter ;":                                         "--delimiter stands between the fields of CSV",
		"attack --sample made.parquet --population made.parquet --key a --delimiter ;":          "--delimiter stands between the fields of CSV",
		"evaluate" + key + "--fraction 0.5 --measures suda --top-classes 5":                     "the Bayesian strategy considers classes by a model",
		"evaluate" + key + "--fraction 0.5 --measures kanonymity --combinations 1 --bins 5":     "bins are those of calibration, and no score that is judged is a chance",
		"evaluate" + key + "--fraction 0.5 --measures suda --allow-empty":                       "--allow-empty lets --select",
		"table compare made.parquet --table a --rule min:n=3 --delimiter ;":                     "--delimiter stands between the fields of CSV",
		"inspect made.parquet --delimiter ;":                                                    "--delimiter stands between the fields of CSV",
	} {
		r := microrisk(t, strings.Fields(command)...)
		require.Equal(t, 2, r.status, command+": "+r.err)
		require.Contains(t, strings.Join(strings.Fields(r.err), " "), says, command)
	}
	r := microrisk(t, strings.Fields("assess"+key+"--allow-empty --select region=n1 --measures suda,kanonymity --combinations 1 --force --fraction 0.5 --delimiter , --out out.csv")...)
	require.Zero(t, r.status, r.err)
}
