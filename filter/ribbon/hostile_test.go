package ribbon

import (
	"errors"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

// TestOpenRefuses: Open refuses states that no filter has, and the error contains the reason.
func TestOpenRefuses(t *testing.T) {
	f := sealed(t, 0.01, digests(1, 4000))
	f.Add(digests(2, 1)[0])
	f.Add(digests(3, 1)[0])
	param := func(name string, x uint64) func(*umbel.State) {
		return func(s *umbel.State) {
			for i := range s.Params {
				if s.Params[i].Name == name {
					s.Params[i].Value = umbel.Uint(x)
				}
			}
		}
	}
	shard := func(i, x uint64) func(*umbel.State) {
		return func(s *umbel.State) { s.Arrays[1].Put(i, x) }
	}
	for name, c := range map[string]struct {
		change func(*umbel.State)
		says   string
	}{
		"no steps":               {param("steps", 0), "0 steps"},
		"too many steps":         {param("steps", 1<<63), "8193 steps"},
		"33 columns":             {param("steps", 8192), "want at most 32"},
		"other columns":          {param("steps", 900), "cells for"},
		"low beyond the blocks":  {param("low", 1<<40), "want at most 32"},
		"low behind the end":     {param("low", 64), "want at most 32"},
		"another low":            {param("low", 5), "cells for"},
		"no keys":                {param("keys", 0), "want 1 arrays"},
		"none listed":            {param("listed", 0), "want 2 arrays"},
		"more listed":            {param("listed", 3), "for 3 digests"},
		"listed beyond 2^63":     {param("listed", 1<<63+2), "digests"},
		"a shard of no slots":    {shard(0, 7), "shard 0 of 3 has 0 slots"},
		"a shard of few slots":   {shard(1, 127<<8), "shard 1 of 3 has 127 slots"},
		"a shard of other slots": {shard(2, 1<<32-1), "cells for"},
		"shards of 64 bits":      {func(s *umbel.State) { s.Arrays[1], _ = cells.New(3, 64) }, "table"},
		"no shards":              {func(s *umbel.State) { s.Arrays[1] = cells.Array{Width: 32} }, "table"},
		"cells of 4 bits":        {func(s *umbel.State) { s.Arrays[0].Width, s.Arrays[0].Len = 4, s.Arrays[0].Len/4 }, "cells of 4 bits"},
		"a digest twice": {func(s *umbel.State) {
			w := s.Arrays[2].Words
			w[2], w[3] = w[0], w[1]
		}, "listed twice"},
		"half a digest": {func(s *umbel.State) { s.Arrays[2], _ = cells.New(3, 64) }, "3 cells"},
		"digests in bytes": {func(s *umbel.State) {
			s.Arrays[2].Width, s.Arrays[2].Len = 8, s.Arrays[2].Len*8
		}, "cells of 8 bits"},
	} {
		s := f.State().Clone()
		c.change(&s)
		g, err := Open(s)
		if !errors.Is(err, umbel.ErrCorrupt) {
			t.Errorf("%s: %v, %v, want an error that wraps ErrCorrupt", name, g, err)
		} else if !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "ribbon: ") {
			t.Errorf("%s: the error is %q, want %q in it", name, err, c.says)
		}
	}
	s := f.State().Clone()
	s.Params = s.Params[:3]
	if _, err := Open(s); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("a parameter missing: %v", err)
	}
	unsealed, err := NewShape(Shape{Steps: 300})
	if err != nil {
		t.Fatal(err)
	}
	s = unsealed.State()
	param("low", 1)(&s)
	if _, err := Open(s); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("blocks of a filter that isn't sealed: %v", err)
	}
}

// TestListSpreadsChosenDigests: digests with equal or correlated halves, which would share one
// place in an index without a secret, are distributed like others.
func TestListSpreadsChosenDigests(t *testing.T) {
	const n = 20_000
	for name, of := range map[string]func(i uint64) umbel.Digest{
		"one half":      func(i uint64) umbel.Digest { return umbel.Digest{H2: i} },
		"the other":     func(i uint64) umbel.Digest { return umbel.Digest{H1: i << 44} },
		"by one factor": func(i uint64) umbel.Digest { return umbel.Digest{H1: i * 0xd6e8feb86659fd93, H2: i} },
		"the same":      func(i uint64) umbel.Digest { return umbel.Digest{H1: i, H2: i} },
	} {
		var added list
		for i := range uint64(n) {
			if !added.add(of(i)) || added.add(of(i)) {
				t.Fatalf("%s: digest %d is present before its addition, or is added twice", name, i)
			}
		}
		opened, ok := openList(added.words)
		if !ok {
			t.Fatalf("%s: the list isn't opened", name)
		}
		for _, l := range []list{added, opened} {
			longest, run := 0, 0
			for _, e := range l.index {
				if run++; e == 0 {
					run = 0
				}
				longest = max(longest, run)
			}
			if longest > 500 {
				t.Errorf("%s: %d of %d entries of the index are contiguous", name, longest, len(l.index))
			}
		}
		for i := range uint64(n) {
			if !added.has(of(i)) || !opened.has(of(i)) {
				t.Fatalf("%s: digest %d is lost", name, i)
			}
		}
	}
}

// TestOpenedListGrowsElsewhere: additions to an opened list don't write behind the words that it
// was opened from.
func TestOpenedListGrowsElsewhere(t *testing.T) {
	memory := make([]uint64, 8)
	l, ok := openList(append(memory[:0], 1, 2, 3, 4))
	if !ok || !l.add(umbel.Digest{H1: 5, H2: 6}) || memory[4] != 0 {
		t.Errorf("the words behind the list are %v, want zeros", memory[4:])
	}
}
