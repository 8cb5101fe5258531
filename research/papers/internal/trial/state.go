package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// state is what is kept of a simulation between runs.
type state struct {
	Values  []string
	First   []Tally // of the first trial, to see whether trials are what they were
	Trials  int
	Tallies []Tally

	path string
}

// open returns the simulation's state: that of an earlier run with the same seed if it
// has the same values, and its first trial comes out now as it did then; else an empty
// one.
func (r *Runner) open(sim Simulation) (*state, error) {
	first, err := r.round(context.Background(), sim, 0, 1)
	if err != nil {
		return nil, err
	}
	name := strings.NewReplacer("/", "-", " ", "_").Replace(sim.Name)
	s := &state{path: filepath.Join(r.Dir, fmt.Sprintf("%s.%d.json", name, r.Seed))}
	b, err := os.ReadFile(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if json.Unmarshal(b, s) == nil && slices.Equal(s.Values, sim.Values) &&
		len(s.Tallies) == len(s.Values) && reflect.DeepEqual(s.First, first) {
		return s, nil
	}
	return &state{Values: sim.Values, First: first, Tallies: newTallies(len(sim.Values)), path: s.path}, nil
}

func (s *state) add(n int, tallies []Tally) {
	s.Trials += n
	for i, t := range tallies {
		s.Tallies[i].add(t)
	}
}

// save replaces the state's file. A reader sees the old one or the new one.
func (s *state) save() error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o777); err != nil {
		return err
	}
	half := s.path + ".tmp"
	if err := os.WriteFile(half, b, 0o666); err != nil {
		return err
	}
	return os.Rename(half, s.path)
}
