package build

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
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

// A filter contains more keys than it was planned for, and its rate shows it.
func TestOverfull(t *testing.T) {
	made, err := order(filter.All[0], umbel.Goal{Keys: 1000, FPRate: 0.01}).Make([]*os.File{keyFile(t, 5000)})
	if err != nil || made.Read != 5000 {
		t.Fatalf("read %d keys, %v", made.Read, err)
	}
	if p := made.Filter.State().Planned; p.Keys != 1000 || !p.Exceeded(made.Filter.Stats().FPRate) {
		t.Errorf("planned for %+v, and not overfull", p)
	}
}
