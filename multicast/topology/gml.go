package topology

import (
	"bufio"
	"cmp"
	"errors"
	"html"
	"io"
	"strings"
)

// readGML reads a network in GML (Himsolt 1997), as written by the Internet Topology Zoo
// and TopoHub. Nodes have an id, and may have a label or name, and a place: Longitude and
// Latitude, lon and lat, or x and y (also in graphics). Links have a source and target,
// and may have a weight or dist. Other keys are skipped. Directed links carry packets in
// both directions. Errors wrap ErrFormat or ErrLimit.
func readGML(r io.Reader, l Limits) (*Graph, Notes, error) {
	d := newDraft(l)
	p := gmlParser{gmlTokens: newGMLTokens(r, d.limits), draft: d}
	if err := p.file(); err != nil {
		return nil, Notes{}, err
	}
	return d.finish()
}

type gmlParser struct {
	*gmlTokens
	*draft
}

// file reads keys and values to the end of the input. One of them is the graph.
func (p *gmlParser) file() error {
	found := false
	for {
		key, err := p.next()
		if errors.Is(err, io.EOF) {
			if !found {
				return formatError(p.line, "no graph, want GML: graph [ node [ id 1 ] ... ], or edges in TSV: n<tab>ID<tab>NAME and e<tab>ID<tab>ID")
			}
			return nil
		}
		if err != nil {
			return err
		}
		value, err := p.pair(key)
		if err != nil {
			return err
		}
		switch {
		case !value.is("["):
		case !key.is("graph"):
			err = p.list(func(gmlToken, gmlToken, int) {})
		case found:
			err = formatError(key.line, "a second graph")
		default:
			found = true
			err = p.network()
		}
		if err != nil {
			return err
		}
	}
}

// pair returns the value of a key: a word, a quoted text, or the bracket that opens a
// list.
func (p *gmlParser) pair(key gmlToken) (gmlToken, error) {
	if key.quoted || key.is("[") || key.is("]") {
		return gmlToken{}, formatError(key.line, "%.20q, want a key", key.text)
	}
	value, err := p.next()
	if errors.Is(err, io.EOF) || err == nil && value.is("]") {
		return gmlToken{}, formatError(key.line, "key %.20q without a value", key.text)
	}
	return value, err
}

// list reads the rest of a list. It calls each for the keys and values in it, at depth 1,
// and in nested lists.
func (p *gmlParser) list(each func(key, value gmlToken, depth int)) error {
	start := p.line
	for depth := 1; depth > 0; {
		key, err := p.next()
		if errors.Is(err, io.EOF) {
			return formatError(p.line, "the list that begins at line %d isn't closed", start)
		}
		if err != nil {
			return err
		}
		if key.is("]") {
			depth--
			continue
		}
		value, err := p.pair(key)
		if err != nil {
			return err
		}
		if value.is("[") {
			depth++
		} else {
			each(key, value, depth)
		}
	}
	return nil
}

// network reads the rest of the graph's list.
func (p *gmlParser) network() error {
	start := p.line
	for {
		key, err := p.next()
		if errors.Is(err, io.EOF) {
			return formatError(p.line, "the graph that begins at line %d isn't closed", start)
		}
		if err != nil {
			return err
		}
		if key.is("]") {
			return nil
		}
		value, err := p.pair(key)
		if err != nil {
			return err
		}
		switch {
		case !value.is("["):
			if key.text == "label" || key.text == "name" {
				p.graph.Name = cmp.Or(p.graph.Name, clean(value.text))
			}
		case key.is("node"):
			err = p.element(key.line, p.addNode)
		case key.is("edge"):
			err = p.element(key.line, p.addEdge)
		default:
			err = p.list(func(gmlToken, gmlToken, int) {})
		}
		if err != nil {
			return err
		}
	}
}

// element reads the list of a node or link, and adds it. From nested lists, which
// describe its drawing, it uses only the place.
func (p *gmlParser) element(line int, add func(attributes, int) error) error {
	a := attributes{}
	if err := p.list(func(key, value gmlToken, depth int) {
		if depth == 1 || strings.EqualFold(key.text, "x") || strings.EqualFold(key.text, "y") {
			a.set(key.text, value.text)
		}
	}); err != nil {
		return err
	}
	return add(a, line)
}

// gmlToken is a key or value of GML, or a bracket.
type gmlToken struct {
	text   string
	quoted bool
	line   int
}

// is reports whether the token is the given key or bracket.
func (t gmlToken) is(text string) bool { return !t.quoted && t.text == text }

// gmlTokens reads the tokens of a file in GML.
type gmlTokens struct {
	in     *bufio.Reader
	limits Limits
	line   int
	fresh  bool // only blanks were read on this line
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

// quotation reads to the closing quote. Quotes in the text are written as &quot;, and
// other characters may be escaped as in HTML.
func (s *gmlTokens) quotation() (gmlToken, error) {
	start := s.line
	var text []byte
	for {
		c, err := s.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return gmlToken{}, formatError(start, "a quoted text isn't closed")
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

// word reads a key or number that begins with c.
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
