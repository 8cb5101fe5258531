package umbel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
	"github.com/umbel-filters/umbel/internal/fixture"
)

func bits(words ...uint64) cells.Array {
	return cells.Array{Len: uint64(len(words)) * 64, Width: 1, Words: words}
}

// sample is a state with every element that a state can have.
func sample() umbel.State {
	return umbel.State{
		Kind:   "scalable",
		Hasher: umbel.Hasher{Alg: umbel.SipHash, Seed: fixture.Seed(1, 2)},
		Params: umbel.Params{{Name: "growth", Value: umbel.Uint(2)}, {Name: "rate", Value: umbel.Float(0.5)}},
		Arrays: []cells.Array{bits(1, 2), {Len: 3, Width: 4, Words: []uint64{0x321}}},
		Parts: []umbel.State{
			{Kind: "bloom", Params: umbel.Params{{Name: "k", Value: umbel.Uint(3)}}, Arrays: []cells.Array{bits(4)}},
			{Kind: "bloom", Parts: []umbel.State{{Kind: "bloom", Arrays: []cells.Array{bits(5, 6)}}}},
		},
	}
}

func TestStateCloneSharesNothing(t *testing.T) {
	s := sample()
	c := s.Clone()
	if !reflect.DeepEqual(c, s) {
		t.Fatalf("clone is %v, want %v", c, s)
	}
	c.Kind = "other"
	c.Params[0] = umbel.Param{Name: "changed"}
	c.Arrays[0].SetBit(9)
	c.Arrays[1].Inc(0)
	c.Parts[0].Kind = "other"
	c.Parts[0].Params[0].Value = umbel.Uint(99)
	c.Parts[0].Arrays[0].SetBit(9)
	c.Parts[1].Parts[0].Arrays[0].Clear()
	if want := sample(); !reflect.DeepEqual(s, want) {
		t.Errorf("after changing the clone, the state is %v, want %v", s, want)
	}
	c.Arrays[0] = bits()
	c.Parts[1] = umbel.State{}
	if want := sample(); !reflect.DeepEqual(s, want) {
		t.Errorf("after changing the clone, the state is %v, want %v", s, want)
	}
}

func TestStateHasNoJSON(t *testing.T) {
	if b, err := json.Marshal(sample()); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%s, %v", b, err)
	}
	if b, err := json.Marshal(sample().Params); string(b) != `[{"Name":"growth","Value":"2"},{"Name":"rate","Value":"0.5"}]` || err != nil {
		t.Errorf("%s, %v", b, err)
	}
}

func TestStateBytes(t *testing.T) {
	if got := sample().Bytes(); got != 8*(2+1+1+2) {
		t.Errorf("%d bytes, want 48", got)
	}
	if got := (umbel.State{}).Bytes(); got != 0 {
		t.Errorf("an empty state has %d bytes", got)
	}
}

func TestStateCheck(t *testing.T) {
	if err := sample().Check(); err != nil {
		t.Fatal(err)
	}
	deep := func(levels int) umbel.State {
		s := umbel.State{Kind: "bloom"}
		for range levels - 1 {
			s = umbel.State{Kind: "window", Parts: []umbel.State{s}}
		}
		return s
	}
	wide := func(parts int) umbel.State {
		s := umbel.State{Kind: "dynamic"}
		for range parts {
			s.Parts = append(s.Parts, umbel.State{Kind: "bloom"})
		}
		return s
	}
	if err := wide(umbel.MaxStates - 1).Check(); err != nil {
		t.Errorf("%d states: %v", umbel.MaxStates, err)
	}
	wantError(t, wide(umbel.MaxStates).Check(), umbel.ErrCorrupt, "4097 states")
	for _, change := range []func(*umbel.State){
		func(s *umbel.State) { s.Arrays = slices.Repeat([]cells.Array{bits(1)}, 256) },
		func(s *umbel.State) {
			for i := range 256 {
				s.Params = append(s.Params, umbel.Param{Name: fmt.Sprint(i)})
			}
		},
	} {
		s := wide(0)
		change(&s)
		wantError(t, s.Check(), umbel.ErrCorrupt, "256")
	}
	if err := deep(umbel.MaxDepth).Check(); err != nil {
		t.Errorf("depth %d: %v", umbel.MaxDepth, err)
	}
	for _, c := range []struct {
		name   string
		change func(*umbel.State)
		want   string
	}{
		{"no kind", func(s *umbel.State) { s.Kind = "" }, "name of 0 bytes"},
		{"bad kind", func(s *umbel.State) { s.Kind = "Bloom" }, "name of 5 bytes"},
		{"bad hasher", func(s *umbel.State) { s.Hasher.Alg = 200 }, "hash algorithm 200"},
		{"stray seed", func(s *umbel.State) { s.Hasher.Alg = umbel.MD5 }, "md5 takes a seed of 0 bytes"},
		{"unnamed parameter", func(s *umbel.State) { s.Params[0].Name = "" }, "name of 0 bytes"},
		{"parameter twice", func(s *umbel.State) { s.Params[1].Name = "growth" }, `parameter "growth" appears twice`},
		{"NaN", func(s *umbel.State) { s.Params[1].Value = umbel.Float(math.NaN()) }, `parameter "rate" is NaN, want a finite number`},
		{"infinite", func(s *umbel.State) { s.Params[1].Value = umbel.Float(math.Inf(-1)) }, `parameter "rate" is -Inf`},
		{"no width", func(s *umbel.State) { s.Arrays[0].Width = 0 }, "array 0: width 0"},
		{"bad width", func(s *umbel.State) { s.Arrays[0].Width = 3 }, "array 0: width 3"},
		{"missing words", func(s *umbel.State) { s.Arrays[1].Words = nil }, "array 1: 3 cells of 4 bits"},
		{"stray bits", func(s *umbel.State) { s.Arrays[1].Words[0] = 1 << 12 }, "of 3 cells"},
		{"bad part", func(s *umbel.State) { s.Parts[1].Kind = "?" }, "part 1: name of 1 bytes"},
		{"bad part of a part", func(s *umbel.State) { s.Parts[1].Parts[0].Arrays[0].Len = 1 }, "part 1: part 0: array 0"},
		{"too deep", func(s *umbel.State) { *s = deep(umbel.MaxDepth + 1) }, "parts nest deeper than 4"},
		{"far too deep", func(s *umbel.State) { *s = deep(1000) }, "parts nest deeper than 4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := sample()
			c.change(&s)
			wantError(t, s.Check(), umbel.ErrCorrupt, c.want)
		})
	}
}

func TestCheckName(t *testing.T) {
	for _, name := range []string{"k", "bloom", "split-block", "example.org/mine/v2", "2", strings.Repeat("a", 64)} {
		if err := umbel.CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "Bloom", "a b", "a_b", "naïve", "a\x00", "a\n", strings.Repeat("a", 65), strings.Repeat("a", 1<<20)} {
		err := umbel.CheckName(name)
		wantError(t, err, umbel.ErrCorrupt, "want 1 to 64 of a-z, 0-9")
		if err != nil && len(err.Error()) > 200 {
			t.Errorf("error has %d characters", len(err.Error()))
		}
	}
}

func TestCheckMatchNamesTheFirstDifference(t *testing.T) {
	s := sample()
	t.Run("same", func(t *testing.T) {
		other := umbel.State{Kind: s.Kind, Hasher: s.Hasher, Arrays: []cells.Array{bits(0)}}
		if err := s.CheckMatch(other); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct {
		name  string
		other umbel.State
		want  string
	}{
		{"kind", umbel.State{Kind: "bloom", Hasher: s.Hasher}, "one filter is scalable, the other bloom"},
		{"kind before hasher", umbel.State{Kind: "bloom"}, "one filter is scalable, the other bloom"},
		{"algorithm", umbel.State{Kind: s.Kind}, "siphash with a seed"},
		{"seed", umbel.State{Kind: s.Kind, Hasher: umbel.Hasher{Alg: umbel.SipHash}}, "seeds differ"},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, s.CheckMatch(c.other), umbel.ErrMismatch, c.want) })
	}
}
