package httpapi

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/files/keys"
	"github.com/umbel-filters/umbel/cmd/internal/http/api"
)

// codec is an encoding of keys and answers in a stream.
type codec struct {
	media string
	// next parses the first key of in. It returns the key's digest and the rest of in. ended
	// means that no more input follows. text is that of the stream.
	next    func(text *keys.Text, h umbel.Hasher, in []byte, ended bool) (d umbel.Digest, rest []byte, found parsed, err error)
	yes     string
	no      string
	number  func(dst []byte, n uint64) []byte
	problem func(dst []byte, p api.Problem) []byte // nil if the format has no place for it
}

// parsed is what codec.next found.
type parsed int

const (
	parsedKey       parsed = iota
	skipped                // an empty line
	incompleteInput        // more input is needed
)

// codecs are the stream formats by media type.
var codecs = map[string]codec{
	api.MediaText: {
		media: api.MediaText, next: nextLine, yes: "1\n", no: "0\n", number: numberLine,
		problem: func(dst []byte, p api.Problem) []byte { return append(dst, "error: "+p.Title+": "+p.Detail+"\n"...) },
	},
	api.MediaLines: {
		media: api.MediaLines, next: nextJSON, yes: "true\n", no: "false\n", number: numberLine,
		problem: func(dst []byte, p api.Problem) []byte {
			b, _ := json.Marshal(p) // strings and numbers cannot fail
			return append(append(dst, b...), '\n')
		},
	},
	api.MediaDigests: {
		media: api.MediaDigests, next: nextDigest, yes: "\x01", no: "\x00", number: binary.LittleEndian.AppendUint64,
	},
}

func numberLine(dst []byte, n uint64) []byte {
	return append(strconv.AppendUint(dst, n, 10), '\n')
}

// line splits the first line off in, as umbel make reads it: see [keys.Text].
func line(text *keys.Text, in []byte, ended bool) (line, rest []byte, ok bool, err error) {
	line, rest, ok, err = text.Next(in, ended)
	if err != nil {
		err = problemf(mediaType, "%w; want lines of UTF-8 that are not compressed, or any bytes as lines of JSON in %s: {\"base64\": \"...\"}", err, api.MediaLines)
	}
	return line, rest, ok, err
}

// nextLine parses a key that is a line: everything up to the newline, without a carriage return
// before it.
func nextLine(text *keys.Text, h umbel.Hasher, in []byte, ended bool) (umbel.Digest, []byte, parsed, error) {
	l, rest, ok, err := line(text, in, ended)
	if !ok || err != nil {
		return umbel.Digest{}, rest, incompleteInput, err
	}
	d, err := keyDigest(h, l)
	return d, rest, parsedKey, err
}

// nextJSON parses a key that is a line of JSON: a string, or {"base64": "..."}. It skips empty
// lines.
func nextJSON(text *keys.Text, h umbel.Hasher, in []byte, ended bool) (umbel.Digest, []byte, parsed, error) {
	l, rest, ok, err := line(text, in, ended)
	if !ok || err != nil {
		return umbel.Digest{}, rest, incompleteInput, err
	}
	if l = bytes.TrimSpace(l); len(l) == 0 {
		return umbel.Digest{}, rest, skipped, nil
	}
	k, err := keyOf(l)
	if err != nil {
		return umbel.Digest{}, rest, skipped, err
	}
	d, err := keyDigest(h, k)
	return d, rest, parsedKey, err
}

// keyOf returns the key in a line of JSON.
func keyOf(l []byte) ([]byte, error) {
	if k, ok := plain(l); ok {
		return k, nil
	}
	if !utf8.Valid(l) {
		return nil, problemf(badRequest, `a line is not UTF-8; send binary keys as {"base64": "..."}`)
	}
	if l[0] == '"' {
		if loneSurrogate(l) {
			return nil, asProblem(badRequest, errSurrogate)
		}
		var s string
		if err := json.Unmarshal(l, &s); err != nil {
			return nil, problemf(badRequest, "line: %w", err)
		}
		return []byte(s), nil
	}
	var o struct {
		Base64 *string `json:"base64"`
	}
	if err := json.Unmarshal(l, &o); err != nil || o.Base64 == nil {
		return nil, problemf(badRequest, `line %q: want a string, or {"base64": "..."}`, api.Clip(string(l)))
	}
	k, err := base64.StdEncoding.DecodeString(*o.Base64)
	if err != nil {
		return nil, problemf(badRequest, "line: %w", err)
	}
	return k, nil
}

// plain returns the contents of a JSON string without escapes.
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

// digestBytes is the size of a digest: H1 and H2, little-endian.
const digestBytes = 16

// nextDigest parses a digest.
func nextDigest(_ *keys.Text, _ umbel.Hasher, in []byte, ended bool) (umbel.Digest, []byte, parsed, error) {
	if len(in) < digestBytes {
		if ended && len(in) > 0 {
			return umbel.Digest{}, nil, skipped, problemf(badRequest, "the last digest has %d bytes, want %d", len(in), digestBytes)
		}
		return umbel.Digest{}, in, incompleteInput, nil
	}
	d := umbel.Digest{H1: binary.LittleEndian.Uint64(in), H2: binary.LittleEndian.Uint64(in[8:])}
	return d, in[digestBytes:], parsedKey, nil
}
