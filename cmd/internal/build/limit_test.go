package build

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/keys"
	"github.com/umbel-filters/umbel/filter"
)

// limited is a filter that refuses keys beyond a number.
type limited struct {
	umbel.Filter
	left int
}

func (f *limited) TryAdd(d umbel.Digest) (bool, error) {
	if f.left == 0 {
		return false, fmt.Errorf("limited: full, take a larger one: %w", umbel.ErrLimit)
	}
	f.left--
	return f.Add(d), nil
}

// A filter with a limit refuses the key beyond it.
func TestAddToLimit(t *testing.T) {
	job := keys.Job{Format: keys.Lines, Workers: 2}
	for limit, want := range map[int]error{1000: nil, 999: umbel.ErrLimit} {
		f, err := filter.All[0].New(umbel.Goal{Keys: 1000, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Add(&limited{f, limit}, job, []*os.File{keyFile(t, 1000)}); !errors.Is(err, want) {
			t.Errorf("1000 keys with a limit of %d: %v, want %v", limit, err, want)
		}
	}
}

// A filter that keeps its rate may hold more keys than it was planned for.
func TestGrowing(t *testing.T) {
	v := filter.All[0]
	inner := v.New
	v.New = func(g umbel.Goal, ps umbel.Params) (umbel.Filter, error) {
		g.Keys *= 10
		return inner(g, ps)
	}
	made, err := order(v, umbel.Goal{Keys: 1000, FPRate: 0.01}).Make([]*os.File{keyFile(t, 5000)})
	if err != nil || made.Read != 5000 {
		t.Errorf("read %d keys, %v", made.Read, err)
	}
	_, err = order(filter.All[0], umbel.Goal{Keys: 1000, FPRate: 0.01}).Make([]*os.File{keyFile(t, 5000)})
	if !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("a filter that doesn't grow: %v, want an error that wraps %q", err, umbel.ErrGoal)
	}
}
