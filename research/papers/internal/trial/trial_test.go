package trial

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// dice throws a die twice per trial. After the given number of trials it calls stop.
func dice(after int, stop func()) Simulation {
	thrown := 0
	return Simulation{
		Name: "two dice/sum", Values: []string{"sum", "larger"},
		Worker: func() (Trial, error) {
			return func(r *rand.ChaCha8, out []int64) error {
				a, b := int64(r.Uint64()%6+1), int64(r.Uint64()%6+1)
				out[0], out[1] = a+b, max(a, b)
				if thrown++; thrown == after {
					stop()
				}
				return nil
			}, nil
		},
	}
}

func run(t *testing.T, dir string, trials, workers int) Result {
	t.Helper()
	r := Runner{Dir: dir, Seed: 1, Workers: workers}
	sim := dice(-1, nil)
	if workers > 1 { // without the shared counter
		sim.Worker = func() (Trial, error) { return dice(-1, nil).Worker() }
	}
	got, err := r.Run(t.Context(), sim, trials)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A resumed run has the same result as an uninterrupted run, on any number of
// goroutines.
func TestResume(t *testing.T) {
	const trials = 5*round + 7
	want := run(t, t.TempDir(), trials, 1)
	if want.Trials != trials || want.Of("sum").N() != trials || want.Of("larger").N() != trials {
		t.Fatalf("%d trials, %d sums, %d maxima, want %d", want.Trials, want.Of("sum").N(), want.Of("larger").N(), trials)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := Runner{Dir: dir, Seed: 1, Workers: 1}
	if _, err := r.Run(ctx, dice(2*round+100, cancel), trials); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: got %v, want %v", err, context.Canceled)
	}
	s, err := r.open(dice(-1, nil))
	if err != nil {
		t.Fatal(err)
	}
	if s.Trials != 2*round {
		t.Errorf("kept %d trials, want the %d of two rounds", s.Trials, 2*round)
	}
	if got := run(t, dir, trials, 3); !reflect.DeepEqual(got, want) {
		t.Errorf("after an interruption: got %v, want %v", got, want)
	}
	if more := run(t, dir, trials-100, 1); !reflect.DeepEqual(more, want) {
		t.Errorf("fewer trials than stored: got %v, want %v", more, want)
	}
}

// The state of another experiment or a truncated file is not used.
func TestForeignState(t *testing.T) {
	dir := t.TempDir()
	want := run(t, dir, 300, 1)
	other := dice(-1, nil)
	worker := other.Worker
	other.Worker = func() (Trial, error) {
		one, err := worker()
		return func(r *rand.ChaCha8, out []int64) error {
			err := one(r, out)
			out[0] += 100
			return err
		}, err
	}
	r := Runner{Dir: dir, Seed: 1, Workers: 1}
	got, err := r.Run(t.Context(), other, 10)
	if err != nil {
		t.Fatal(err)
	}
	if got.Trials != 10 || got.Of("sum").Min() < 100 {
		t.Errorf("another experiment: got %d trials, minimum %d, want 10 new trials", got.Trials, got.Of("sum").Min())
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("got files %q, %v, want one", files, err)
	}
	if err := os.WriteFile(files[0], []byte(`{"Seed":1,"Tri`), 0o666); err != nil {
		t.Fatal(err)
	}
	if again := run(t, dir, 300, 1); !reflect.DeepEqual(again, want) {
		t.Errorf("truncated file: got %v, want %v", again, want)
	}
	r.Seed = 2
	if got, err = r.Run(t.Context(), dice(-1, nil), 10); err != nil || got.Trials != 10 {
		t.Errorf("another seed: got %d trials, %v, want 10", got.Trials, err)
	}
	if again := run(t, dir, 10, 1); again.Trials != 300 {
		t.Errorf("first seed: got %d trials, want the 300 stored ones", again.Trials)
	}
}

func TestErrors(t *testing.T) {
	errTrial := errors.New("trial")
	r := Runner{Dir: t.TempDir(), Workers: 2}
	_, err := r.Run(t.Context(), Simulation{
		Name: "x", Values: []string{"v"},
		Worker: func() (Trial, error) { return func(*rand.ChaCha8, []int64) error { return errTrial }, nil },
	}, 10)
	if !errors.Is(err, errTrial) {
		t.Errorf("got %v, want %v", err, errTrial)
	}
}

func TestTally(t *testing.T) {
	ta := Tally{1: 2, 4: 1, -2: 1}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"n", float64(ta.N()), 4},
		{"mean", ta.Mean(), 1},
		{"sd", ta.SD(), math.Sqrt(6)},
		{"error", ta.Error(), math.Sqrt(6) / 2},
		{"minimum", float64(ta.Min()), -2},
		{"maximum", float64(ta.Max()), 4},
		{"share", ta.Share(func(v int64) bool { return v > 0 }), 0.75},
	} {
		if math.Abs(c.got-c.want) > 1e-12 {
			t.Errorf("%s: got %v, want %v", c.what, c.got, c.want)
		}
	}
}
