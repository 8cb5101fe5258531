package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
)

// keyLists are the digests of the keys of a JSON body, by member. Keys are hashed while the body is
// read, so a request needs 16 bytes per key and not the body.
type keyLists struct{ keys, base64, digests digestList }

// digestList is a list in pieces of at most batchKeys, which need not be copied when it grows.
type digestList [][]umbel.Digest

// all returns the pieces of all members, in the order of their answers.
func (l *keyLists) all() (pieces digestList) {
	for _, list := range []digestList{l.keys, l.base64, l.digests} {
		pieces = append(pieces, list...)
	}
	return pieces
}

// keyListReader parses {"keys": […], "base64": […], "digests": […]}.
type keyListReader struct {
	from    io.Reader
	in      []byte // read and not yet parsed
	at      int    // in in
	ended   bool
	key     []byte // decoded from base64
	hasher  umbel.Hasher
	take    func(bytes int) error // memory
	allowed func() error          // whether the client may send digests
}

// read reads a whole body.
func (p *keyListReader) read() (*keyLists, error) {
	l := new(keyLists)
	members := map[string]struct {
		list  *digestList
		parse func(raw []byte) (umbel.Digest, error)
	}{"keys": {&l.keys, p.textKey}, "base64": {&l.base64, p.base64Key}, "digests": {&l.digests, p.digestKey}}
	if err := p.expect('{'); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	for {
		raw, err := p.string()
		if err != nil {
			return nil, err
		}
		b, err := unquote(raw)
		if err != nil {
			return nil, err
		}
		name := string(b)
		member, ok := members[name]
		switch {
		case !ok:
			return nil, problemf(badRequest, "body: unknown member %.40q; want keys, base64 or digests", name)
		case given[name]:
			return nil, problemf(badRequest, "body: the member %s occurs twice", name)
		}
		given[name] = true
		if err := p.expect(':'); err != nil {
			return nil, err
		}
		if err := p.array(member.list, member.parse); err != nil {
			return nil, err
		}
		c, err := p.next()
		if err != nil {
			return nil, err
		}
		switch c {
		case ',':
		case '}':
			if c, err := p.next(); err != io.ErrUnexpectedEOF {
				return nil, p.unexpected(c, err)
			}
			return l, nil
		default:
			return nil, p.unexpected(c, nil)
		}
	}
}

// array parses an array of strings.
func (p *keyListReader) array(list *digestList, parse func([]byte) (umbel.Digest, error)) error {
	if err := p.expect('['); err != nil {
		return err
	}
	if c, err := p.next(); err != nil || c == ']' {
		return p.eof(err)
	}
	p.at--
	for n := 0; ; n++ {
		raw, err := p.string()
		if err != nil {
			return err
		}
		d, err := parse(raw)
		if err != nil {
			return problemf(problemTypeOf(err), "key %d: %w", n, err)
		}
		if err := list.append(d, p.take); err != nil {
			return err
		}
		switch c, err := p.next(); {
		case err != nil:
			return p.eof(err)
		case c == ']':
			return nil
		case c != ',':
			return p.unexpected(c, nil)
		}
	}
}

func (l *digestList) append(d umbel.Digest, take func(int) error) error {
	last := len(*l) - 1
	if last < 0 || len((*l)[last]) == cap((*l)[last]) {
		size := 16
		if last >= 0 {
			size = min(2*cap((*l)[last]), batchKeys)
		}
		if err := take(size * digestBytes); err != nil {
			return err
		}
		*l = append(*l, make([]umbel.Digest, 0, size))
		last++
	}
	(*l)[last] = append((*l)[last], d)
	return nil
}

// fill reads more, keeping what is not yet parsed. It returns io.ErrUnexpectedEOF at the end.
func (p *keyListReader) fill() error {
	if p.ended {
		return io.ErrUnexpectedEOF
	}
	p.in = p.in[:copy(p.in, p.in[p.at:])]
	p.at = 0
	if len(p.in) == cap(p.in) || cap(p.in) < readBytes {
		if len(p.in) >= maxKey {
			return problemf(tooLarge, "a key has more than %d bytes", maxKey)
		}
		size := max(2*cap(p.in), 4<<10)
		if err := p.take(size); err != nil {
			return err
		}
		p.in = append(make([]byte, 0, size), p.in...)
	}
	n, err := p.from.Read(p.in[len(p.in):cap(p.in)])
	p.in = p.in[:len(p.in)+n]
	if err == io.EOF {
		p.ended = true
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	if err != nil {
		return bodyError(err)
	}
	return nil
}

// next returns the next byte that is not white space.
func (p *keyListReader) next() (byte, error) {
	for {
		for p.at < len(p.in) {
			c := p.in[p.at]
			p.at++
			switch c {
			case ' ', '\t', '\r', '\n':
			default:
				return c, nil
			}
		}
		if err := p.fill(); err != nil {
			return 0, err
		}
	}
}

// expect parses one byte.
func (p *keyListReader) expect(want byte) error {
	if c, err := p.next(); err != nil || c != want {
		return p.unexpected(c, err)
	}
	return nil
}

// string returns the raw text of a JSON string with its quotes, valid until the next call.
func (p *keyListReader) string() ([]byte, error) {
	if err := p.expect('"'); err != nil {
		return nil, err
	}
	p.at-- // the quote stays, so that fill keeps the string
	for i := 1; ; {
		rest := p.in[p.at:]
		for i < len(rest) {
			switch rest[i] {
			case '"':
				p.at += i + 1
				return rest[:i+1], nil
			case '\\':
				i++
			}
			i++
		}
		if err := p.fill(); err != nil {
			return nil, p.eof(err)
		}
	}
}

// eof returns an error at the end of the body as a problem.
func (p *keyListReader) eof(err error) error {
	if err == io.ErrUnexpectedEOF {
		return problemf(badRequest, "body: the JSON value ends too early")
	}
	return err
}

func (p *keyListReader) unexpected(c byte, err error) error {
	if err != nil {
		return p.eof(err)
	}
	return problemf(badRequest, `body: unexpected character %q; want {"keys": ["a", "b"]}, or base64 or digests`, c)
}

// unquote returns the contents of a JSON string.
func unquote(raw []byte) ([]byte, error) {
	if b, ok := plain(raw); ok {
		return b, nil
	}
	if !utf8.Valid(raw) {
		return nil, problemf(badRequest, "the body is not UTF-8; send binary keys as base64")
	}
	if loneSurrogate(raw) {
		return nil, asProblem(badRequest, errSurrogate)
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, asProblem(badRequest, err)
	}
	return []byte(s), nil
}

func (p *keyListReader) textKey(raw []byte) (umbel.Digest, error) {
	key, err := unquote(raw)
	if err != nil {
		return umbel.Digest{}, err
	}
	return keyDigest(p.hasher, key)
}

func (p *keyListReader) base64Key(raw []byte) (umbel.Digest, error) {
	text, err := unquote(raw)
	if err != nil {
		return umbel.Digest{}, err
	}
	if p.key, err = base64.StdEncoding.AppendDecode(p.key[:0], text); err != nil {
		return umbel.Digest{}, asProblem(badRequest, err)
	}
	return keyDigest(p.hasher, p.key)
}

func (p *keyListReader) digestKey(raw []byte) (umbel.Digest, error) {
	if err := p.allowed(); err != nil {
		return umbel.Digest{}, err
	}
	text, err := unquote(raw)
	if err != nil {
		return umbel.Digest{}, err
	}
	d, err := umbel.ParseDigest(string(text))
	return d, asProblem(badRequest, err)
}
