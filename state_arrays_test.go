package umbel_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cells"
)

func TestAllStates(t *testing.T) {
	s := sample()
	var paths []string
	for path, p := range s.AllStates() {
		want := s
		for _, i := range path {
			want = want.Parts[i]
		}
		if !p.Equal(want) {
			t.Errorf("path %v yields %v, want %v", path, p, want)
		}
		paths = append(paths, fmt.Sprint(path))
	}
	if want := []string{"[]", "[0]", "[1]", "[1 0]"}; !slices.Equal(paths, want) || s.States() != len(want) {
		t.Errorf("%d states: %v, want %v", s.States(), paths, want)
	}
	for end := range s.States() {
		n := 0
		for range s.AllStates() {
			if n++; n > end {
				break
			}
		}
		if n != end+1 {
			t.Errorf("a loop that ends with state %d has seen %d", end, n)
		}
	}
}

// AllArrays has the arrays in the order of the container, in a slice of its own, and WithArrays puts them back.
func TestAllArrays(t *testing.T) {
	s := sample()
	arrays := s.AllArrays()
	if want := []cells.Array{s.Arrays[0], s.Arrays[1], s.Parts[0].Arrays[0], s.Parts[1].Parts[0].Arrays[0]}; !reflect.DeepEqual(arrays, want) {
		t.Fatalf("arrays %v, want %v", arrays, want)
	}
	for i := range arrays {
		arrays[i] = cells.Array{Width: 1}
	}
	bare := s.WithArrays(arrays)
	if !s.Equal(sample()) || bare.Bytes() != 0 || bare.SameShape(s) {
		t.Errorf("with empty arrays: %v, from %v", bare, s)
	}
	if again := bare.WithArrays(s.AllArrays()); !again.Equal(s) {
		t.Errorf("with its own arrays: %v, want %v", again, s)
	}
	for _, arrays := range [][]cells.Array{nil, s.AllArrays()[1:], append(s.AllArrays(), cells.Array{})} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("WithArrays accepts %d arrays", len(arrays))
				}
			}()
			s.WithArrays(arrays)
		}()
	}
}

func TestWithoutArrays(t *testing.T) {
	s := sample()
	s.Planned.Keys, s.Planned.FPRate = 7, 0.5
	bare := s.WithoutArrays()
	if len(bare.AllArrays()) > 0 || bare.Notes != s.Notes || bare.States() != s.States() {
		t.Errorf("without arrays: %v", bare)
	}
	bare.Params[0].Name, bare.Parts[0].Params[0].Name, bare.Parts[1].Parts[0].Kind = "other", "other", "other"
	if want := sample(); !s.Equal(want) {
		t.Errorf("after a change of the copy: %v, want %v", s, want)
	}
}

// Two states have the same shape if they differ in cells, parameters and notes only.
func TestSameShape(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*umbel.State)
		same   bool
	}{
		"nothing":          {func(*umbel.State) {}, true},
		"a cell":           {func(s *umbel.State) { s.Arrays[0].SetBit(9) }, true},
		"a parameter":      {func(s *umbel.State) { s.Params = nil }, true},
		"notes":            {func(s *umbel.State) { s.Tick = 7 }, true},
		"kind":             {func(s *umbel.State) { s.Kind = "other" }, false},
		"hasher":           {func(s *umbel.State) { s.Hasher.Alg = umbel.XXH3 }, false},
		"length":           {func(s *umbel.State) { s.Arrays[0].Len-- }, false},
		"width":            {func(s *umbel.State) { s.Arrays[1].Width = 2 }, false},
		"number of arrays": {func(s *umbel.State) { s.Arrays = s.Arrays[:1] }, false},
		"number of parts":  {func(s *umbel.State) { s.Parts = s.Parts[:1] }, false},
		"part of a part":   {func(s *umbel.State) { s.Parts[1].Parts[0].Arrays = nil }, false},
	} {
		s := sample()
		c.change(&s)
		if s.SameShape(sample()) != c.same || sample().SameShape(s) != c.same {
			t.Errorf("another %s: same shape %v, want %v", name, !c.same, c.same)
		}
	}
}
