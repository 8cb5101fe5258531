// Package color marks text on terminals that can show colors.
package color

import (
	"os"
	"regexp"
	"runtime"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
)

// Style is how a piece of text is shown: parameters of the sequence Select Graphic Rendition (ECMA-48,
// section 8.3.117).
type Style string

// The styles that umbel uses.
const (
	Plain  Style = ""
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Paint returns text in style s, and what follows it without a style.
func (s Style) Paint(text string) string {
	if s == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[m"
}

// CanDraw reports whether f is a terminal that understands the sequences of ECMA-48. Terminals on Windows
// need to be prepared for that.
func CanDraw(f *os.File) bool {
	kind := os.Getenv("TERM")
	return kind != "" && kind != "dumb" && runtime.GOOS != "windows" && term.IsTerminal(int(f.Fd()))
}

// Enabled reports whether text on f may have styles: f is such a terminal, and the environment variable
// NO_COLOR is not set (no-color.org).
func Enabled(f *os.File) bool { return os.Getenv("NO_COLOR") == "" && CanDraw(f) }

// sequence is what Paint adds to a text.
var sequence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9]*m") })

// Width returns the number of characters of a text, without the sequences of styles.
func Width(text string) int {
	return utf8.RuneCountInString(sequence().ReplaceAllString(text, ""))
}
