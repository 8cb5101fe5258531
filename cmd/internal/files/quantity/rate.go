package quantity

import (
	"fmt"
	"math"
	"strings"
)

// Rate is a false-positive rate, a fraction inside (0, 1), or 0 for none.
type Rate float64

// ParseRate parses a rate written as 0.001, 1e-3, 0.1%, 1/1000 or "1 in 1000".
func ParseRate(s string) (Rate, error) {
	f, ok := ratio(strings.TrimSpace(s))
	if !ok {
		return 0, fmt.Errorf(`rate %q: want a number such as 0.001, 1e-3, 0.1%%, 1/1000 or "1 in 1000"`, clip(s))
	}
	if !(f > 0 && f < 1) {
		return 0, fmt.Errorf("rate %q must lie between 0 and 1 (0%% and 100%%), both excluded", clip(s))
	}
	if f < leastRate {
		return 0, fmt.Errorf("rate %q is below %v; a hash has 128 bits, so no filter has such a rate", clip(s), leastRate)
	}
	return Rate(f), nil
}

// leastRate is the smallest rate that can be requested. Of 10^8 keys, one has the hash of a given other key at a
// rate of 10^8/2^128, which is 3e-31.
const leastRate = 1e-30

func ratio(s string) (float64, bool) {
	if percent, ok := strings.CutSuffix(s, "%"); ok {
		return number(strings.TrimSpace(percent), -2)
	}
	for _, between := range []string{"/", " in "} {
		if over, under, ok := strings.Cut(s, between); ok {
			a, okA := scaled(strings.TrimSpace(over))
			b, okB := scaled(strings.TrimSpace(under))
			return a / b, okA && okB && b != 0
		}
	}
	return number(s, 0)
}

// Set is ParseRate for a flag.
func (r *Rate) Set(s string) (err error) {
	*r, err = ParseRate(s)
	return err
}

// String returns the rate as a percentage and as 1 in n; it is empty for 0.
func (r Rate) String() string {
	p := float64(r)
	switch {
	case p == 0:
		return ""
	case p >= 1:
		return "100%"
	case p > 0.5:
		return fmt.Sprintf("%.3g%%", 100*p)
	case p < 1e-18:
		return fmt.Sprintf("%.3g", p)
	}
	return r.Percent() + ", 1 in " + nearest(1/p)
}

// Percent returns the rate as a percentage with three digits, and rates from 0 to 0.0001 % as a number such as 1e-09.
func (r Rate) Percent() string {
	if p := float64(r); p > 0 && p < 1e-6 {
		return fmt.Sprintf("%.3g", p)
	}
	return fmt.Sprintf("%.3g%%", 100*min(float64(r), 1))
}

// nearest formats n, with a digit after the point for small n.
func nearest(f float64) string {
	if f < 20 && math.Abs(f-math.Round(f)) > 0.05 {
		return fmt.Sprintf("%.1f", f)
	}
	return Count(math.Round(f)).String()
}

// Type names the flag's value in help texts.
func (r *Rate) Type() string { return "rate" }
