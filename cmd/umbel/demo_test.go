package main

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/cli"
	"github.com/umbel-filters/umbel/cmd/internal/cli/publications"
	"github.com/umbel-filters/umbel/cmd/internal/demo"
)

// shapeOf returns a line of umbel demo with all numbers and states replaced, and spaces made one.
func shapeOf(line string) string {
	line = regexp.MustCompile(`(exact|late|stale|off)( by [0-9,]+)?`).ReplaceAllString(line, "STATE")
	line = regexp.MustCompile(`[0-9][0-9,.]*`).ReplaceAllString(line, "N")
	return strings.Join(strings.Fields(line), " ")
}

// A wrong answer is the exit code 1, also without output.
func TestDemoWrong(t *testing.T) {
	var out bytes.Buffer
	cmd := rootCommand()
	cmd.SetOut(&out)
	r := publications.DemoRun{Cmd: cmd}
	if err := r.End(demo.Report{}); err != nil || !strings.Contains(out.String(), "0 of 0 present keys") {
		t.Errorf("%v, %q", err, &out)
	}
	if err := r.End(demo.Report{Wrong: 1}); !errors.Is(err, cli.ErrAbsent) {
		t.Error(err)
	}
	cmd.PersistentFlags().Set("quiet", "true")
	if err := r.End(demo.Report{Wrong: 1}); !errors.Is(err, cli.ErrAbsent) {
		t.Error(err)
	}
}

// The recording in README.md has the form of what umbel demo prints.
func TestReadmeRecording(t *testing.T) {
	_, rest, _ := strings.Cut(read(t, "../../README.md"), "printed:\n\n```\n")
	block, _, ok := strings.Cut(rest, "\n```\n")
	recorded := strings.Split(block, "\n")
	if !ok || len(recorded) < 10 {
		t.Fatalf("README.md has the block %q, want a recording of 10 seconds", recorded)
	}
	t.Setenv("TMPDIR", t.TempDir())
	var printed []string
	for lasting := 200 * time.Millisecond; lasting < time.Minute; lasting *= 2 {
		var stdout, stderr bytes.Buffer
		if code := cli.Run(rootCommand(), []string{"demo", "--plain", "--keys", "2000", "--every", "50ms", "--for", lasting.String()}, os.Stdin, &stdout, &stderr); code != cli.ExitOK {
			t.Fatalf("exit code %d: %s", code, &stderr)
		}
		printed = strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
		if !strings.Contains(stdout.String(), "\n1 version, ") { // a busy machine may need longer for a second one
			break
		}
	}
	if len(printed) < 4 || printed[0] != recorded[0] {
		t.Fatalf("printed %q, README.md has %q", printed, recorded)
	}
	summary := len(recorded) - 2 // the first of its two lines
	shapes := []string{shapeOf(printed[1]), shapeOf(printed[len(printed)-2]), shapeOf(printed[len(printed)-1])}
	for i, line := range recorded[1:] {
		want := shapes[max(0, i+2-summary)]
		if got := shapeOf(line); got != want {
			t.Errorf("README.md: %q has the form %q, want %q", line, got, want)
		}
	}
	if !strings.Contains(recorded[summary], " 0 of ") || slices.Contains(shapes, "") {
		t.Errorf("README.md: the summary is %q", recorded[summary:])
	}
}
