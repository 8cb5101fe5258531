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
	In    *os.File
	Out   io.Writer    // results; standard output has a buffer
	Err   io.Writer    // everything else, by Log
	Log   *slog.Logger // prints sentences, or with --json objects; a verb that runs for long may have a log instead
	JSON  bool         // results and reports are objects of JSON
	Quiet bool         // only warnings and errors are reported
	Now   func() time.Time
}

type streamsKey struct{}

// StreamsOf returns the streams of a verb, after its flags were parsed. They are the same ones until it ends.
func StreamsOf(cmd *cobra.Command) *Streams {
	if cmd.Context() != nil {
		if s, ok := cmd.Context().Value(streamsKey{}).(*Streams); ok {
			if s.Log == nil {
				s.begin(cmd)
			}
			return s
		}
	}
	s := &Streams{Out: cmd.OutOrStdout(), Err: cmd.ErrOrStderr(), Now: Clock}
	s.In, _ = cmd.InOrStdin().(*os.File)
	s.begin(cmd)
	return s
}

// begin makes the log, by the flags of the verb.
func (s *Streams) begin(cmd *cobra.Command) {
	s.JSON, s.Quiet = WantsJSON(cmd), IsQuiet(cmd)
	s.Log = slog.New(s.sentences(cmd, false))
	report.Redirect(s.Log)
}

func (s *Streams) sentences(cmd *cobra.Command, times bool) *report.Sentences {
	h := &report.Sentences{To: s.Err, Program: cmd.Root().Name(), Level: s.Level(), JSON: s.JSON, Times: times}
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

// Follow makes the reports of a verb that runs for long a log in the format of --log-format, or of JSON with --json. Without
// both they stay sentences, with the time before each unless standard error is a terminal: a file with them is read later.
func Follow(cmd *cobra.Command) *Streams {
	s := StreamsOf(cmd)
	format := cmd.Flags().Lookup("log-format")
	switch {
	case format.Changed:
		s.Log = report.New(s.Err, format.Value.String(), s.Level())
	case s.JSON:
		s.Log = report.New(s.Err, "json", s.Level())
	default:
		file, ok := s.Err.(*os.File)
		s.Log = slog.New(s.sentences(cmd, !ok || !term.IsTerminal(int(file.Fd()))))
		report.Redirect(s.Log)
	}
	return s
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

// Warn reports a warning of a verb.
func Warn(cmd *cobra.Command, format string, args ...any) { StreamsOf(cmd).Warn(format, args...) }

// Inform reports what is no warning.
func Inform(cmd *cobra.Command, format string, args ...any) { StreamsOf(cmd).Inform(format, args...) }

// Remark is Inform for a text that begins with its subject, such as a file.
func Remark(cmd *cobra.Command, format string, args ...any) { StreamsOf(cmd).Remark(format, args...) }
