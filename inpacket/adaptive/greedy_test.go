package adaptive

import (
	"testing"
	"time"
)

func TestGreedy(t *testing.T) {
	for _, o := range []Objective{Independent, Hashed} {
		for seed := range uint64(3) {
			b := time.Now()
			d, err := Greedy(Goal{Objective: o, Rate: 0.1, Weights: Uniform(200)}, Search{Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(o, seed, d.Lengths().Mean(d.Weights), d.K, len(d.Runs), d.Least, time.Since(b))
		}
	}
}
