package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a pseudoterminal: what a program writes to the second can be read from
// the first.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this system has no pseudoterminals")
	}
	t.Cleanup(func() { screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, program
}

// onTerminal returns what umbel prints on a terminal. The exit code may be anything.
func onTerminal(t *testing.T, dir string, env []string, arguments ...string) string {
	t.Helper()
	screen, program := openTerminal(t)
	cmd := exec.Command("umbel", arguments...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, program, program
	cmd.Env = append(append(os.Environ(), "TERM=xterm", "NO_COLOR="), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close() // the last other end is that of the process: reading ends with it
	var out bytes.Buffer
	_, _ = out.ReadFrom(screen) // ends with EIO
	_ = cmd.Wait()
	return out.String()
}

func TestColors(t *testing.T) {
	dir := t.TempDir()
	plain := onTerminal(t, dir, []string{"NO_COLOR=1"}, "make", "-n", "10", "-o", "few.umb", os.DevNull, "--allow-empty")
	if strings.Contains(plain, "\x1b[3") {
		t.Errorf("with NO_COLOR: %q", plain)
	}
	many := strings.Join(strings.Split("abcdefghijklmnopqrstuvwxyz", ""), "\n")
	if err := os.WriteFile(dir+"/many", []byte(many), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		arguments string
		want      string
	}{
		{"has few.umb --explain zebra", "\x1b[31mabsent\x1b[m"},
		{"plan -n 1e6 --fpr 1%", "\x1b[32m-29.7%\x1b[m"},
		{"nosuch", "\x1b[31mumbel:\x1b[m unknown verb"},
		{"add few.umb " + dir + "/many", "\x1b[33mwarning:\x1b[m"},
		{"info few.umb", "; overfull\x1b[m"},
	} {
		if got := onTerminal(t, dir, nil, strings.Fields(c.arguments)...); !strings.Contains(got, c.want) {
			t.Errorf("umbel %s: got %q, want %q in it", c.arguments, got, c.want)
		}
	}
}
