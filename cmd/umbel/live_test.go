package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/filter"
	"github.com/umbel-filters/umbel/live"
)

// The commands read the file of a live filter of any kind while it is used, and change it when it is closed: until then they wait,
// and a live filter is not opened while a command has the file.
func TestLiveFile(t *testing.T) {
	for _, kind := range filter.All {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "live.umb")
			o := live.Options{Every: -1}
			if kind.Name == "window" {
				o.Window = time.Hour
			}
			f, err := live.Open(path, kind, umbel.Goal{Keys: 1000, FPRate: 0.001}, o)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			f.AddString("alice")
			if err := f.Save(); err != nil {
				t.Fatal(err)
			}
			run := func(ctx context.Context, args ...string) (string, error) {
				out, err := exec.CommandContext(ctx, "umbel", append(args, path)...).CombinedOutput()
				return string(out), err
			}
			if out, err := run(t.Context(), "info"); err != nil || !strings.Contains(out, kind.Name) {
				t.Errorf("info: %v\n%s", err, out)
			}
			has := func(key string) bool {
				return exec.Command("umbel", "has", "-q", path, key).Run() == nil
			}
			if !has("alice") || has("bob") {
				t.Error("has: alice is missing, or bob is present")
			}
			short, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer stop()
			add := exec.CommandContext(short, "umbel", "add", "-q", path)
			add.Stdin = strings.NewReader("bob\n")
			if err := add.Run(); err == nil || short.Err() == nil {
				t.Errorf("add did not wait: %v", err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if has("bob") {
				t.Error("a command changed the file of a live filter")
			}
			add = exec.Command("umbel", "add", "-q", path)
			add.Stdin = strings.NewReader("bob\n")
			if out, err := add.CombinedOutput(); err != nil {
				t.Fatalf("add: %v\n%s", err, out)
			}
			if f, err = live.Open(path, kind, umbel.Goal{Keys: 1000, FPRate: 0.001}, o); err != nil {
				t.Fatal(err)
			}
			if !f.HasString("alice") || !f.HasString("bob") {
				t.Error("a key is missing after the command")
			}
		})
	}
}

// A program with Prometheus' client registers a number of a live filter: docs/live.md.
func TestLiveGauge(t *testing.T) {
	seen, err := live.Open(filepath.Join(t.TempDir(), "live.umb"), filter.All[0], umbel.Goal{Keys: 1000, FPRate: 0.001}, live.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer seen.Close()
	prometheus.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "crawler_seen_fpr", Help: "False-positive rate of the seen URLs.",
	}, func() float64 { return seen.Stats().FPRate }))
}
