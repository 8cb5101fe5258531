package topology

import (
	"bufio"
	"errors"
	"html"
	"io"
)

// gmlToken is a key or value of GML, or a bracket.
type gmlToken struct {
	text   string
	quoted bool
	line   int
}

// is reports whether a token is that key or bracket.
func (t gmlToken) is(text string) bool { return !t.quoted && t.text == text }

// gmlTokens reads the tokens of a file in GML.
type gmlTokens struct {
	in     *bufio.Reader
	limits Limits
	line   int
	fresh  bool // nothing of the line but blanks is read
}

func newGMLTokens(r io.Reader, l Limits) *gmlTokens {
	return &gmlTokens{
		in:     bufio.NewReader(&capped{reader: r, left: l.Bytes, limit: l.Bytes}),
		limits: l, line: 1, fresh: true,
	}
}

// next returns the next token, or io.EOF.
func (s *gmlTokens) next() (gmlToken, error) {
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return gmlToken{}, err
		}
		switch {
		case c == '\n':
			s.line++
			s.fresh = true
		case c == ' ' || c == '\t' || c == '\r':
		case c == '#' && s.fresh:
			if err := s.comment(); err != nil {
				return gmlToken{}, err
			}
		case c == '[' || c == ']':
			s.fresh = false
			return gmlToken{text: string(rune(c)), line: s.line}, nil
		case c == '"':
			s.fresh = false
			return s.quotation()
		default:
			s.fresh = false
			return s.word(c)
		}
	}
}

// comment skips the rest of the line.
func (s *gmlTokens) comment() error {
	for {
		c, err := s.in.ReadByte()
		if err != nil {
			return err
		}
		if c == '\n' {
			return s.in.UnreadByte()
		}
	}
}

// quotation reads up to the closing quote. Quotes inside are written as &quot;, and
// other characters may be as in HTML.
func (s *gmlTokens) quotation() (gmlToken, error) {
	start := s.line
	var text []byte
	for {
		c, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return gmlToken{}, formatError(start, "a quotation that isn't closed")
		}
		if err != nil {
			return gmlToken{}, err
		}
		if c == '"' {
			return gmlToken{text: html.UnescapeString(string(text)), quoted: true, line: start}, nil
		}
		if c == '\n' {
			s.line++
		}
		if text = append(text, c); len(text) > s.limits.Line {
			return gmlToken{}, limitError(start, "bytes between quotes", s.limits.Line)
		}
	}
}

// word reads a key or number, which begins with c.
func (s *gmlTokens) word(c byte) (gmlToken, error) {
	text := []byte{c}
	for {
		c, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return gmlToken{text: string(text), line: s.line}, nil
		}
		if err != nil {
			return gmlToken{}, err
		}
		switch c {
		case ' ', '\t', '\r', '\n', '[', ']', '"':
			return gmlToken{text: string(text), line: s.line}, s.in.UnreadByte()
		}
		if text = append(text, c); len(text) > s.limits.Line {
			return gmlToken{}, limitError(s.line, "bytes in a word", s.limits.Line)
		}
	}
}
