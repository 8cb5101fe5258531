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
	whole := mustDelta(t, base, result)
	if head := len(whole) - len(change) - 4; head != 8+32+32+8+1+len(base.Kind) {
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

// A delta keeps the notes of the base, as spec/delta.md states.
func TestNotes(t *testing.T) {
	base := wiretest.Sample(t)
	result := base.Clone()
	result.Arrays[0].SetBit(3)
	base.Planned, result.Planned = umbel.Planned{Keys: 1000, FPRate: 0.01}, umbel.Planned{Keys: 7, FPRate: 0.5}
	base.Tick = 1e9
	d, err := delta.Append(nil, base, result)
	if err != nil {
		t.Fatal(err)
	}
	got, err := delta.Apply(base, d, wire.Limits{})
	if err != nil || got.Planned != base.Planned || got.Tick != base.Tick || !got.Equal(result) {
		t.Errorf("%+v, %v, want the result, planned for %+v", got, err, base.Planned)
	}
}
