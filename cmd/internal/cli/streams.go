package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/report"
	"github.com/umbel-filters/umbel/internal/event"
)

// Streams are what a verb reads and writes, and where it reports. A test makes its own.
type Streams struct {
	In     *os.File
	Out    io.Writer    // results; standard output has a buffer
	Screen *os.File     // the file of Out, nil for none
	Err    io.Writer    // everything else, by Log
	Log    *slog.Logger // prints sentences, or with --json objects; a verb that runs for long may have a log instead
	JSON   bool         // results and reports are objects of JSON
	Quiet  bool         // only warnings and errors are reported
	Now    func() time.Time

	program  string
	signaled context.Context // of the last SignalContext
	exceeded bool            // the verb did its work, but with more errors than stated
}

type streamsKey struct{}

// streamsOf returns the streams of a verb, after its flags were parsed. They are the same ones until it ends.
func streamsOf(cmd *cobra.Command) *Streams {
	if cmd.Context() != nil {
		if s, ok := cmd.Context().Value(streamsKey{}).(*Streams); ok {
			if s.Log == nil {
				s.begin(cmd)
			}
			return s
		}
	}
	s := &Streams{Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), Now: time.Now}
	s.In, _ = cmd.InOrStdin().(*os.File)
	s.begin(cmd)
	return s
}

// begin makes the log, by the flags of the verb.
func (s *Streams) begin(cmd *cobra.Command) {
	s.JSON, _ = cmd.Flags().GetBool("json")
	s.Quiet, _ = cmd.Flags().GetBool("quiet")
	s.program = cmd.Root().Name()
	s.Log = slog.New(s.sentences(false))
	report.Redirect(s.Log)
}

func (s *Streams) sentences(times bool) *report.Sentences {
	h := &report.Sentences{To: s.Err, Program: s.program, Level: s.Level(), JSON: s.JSON, Times: times}
	if file, ok := s.Err.(*os.File); ok && color.Enabled(file) {
		h.Paint = func(l slog.Level, word string) string {
			if l >= slog.LevelError {
				return color.Red.Paint(word)
			}
			return color.Yellow.Paint(word)
		}
	}
	return h
}

// terminal returns the file of standard error for progress, nil for none or with --quiet.
func (s *Streams) terminal() *os.File {
	file, ok := s.Err.(*os.File)
	if !ok || s.Quiet {
		return nil
	}
	return file
}

// Level is the least level of what a verb reports.
func (s *Streams) Level() slog.Level {
	if s.Quiet {
		return slog.LevelWarn
	}
	return slog.LevelInfo
}

// Follow makes the reports of a verb that runs for long a log in a format, that of [AddFollowLogFlag], or of JSON with --json.
// Without both they stay sentences, with the time before each unless standard error is a terminal: a file with them is read later.
func (s *Streams) Follow(format string) {
	switch {
	case format != "":
		s.Log = report.New(s.Err, format, s.Level())
	case s.JSON:
		s.Log = report.New(s.Err, "json", s.Level())
	default:
		file, ok := s.Err.(*os.File)
		s.Log = slog.New(s.sentences(!ok || !term.IsTerminal(int(file.Fd()))))
		report.Redirect(s.Log)
	}
}

// Warn reports a warning.
func (s *Streams) Warn(format string, args ...any) {
	s.Log.Warn(fmt.Sprintf(format, args...), event.Warning)
}

// Inform reports what is no warning.
func (s *Streams) Inform(format string, args ...any) {
	s.Log.Info(fmt.Sprintf(format, args...), event.Message)
}

// Remark is Inform for a text that begins with its subject, such as a file.
func (s *Streams) Remark(format string, args ...any) {
	s.Log.Log(context.Background(), report.LevelSubject, fmt.Sprintf(format, args...), event.Message)
}

// Exceed makes the exit code that of a result with more errors than stated, if nothing else fails. A warning states them.
func (s *Streams) Exceed() { s.exceeded = true }

// Exceeded reports whether Exceed was called.
func (s *Streams) Exceeded() bool { return s.exceeded }

// ToErr returns s with results on standard error, which are about what standard output has.
func (s *Streams) ToErr() *Streams {
	other := *s
	other.Out = s.Err
	return &other
}

// Terminal returns the file of the results if it is a terminal, and otherwise nil.
func (s *Streams) Terminal() *os.File {
	if s.Screen == nil || !term.IsTerminal(int(s.Screen.Fd())) {
		return nil
	}
	return s.Screen
}
