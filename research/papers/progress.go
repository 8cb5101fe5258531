package main

import (
	"fmt"
	"os"
	"time"
)

// progress shows on a terminal what is being made, and nothing elsewhere.
type progress struct {
	terminal *os.File // nil: show nothing
	scope    string
}

func newProgress(f *os.File) *progress {
	p := &progress{}
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p.terminal = f
	}
	return p
}

// piece begins the line of a piece.
func (p *progress) piece(name string) {
	p.scope = name
	p.show("")
}

// trials shows how far a simulation is; per is the time of a trial in seconds.
func (p *progress) trials(name string, done, trials int, per float64) {
	left := time.Duration(per * float64(trials-done) * float64(time.Second)).Round(time.Second)
	p.show(fmt.Sprintf(": %s, %d of %d trials, %v left", name, done, trials, left))
}

func (p *progress) show(what string) {
	if p.terminal != nil {
		fmt.Fprintf(p.terminal, "\r\x1b[K%s%s", p.scope, what)
	}
}

// clear takes the line away.
func (p *progress) clear() {
	if p.terminal != nil {
		fmt.Fprint(p.terminal, "\r\x1b[K")
	}
}
