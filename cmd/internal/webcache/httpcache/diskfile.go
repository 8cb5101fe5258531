package httpcache

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"time"
)

// A file of the disk store has the body, so that it can be sent without reading, and after it a trailer:
//
//	body | record, JSON | length of the record, 4 bytes | CRC-32C of the record, 4 bytes | magic, 8 bytes
//
// Numbers are little-endian. A validation replaces the trailer. A file whose trailer is damaged is deleted: it is
// the copy of something.

// magic ends a file of the second version of the format. In the first one, bytes above 0x7f were not kept.
const magic = "umbelhc2"

// footer is the number of bytes after the record.
const footer = 4 + 4 + len(magic)

// maxRecord is the largest number of bytes of a record.
const maxRecord = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged is wrapped by the errors of files that are not complete files of the store.
var errDamaged = errors.New("damaged file")

// record is a stored response in a file.
type record struct {
	Key      latin1
	Status   int
	Header   map[string][]latin1
	Selected map[string][]latin1 `json:",omitempty"`
	Size     int64               // of the body
	CRC      uint32              // of the body, CRC-32C
	Policy   recordPolicy

	Authorized bool `json:",omitempty"`
}

// recordPolicy is policy as JSON. Times are those of the clock, because ages must not depend on how long the machine
// was off.
type recordPolicy struct {
	Lifetime, InitialAge         time.Duration
	Received, LastModified, Date time.Time
	NoCache, MustRevalidate      bool
	StaleWhile, StaleOnError     time.Duration
	ETag                         latin1
}

// appendTrailer appends the trailer of a file.
func appendTrailer(dst []byte, s *stored, size int64, crc uint32) ([]byte, error) {
	p := s.policy
	text, err := json.Marshal(record{
		Key: latin1(s.key), Status: s.status, Header: convert[latin1](s.header), Selected: convert[latin1](s.selected),
		Size: size, CRC: crc, Authorized: s.authorized,
		Policy: recordPolicy{
			p.lifetime, p.initialAge, p.received.Round(0), p.lastModified, p.date, p.noCache, p.mustRevalidate, p.staleWhile, p.staleOnError, latin1(p.etag),
		},
	})
	if err != nil {
		return dst, err
	}
	if len(text) > maxRecord {
		return dst, fmt.Errorf("the header has %d bytes, want at most %d", len(text), maxRecord)
	}
	dst = append(dst, text...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(text, castagnoli))
	return append(dst, magic...), nil
}

// readTrailer reads the trailer of a file of size bytes. The response has no body yet. The error wraps errDamaged if the
// file is not one that the store has completed.
func readTrailer(r io.ReaderAt, size int64) (*stored, int64, uint32, error) {
	var end [footer]byte
	if size < int64(len(end)) {
		return nil, 0, 0, fmt.Errorf("%w: %d bytes", errDamaged, size)
	}
	if _, err := r.ReadAt(end[:], size-int64(len(end))); err != nil {
		return nil, 0, 0, err
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	if string(end[8:]) != magic || length > maxRecord || length > size-int64(len(end)) {
		return nil, 0, 0, fmt.Errorf("%w: no trailer", errDamaged)
	}
	text := make([]byte, length)
	if _, err := r.ReadAt(text, size-int64(len(end))-length); err != nil {
		return nil, 0, 0, err
	}
	if crc32.Checksum(text, castagnoli) != binary.LittleEndian.Uint32(end[4:]) {
		return nil, 0, 0, fmt.Errorf("%w: checksum of the record", errDamaged)
	}
	var e record
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, 0, 0, fmt.Errorf("%w: %w", errDamaged, err)
	}
	header, selected := http.Header(convert[string](e.Header)), http.Header(convert[string](e.Selected))
	if e.Size != size-int64(len(end))-length || e.Status < 200 || e.Status > 999 || e.Key == "" || header == nil || !canonical(header) || !canonical(selected) {
		return nil, 0, 0, fmt.Errorf("%w: record", errDamaged)
	}
	p := e.Policy
	s := newStored(string(e.Key), selected, e.Authorized, e.Status, header, policy{
		lifetime: p.Lifetime, initialAge: p.InitialAge, received: p.Received, noCache: p.NoCache, mustRevalidate: p.MustRevalidate,
		staleWhile: p.StaleWhile, staleOnError: p.StaleOnError, etag: string(p.ETag), lastModified: p.LastModified, date: p.Date,
	})
	return s, e.Size, e.CRC, nil
}

// canonical reports whether the names of a header have the form in which they are looked up.
func canonical(h http.Header) bool {
	for name, values := range h {
		if http.CanonicalHeaderKey(name) != name || len(values) == 0 {
			return false
		}
	}
	return true
}
