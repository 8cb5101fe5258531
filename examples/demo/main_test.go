package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/umbel-filters/umbel/internal/await"
	"go.uber.org/goleak"
)

// The test binary is the program if DEMO is set.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO") != "" {
		os.Exit(start(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

// program returns the program with arguments, whose temporary files are in a directory.
func program(t *testing.T, temporary string, args ...string) (c *exec.Cmd, stdout, stderr *bytes.Buffer) {
	t.Helper()
	c, stdout, stderr = exec.Command(os.Args[0], args...), new(bytes.Buffer), new(bytes.Buffer)
	c.Env = append(os.Environ(), "DEMO=1", "TMPDIR="+temporary)
	c.Stdout, c.Stderr = stdout, stderr
	return c, stdout, stderr
}

// run runs the program and returns its output.
func run(t *testing.T, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	temporary := t.TempDir()
	c, out, faults := program(t, temporary, args...)
	if err := c.Run(); c.ProcessState == nil || c.ProcessState.ExitCode() != code {
		t.Fatalf("demo %v: %v, want exit code %d\n%s", args, err, code, faults)
	}
	isEmpty(t, temporary)
	return out.String(), faults.String()
}

// isEmpty checks that a directory has no files.
func isEmpty(t *testing.T, directory string) {
	t.Helper()
	if files, err := os.ReadDir(directory); err != nil || len(files) > 0 {
		t.Errorf("%d files remain in %s: %v", len(files), directory, err)
	}
}

// With --json each line is an object, and the last one is final.
func TestJSON(t *testing.T) {
	directory := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"--keys", "2000", "--every", "50ms"}, {directory}} {
		stdout, stderr := run(t, 0, append([]string{"--json", "--for", "200ms"}, args...)...)
		var last Report
		for line := range strings.Lines(stdout) {
			last = Report{}
			if err := json.Unmarshal([]byte(line), &last); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
		}
		if !last.Final || last.Wrong > 0 || stderr != "" || len(args) == 1 && last.Set.Keys != 2 {
			t.Errorf("%v: the last report is %+v, and standard error %q", args, last, stderr)
		}
	}
}

// A wrong command line is an error before anything begins.
func TestWrongArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"none"}, {file}, {"--keys", "100", "."}, {"--every", "1ms"}, {"--changes", "-5"}, {"--keys", "0"}, {"--for", "-1s"}, {".", "--plain"}, {"--unknown"},
	} {
		if stdout, stderr := run(t, 2, args...); stdout != "" || !strings.Contains(stderr, "demo: ") {
			t.Errorf("%v: printed %q and %q", args, stdout, stderr)
		}
	}
}

// A signal ends the demonstration with its summary, and no files remain. The same holds if nobody reads what it prints.
func TestEnds(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		temporary := t.TempDir()
		c, stdout, stderr := program(t, temporary)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		await.True(t, "the last subscriber has a version", func() bool {
			held, _ := filepath.Glob(filepath.Join(temporary, "umbel-demo-*", "cache", "held"))
			return len(held) > 0
		})
		_ = c.Process.Signal(signal)
		if err := c.Wait(); err != nil || !strings.Contains(stdout.String(), " received, 0 of ") {
			t.Errorf("%v: %v, %s%s", signal, err, stdout, stderr)
		}
		isEmpty(t, temporary)
	}
	temporary := t.TempDir()
	c, _, stderr := program(t, temporary, "--every", "50ms")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout = w
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if _, err := r.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	r.Close()
	if err := c.Wait(); err != nil {
		t.Errorf("a closed pipe: %v\n%s", err, stderr)
	}
	isEmpty(t, temporary)
}

// A wrong answer has a class, whatever was printed.
func TestWrongAnswer(t *testing.T) {
	for wrong, want := range map[uint64]error{0: nil, 1: errWrong} {
		if err := verdict(Report{Wrong: wrong}); !errors.Is(err, want) {
			t.Errorf("%d wrong answers: %v", wrong, err)
		}
	}
}

// shapeOf returns a line with all numbers and states replaced, and spaces made one.
func shapeOf(line string) string {
	line = regexp.MustCompile(`(exact|late|stale|off)( by [0-9,]+)?`).ReplaceAllString(line, "STATE")
	line = regexp.MustCompile(`[0-9][0-9,.]*`).ReplaceAllString(line, "N")
	return strings.Join(strings.Fields(line), " ")
}

// The recording in README.md has the form of what the program prints.
func TestReadmeRecording(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "printed:\n\n```\n")
	block, _, ok := strings.Cut(rest, "\n```\n")
	recorded := strings.Split(block, "\n")
	if !ok || len(recorded) < 10 {
		t.Fatalf("README.md has the block %q, want a recording of 10 seconds", recorded)
	}
	var printed []string
	for lasting := 200 * time.Millisecond; lasting < time.Minute; lasting *= 2 {
		stdout, _ := run(t, 0, "--plain", "--keys", "2000", "--every", "50ms", "--for", lasting.String())
		printed = strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
		if !strings.Contains(stdout, "\n1 version, ") { // a busy machine may need longer for a second one
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
