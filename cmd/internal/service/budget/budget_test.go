package budget

import (
	"errors"
	"math"
	"sync"
	"testing"
)

func TestBudget(t *testing.T) {
	b := New(100)
	one, two := b.Share(), b.Share()
	if err := errors.Join(one.Take(60), two.Take(40)); err != nil {
		t.Fatal(err)
	}
	if err := two.Take(1); !errors.Is(err, ErrFull) {
		t.Errorf("a byte too many: %v", err)
	}
	one.Release()
	if err := two.Take(60); err != nil || b.Used() != 100 {
		t.Errorf("after a release: %v, %d used", err, b.Used())
	}
	b.SetLimit(50)
	if err := one.Take(1); !errors.Is(err, ErrFull) {
		t.Errorf("a lower limit: %v", err)
	}
	two.Release()
	two.Release()
	if b.Used() != 0 {
		t.Errorf("%d bytes are taken, want 0", b.Used())
	}
}

func TestNoLimit(t *testing.T) {
	for _, b := range []*Budget{nil, New(0)} {
		if err := b.Share().Take(math.MaxInt); err != nil {
			t.Error(err)
		}
	}
}

// However many take at once, they never have more than the limit.
func TestBudgetConcurrently(t *testing.T) {
	b := New(1000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s := b.Share()
			for range 1000 {
				for s.Take(37) == nil {
				}
				if s.taken > 1000 {
					t.Errorf("one share has %d bytes", s.taken)
				}
				s.Release()
			}
		})
	}
	all.Wait()
	if b.Used() != 0 {
		t.Errorf("%d bytes are taken, want 0", b.Used())
	}
}
