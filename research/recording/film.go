package main

import (
	"cmp"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// Size of the terminal, and the times of a recording.
const (
	columns, rows = 80, 28
	typed         = 3 // characters that appear together
	typing        = 120 * time.Millisecond
	sampling      = 500 * time.Millisecond
	prompt        = "$ "
)

// frame is what the screen shows from a time on.
type frame struct {
	at    time.Duration
	lines []string
}

// film is the frames of a recording, in order, and the time at which the last one ends.
type film struct {
	frames []frame
	end    time.Duration
}

// show appends a screen that is shown for the time of hold.
func (f *film) show(lines []string, hold time.Duration) {
	f.frames = append(f.frames, frame{f.end, lines})
	f.end += hold
}

// run types the command on an empty screen, runs it in dir, and records what it prints. Programs in
// bin are found first. An exit code other than 0 is a result, as of umbel has.
func (f *film) run(s step, dir, bin string) error {
	for n := 0; n < len(s.command); n += typed {
		f.show([]string{prompt + s.command[:n]}, typing)
	}
	f.show([]string{prompt + s.command}, 3*typing)

	cmd := exec.Command("sh", "-c", cmp.Or(s.program, s.command))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "TERM=xterm-256color", "NO_COLOR=1")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: rows - 1, Cols: columns})
	if err != nil {
		return err
	}
	defer terminal.Close()
	screen := vt.NewEmulator(columns, rows-1)
	defer screen.Close()
	go io.Copy(terminal, screen) // replies to queries of the program
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		for {
			b := make([]byte, 1<<16)
			n, err := terminal.Read(b)
			if n > 0 {
				chunks <- b[:n]
			}
			if err != nil { // Linux returns an error at the end of the program
				return
			}
		}
	}()
	lines := func() []string {
		text := strings.ReplaceAll(screen.String(), "\r", "")
		out := []string{prompt + s.command}
		for _, line := range strings.Split(text, "\n") {
			out = append(out, strings.TrimRight(line, " "))
		}
		return out
	}
	ticks := time.NewTicker(sampling)
	defer ticks.Stop()
	for {
		select {
		case b, ok := <-chunks:
			if !ok {
				f.show(lines(), s.hold)
				return ended(cmd.Wait())
			}
			if _, err := screen.Write(b); err != nil {
				return err
			}
		case <-ticks.C:
			f.show(lines(), sampling)
		}
	}
}

// ended returns err unless the program ended by itself with exit code 0 or 1.
func ended(err error) error {
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 {
		return nil
	}
	return err
}
