package topology

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
)

// readGraphML reads a network in GraphML (Brandes et al. 2001). Keys named label or name,
// Longitude and Latitude, lon and lat or x and y, and weight or dist have the same
// meaning as in readGML, in upper or lower case, with the defaults of the keys. Other
// data are skipped. Directed links carry packets in both directions. Nested graphs and
// hyperedges are errors. Errors wrap ErrFormat or ErrLimit.
func readGraphML(r io.Reader, l Limits) (*Graph, Notes, error) {
	d := newDraft(l)
	input := xml.NewDecoder(&capped{reader: r, left: d.limits.Bytes, limit: d.limits.Bytes})
	input.CharsetReader = otherCharset
	p := graphMLParser{Decoder: input, draft: d, keys: map[string]string{},
		defaults: map[string]attributes{"node": {}, "edge": {}}}
	if err := p.file(); err != nil {
		return nil, Notes{}, err
	}
	return d.finish()
}

type graphMLParser struct {
	*xml.Decoder
	*draft
	keys     map[string]string     // from the id of a key to the attribute's name
	defaults map[string]attributes // of nodes and edges without the attribute
	found    bool                  // whether the graph was found
	open     int                   // number of open elements
}

// deepest is the largest number of open elements: the decoder stores the name of each,
// which takes much memory for an input of opening tags. Files of networks have about six.
const deepest = 100

// line returns the line of the last token.
func (p *graphMLParser) line() int {
	line, _ := p.InputPos()
	return line
}

// token returns the next token, or io.EOF after the end of the document. An end before
// that is a syntax error.
func (p *graphMLParser) token() (xml.Token, error) {
	t, err := p.Token()
	var syntax *xml.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, formatError(syntax.Line, "%s", syntax.Msg)
	case errors.Is(err, errCharset):
		return nil, formatError(p.line(), "%v", err)
	case err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, ErrLimit):
		return nil, fmt.Errorf("line %d: %w", p.line(), err)
	case err != nil:
		return nil, err
	}
	switch t := t.(type) {
	case xml.CharData:
		if len(t) > p.limits.Line {
			return nil, limitError(p.line(), "bytes between tags", p.limits.Line)
		}
	case xml.StartElement:
		for _, a := range t.Attr {
			if len(a.Value) > p.limits.Line {
				return nil, limitError(p.line(), "bytes between quotes", p.limits.Line)
			}
		}
		if p.open++; p.open > deepest {
			return nil, fmt.Errorf("%w: line %d: more than %d nested elements", ErrLimit, p.line(), deepest)
		}
	case xml.EndElement:
		p.open--
	}
	return t, nil
}

// errCharset means that the input is not in UTF-8.
var errCharset = errors.New("want UTF-8")

// otherCharset is called for an input that declares another charset.
func otherCharset(string, io.Reader) (io.Reader, error) { return nil, errCharset }

// file reads the document.
func (p *graphMLParser) file() error {
	for {
		t, err := p.token()
		if errors.Is(err, io.EOF) {
			if !p.found {
				return formatError(p.line(), "no graph")
			}
			return nil
		}
		if err != nil {
			return err
		}
		if e, ok := t.(xml.StartElement); ok {
			if err := p.element(e); err != nil {
				return err
			}
		}
	}
}

// element reads an element of the document or of its graph.
func (p *graphMLParser) element(e xml.StartElement) error {
	switch e.Name.Local {
	case "graphml":
		return nil
	case "key":
		if len(p.keys) >= p.limits.Nodes {
			return limitError(p.line(), "keys", p.limits.Nodes)
		}
		return p.key(e)
	case "graph":
		if p.found {
			return formatError(p.line(), "a second graph")
		}
		p.found = true
		p.graph.Name = clean(attribute(e, "id"))
		return nil
	case "data":
		text, err := p.text()
		if name := p.keys[attribute(e, "key")]; err == nil && (name == "label" || name == "name") {
			p.graph.Name = cmp.Or(clean(text), p.graph.Name)
		}
		return err
	case "node":
		return p.item(e, p.addNode)
	case "edge":
		return p.item(e, p.addEdge)
	case "hyperedge":
		return formatError(p.line(), "hyperedges are not supported; use a node with a link to each end")
	}
	return p.skip()
}

// key reads the name and the default of an attribute.
func (p *graphMLParser) key(e xml.StartElement) error {
	name := cmp.Or(attribute(e, "attr.name"), attribute(e, "id"))
	p.keys[attribute(e, "id")] = name
	for {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			return nil
		case xml.StartElement:
			if t.Name.Local != "default" {
				if err := p.skip(); err != nil {
					return err
				}
				continue
			}
			text, err := p.text()
			if err != nil {
				return err
			}
			for what, a := range p.defaults {
				if of := attribute(e, "for"); of == what || of == "all" || of == "" {
					a.set(name, text)
				}
			}
		}
	}
}

// item reads a node or link with its data, and adds it.
func (p *graphMLParser) item(e xml.StartElement, add func(attributes, int) error) error {
	line := p.line()
	a := attributes{}
	for _, key := range []string{"id", "source", "target"} {
		a.set(key, attribute(e, key))
	}
	for {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.EndElement:
			for key, text := range p.defaults[e.Name.Local] {
				a.set(key, text)
			}
			return add(a, line)
		case xml.StartElement:
			switch t.Name.Local {
			case "graph":
				return formatError(p.line(), "nested graphs are not supported")
			case "data":
				text, err := p.text()
				if err != nil {
					return err
				}
				if name := p.keys[attribute(t, "key")]; name != "id" && name != "source" && name != "target" {
					a.set(name, text)
				}
			default:
				if err := p.skip(); err != nil {
					return err
				}
			}
		}
	}
}

// text reads the rest of an element, and returns the text that it directly contains.
func (p *graphMLParser) text() (string, error) {
	var text []byte
	for {
		t, err := p.token()
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			if text = append(text, t...); len(text) > p.limits.Line {
				return "", limitError(p.line(), "bytes in an element", p.limits.Line)
			}
		case xml.StartElement:
			if err := p.skip(); err != nil {
				return "", err
			}
		case xml.EndElement:
			return string(text), nil
		}
	}
}

// skip reads the rest of an element.
func (p *graphMLParser) skip() error {
	for depth := 1; depth > 0; {
		t, err := p.token()
		if err != nil {
			return err
		}
		switch t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

// attribute returns the value of an attribute of an element, or "" if it is absent.
func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}
