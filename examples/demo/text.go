package main

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// style is how a piece of text is shown: parameters of the sequence Select Graphic Rendition (ECMA-48, section 8.3.117).
type style string

const (
	plain  style = ""
	strong style = "1"
	faint  style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// piece is text in one style.
type piece struct {
	text  string
	style style
}

// line is one line of a screen.
type line []piece

// text returns a line in one style.
func text(s style, format string, args ...any) line {
	return line{{fmt.Sprintf(format, args...), s}}
}

// render returns the first width characters of a line, with sequences for styles if colored is true.
func (l line) render(width int, colored bool) string {
	var b strings.Builder
	for _, p := range l {
		if width <= 0 {
			break
		}
		if n := utf8.RuneCountInString(p.text); n > width {
			p.text = string([]rune(p.text)[:width])
		}
		width -= utf8.RuneCountInString(p.text)
		if colored && p.style != plain && p.text != "" {
			p.text = "\x1b[" + string(p.style) + "m" + p.text + "\x1b[m"
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// cell is text of a column: to the left, or to the right if width is negative.
func cell(width int, s string) string {
	space := strings.Repeat(" ", max(0, max(width, -width)-utf8.RuneCountInString(s)))
	if width < 0 {
		return space + s
	}
	return s + space
}

// count formats a number with commas.
func count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// seconds formats a time in seconds: with a digit after the point below ten.
func seconds(s float64) string {
	if s < 9.95 {
		return fmt.Sprintf("%.1f s", s)
	}
	return count(uint64(s+0.5)) + " s"
}

// percent formats a share with three digits.
func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }

// times formats how many times as much a is as b.
func times(a, b uint64) string {
	x := float64(a) / float64(max(b, 1))
	if x > 0 && x < 0.01 {
		return "<0.01"
	}
	return fmt.Sprintf("%.3g", x)
}
