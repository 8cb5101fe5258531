// Package pagetest runs the shell sessions of pages and compares what they print.
package pagetest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Run runs every session of the page in a file and reports each whose output differs. With
// update it writes the page instead. samples is a directory whose files the sessions may use.
func Run(t *testing.T, file, samples string, update bool) {
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(b)
	sessions := sessionsOf(page)
	runSessions(t, sessions, samples)
	for _, s := range sessions {
		switch {
		case s.same():
		case update:
			page = strings.Replace(page, s.String(false), s.String(true), 1)
		default:
			t.Errorf("%s shows\n%s\nand the commands print\n%s", file, s.String(false), s.String(true))
		}
	}
	if update && page != string(b) {
		if err := os.WriteFile(file, []byte(page), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// A session is a block of a page with commands and what they print:
//
//	```console
//	$ umbel has numbers.umb 77
//	77
//	```
//
// Later lines of a command begin with "> ". With "console varies" numbers and their units may
// differ, such as those of times and random seeds. The sessions of a page share a shell and a directory, which
// has the samples only.
type session struct {
	fence string // the first line
	steps []step
}

// A step is a command, as printed, and its output: standard output and standard error.
type step struct{ command, shown, printed string }

func sessionsOf(text string) []*session {
	var all []*session
	var s *session
	for line := range strings.Lines(text) {
		last := func() *step { return &s.steps[len(s.steps)-1] }
		switch {
		case s == nil && strings.HasPrefix(line, "```console"):
			s = &session{fence: line}
			all = append(all, s)
		case s == nil:
		case line == "```\n":
			s = nil
		case strings.HasPrefix(line, "$ "):
			s.steps = append(s.steps, step{command: line})
		case strings.HasPrefix(line, "> "):
			last().command += line
		default:
			last().shown += line
		}
	}
	return all
}

// String is the block, as shown or as printed.
func (s *session) String(printed bool) string {
	var b strings.Builder
	b.WriteString(s.fence)
	for _, step := range s.steps {
		b.WriteString(step.command)
		if printed {
			b.WriteString(step.printed)
		} else {
			b.WriteString(step.shown)
		}
	}
	return b.String() + "```\n"
}

var (
	numbers = regexp.MustCompile(`[0-9]([0-9,.]*[0-9])?(ns|µs|ms|s| B| KiB| MiB)?`)
	spaces  = regexp.MustCompile(` +`)
)

// same reports whether the commands printed what the page shows.
func (s *session) same() bool {
	for _, step := range s.steps {
		shown, printed := step.shown, step.printed
		if strings.Contains(s.fence, "varies") {
			shown = spaces.ReplaceAllString(numbers.ReplaceAllString(shown, "0"), " ")
			printed = spaces.ReplaceAllString(numbers.ReplaceAllString(printed, "0"), " ")
		}
		if shown != printed {
			return false
		}
	}
	return true
}

// ready returns a command that waits until the server that a command starts in the background is
// ready: until umbel serve accepts requests, or until others have written to the file to which
// their output goes.
func ready(command string) string {
	if strings.HasPrefix(command, "umbel serve") {
		addr := ""
		if _, other, ok := strings.Cut(command, " --http "); ok {
			addr = " --addr " + strings.Fields(other)[0]
		}
		return "until umbel node status --check" + addr + " >/dev/null 2>&1; do sleep 0.05; done\n"
	}
	_, file, _ := strings.Cut(command, " >")
	file, _, _ = strings.Cut(file, " ")
	return "until test -s " + file + "; do sleep 0.05; done\n"
}

// clients are the programs that a machine may lack.
var clients = []string{"redis-cli", "curl"}

// mark separates the outputs of steps.
const mark = "-- next step --\n"

// runSessions runs the steps of all sessions in one shell and fills in what they print. The shell
// has a network of its own, so the ports of servers on a page are free.
func runSessions(t *testing.T, sessions []*session, samples string) {
	// The shell waits for the servers, which write to the directory until they end. On a terminal curl shows no
	// progress when it prints a reply.
	script := "exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\ncurl() { command curl -sS \"$@\"; }\n"
	servers := false
	for _, s := range sessions {
		for _, step := range s.steps {
			command := strings.ReplaceAll(strings.TrimPrefix(step.command, "$ "), "\n> ", "\n")
			script += command
			program, _, _ := strings.Cut(command, " ")
			if _, err := exec.LookPath(program); err != nil && slices.Contains(clients, program) {
				t.Skipf("%s is not installed", program)
			}
			if strings.HasSuffix(command, "&\n") { // a reader waits until it is ready
				servers = true
				script += ready(command)
			}
			script += "echo '" + strings.TrimSpace(mark) + "'\n"
		}
	}
	name := filepath.Join(t.TempDir(), "session")
	if err := os.WriteFile(name, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	args := []string{"bash", name}
	network := []string{"unshare", "--net", "--map-root-user", "bash", "-c", `ip link set lo up && exec "$@"`, "bash"}
	if out, err := exec.Command(network[0], append(network[1:], "true")...).CombinedOutput(); err == nil {
		args = append(network, args...)
	} else if servers {
		t.Skipf("servers need a network of their own: %v: %s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = t.TempDir()
	if err := os.CopyFS(cmd.Dir, os.DirFS(samples)); err != nil {
		t.Fatal(err)
	}
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	printed := strings.SplitAfter(string(out), mark)
	for _, s := range sessions {
		for i := range s.steps {
			if len(printed) < 2 {
				t.Fatalf("the shell ended before %s: %v\n%s", s.steps[i].command, err, out)
			}
			s.steps[i].printed = strings.TrimSuffix(printed[0], mark)
			printed = printed[1:]
		}
	}
}
