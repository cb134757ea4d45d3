package main

import "context"

func Example() {
	if err := run(context.Background(), survey()); err != nil {
		panic(err)
	}
	// Output:
	// Ada        score 0.000, unique on [["age10","sex","town"]]
	// Dana       score 0.333, unique on [["age10","town"]]
	// Grace      score 1.000, unique on [["age10"]]
	// 3 of 7 records are sample uniques; a unique match is correct with probability 0.08
}
