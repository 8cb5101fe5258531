package filters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/files/container"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/filter"
)

// verbTest has the streams of verbs without a process.
type verbTest struct {
	*testing.T
	*cli.Streams
	out, reported bytes.Buffer
}

func newVerbTest(t *testing.T) *verbTest {
	v := &verbTest{T: t}
	v.Streams = &cli.Streams{Out: &v.out, Err: &v.reported, Now: func() time.Time { return time.Unix(1e9, 0) }}
	v.Log = slog.New(&report.Sentences{To: &v.reported, Program: "umbel"})
	return v
}

// file writes a file and returns its name.
func (v *verbTest) file(name, text string) string {
	v.T.Helper()
	path := filepath.Join(v.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		v.Fatal(err)
	}
	return path
}

// filter writes a filter of a kind for a number of keys, and adds the words.
func (v *verbTest) filter(kind string, planned uint64, words ...string) string {
	v.T.Helper()
	k, err := filter.All.Find(kind)
	if err != nil {
		v.Fatal(err)
	}
	f, err := k.New(umbel.Goal{Keys: planned, FPRate: 0.01}, nil)
	if err != nil {
		v.Fatal(err)
	}
	for _, w := range words {
		f.Add(f.Hasher().HashString(w))
	}
	path := filepath.Join(v.TempDir(), kind+".umb")
	if err := container.Write(path, f.State()); err != nil {
		v.Fatal(err)
	}
	return path
}

func numbered(n int) (words []string) {
	for i := range n {
		words = append(words, fmt.Sprint("key ", i))
	}
	return words
}

// An overfull result makes the exit code that of a loss, unless it is accepted; with Strict nothing is written.
func TestAddJudges(t *testing.T) {
	for _, c := range []struct {
		name      string
		tolerance Tolerance
		exceeded  bool
		written   bool
	}{
		{"warns", Tolerance{judges: true}, true, true},
		{"lossy", Tolerance{judges: true, Lossy: true}, false, true},
		{"strict", Tolerance{judges: true, Strict: true}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVerbTest(t)
			file := v.filter("bloom", 10)
			r := addRun{changeOptions: changeOptions{Streams: v.Streams, Tolerance: c.tolerance}, format: keys.Lines}
			err := r.changeOptions.run(t.Context(), []string{file, v.file("keys.txt", strings.Join(numbered(1000), "\n"))}, r.change)
			if (err == nil) != c.written || v.Exceeded() != c.exceeded {
				t.Errorf("error %v, exceeded %v", err, v.Exceeded())
			}
			f, _, err := container.Open(file, filter.All)
			if err != nil {
				t.Fatal(err)
			}
			if written := f.Stats().Fill > 0; written != c.written {
				t.Errorf("the filter was written: %v", written)
			}
		})
	}
}

func TestRemoveAllOrNone(t *testing.T) {
	v := newVerbTest(t)
	file := v.filter("counting", 1000, "alice", "bob")
	names := []string{file, v.file("keys.txt", "alice\ncarol\n")}
	whole := removeRun{format: keys.Lines, whole: true}
	if err := whole.run(t.Context(), v.Streams, names); err == nil || whole.done.Removed != 1 || v.out.String() != "carol\n" {
		t.Errorf("all or none: %v, %d removed, printed %q", err, whole.done.Removed, v.out.String())
	}
	some := removeRun{format: keys.Lines}
	if err := some.run(t.Context(), v.Streams, names); !errors.Is(err, cli.ErrAbsent) || some.done.Removed != 1 || len(some.done.Absent) != 1 {
		t.Errorf("some: %v, %d removed", err, some.done.Removed)
	}
}

// A canceled context ends a query with the words of what was printed.
func TestHasCanceled(t *testing.T) {
	v := newVerbTest(t)
	file, list := v.filter("bloom", 100, "alice"), v.file("keys.txt", "alice\n")
	for _, canceled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		if canceled {
			cancel()
		}
		q := HasRun{keys: cli.KeyOptions{Files: []string{list}, Format: keys.Lines}}
		if err := q.run(ctx, v.Streams, []string{file}); (err != nil) != canceled || q.asked != 1-AnswerOf(canceled) {
			t.Errorf("canceled %v: %v, %d queries", canceled, err, q.asked)
		}
		cancel()
	}
}

// The streams have the time: a window follows their clock, and not that of the process.
func TestAdvanceByStreams(t *testing.T) {
	v := newVerbTest(t)
	k, err := filter.All.Find("window")
	if err != nil {
		t.Fatal(err)
	}
	f, err := clock(v.Now).clocked(k, time.Second).New(umbel.Goal{Keys: 100, FPRate: 0.01}, umbel.Params{{Name: "window", Value: umbel.Uint(3600)}})
	if err != nil {
		t.Fatal(err)
	}
	if span, ok := windowSpan(f.State()); !ok || span.now != 1e9 {
		t.Errorf("the time of the window is %d, want %d", span.now, uint64(1e9))
	}
}

// Options that contradict each other are errors of usage, before a file is read.
func TestUsage(t *testing.T) {
	v := newVerbTest(t)
	for name, run := range map[string]func(context.Context, *cli.Streams, []string) error{
		"fold without output":  new(foldOptions).run,
		"diff without output":  new(diffRun).run,
		"merge without output": new(mergeRun).run,
		"patch twice stdin":    (&patchRun{output: "x"}).run,
		"convert to nothing":   (&conversion{to: "nothing", output: "x"}).run,
		"measure no filters":   new(measureOptions).run,
		"parquet of a pipe":    new(parquet).run,
	} {
		if err := run(t.Context(), v.Streams, []string{"-", "-", "-"}); !errors.Is(err, cli.ErrUsage) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
