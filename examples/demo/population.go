package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// population is a set that grows and shrinks. Its keys are random numbers of 16 hexadecimal digits, and
// any of them may be the next to leave. It depends on the seed and on the number of calls alone.
type population struct {
	rand    *rand.Rand
	keys    []string
	begin   int     // keys at the beginning
	changes float64 // per call
	due     float64 // changes that are due, below 1 between calls
	step    float64 // of the phase, per call, in radians
	phase   float64
	started bool
}

const (
	// swing is the time in which a population grows and shrinks once.
	swing = 40 * time.Second
	// tilt is the share of changes by which one kind exceeds the other at most: at the height of
	// growth 9 of 10 changes are additions.
	tilt = 0.8
)

// newPopulation returns a population that changes by a number of keys per second, if next is called once
// per period.
func newPopulation(keys int, perSecond float64, period time.Duration, seed uint64) *population {
	return &population{
		rand: rand.New(rand.NewPCG(seed, 0)), begin: keys,
		changes: perSecond * period.Seconds(), step: 2 * math.Pi * float64(period) / float64(swing),
	}
}

func (p *population) next(context.Context) (c change, err error) {
	if !p.started {
		p.started = true
		for range p.begin {
			c.added = append(c.added, p.born())
		}
		return c, nil
	}
	growing := 0.5 + tilt/2*math.Cos(p.phase)
	p.phase += p.step
	present := len(p.keys) // a key that is added now is not removed now
	for p.due += p.changes; p.due >= 1; p.due-- {
		if p.rand.Float64() < growing || present == 0 {
			c.added = append(c.added, p.born())
			continue
		}
		i := p.rand.IntN(present)
		c.removed = append(c.removed, p.keys[i])
		present--
		p.keys[i] = p.keys[present]
		p.keys[present] = p.keys[len(p.keys)-1]
		p.keys = p.keys[:len(p.keys)-1]
	}
	return c, nil
}

// born adds a key. Two of 2^64 numbers are equal too rarely to matter.
func (p *population) born() string {
	key := fmt.Sprintf("%016x", p.rand.Uint64())
	p.keys = append(p.keys, key)
	return key
}

func (p *population) skipped() int { return 0 }
