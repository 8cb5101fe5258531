package plan_test

import (
	"testing"

	"github.com/umbel-filters/umbel/plan"
	"pgregory.net/rapid"
)

func TestFoldable(t *testing.T) {
	for groups, want := range map[uint64]uint64{
		0: 0, 1: 1, 255: 255, 257: 258, 4609: 4644, 15639: 15720, 23041: 23220, 149892: 150360,
		1 << 63: 1<<63 + 720720 - 1<<63%720720, 1<<63 + 1: 1<<63 + 1,
	} {
		if got := plan.RoundFoldable(groups); got != want {
			t.Errorf("Foldable(%d) = %d, want %d", groups, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		groups := rapid.Uint64Range(1, 1<<63).Draw(t, "groups")
		got := plan.RoundFoldable(groups)
		if got < groups || got-groups > groups/128 {
			t.Errorf("Foldable(%d) = %d, want at most a 128th more", groups, got)
		}
		if again := plan.RoundFoldable(got); again < got || again-got > got/128 {
			t.Errorf("Foldable(%d) = %d", got, again)
		}
		if groups >= 1680*128 && got%840 != 0 {
			t.Errorf("Foldable(%d) = %d, want a multiple of 840", groups, got)
		}
	})
}

func BenchmarkFoldable(b *testing.B) {
	for name, groups := range map[string]uint64{"groups=1e4": 1e4, "groups=1e6": 1e6, "groups=1e9": 1e9} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				plan.RoundFoldable(groups)
			}
		})
	}
}
