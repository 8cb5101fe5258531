package adaptive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/umbel-filters/umbel"
)

// text is a design for people. Odds are 16 hexadecimal digits, of units of 2^-64, since
// many readers of JSON have no numbers of 64 bits.
type text struct {
	Version   int       `json:"version"`
	Objective string    `json:"objective"`
	Method    string    `json:"method"`
	Rate      float64   `json:"rate"`
	K         int       `json:"k,omitempty"`
	Least     int       `json:"least"`
	Ends      []int     `json:"ends"`
	Runs      []textRun `json:"runs"`
	Weights   Weights   `json:"weights,omitempty"`
}

type textRun struct {
	Positions int    `json:"positions"`
	Odds      string `json:"odds"`
}

// MarshalJSON returns the design as JSON; UnmarshalJSON reads it. The fields are those
// of [Design] and the version, 1. The error is that of [Design.Check].
func (d *Design) MarshalJSON() ([]byte, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	t := text{1, d.Objective.String(), d.Method.String(), d.Rate, d.K, d.Least, d.Ends, nil, d.Weights}
	for _, r := range d.Runs {
		t.Runs = append(t.Runs, textRun{r.Positions, fmt.Sprintf("%016x", r.Odds)})
	}
	return json.Marshal(t)
}

// UnmarshalJSON makes d the design that b describes. Fields that a design hasn't are an
// error, which wraps [umbel.ErrCorrupt] as all do; d is then as it was.
func (d *Design) UnmarshalJSON(b []byte) error {
	var t text
	in := json.NewDecoder(bytes.NewReader(b))
	in.DisallowUnknownFields()
	if err := in.Decode(&t); err != nil {
		return fmt.Errorf("adaptive: design: %w: %w", err, umbel.ErrCorrupt)
	}
	if _, err := in.Token(); err != io.EOF {
		return fmt.Errorf("adaptive: something behind a design: %w", umbel.ErrCorrupt)
	}
	if t.Version != 1 {
		return fmt.Errorf("adaptive: a design of version %d, want 1: %w", t.Version, umbel.ErrCorrupt)
	}
	x := Design{K: t.K, Least: t.Least, Ends: t.Ends, Rate: t.Rate, Weights: t.Weights}
	objective, method := slices.Index(objectives[:], t.Objective), slices.Index(methods[:], t.Method)
	if objective < 0 || method < 0 {
		return fmt.Errorf("adaptive: objective %q and method %q, want of %q and %q: %w", clip(t.Objective), clip(t.Method), objectives, methods, umbel.ErrCorrupt)
	}
	x.Objective, x.Method = Objective(objective), Method(method)
	if len(x.Weights) == 0 {
		x.Weights = nil
	}
	for i, r := range t.Runs {
		odds, err := strconv.ParseUint(r.Odds, 16, 64)
		if err != nil || len(r.Odds) != 16 {
			return fmt.Errorf("adaptive: run %d has odds of %q, want 16 hexadecimal digits: %w", i, clip(r.Odds), umbel.ErrCorrupt)
		}
		x.Runs = append(x.Runs, Run{r.Positions, odds})
	}
	if err := x.Check(); err != nil {
		return fmt.Errorf("%w: %w", err, umbel.ErrCorrupt)
	}
	*d = x
	return nil
}
