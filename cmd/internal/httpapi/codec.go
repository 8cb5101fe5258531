package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
)

// codec is how keys come and answers go in a stream.
type codec struct {
	media string
	// next takes the first key off in and returns its digest and what follows. It says
	// more if in must be longer first; ended says that it won't be.
	next   func(h umbel.Hasher, in []byte, ended bool) (d umbel.Digest, rest []byte, found found, err error)
	yes    string
	no     string
	number func(dst []byte, n uint64) []byte
	failed func(dst []byte, p problem) []byte // nil: nothing in the stream can tell
}

// found is what next came upon.
type found int

const (
	key     found = iota
	nothing       // to be skipped
	more
)

// codecs are the forms of streams by their media type.
var codecs = map[string]codec{
	mediaText: {
		media: mediaText, next: nextLine, yes: "1\n", no: "0\n", number: numberLine,
		failed: func(dst []byte, p problem) []byte { return append(dst, "error: "+p.Title+": "+p.Detail+"\n"...) },
	},
	mediaLines: {
		media: mediaLines, next: nextJSON, yes: "true\n", no: "false\n", number: numberLine,
		failed: func(dst []byte, p problem) []byte {
			b, _ := json.Marshal(p) // strings and numbers
			return append(append(dst, b...), '\n')
		},
	},
	mediaDigests: {
		media: mediaDigests, next: nextDigest, yes: "\x01", no: "\x00", number: binary.LittleEndian.AppendUint64,
	},
}

func numberLine(dst []byte, n uint64) []byte {
	return append(strconv.AppendUint(dst, n, 10), '\n')
}

// line takes a line off in. The last one needs no end.
func line(in []byte, ended bool) (line, rest []byte, ok bool) {
	i := bytes.IndexByte(in, '\n')
	switch {
	case i >= 0:
		line, rest = in[:i], in[i+1:]
	case ended && len(in) > 0:
		line = in
	default:
		return nil, in, false
	}
	return bytes.TrimSuffix(line, []byte{'\r'}), rest, true
}

// nextLine takes keys that are lines: all up to the next newline, without a carriage
// return before it.
func nextLine(h umbel.Hasher, in []byte, ended bool) (umbel.Digest, []byte, found, error) {
	l, rest, ok := line(in, ended)
	if !ok {
		return umbel.Digest{}, in, more, nil
	}
	d, err := digest(h, l)
	return d, rest, key, err
}

// nextJSON takes keys that are lines of JSON: a string, or {"base64": "..."}. Empty lines
// are skipped.
func nextJSON(h umbel.Hasher, in []byte, ended bool) (umbel.Digest, []byte, found, error) {
	l, rest, ok := line(in, ended)
	if !ok {
		return umbel.Digest{}, in, more, nil
	}
	if l = bytes.TrimSpace(l); len(l) == 0 {
		return umbel.Digest{}, rest, nothing, nil
	}
	k, err := keyOf(l)
	if err != nil {
		return umbel.Digest{}, rest, nothing, err
	}
	d, err := digest(h, k)
	return d, rest, key, err
}

// keyOf returns the key that a line of JSON is.
func keyOf(l []byte) ([]byte, error) {
	if k, ok := plain(l); ok {
		return k, nil
	}
	if !utf8.Valid(l) {
		return nil, problemf(badRequest, `a line isn't UTF-8: send keys that aren't text as {"base64": "..."}`)
	}
	if l[0] == '"' {
		var s string
		if err := json.Unmarshal(l, &s); err != nil {
			return nil, problemf(badRequest, "a line: %w", err)
		}
		return []byte(s), nil
	}
	var o struct {
		Base64 *string `json:"base64"`
	}
	if err := json.Unmarshal(l, &o); err != nil || o.Base64 == nil {
		return nil, problemf(badRequest, `line %q: want a string, or {"base64": "..."}`, clip(string(l)))
	}
	k, err := base64.StdEncoding.DecodeString(*o.Base64)
	if err != nil {
		return nil, problemf(badRequest, "a line: %w", err)
	}
	return k, nil
}

// plain returns what is between the quotes of a JSON string without escapes.
func plain(l []byte) ([]byte, bool) {
	if len(l) < 2 || l[0] != '"' || l[len(l)-1] != '"' {
		return nil, false
	}
	k := l[1 : len(l)-1]
	ascii := true
	for _, c := range k {
		if c == '"' || c == '\\' || c < ' ' {
			return nil, false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return k, ascii || utf8.Valid(k)
}

// digestBytes is the length of a digest: H1 and H2, little-endian.
const digestBytes = 16

// nextDigest takes digests.
func nextDigest(_ umbel.Hasher, in []byte, ended bool) (umbel.Digest, []byte, found, error) {
	if len(in) < digestBytes {
		if ended && len(in) > 0 {
			return umbel.Digest{}, nil, nothing, problemf(badRequest, "the last digest has %d bytes, want %d", len(in), digestBytes)
		}
		return umbel.Digest{}, in, more, nil
	}
	d := umbel.Digest{H1: binary.LittleEndian.Uint64(in), H2: binary.LittleEndian.Uint64(in[8:])}
	return d, in[digestBytes:], key, nil
}
