package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// Note says on a terminal what is being done, of a job that can't tell how far it is,
// once it has taken half a second. The function returned takes that off. Nothing is
// shown if f isn't a terminal.
func Note(f *os.File, what string) (stop func()) {
	if !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	return note(f, what)
}

func note(w io.Writer, what string) (stop func()) {
	var mu sync.Mutex
	var shown, over bool
	timer := time.AfterFunc(patience, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			fmt.Fprintf(w, "%s…", what)
			shown = true
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if shown && !over {
			fmt.Fprint(w, "\r\x1b[K")
		}
		over = true
	}
}
