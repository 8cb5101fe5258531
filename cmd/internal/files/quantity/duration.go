package quantity

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// Duration is a time, as the value of a flag.
type Duration time.Duration

// day is a day of 24 hours.
const day = 24 * time.Hour

// ParseDuration parses a time written as time.ParseDuration accepts it, such as 10s or 1h30m, optionally after a
// number of days of 24 hours: 7d, 1.5d or 1d12h. Days may not be negative.
func ParseDuration(s string) (time.Duration, error) {
	wrong := fmt.Errorf("duration %q: want a number with its unit, such as 10s, 1h30m or 7d", clip(s))
	days, rest, ok := strings.Cut(s, "d")
	if !ok {
		d, err := time.ParseDuration(s)
		if err != nil {
			return 0, wrong
		}
		return d, nil
	}
	f, ok := number(days, 0)
	if !ok {
		return 0, wrong
	}
	var d time.Duration
	if rest != "" {
		var err error
		if d, err = time.ParseDuration(rest); err != nil || d < 0 {
			return 0, wrong
		}
	}
	if f *= float64(day); f >= math.MaxInt64-float64(d) {
		return 0, fmt.Errorf("duration %q is more than 292 years", clip(s))
	}
	return time.Duration(f) + d, nil
}

// DurationVar adds a flag for a duration to a set.
func DurationVar(flags *pflag.FlagSet, p *time.Duration, name string, value time.Duration, usage string) {
	*p = value
	flags.Var((*Duration)(p), name, usage)
}

// Set is ParseDuration for a flag.
func (d *Duration) Set(s string) error {
	parsed, err := ParseDuration(s)
	*d = Duration(parsed)
	return err
}

// String returns the duration as time.Duration does.
func (d *Duration) String() string { return time.Duration(*d).String() }

// Type names the flag's value in help texts.
func (d *Duration) Type() string { return "duration" }
