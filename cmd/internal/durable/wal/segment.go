package wal

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/durable/disk"
)

// A segment is a file of frames. Its name is the index of the first of them. It begins with a header
// of 4096 bytes, which contains two copies of the following, at offsets 0 and 2048:
//
//	offset  bytes
//	     0      8  "umbwal", zero, version 2; segments of version 1 have no scopes
//	     8      8  index of the first entry
//	    16      8  index of the last entry of the segment before, 0 if there is none
//	    24     16  XXH3-128 of its frame
//	    40      8  salt
//	    48      8  generation: how many segments were made before
//	    56      4  CRC-32C of all before it
//
// A header is written after the entries of the segment before were synced, and synced before the
// file gets its name. So a file with this name has a header, and the entry that the header names
// was durable. A segment with a lower generation than one whose first index is lower was replaced, and is not
// read.
type segment struct {
	first   uint64
	before  link
	salt    uint32 // the CRC-32C of the salt
	made    uint64 // generation
	version byte
	size    int64
	bad     error // both copies of the header are damaged
}

const (
	segmentSuffix = ".wal"
	spareSuffix   = ".old"
	newName       = "new.tmp" // a segment without its name yet

	segmentHeader  = 4096
	segmentCopies  = 2
	segmentVersion = 2
	scopedVersion  = 2 // from here on entries have scopes

	segmentFields = 60
)

var segmentMagic = [8]byte{'u', 'm', 'b', 'w', 'a', 'l', 0, segmentVersion}

func segmentName(first uint64) string { return fmt.Sprintf("%020d%s", first, segmentSuffix) }

func (s *segment) name() string { return segmentName(s.first) }

// spareName is the name of the file when it is obsolete.
func (s *segment) spareName() string {
	return strings.TrimSuffix(s.name(), segmentSuffix) + spareSuffix
}

// parseSegmentName returns the index of the first entry. ok is false for other files.
func parseSegmentName(name string) (first uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok {
		return 0, false
	}
	first, err := strconv.ParseUint(digits, 10, 64)
	return first, err == nil && first > 0 && segmentName(first) == name
}

// appendSegmentHeader appends a header of segmentHeader bytes.
func appendSegmentHeader(dst []byte, first uint64, before link, salt, generation uint64) []byte {
	one := make([]byte, 0, segmentHeader/segmentCopies)
	one = append(one, segmentMagic[:]...)
	one = binary.LittleEndian.AppendUint64(one, first)
	one = binary.LittleEndian.AppendUint64(one, before.index)
	one = append(one, before.hash[:]...)
	one = binary.LittleEndian.AppendUint64(one, salt)
	one = binary.LittleEndian.AppendUint64(one, generation)
	one = binary.LittleEndian.AppendUint32(one, crc32.Checksum(one, castagnoli))
	one = one[:cap(one)]
	for range segmentCopies {
		dst = append(dst, one...)
	}
	return dst
}

// parseSegmentHeader parses the header of the segment whose first index is first. The error wraps
// errFrame if no copy is whole, or ErrVersion. damaged is the number of copies that are not.
func parseSegmentHeader(b []byte, first uint64) (s segment, damaged int, err error) {
	const stride = segmentHeader / segmentCopies
	later := 0
	found := false
	for i := range segmentCopies {
		c := b[min(i*stride, len(b)):]
		if len(c) >= 8 && [7]byte(c[:7]) == [7]byte(segmentMagic[:7]) && c[7] > segmentVersion {
			later++
		}
		if len(c) < segmentFields || [7]byte(c[:7]) != [7]byte(segmentMagic[:7]) || c[7] == 0 || c[7] > segmentVersion ||
			crc32.Checksum(c[:56], castagnoli) != binary.LittleEndian.Uint32(c[56:]) ||
			binary.LittleEndian.Uint64(c[8:]) != first {
			damaged++
			continue
		}
		s = segment{
			first:   first,
			before:  link{binary.LittleEndian.Uint64(c[16:]), [16]byte(c[24:40])},
			salt:    saltSum(binary.LittleEndian.Uint64(c[40:])),
			made:    binary.LittleEndian.Uint64(c[48:]),
			version: c[7],
		}
		found = true
	}
	switch {
	case later == segmentCopies:
		return s, damaged, fmt.Errorf("%w: segment %s has version %d, this program reads %d and earlier ones", ErrVersion, segmentName(first), b[7], segmentVersion)
	case !found:
		return s, damaged, fmt.Errorf("%w: the header of %s", errFrame, segmentName(first))
	case s.before.index >= first:
		return s, damaged, fmt.Errorf("%w: the header of %s names batch %d as the one before", errFrame, segmentName(first), s.before.index)
	}
	return s, damaged, nil
}

// listing is what a directory contains.
type listing struct {
	segments []*segment // in order
	spares   []string   // names
	strays   []string   // names of files that a crash left
	made     uint64     // highest generation
	heads    []string   // names of files of the head
	older    bool       // the log of an older version
}

// list reads the names and the headers of all segments.
func list(dir disk.Dir, warn func(msg string, args ...any)) (listing, error) {
	var l listing
	files, err := dir.List()
	if err != nil {
		return l, err
	}
	for _, f := range files {
		name := f.Name
		first, ok := parseSegmentName(name)
		switch {
		case ok:
			s, err := readSegment(dir, first, warn)
			if err != nil {
				return l, err
			}
			l.segments = append(l.segments, s)
		case strings.HasSuffix(name, spareSuffix):
			l.spares = append(l.spares, name)
		case name == newName:
			l.strays = append(l.strays, name)
		case slices.Contains(headNames[:], name):
			l.heads = append(l.heads, name)
		case name == olderName:
			l.older = true
		}
	}
	slices.SortFunc(l.segments, func(a, b *segment) int { return cmp.Compare(a.first, b.first) })
	l.segments = slices.DeleteFunc(l.segments, func(s *segment) bool {
		if s.bad == nil && s.made < l.made {
			l.strays = append(l.strays, s.name())
			return true
		}
		l.made = max(l.made, s.made)
		return false
	})
	return l, nil
}

// readSegment reads the header of a segment. A damaged one is noted in the segment.
func readSegment(dir disk.Dir, first uint64, warn func(msg string, args ...any)) (_ *segment, err error) {
	f, err := dir.Open(segmentName(first))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, segmentHeader)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	s, damaged, err := parseSegmentHeader(b[:n], first)
	if errors.Is(err, ErrVersion) {
		return nil, err
	}
	s.first, s.size, s.bad = first, size, err
	if damaged > 0 && err == nil {
		warn("a copy of a segment's header is damaged; the other one is used", "file", s.name())
	}
	return &s, nil
}
