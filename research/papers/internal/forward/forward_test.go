package forward

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/umbel-filters/umbel/multicast/inpacket"
	"github.com/umbel-filters/umbel/multicast/sim"
	"github.com/umbel-filters/umbel/multicast/topology"
	"github.com/umbel-filters/umbel/research/competitors"
	"github.com/umbel-filters/umbel/research/papers/internal/trial"
)

func cells(t *testing.T) []Cell {
	t.Helper()
	g, err := topology.Grid(5, 5)
	if err != nil {
		t.Fatal(err)
	}
	var all []Cell
	for _, c := range []Contender{New("umbel", "umbel", competitors.Options{}), New("BIER", "bier", competitors.Options{})} {
		for _, n := range []int{2, 6} {
			all = append(all, Cell{Contender: c, Experiment: sim.Experiment{Graph: g, Key: inpacket.Key{1}, Receivers: n, Trees: 12}})
		}
	}
	return all
}

// A resumed run uses the stored results and has the same result as an uninterrupted run,
// on any number of goroutines.
func TestResume(t *testing.T) {
	all := cells(t)
	want, err := Run(t.Context(), &trial.Runner{Dir: t.TempDir(), Seed: 1, Workers: 2}, "", all)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	shown := 0
	r := trial.Runner{Dir: dir, Seed: 1, Workers: 1, Show: func(_ string, done, total int, _ float64) {
		if shown++; done >= 30 {
			cancel() // within the third cell
		}
		if total != 48 {
			t.Errorf("%d trees in all, want 48", total)
		}
	}}
	if _, err := Run(ctx, &r, "", all); !errors.Is(err, context.Canceled) {
		t.Fatalf("interrupted: got %v, want %v", err, context.Canceled)
	}
	if shown == 0 {
		t.Error("nothing was shown")
	}
	file := filepath.Join(dir, "forwarded.jsonl")
	earlier, err := load(file)
	if err != nil || len(earlier) != 2 {
		t.Fatalf("%d cells were stored (%v), want 2", len(earlier), err)
	}
	if err := tear(file); err != nil {
		t.Fatal(err)
	}
	made := 0
	r.Show = func(_ string, _, total int, _ float64) { made = total }
	got, err := Run(t.Context(), &r, "", all)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("after an interruption: got %+v, want %+v", got, want)
	}
	if made != 24 {
		t.Errorf("%d trees were made after the interruption, want 24", made)
	}
}

// tear appends an incomplete line to a file.
func tear(file string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(`{"Key":"[\"gri`)
	return errors.Join(err, f.Close())
}

// A stored result is not used if the result of its first tree has changed.
func TestChangedResult(t *testing.T) {
	one := cells(t)[:1]
	r := trial.Runner{Dir: t.TempDir(), Seed: 1, Workers: 1}
	want, err := Run(t.Context(), &r, "", one)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(r.Dir, "forwarded.jsonl")
	earlier, err := load(file)
	if err != nil || len(earlier) != 1 {
		t.Fatalf("%d cells were stored (%v), want 1", len(earlier), err)
	}
	for _, k := range earlier {
		k.First, k.All.MeanBits = []byte(`{}`), -1
		if err := store(file, k); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := Run(t.Context(), &r, "", one); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v (%v), want %+v", got, err, want)
	}
}

// The result of a scheme that can encode no tree contains the reason.
func TestNone(t *testing.T) {
	c := cells(t)[1]
	c.Contender = New("adaptive", "adaptive", competitors.Options{Links: 1})
	got, err := Run(t.Context(), &trial.Runner{Dir: t.TempDir(), Workers: 1}, "", []Cell{c})
	if err != nil || Written(got[0]) || got[0].UnplannedWhy == "" {
		t.Errorf("got %+v (%v), want a result that isn't written, with a reason", got, err)
	}
}

func TestMaps(t *testing.T) {
	dir := t.TempDir()
	if _, err := Maps(dir); err == nil {
		t.Error("no error for a directory without networks")
	}
	if err := os.Mkdir(filepath.Join(dir, "edges"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"b": "n\t0\tx\nn\t1\ty\nn\t2\tz\ne\t0\t1\n",
		"a": "n\t0\tx\nn\t1\ty\ne\t0\t1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "edges", name+".tsv"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Maps(dir)
	if err != nil || len(all) != 2 || all[0].Name != "a" || all[1].Name != "b" || len(all[1].Nodes) != 2 {
		t.Fatalf("got %v (%v), want a and the largest component of b", all, err)
	}
	if got := Named(all, 1, "b", "c"); len(got) != 1 || got[0] != all[1] {
		t.Errorf("b and c: got %v, want b", got)
	}
	if got := Named(all, 1, "c"); len(got) != 1 || got[0] != all[0] {
		t.Errorf("c: got %v, want the first", got)
	}
	made, err := Maps("")
	if err != nil || len(made) != 6 {
		t.Fatalf("%d generated networks (%v), want 6", len(made), err)
	}
	for _, g := range made {
		if !g.Connected() {
			t.Errorf("%s is not connected", g.Name)
		}
	}
}
