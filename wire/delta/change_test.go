package delta_test

import (
	"errors"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/delta"
	"github.com/umbel-filters/umbel/wire/internal/wiretest"
)

func TestChange(t *testing.T) {
	base, result := revised(t)
	change, err := delta.Encoder{}.AppendChange([]byte("x"), base, result)
	if err != nil {
		t.Fatal(err)
	}
	change = change[1:]
	if whole := mustDelta(t, base, result); len(whole) > 3+4+8+1+1+len(base.Kind)+4+len(change)+4 {
		t.Errorf("%d bytes, the delta has %d", len(change), len(whole))
	}
	got, err := delta.Decoder{}.ApplyChange(base, change)
	if err != nil || !wiretest.Equal(got, result) {
		t.Fatalf("another result: %v", err)
	}
	for n := range change {
		if _, err := (delta.Decoder{}).ApplyChange(base, change[:n]); !errors.Is(err, umbel.ErrCorrupt) {
			t.Fatalf("%d of %d bytes: %v", n, len(change), err)
		}
	}
	if _, err := (delta.Decoder{}).ApplyChange(base, append(change, 0)); !errors.Is(err, umbel.ErrCorrupt) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := (delta.Decoder{Limits: wire.Limits{Bytes: 8}}).ApplyChange(base, change); !errors.Is(err, umbel.ErrLimit) {
		t.Errorf("beyond the limit: %v", err)
	}
	if _, err := (delta.Encoder{}).AppendChange(nil, base, umbel.State{Kind: "other"}); !errors.Is(err, umbel.ErrMismatch) {
		t.Errorf("another kind: %v", err)
	}
}

// A delta has the notes of the result if they are others; otherwise those of the base stay. A change is the same.
func TestNotes(t *testing.T) {
	plain := wiretest.Sample(t)
	noted := func(keys, tick uint64) umbel.State {
		s := plain.Clone()
		s.Arrays[0].SetBit(keys)
		s.Tick = tick
		if keys > 0 {
			s.Planned = umbel.Planned{Keys: keys, FPRate: 0.01}
		}
		return s
	}
	for _, c := range []struct {
		name               string
		base, result, want umbel.State
		more               int // bytes than without notes
	}{
		{"added", noted(0, 0), noted(7, 1e9), noted(7, 1e9), 8},
		{"same", noted(7, 1e9), noted(7, 1e9), noted(7, 1e9), 0},
		{"other plan", noted(9, 1e9), noted(7, 1e9), noted(7, 1e9), 8},
		{"no tick", noted(9, 1e9), noted(7, 0), noted(7, 0), 3},
		{"none", noted(7, 1e9), noted(0, 0), noted(7, 1e9), 0},
	} {
		d, err := delta.Append(nil, c.base, c.result)
		if err != nil {
			t.Fatal(err)
		}
		got, err := delta.Apply(c.base, d, wire.Limits{})
		if err != nil || got.Planned != c.want.Planned || got.Tick != c.want.Tick || !got.Equal(c.result) {
			t.Errorf("%s: %v %v, %v, want %v %v", c.name, got.Planned, got.Tick, err, c.want.Planned, c.want.Tick)
		}
		base, result := c.base, c.result
		base.Notes, result.Notes = umbel.Notes{}, umbel.Notes{}
		without, err := delta.Append(nil, base, result)
		if err != nil {
			t.Fatal(err)
		}
		if more := len(d) - len(without); more != c.more {
			t.Errorf("%s: the notes take %d bytes, want %d", c.name, more, c.more)
		}
		change, err := delta.Encoder{}.AppendChange(nil, c.base, c.result)
		if err != nil {
			t.Fatal(err)
		}
		got, err = delta.Decoder{}.ApplyChange(c.base, change)
		if err != nil || got.Planned != c.want.Planned || got.Tick != c.want.Tick || !got.Equal(c.result) {
			t.Errorf("%s, a change: %v %v, %v, want %v %v", c.name, got.Planned, got.Tick, err, c.want.Planned, c.want.Tick)
		}
	}
}
