//go:build nofigures

package figures

import "errors"

// Missing says that this program draws no figures, and what would.
func Missing() error { return errMissing }

var errMissing = errors.New("this microrisk has no figures (it was built with the tag nofigures); one that is built without the tag has them")

// SVG is an error, that of Missing.
func (f *Figure) SVG() ([]byte, error) { return nil, errMissing }

// PNG is an error, that of Missing.
func (f *Figure) PNG() ([]byte, error) { return nil, errMissing }
