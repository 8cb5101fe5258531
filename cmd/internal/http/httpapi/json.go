package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// maxJSON is the maximum size of a JSON body that has no keys, in bytes.
const maxJSON = 1 << 20

// readJSON decodes a body that is one JSON value; an empty body leaves v unchanged. It refuses
// the media types that a form of a web page can send.
func (req *request) readJSON(v any) error {
	if _, err := bodyType(req.http, api.MediaJSON, api.MediaMerge); err != nil {
		return err
	}
	body, err := req.readBody(maxJSON)
	if err != nil || len(bytes.TrimSpace(body)) == 0 {
		return err
	}
	if err := checkJSON(body); err != nil {
		return problemf(badRequest, "body: %w", err)
	}
	d, err := decodeJSON(body, v)
	if err != nil {
		return bodyError(wrongJSON{req.Engine.Kinds()}.explain(body, v, err))
	}
	if _, err := d.Token(); err != io.EOF {
		return problemf(badRequest, "the body has data after the JSON value")
	}
	return nil
}

// readBody reads a body of at most most bytes, whose memory is taken from the budget of all clients.
func (req *request) readBody(most int64) ([]byte, error) {
	in := req.limitedBody(most)
	var b []byte
	for {
		if len(b) == cap(b) {
			room := max(2*cap(b), 512)
			if err := req.share.Take(room); err != nil {
				return nil, err
			}
			b = append(make([]byte, 0, room), b...)
		}
		n, err := in.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return nil, bodyError(err)
		}
	}
}

// errSurrogate: package json would decode every such half as the same character.
var errSurrogate = errors.New(`a string has half of a surrogate pair, such as \ud800`)

// checkJSON returns an error if readers may understand b differently: if it is not UTF-8, a member of
// an object occurs twice, or a string has half of a surrogate pair. Other errors of syntax are left
// to package json.
func checkJSON(b []byte) error {
	if !utf8.Valid(b) {
		return errors.New("not UTF-8")
	}
	if loneSurrogate(b) {
		return errSurrogate
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	type level struct {
		seen map[string]bool // of an object
		key  bool            // the next token is the name of a member
	}
	var levels []level
	for {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		if top := len(levels) - 1; top >= 0 && levels[top].seen != nil {
			if name, ok := token.(string); ok && levels[top].key {
				// Package json ignores case.
				if name = strings.ToLower(name); levels[top].seen[name] {
					return errors.New("the member " + api.Clip(name) + " occurs twice")
				}
				levels[top].seen[name] = true
				levels[top].key = false
				continue
			}
			levels[top].key = true
		}
		switch token {
		case json.Delim('{'):
			levels = append(levels, level{map[string]bool{}, true})
		case json.Delim('['):
			levels = append(levels, level{})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
		}
	}
}

// loneSurrogate reports whether an escape in JSON text is half of a surrogate pair.
func loneSurrogate(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 >= len(b) {
			return false
		}
		r, ok := escapedUnit(b[i:])
		if !ok {
			b = b[i+2:]
			continue
		}
		b = b[i+6:]
		if !utf16.IsSurrogate(r) {
			continue
		}
		low, ok := escapedUnit(b)
		if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
			return true
		}
		b = b[6:]
	}
}

// escapedUnit returns the UTF-16 code unit of an escape such as \u00e9 at the beginning of b.
func escapedUnit(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 || c < '0' {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}
