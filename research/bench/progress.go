package main

import (
	"fmt"
	"os"
	"sync"
)

// progress shows what is being measured on a terminal, and nothing elsewhere. Its
// methods may be called concurrently.
type progress struct {
	scope string // the case

	terminal *os.File // nil: show nothing
	mu       sync.Mutex
}

func newProgress(f *os.File) *progress {
	p := &progress{}
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		p.terminal = f
	}
	return p
}

// show replaces the line.
func (p *progress) show(format string, args ...any) {
	if p.terminal == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.terminal, "\r\x1b[K%s: %s", p.scope, fmt.Sprintf(format, args...))
}

// clear takes the line away.
func (p *progress) clear() {
	if p.terminal != nil {
		fmt.Fprint(p.terminal, "\r\x1b[K")
	}
}
