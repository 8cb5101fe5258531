// Package keys reads keys from files and streams, and hashes them with all cores.
package keys

import (
	"bytes"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// Format describes how a stream is divided into keys.
type Format struct {
	Separator byte
	Binary    bool // accept streams that are compressed or, with newlines, contain zero bytes
}

var (
	// Lines is one key per line, without the newline and a carriage return before it. An empty
	// line is the empty key. [Text] states what else lines are.
	Lines = Format{Separator: '\n'}
	// NUL ends each key at a zero byte.
	NUL = Format{Separator: 0}
)

// String returns the name of the unit for messages.
func (f Format) String() string {
	if f.Separator == 0 {
		return "NUL-separated key"
	}
	return "line"
}

// Cut returns the first key of a chunk, and the rest. The last key needs no separator. The capacity of the key ends
// before the separator, so that [Line] returns the line of the key.
func (f Format) Cut(chunk []byte) (key, rest []byte) {
	end := bytes.IndexByte(chunk, f.Separator)
	if end < 0 {
		end = len(chunk)
	} else {
		rest = chunk[end+1:]
	}
	key = chunk[:end:end]
	if f.Separator == '\n' && end > 0 && key[end-1] == '\r' {
		key = key[:end-1]
	}
	return key, rest
}

// Line returns the line of a key of [Format.Cut] as it was read: with its carriage return, if it had one, and without the
// separator. It returns any other key unchanged.
func Line(key []byte) []byte {
	if n := len(key); cap(key) == n+1 && key[:n+1][n] == '\r' {
		return key[:n+1]
	}
	return key
}

// Digest returns the digest of a key: its hash or, with hash "caller", the digest that the key's
// 32 hexadecimal digits are.
func Digest(h umbel.Hasher, key []byte) (umbel.Digest, error) {
	if h.Alg != umbel.Caller {
		return h.HashBytes(key), nil
	}
	d, err := umbel.ParseDigest(string(key))
	if err != nil {
		return d, fmt.Errorf("a key must be a digest: %w", err)
	}
	return d, nil
}
