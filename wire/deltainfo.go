package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/umbel-filters/umbel"
)

// DeltaInfo is what the head of a delta says.
type DeltaInfo struct {
	Base, Result ID     // of the states from and to which it leads
	Kind         string // of both
	Bytes        uint64 // memory of the planes of the result
}

// DeltaMagicBytes is how many bytes tell a delta from other files.
const DeltaMagicBytes = len(deltaMagic)

// IsDelta reports whether b begins as a delta does, of whatever version.
func IsDelta(b []byte) bool {
	last := len(deltaMagic) - 1
	return len(b) > last && string(b[:last]) == deltaMagic[:last]
}

// InspectDelta returns what the head of a delta says: all that a program needs that
// keeps or forwards deltas, or asks whether it can apply one. It checks the whole
// message for damage, and doesn't know whether it could be applied. The error wraps
// umbel.ErrCorrupt, and errors.ErrUnsupported for a later version.
func InspectDelta(delta []byte) (DeltaInfo, error) {
	last := len(deltaMagic) - 1
	if bytes.HasPrefix(delta, []byte(magic[:last])) {
		return DeltaInfo{}, fmt.Errorf("wire: this is a container, no delta: %w", umbel.ErrCorrupt)
	}
	if !IsDelta(delta) {
		return DeltaInfo{}, fmt.Errorf("wire: begins with %q, want %q: this is no delta: %w", delta[:min(len(delta), last)], deltaMagic[:last], umbel.ErrCorrupt)
	}
	if delta[last] != deltaMagic[last] {
		return DeltaInfo{}, fmt.Errorf("wire: delta of version %d, this program reads version %d: %w: %w", delta[last], deltaMagic[last], errors.ErrUnsupported, umbel.ErrCorrupt)
	}
	if len(delta) < deltaHead+1+crcBytes {
		return DeltaInfo{}, cutOff(len(delta))
	}
	if err := checkSum(delta); err != nil {
		return DeltaInfo{}, err
	}
	var i DeltaInfo
	b := delta[len(deltaMagic):]
	b = b[copy(i.Base[:], b):]
	b = b[copy(i.Result[:], b):]
	i.Bytes = binary.LittleEndian.Uint64(b)
	b = b[8 : len(b)-crcBytes]
	n := int(b[0])
	if len(b) < 1+n {
		return DeltaInfo{}, cutOff(len(delta))
	}
	i.Kind = string(b[1 : 1+n])
	if err := umbel.CheckName(i.Kind); err != nil {
		return DeltaInfo{}, fmt.Errorf("wire: delta: %w", err)
	}
	return i, nil
}

func cutOff(n int) error {
	return fmt.Errorf("wire: a delta of %d bytes is cut off: %w", n, umbel.ErrCorrupt)
}

// checkSum returns an error unless a message ends in its checksum.
func checkSum(b []byte) error {
	body, sum := b[:len(b)-crcBytes], binary.LittleEndian.Uint32(b[len(b)-crcBytes:])
	if got := crc32.Checksum(body, castagnoli); got != sum {
		return fmt.Errorf("wire: checksum %08x, want %08x: the delta was cut off or damaged: %w", sum, got, umbel.ErrCorrupt)
	}
	return nil
}
