package kinds_test

import (
	"errors"
	"math"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter/internal/kinds"
)

// bits is the sizing of a standard filter.
var bits = kinds.Anywhere(64, 1)

func TestSolve(t *testing.T) {
	for name, c := range map[string]struct {
		goal umbel.Goal
		m    uint64
		k    int
		want [3]uint64 // m, k, keys
	}{
		"keys and rate":         {goal: umbel.Goal{Keys: 1e6, FPRate: 0.01}, want: [3]uint64{64 * 150360, 7, 1e6}},
		"keys, rate and k":      {goal: umbel.Goal{Keys: 1000, FPRate: 0.02}, k: 2, want: [3]uint64{64 * 205, 2, 1000}},
		"keys and bytes":        {goal: umbel.Goal{Keys: 1000, Bytes: 1000}, want: [3]uint64{8000, 6, 1000}},
		"bytes are the most":    {goal: umbel.Goal{Keys: 1000, Bytes: 1001}, want: [3]uint64{8000, 6, 1000}},
		"rate and bytes":        {goal: umbel.Goal{FPRate: 0.02, Bytes: 1000}, want: [3]uint64{8000, 6, 981}},
		"m and k":               {m: 6400, k: 3, want: [3]uint64{6400, 3, 1478}},
		"m and keys":            {goal: umbel.Goal{Keys: 1000}, m: 6400, want: [3]uint64{6400, 4, 1000}},
		"m and rate":            {goal: umbel.Goal{FPRate: 0.02}, m: 8000, want: [3]uint64{8000, 6, 981}},
		"m isn't made to fold":  {goal: umbel.Goal{Keys: 10000}, m: 64 * 401, want: [3]uint64{64 * 401, 2, 10000}},
		"m, k, keys and a rate": {goal: umbel.Goal{Keys: 1000, FPRate: 0.05}, m: 8000, k: 3, want: [3]uint64{8000, 3, 1000}},
		"less than a word":      {goal: umbel.Goal{Keys: 3, FPRate: 0.1}, want: [3]uint64{16, 3, 3}},
		"m of part of a word":   {m: 140001, k: 2, want: [3]uint64{140001, 2, 48520}},
	} {
		m, k, n, err := bits.Solve(c.goal, c.m, c.k)
		if got := [3]uint64{m, uint64(k), n}; err != nil || got != c.want {
			t.Errorf("%s: m, k, keys = %v, %v, want %v", name, got, err, c.want)
		}
	}
}

func TestSolveRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		goal umbel.Goal
		m    uint64
		k    int
	}{
		"nothing":            {},
		"keys alone":         {goal: umbel.Goal{Keys: 5}},
		"a rate alone":       {goal: umbel.Goal{FPRate: 0.1}},
		"a size alone":       {m: 640},
		"k alone":            {k: 3},
		"k and keys":         {goal: umbel.Goal{Keys: 5}, k: 3},
		"m and bytes":        {goal: umbel.Goal{Keys: 5, Bytes: 8}, m: 640},
		"a rate of one":      {goal: umbel.Goal{Keys: 5, FPRate: 1}},
		"a rate below zero":  {goal: umbel.Goal{Keys: 5, FPRate: -0.1}},
		"no rate at all":     {goal: umbel.Goal{Keys: 5, FPRate: math.NaN()}},
		"too large a k":      {goal: umbel.Goal{Keys: 5, FPRate: 0.1}, k: 65},
		"too many keys":      {goal: umbel.Goal{Keys: 1<<64 - 1, FPRate: 0.1}},
		"too many bytes":     {goal: umbel.Goal{Keys: 5, Bytes: 1 << 60}},
		"room for no key":    {goal: umbel.Goal{FPRate: 1e-30, Bytes: 8}},
		"keys over the rate": {goal: umbel.Goal{Keys: 5000, FPRate: 0.01}, m: 8000, k: 3},
	} {
		if m, k, n, err := bits.Solve(c.goal, c.m, c.k); !errors.Is(err, umbel.ErrGoal) {
			t.Errorf("%s: m, k, keys = %d, %d, %d, error %v, want ErrGoal", name, m, k, n, err)
		}
	}
}
