package build

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/wire"
	"github.com/umbel-filters/umbel/wire/hashtree"
)

// keyFile writes n distinct keys to a file and opens it.
func keyFile(t *testing.T, n int) *os.File { return repeatedFile(t, n, 1) }

// pipe returns a pipe from which n distinct keys come.
func pipe(t *testing.T, n int) *os.File { return piped(t, keyFile(t, n)) }

func order(v umbel.Kind, g umbel.Goal, ps ...umbel.Param) Order {
	return Order{
		Kind: v, Goal: g, Params: ps,
		Keys: keys.Job{Format: keys.Lines, Workers: 2}, Memory: 1 << 19,
	}
}

func mustHaveAll(t *testing.T, f umbel.Filter, n int) {
	t.Helper()
	for i := range n {
		if !f.Has(umbel.Hasher{}.HashString(fmt.Sprint("key ", i))) {
			t.Fatalf("key %d is lost", i)
		}
	}
}

func bloomVariant(t *testing.T) umbel.Kind {
	t.Helper()
	v, err := filter.All.Find("bloom")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A counted file, a pipe short enough and a given number make the same filter.
func TestSame(t *testing.T) {
	const n = 2000
	for _, v := range filter.All {
		var ids []wire.ID
		for _, c := range []struct {
			goal umbel.Goal
			file *os.File
		}{
			{umbel.Goal{}, keyFile(t, n)},
			{umbel.Goal{}, pipe(t, n)},
			{umbel.Goal{FPRate: 0.01}, keyFile(t, n)},
			{umbel.Goal{Keys: n}, pipe(t, n)},
			{umbel.Goal{Keys: n, FPRate: 0.01}, keyFile(t, n)},
		} {
			made, err := order(v, c.goal).Make([]*os.File{c.file})
			if err != nil {
				t.Fatalf("%s, %+v: %v", v.Name, c.goal, err)
			}
			if made.Read != n || made.Fold != 0 {
				t.Errorf("%s: read %d keys, folded by %d, want %d and 0", v.Name, made.Read, made.Fold, n)
			}
			mustHaveAll(t, made.Filter, n)
			ids = append(ids, hashtree.Identify(made.Filter.State()))
		}
		for i := range ids {
			if ids[i] != ids[0] {
				t.Errorf("%s: filter %d differs from the first", v.Name, i)
			}
		}
	}
}

func TestStreamTooLong(t *testing.T) {
	_, err := order(bloomVariant(t), umbel.Goal{}).Make([]*os.File{pipe(t, 300_000)})
	if !errors.Is(err, umbel.ErrGoal) {
		t.Errorf("error %v, want one that wraps ErrGoal", err)
	}
}

// With a size given the keys are counted for the best k, or the rate is 1 %.
func TestSizeGiven(t *testing.T) {
	v := bloomVariant(t)
	m := umbel.Param{Name: "m", Value: umbel.Uint(64000)}
	k := umbel.Param{Name: "k", Value: umbel.Uint(2)}
	for _, c := range []struct {
		name  string
		goal  umbel.Goal
		ps    []umbel.Param
		file  *os.File
		bytes uint64
		k     float64
	}{
		{"bytes of a file", umbel.Goal{Bytes: 8000}, nil, keyFile(t, 4000), 8000, 11},
		{"bytes of a pipe", umbel.Goal{Bytes: 8000}, nil, pipe(t, 4000), 8000, 7},
		{"bytes and rate", umbel.Goal{Bytes: 8000, FPRate: 0.1}, nil, pipe(t, 4000), 8000, 3},
		{"m of a file", umbel.Goal{}, []umbel.Param{m}, keyFile(t, 4000), 8000, 11},
		{"m and k", umbel.Goal{}, []umbel.Param{m, k}, pipe(t, 40000), 8000, 2},
		{"nothing to count", umbel.Goal{}, nil, keyFile(t, 0), 8, 6},
	} {
		made, err := order(v, c.goal, c.ps...).Make([]*os.File{c.file})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if s := made.Filter.Stats(); s.Bytes != c.bytes || s.K != c.k {
			t.Errorf("%s: %d bytes, k %v, want %d and %v", c.name, s.Bytes, s.K, c.bytes, c.k)
		}
	}
}

func TestRefusals(t *testing.T) {
	v := bloomVariant(t)
	for _, c := range []struct {
		name string
		goal umbel.Goal
		ps   umbel.Params
		want error
	}{
		{"rate", umbel.Goal{FPRate: 2}, nil, umbel.ErrGoal},
		{"parameter", umbel.Goal{}, umbel.Params{{Name: "shards"}}, umbel.ErrGoal},
		{"more than memory", umbel.Goal{Keys: 1 << 50, FPRate: 0.01}, nil, umbel.ErrLimit},
	} {
		if _, err := order(v, c.goal, c.ps...).Make([]*os.File{keyFile(t, 1000)}); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
}

// Keys that come again don't count against the rate.
func TestRepeatedKeys(t *testing.T) {
	files := []*os.File{keyFile(t, 900), keyFile(t, 900), keyFile(t, 900)}
	made, err := order(bloomVariant(t), umbel.Goal{Keys: 1000}).Make(files)
	if err != nil || made.Read != 2700 {
		t.Errorf("read %d, %v", made.Read, err)
	}
}

// A kind without atomic additions takes its batches one at a time; the race
// detector watches.
func TestAdder(t *testing.T) {
	for _, workers := range []int{1, 3} {
		f, err := bloomVariant(t).New(umbel.Goal{Keys: 20000, FPRate: 0.01}, nil)
		if err != nil {
			t.Fatal(err)
		}
		job := keys.Job{Format: keys.Lines, Workers: workers}
		n, err := Add(plain{f}, job, []*os.File{keyFile(t, 20000)})
		if err != nil || n != 20000 {
			t.Fatal(n, err)
		}
		mustHaveAll(t, f, 20000)
	}
}

type plain struct{ umbel.Filter }
