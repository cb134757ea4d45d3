package contingency

import "errors"

// Spill writes what the counter holds to the store and empties it; it can count on.
func (c *Counter) Spill(s *Store) error { return errors.New("contingency: spilling is not there yet") }
