package protect

import (
	"encoding/hex"
	"fmt"
	"slices"

	"microrisk/schemas"
)

// LoggedChange is how values were changed, or what stands in their place, and what came of it.
type LoggedChange struct {
	Scheme     string   `json:"scheme,omitempty"` // with its parameters in one word, as --scheme takes it
	Totals     string   `json:"totals,omitempty"`
	By         string   `json:"by,omitempty"`
	RecordKey  string   `json:"record_key,omitempty"`
	RecordID   string   `json:"record_id,omitempty"`
	SD         *float64 `json:"sd,omitempty"`
	Reach      *float64 `json:"reach,omitempty"`
	Spread     *float64 `json:"spread,omitempty"`
	View       string   `json:"view,omitempty"`
	Secret     string   `json:"secret,omitempty"` // that was made, in hexadecimal
	Changed    int      `json:"changed"`
	Imbalance  int64    `json:"imbalance"` // in units of the last decimal
	Controlled *bool    `json:"controlled,omitempty"`
}

// loggedChange is nil for a method that neither changes values nor shows intervals.
func (p *Protected) loggedChange() *LoggedChange {
	c := p.Config
	if p.Changed == nil {
		if c.View == "intervals" {
			return &LoggedChange{View: c.View}
		}
		return nil
	}
	l := &LoggedChange{SD: c.SD, Changed: p.Summary(0).Rounded, Imbalance: p.Changed.Imbalance}
	switch c.Method {
	case "perturbation":
		l.Scheme, l.By, l.RecordKey, l.RecordID = c.Perturb.Text(), c.Perturb.By, c.Perturb.RecordKey, c.Perturb.RecordID
		if l.Totals = "own"; p.Way.sums {
			l.Totals = "sums"
		}
	case "multiplicative":
		reach := c.reach()
		l.Reach, l.Controlled = &reach, &p.Changed.Controlled
	case "partial":
		spread := usual(c.Spread, 1)
		l.Spread = &spread
	}
	if p.Chance != nil && p.Chance.Made != nil {
		l.Secret = hex.EncodeToString(p.Chance.Made)
	}
	return l
}

// Way is how the log says that values were made.
func (l *Log) Way() (*Way, error) {
	if !slices.Contains(Methods, l.Method) {
		return nil, fmt.Errorf("it names the method %q, which is none of this version", l.Method)
	}
	c := &Config{Method: l.Method, Decimals: int64(l.Decimals)}
	if l.Rounding != nil {
		c.Base = l.Rounding.Base
	}
	if x := l.Change; x != nil {
		c.Totals, c.SD, c.Reach = x.Totals, x.SD, x.Reach
		if x.Scheme != "" {
			var err error
			if c.Perturb, err = schemas.ParseScheme(x.Scheme); err != nil {
				return nil, err
			}
		}
	}
	return wayOf(c, l.Response != "" || l.Weighted)
}
