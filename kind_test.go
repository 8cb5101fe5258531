package umbel_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
)

func exactVariant(kind string) umbel.Kind {
	return umbel.Kind{
		Name: kind,
		Open: func(s umbel.State) (umbel.Filter, error) {
			if len(s.Arrays) != 0 {
				return nil, umbel.ErrCorrupt
			}
			return exact{}, nil
		},
	}
}

func TestVariantsFind(t *testing.T) {
	vs := umbel.Kinds{exactVariant("exact"), exactVariant("other")}
	for _, kind := range []string{"exact", "other"} {
		if v, err := vs.Find(kind); err != nil || v.Name != kind {
			t.Errorf("Find(%q) = %q, %v", kind, v.Name, err)
		}
	}
	for _, kind := range []string{"", "bloom", "Exact", strings.Repeat("x", 1000)} {
		v, err := vs.Find(kind)
		wantError(t, err, umbel.ErrKind, "want one of exact, other")
		if v.Name != "" || err != nil && len(err.Error()) > 200 {
			t.Errorf("kind %q with an error of %d characters", v.Name, len(err.Error()))
		}
	}
}

// A kind that the library no longer has is named as what it is, in every list but one that has it.
func TestReservedKind(t *testing.T) {
	_, err := umbel.Kinds{exactVariant("exact")}.Find("incremental")
	wantError(t, err, umbel.ErrKind, "baseline")
	if v, err := (umbel.Kinds{exactVariant("incremental")}).Find("incremental"); err != nil || v.Name != "incremental" {
		t.Errorf("Find in a list that has it: %q, %v", v.Name, err)
	}
}

func TestVariantsOpen(t *testing.T) {
	vs := umbel.Kinds{exactVariant("exact")}
	if f, err := vs.Open(umbel.State{Kind: "exact"}); err != nil || f == nil {
		t.Errorf("Open gives %v, %v", f, err)
	}
	for _, c := range []struct {
		s    umbel.State
		want error
	}{
		{umbel.State{Kind: "bloom"}, umbel.ErrKind},
		{umbel.State{}, umbel.ErrKind},
		{umbel.State{Kind: "exact", Arrays: sample().Arrays}, umbel.ErrCorrupt},
	} {
		f, err := vs.Open(c.s)
		if !errors.Is(err, c.want) || f != nil {
			t.Errorf("Open of kind %q gives %v, %v, want %v", c.s.Kind, f, err, c.want)
		}
	}
}

func TestGoalCheck(t *testing.T) {
	for _, c := range []struct {
		name     string
		g        umbel.Goal
		sentinel error
		want     string
	}{
		{"keys and rate", umbel.Goal{Keys: 1, FPRate: 0.01}, nil, ""},
		{"keys and bytes", umbel.Goal{Keys: math.MaxUint64, Bytes: 1}, nil, ""},
		{"rate and bytes", umbel.Goal{FPRate: math.SmallestNonzeroFloat64, Bytes: 1}, nil, ""},
		{"nothing", umbel.Goal{}, umbel.ErrGoal, "got 0 keys, rate 0 and 0 bytes"},
		{"keys alone", umbel.Goal{Keys: 1}, umbel.ErrGoal, "give two of keys, false-positive rate and bytes, each above 0; got 1 keys, rate 0 and 0 bytes"},
		{"rate alone", umbel.Goal{FPRate: 0.5}, umbel.ErrGoal, "got 0 keys, rate 0.5 and 0 bytes"},
		{"all three", umbel.Goal{Keys: 1, FPRate: 0.5, Bytes: 1}, umbel.ErrGoal, "got 1 keys, rate 0.5 and 1 bytes"},
		{"rate 1", umbel.Goal{Keys: 1, FPRate: 1}, umbel.ErrGoal, "rate 1 must lie between 0 and 1"},
		{"rate above 1", umbel.Goal{Keys: 1, FPRate: 1.5}, umbel.ErrGoal, "rate 1.5 must"},
		{"rate below 0", umbel.Goal{Keys: 1, FPRate: -0.01}, umbel.ErrGoal, "rate -0.01 must"},
		{"rate not a number", umbel.Goal{Keys: 1, FPRate: math.NaN()}, umbel.ErrGoal, "rate NaN must"},
		{"rate infinite", umbel.Goal{Keys: 1, FPRate: math.Inf(1)}, umbel.ErrGoal, "rate +Inf must"},
		{"rate and nothing else wrong", umbel.Goal{FPRate: 2}, umbel.ErrGoal, "rate 2 must"},
		{"no hasher", umbel.Goal{Keys: 1, FPRate: 0.5, Hasher: umbel.Hasher{Alg: 99}}, umbel.ErrGoal, "hash algorithm 99"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.g.Check()
			if c.sentinel != nil {
				wantError(t, err, c.sentinel, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
