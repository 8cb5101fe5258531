package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/umbel-filters/umbel/internal/pause"
)

// Screen is a terminal that understands the control sequences of ECMA-48, and of xterm for the alternate
// screen.
type Screen struct {
	Out io.Writer
	// Size returns the columns and lines of the terminal. It is called before each frame.
	Size func() (width, height int)
	// Colored permits colors and bold text.
	Colored bool
}

// frameEvery is the time between two frames.
const frameEvery = 200 * time.Millisecond

// Show shows reports on the alternate screen until ctx ends. Afterwards the terminal has its former
// contents.
func (s *Screen) Show(ctx context.Context, report func() Report) (err error) {
	if _, err := io.WriteString(s.Out, "\x1b[?1049h\x1b[?25l"); err != nil {
		return err
	}
	defer func() {
		if _, end := io.WriteString(s.Out, "\x1b[?25h\x1b[?1049l"); err == nil {
			err = end
		}
	}()
	for {
		width, height := s.Size()
		if err := s.draw(frame(report(), width, height), width); err != nil {
			return err
		}
		if !pause.For(ctx, frameEvery) {
			return nil
		}
	}
}

// Leave writes a report below what the terminal contains, without its events.
func (s *Screen) Leave(r Report) error {
	r.Events = nil
	width, _ := s.Size()
	var b strings.Builder
	for _, l := range frame(r, width, math.MaxInt) {
		b.WriteString(l.render(width, s.Colored) + "\n")
	}
	_, err := io.WriteString(s.Out, b.String())
	return err
}

// draw replaces the contents of the screen in one write, so that it does not flicker.
func (s *Screen) draw(lines []line, width int) error {
	var b strings.Builder
	b.WriteString("\x1b[H")
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		fmt.Fprintf(&b, "%s\x1b[K", l.render(width, s.Colored))
	}
	b.WriteString("\x1b[J")
	_, err := io.WriteString(s.Out, b.String())
	return err
}
