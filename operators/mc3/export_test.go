package mc3

// IntervalOf is interval.
var IntervalOf = interval
