package cli

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/umbel-filters/umbel/cmd/internal/cli/color"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// Percent formats a share, which may be far above 1.
func Percent(f Float) string {
	if f > 0 && f < 1e-6 {
		return quantity.Rate(f).Percent()
	}
	if f < 10 {
		return fmt.Sprintf("%.3g%%", 100*float64(f))
	}
	return quantity.Count(math.Round(100*float64(f))).String() + "%"
}

// Answer prints the result of a verb: v as one JSON object, or with text.
func (s *Streams) Answer(v any, text func(io.Writer) error) error {
	if s.JSON {
		return JSONLine(s.Out, v)
	}
	return text(s.Out)
}

// Report is Answer for a verb that wrote a file. If the file is standard output, the result goes to standard error. With
// --quiet nothing is printed.
func (s *Streams) Report(file string, v any, text func(io.Writer) error) error {
	switch {
	case s.Quiet:
		return nil
	case IsStdout(file):
		return s.ToErr().Answer(v, text)
	}
	return s.Answer(v, text)
}

// IsStdout reports whether the file at path is standard output, for example "-" or /dev/stdout, and
// not a regular file, which is replaced when it is written.
func IsStdout(path string) bool {
	if path == "-" {
		return true
	}
	file, err := os.Stat(path)
	if err != nil || file.Mode().IsRegular() {
		return false
	}
	out, err := os.Stdout.Stat()
	return err == nil && os.SameFile(file, out)
}

// Flush writes what a verb has printed, before it goes on.
func (s *Streams) Flush() error {
	if b, ok := s.Out.(*bufio.Writer); ok {
		return b.Flush()
	}
	return nil
}

// JSONLine writes v as one line of JSON.
func JSONLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// JSONLines writes each value of list as a line of JSON.
func JSONLines[T any](w io.Writer, list []T) error {
	for _, v := range list {
		if err := JSONLine(w, v); err != nil {
			return err
		}
	}
	return nil
}

// AnswerAll prints the results of a verb: each as one JSON object, or all with text.
func AnswerAll[T any](s *Streams, list []T, text func(io.Writer) error) error {
	if s.JSON {
		return JSONLines(s.Out, list)
	}
	return text(s.Out)
}

// Float is a number that may be infinite; in JSON that is null.
type Float = api.Float

// KeyJSON is a key in JSON: as text, or in hexadecimal if it isn't UTF-8.
type KeyJSON struct {
	Key    *string `json:"key,omitempty"`
	KeyHex string  `json:"keyHex,omitempty"`
}

// NewKeyJSON returns the form of a key in JSON.
func NewKeyJSON(key []byte) KeyJSON {
	if !utf8.Valid(key) {
		return KeyJSON{KeyHex: hex.EncodeToString(key)}
	}
	s := string(key)
	return KeyJSON{Key: &s}
}

// RateOf formats a measured rate, which may be 0.
func RateOf(p float64) string {
	if p == 0 {
		return "0"
	}
	return quantity.Rate(p).String()
}

// NameWords returns the name of a filter, quoted if a character isn't printable.
func NameWords(name string) string {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// Paint returns text for standard output, in a style if that is a terminal with colors.
func Paint(s color.Style, text string) string {
	if !color.Enabled(os.Stdout) {
		return text
	}
	return s.Paint(text)
}

// PaintState returns the state of a subscription in its color, green, yellow or red.
func PaintState(state string) string {
	switch state {
	case api.SubscriptionExact:
		return Paint(color.Green, state)
	case api.SubscriptionStale:
		return Paint(color.Red, state)
	}
	return Paint(color.Yellow, state)
}
