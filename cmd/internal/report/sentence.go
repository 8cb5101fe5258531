package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
	"github.com/umbel-filters/umbel/internal/event"
)

// LevelSubject is the level of a note that begins with its subject, such as a file, and so without the name of the program.
const LevelSubject = slog.LevelInfo + 1

// Sentences is a handler for people: each record is a line with its message, its error, and its other attributes in
// parentheses. Fields must not be changed while it is used.
type Sentences struct {
	To      io.Writer
	Program string // with which lines begin
	Level   slog.Level
	JSON    bool                                    // an object {"error", "exit"}, {"warning"} or {"note"} instead
	Times   bool                                    // a line begins with the time, because it is read later
	Paint   func(level slog.Level, w string) string // colors the first word of errors and warnings; nil for none

	mu sync.Mutex
}

// object is how a record is reported in JSON.
type object struct {
	Error   string `json:"error,omitempty"`
	Exit    int    `json:"exit,omitempty"`
	Warning string `json:"warning,omitempty"`
	Note    string `json:"note,omitempty"`
}

// Enabled implements slog.Handler.
func (s *Sentences) Enabled(_ context.Context, l slog.Level) bool { return l >= s.Level }

// Handle implements slog.Handler.
func (s *Sentences) Handle(_ context.Context, r slog.Record) error { return s.handle(nil, r) }

func (s *Sentences) handle(attrs []slog.Attr, r slog.Record) error {
	var o object
	text, words := "", ""
	switch {
	case r.Level >= slog.LevelError:
		o.Error, o.Exit = failure(r)
		text, words = o.Error, s.paint(r.Level, s.Program+":")+" "
	case r.Level >= slog.LevelWarn:
		o.Warning = sentence(attrs, r)
		text, words = o.Warning, s.Program+": "+s.paint(r.Level, "warning:")+" "
	default:
		o.Note = sentence(attrs, r)
		if text = o.Note; r.Level != LevelSubject {
			words = s.Program + ": "
		}
	}
	var out bytes.Buffer
	if s.JSON {
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(false)
		if err := e.Encode(o); err != nil {
			return err
		}
	} else {
		for line := range strings.Lines(words + text + "\n") {
			if s.Times {
				out.WriteString(time.Now().UTC().Format(time.RFC3339) + " ")
			}
			out.WriteString(line)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.To.Write(out.Bytes())
	return err
}

func (s *Sentences) paint(level slog.Level, word string) string {
	if s.Paint == nil {
		return word
	}
	return s.Paint(level, word)
}

// Fail reports the error that ends a program with an exit code.
func Fail(log *slog.Logger, text string, exit int) {
	log.Error("command failed", event.Failed, "error", text, "exit", exit)
}

// failure returns the error and the exit code of a record of Fail, or the sentence of another one.
func failure(r slog.Record) (text string, exit int) {
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "error":
			text = a.Value.String()
		case "exit":
			exit = int(a.Value.Int64())
		}
		return true
	})
	if exit == 0 {
		return sentence(nil, r), 0
	}
	return text, exit
}

// sentence returns a record as a sentence. The event is for programs, a delay means that there is another attempt.
func sentence(attrs []slog.Attr, r slog.Record) string {
	text, again := r.Message, ""
	var more []string
	each := func(a slog.Attr) bool {
		a = readable(nil, slog.Attr{Key: a.Key, Value: a.Value.Resolve()})
		switch a.Key {
		case event.Key:
		case "error":
			text += ": " + a.Value.String()
		case "delay":
			again = "; it is tried again"
		default:
			value := a.Value.String()
			if a.Value.Kind() == slog.KindTime {
				value = a.Value.Time().UTC().Format(time.RFC3339)
			}
			more = append(more, a.Key+" "+value)
		}
		return true
	}
	for _, a := range attrs {
		each(a)
	}
	r.Attrs(each)
	if more != nil {
		text += fmt.Sprintf(" (%s)", strings.Join(more, ", "))
	}
	return text + again
}

// WithAttrs implements slog.Handler.
func (s *Sentences) WithAttrs(attrs []slog.Attr) slog.Handler { return attributed{s, attrs} }

// WithGroup implements slog.Handler. No record has groups.
func (s *Sentences) WithGroup(string) slog.Handler { return s }

// attributed is Sentences with attributes of all records.
type attributed struct {
	*Sentences
	attrs []slog.Attr
}

// Handle implements slog.Handler.
func (a attributed) Handle(_ context.Context, r slog.Record) error { return a.handle(a.attrs, r) }

// WithAttrs implements slog.Handler.
func (a attributed) WithAttrs(attrs []slog.Attr) slog.Handler {
	return attributed{a.Sentences, append(a.attrs[:len(a.attrs):len(a.attrs)], attrs...)}
}

// Text returns the text of err on one line. If it is that of a file on a full disk, it states what to do.
func Text(err error) string {
	text := strings.ReplaceAll(err.Error(), "\n", "; ") // of errors.Join
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		text += remedy(file)
	}
	return text
}

// remedy says what to do if the disk of a file is full. Devices such as standard output have no directory to say it of.
func remedy(e *fs.PathError) string {
	if !disk.IsFull(e.Err) || strings.HasPrefix(e.Path, "/dev/") {
		return ""
	}
	directory := filepath.Dir(e.Path)
	if directory == "." {
		directory = "the current directory"
	}
	return "; free space on the disk of " + directory
}
