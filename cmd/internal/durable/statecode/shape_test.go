package statecode

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/wire"
)

// A shape keeps what describes the filter.
func TestShapeKeepsNotes(t *testing.T) {
	for _, s := range []umbel.State{
		{Kind: "a"},
		{Kind: "a", Notes: umbel.Notes{Planned: umbel.Planned{Keys: 7, FPRate: 0.01}}},
		{Kind: "a", Notes: umbel.Notes{Tick: 1e9}, Hasher: umbel.Hasher{Seed: fixture.Seed(1, 0)}},
		{Kind: "a", Notes: umbel.Notes{Tick: 1<<63 - 1, Planned: umbel.Planned{Keys: 7, FPRate: 0.01}}},
	} {
		b := Append(nil, &s)
		c := &Cursor{Rest: b}
		got, err := Read(c, wire.Limits{})
		if err != nil || got.Planned != s.Planned || got.Tick != s.Tick || got.Hasher != s.Hasher || len(c.Rest) != 0 {
			t.Errorf("%+v, %v, want %+v", got, err, s)
		}
		for n := range b {
			if _, err := Read(&Cursor{Rest: b[:n]}, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
				t.Errorf("the first %d bytes: %v, want an error that wraps %q", n, err, umbel.ErrCorrupt)
			}
		}
	}
	none := append([]byte{1, 'a', ticking}, make([]byte, 11)...)
	if _, err := Read(&Cursor{Rest: none}, wire.Limits{}); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("a tick of 0: %v, want an error that wraps %q", err, umbel.ErrCorrupt)
	}
}
