package dataplane

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// Fault is what a node does badly on purpose, to see what becomes of it.
type Fault struct {
	// Loss is the chance that a copy is thrown away and not sent, between 0 and 1.
	Loss float64
	// Seed, with the node's name, fixes which copies of a node's are lost: the same
	// ones of the same sequence.
	Seed uint64
	// Delay is how long copies wait before they are sent. A node keeps up to 16 384 of
	// them, and loses those that come when there are so many.
	Delay time.Duration
}

// dice says which copies are lost.
type dice struct {
	limit  uint64
	random *rand.PCG
}

func newDice(f Fault, name string) (dice, error) {
	if !(f.Loss >= 0 && f.Loss <= 1) || f.Delay < 0 {
		return dice{}, fmt.Errorf("dataplane: a loss of %v and a delay of %v: give a chance between 0 and 1, and a time from 0", f.Loss, f.Delay)
	}
	h := fnv.New64a()
	h.Write([]byte(name))
	return dice{uint64(math.Ldexp(f.Loss, 53)), rand.NewPCG(f.Seed, h.Sum64())}, nil
}

func (d *dice) lose() bool { return d.limit != 0 && d.random.Uint64()>>11 < d.limit }
