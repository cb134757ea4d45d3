package attribution

// Learnt is the chance that the value of an attribute is learnt of a person from a record with the person's key: match is the chance that the
// record is the person's, given the chance that another person with this key has the same value. Both are within 0 and 1, and so is what is
// learnt; it is 1 where one of them is. (Smith 2011, chapter 1, where a match of .99 and a history that 2 % share make .9902.)
func Learnt(match, given float64) float64 { return match + (1-match)*given }

// Beliefs are what records other than one tell of the value that it has: all of them, or those of its key alone.
type Beliefs struct {
	Key       int64   // other records of the key that have a value
	Share     float64 // of them, those with the record's value; not looked at if there are none
	Prior     float64 // the share among all other records that have a value, or what a model of records with other keys says
	Smoothing float64 // so many records of the key are put in, of which the prior is the share; at least 0
}

// Given is the chance that another person with the key has the value: the share of the other records, the prior mixed in; the prior where
// there is nothing else. As the record itself is left out, the share in a random sample is on average that of the other people with the key.
func (b Beliefs) Given() float64 {
	switch n := float64(b.Key); {
	case b.Key == 0:
		return b.Prior
	case b.Smoothing == 0:
		return b.Share
	default:
		return (n*b.Share + b.Smoothing*b.Prior) / (n + b.Smoothing)
	}
}
