package filters

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/internal/fixture"
	"github.com/umbel-filters/umbel/internal/race"
)

// umbelIn returns what runs a verb and returns its exit code and messages. Steps of merges end after the given bytes.
func umbelIn(stepBytes int64) func(args ...string) (int, string) {
	return func(args ...string) (int, string) {
		r := &mergeRun{}
		root := cli.Root(cli.Program{Name: "umbel", Groups: []cli.Group{{Verbs: []*cobra.Command{MakeCommand(nil), r.command()}}}})
		r.parts.stepBytes = stepBytes
		streams := cli.Standard()
		var out, messages bytes.Buffer
		streams.Out, streams.Err = &out, &messages
		return cli.Run(root, args, streams), messages.String()
	}
}

// partsDir is a directory with files of keys.
type partsDir struct {
	*testing.T
	dir   string
	files []string
	umbel func(args ...string) (int, string)
}

func (d *partsDir) path(name string) string { return filepath.Join(d.dir, name) }

// run runs a verb that succeeds.
func (d *partsDir) run(args ...string) {
	d.Helper()
	if exit, messages := d.umbel(args...); exit != 0 {
		d.Fatalf("umbel %v: exit code %d, %s", args, exit, messages)
	}
}

// make makes a filter, or a part, of all files.
func (d *partsDir) make(name string, flags ...string) string {
	d.Helper()
	d.run(slices.Concat([]string{"make", "-q", "-o", d.path(name)}, flags, d.files)...)
	return d.path(name)
}

func (d *partsDir) mustEqual(a, b string) {
	d.Helper()
	if !bytes.Equal(fixture.Must(os.ReadFile(a)), fixture.Must(os.ReadFile(b))) {
		d.Fatalf("%s and %s differ", a, b)
	}
}

// Parts of random files, in any number, order, way and tree, are joined to the file that one umbel make writes: also if there are more
// parts than lines or files.
func TestPartsAreOneFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(36, 7))
	rounds := 60
	if testing.Short() {
		rounds = 12
	}
	kinds := []string{"bloom", "partitioned", "blocked", "counting", "splitblock", "squid", "nixbloom"}
	ways := []string{"lines", "files", "cells"}
	for round := range rounds {
		d := &partsDir{T: t, dir: t.TempDir(), umbel: umbelIn(stepBytes)}
		if rng.IntN(2) == 0 {
			d.umbel = umbelIn(1)
		}
		for i := range 1 + rng.IntN(5) {
			var b strings.Builder
			for range 1 + rng.IntN(300) {
				fmt.Fprint(&b, rng.IntN(500), strings.Repeat("x", rng.IntN(2)*rng.IntN(50)), []string{"\n", "\r\n"}[rng.IntN(2)])
			}
			d.files = append(d.files, d.path(fmt.Sprint("keys", i)))
			text := b.String()
			if err := os.WriteFile(d.files[i], []byte(text[:len(text)-rng.IntN(2)]), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		kind, way := kinds[rng.IntN(len(kinds))], ways[rng.IntN(len(ways))]
		if kind == "squid" || kind == "nixbloom" {
			way = ways[rng.IntN(2)]
		}
		shape := []string{"--kind", kind, "--keys", fmt.Sprint(1000 + rng.IntN(5000))}
		one := d.make("one", shape...)
		of := 1 + rng.IntN(30)
		var parts []string
		for i := range of {
			parts = append(parts, d.make(fmt.Sprint("part", i), append(shape, "--part", fmt.Sprintf("%d/%d", i+1, of), "--divide", way)...))
		}
		rng.Shuffle(of, func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for step := 0; len(parts) > 1 && rng.IntN(3) > 0; step++ {
			n := 1 + rng.IntN(len(parts)-1)
			some := d.path(fmt.Sprint("some", step))
			d.run(slices.Concat([]string{"merge", "-q", "--partial", "-o", some}, parts[:n])...)
			parts = append(parts[n:], some)
		}
		all := d.path("all")
		d.run(slices.Concat([]string{"merge", "-q", "--lossy", "--expect", fmt.Sprint(of), "-o", all}, parts)...)
		if d.mustEqual(all, one); t.Failed() {
			t.Fatalf("round %d: kind %s, %d parts by %s", round, kind, of, way)
		}
	}
}

// A merge that fails in a later step continues with the parts that it has joined, unless one of them was made again.
func TestMergeContinues(t *testing.T) {
	d := &partsDir{T: t, dir: t.TempDir(), umbel: umbelIn(1)}
	d.files = []string{d.path("keys")}
	if err := os.WriteFile(d.files[0], []byte(strings.Repeat("a\nb\nc\nd\n", 50)), 0o666); err != nil {
		t.Fatal(err)
	}
	shape := []string{"--kind", "counting", "--keys", "1000"} // a part that is joined twice would count twice
	one := d.make("one", shape...)
	var parts []string
	for i := range 40 {
		parts = append(parts, d.make(fmt.Sprint("part", i), append(shape, "--part", fmt.Sprintf("%d/40", i+1))...))
	}
	all, partial := d.path("all"), d.path("all.partial")
	merge := slices.Concat([]string{"merge", "--expect", "40", "-o", all}, parts)
	good := fixture.Must(os.ReadFile(parts[39]))
	bad := bytes.Clone(good)
	bad[len(bad)-1] ^= 1
	if err := os.WriteFile(parts[39], bad, 0o666); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second run continues, and fails in the same way
		if exit, messages := d.umbel(merge...); exit != 2 || !strings.Contains(messages, parts[39]) || !strings.Contains(messages, partial) {
			t.Fatalf("exit code %d, %s", exit, messages)
		}
	}
	if _, err := os.Stat(all); err == nil {
		t.Error("a merge that failed has written its result")
	}
	if err := os.WriteFile(parts[39], good, 0o666); err != nil {
		t.Fatal(err)
	}
	kept := fixture.Must(os.ReadFile(partial))
	exit, messages := d.umbel(merge...)
	if exit != 0 || !strings.Contains(messages, "continues with "+partial) {
		t.Fatalf("exit code %d, %s", exit, messages)
	}
	d.mustEqual(all, one)
	if _, err := os.Stat(partial); err == nil {
		t.Error("the partial file is left")
	}
	if err := os.WriteFile(partial, kept, 0o666); err != nil {
		t.Fatal(err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(parts[0], later, later); err != nil {
		t.Fatal(err)
	}
	if exit, messages := d.umbel(merge...); exit != 0 || strings.Contains(messages, "continues") {
		t.Fatalf("exit code %d, %s", exit, messages)
	}
	d.mustEqual(all, one)
}

// Programs that make the same part at the same time write one whole file.
func TestPartMadeTwice(t *testing.T) {
	race.Skip(t, "a process has one command")
	d := &partsDir{T: t, dir: t.TempDir(), umbel: umbelIn(stepBytes)}
	d.files = []string{d.path("keys")}
	if err := os.WriteFile(d.files[0], []byte(strings.Repeat("a\nb\n", 5000)), 0o666); err != nil {
		t.Fatal(err)
	}
	first := d.make("first", "--keys", "200000", "--part", "1/2")
	var programs sync.WaitGroup
	for range 4 {
		programs.Go(func() {
			for range 5 {
				if exit, messages := d.umbel("make", "-q", "-o", d.path("same"), "--keys", "200000", "--part", "1/2", d.files[0]); exit != 0 {
					t.Error(exit, messages)
				}
				if !bytes.Equal(fixture.Must(os.ReadFile(d.path("same"))), fixture.Must(os.ReadFile(first))) {
					t.Error("the part is not whole")
				}
			}
		})
	}
	programs.Wait()
	if left := fixture.Must(os.ReadDir(d.dir)); len(left) != 3 {
		t.Errorf("files are left: %v", left)
	}
}
