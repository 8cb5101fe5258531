package cli

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// StampMessages makes a verb that runs for long print the time before each of its messages, unless standard error is a
// terminal: a file with them is read later. It is called before warningLog.
func StampMessages(cmd *cobra.Command) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		cmd.SetErr(stampWriter{cmd.ErrOrStderr()})
	}
}

// stampWriter writes the time before each line. A call of Write has whole lines.
type stampWriter struct{ w io.Writer }

func (s stampWriter) Write(b []byte) (int, error) {
	now := time.Now().UTC().Format(time.RFC3339)
	var out bytes.Buffer
	for line := range bytes.Lines(b) {
		out.WriteString(now)
		out.WriteByte(' ')
		out.Write(line)
	}
	if _, err := s.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(b), nil
}
