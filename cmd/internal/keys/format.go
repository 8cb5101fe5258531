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
	// line is the empty key.
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

// Cut returns the first key of a chunk, and the rest. The last key needs no separator.
func (f Format) Cut(chunk []byte) (key, rest []byte) {
	i := bytes.IndexByte(chunk, f.Separator)
	if i < 0 {
		key = chunk
	} else {
		key, rest = chunk[:i], chunk[i+1:]
	}
	if f.Separator == '\n' && len(key) > 0 && key[len(key)-1] == '\r' {
		key = key[:len(key)-1]
	}
	return key, rest
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
