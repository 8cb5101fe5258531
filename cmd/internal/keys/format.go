// Package keys reads keys from files and streams, and hashes them with all cores.
package keys

import (
	"bytes"
	"fmt"

	"github.com/umbel-filters/umbel"
)

// Format is how keys lie in a stream.
type Format byte

const (
	// Lines is one key a line: all up to the next newline, without a carriage
	// return before it. An empty line is the empty key.
	Lines Format = '\n'
	// NUL is one key up to each zero byte, whatever its bytes are.
	NUL Format = 0
)

// String names the format's unit for messages.
func (f Format) String() string {
	if f == NUL {
		return "NUL-separated key"
	}
	return "line"
}

// Cut returns the first key of a chunk and what follows it. The last key needs no
// separator behind it.
func (f Format) Cut(chunk []byte) (key, rest []byte) {
	i := bytes.IndexByte(chunk, byte(f))
	if i < 0 {
		key = chunk
	} else {
		key, rest = chunk[:i], chunk[i+1:]
	}
	if f == Lines && len(key) > 0 && key[len(key)-1] == '\r' {
		key = key[:len(key)-1]
	}
	return key, rest
}

// Digest returns the digest of a key as the user writes it: its hash, or, where
// digests come ready, the 32 hexadecimal digits read as one.
func Digest(h umbel.Hasher, key []byte) (umbel.Digest, error) {
	if h.Alg != umbel.Caller {
		return h.HashBytes(key), nil
	}
	d, err := umbel.ParseDigest(string(key))
	if err != nil {
		return d, fmt.Errorf("the filter takes digests, not keys: %w", err)
	}
	return d, nil
}
