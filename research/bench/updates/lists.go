package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
)

// codedSet sends a Golomb-coded set, as in BIP 158: the sorted hashes of the keys, with their
// differences in a Rice code. The receiver keeps the message, and reads it for each query.
func codedSet(_, now *set) (receipt, error) {
	message := appendRice(nil, now.hashes(now.span()))
	hashes, rest, err := readRice(message)
	if err != nil || len(rest) > 0 {
		return receipt{}, errors.Join(err, errors.New("more than a set"))
	}
	has := func(key string) bool {
		_, found := slices.BinarySearch(hashes, hash(digest(key), now.span()))
		return found
	}
	return receipt{len(message), len(message), len(message), has}, nil
}

// hashLists sends hashes of the keys below a number and then the changes as Safe Browsing does: the
// indexes of removed hashes in the sorted list, and the new hashes, both in a Rice code, and the SHA-256
// of the new list. A receiver keeps 32 bits per hash.
func hashLists(span func(*set) uint64) func(old, now *set) (receipt, error) {
	return func(old, now *set) (receipt, error) {
		var have []uint64
		var sent [2]int
		for i, s := range []*set{old, now} {
			message := changes(have, s.hashes(span(s)))
			sent[i] = len(message)
			var err error
			if have, err = applyChanges(have, message); err != nil {
				return receipt{}, err
			}
		}
		has := func(key string) bool {
			_, found := slices.BinarySearch(have, hash(digest(key), span(now)))
			return found
		}
		return receipt{sent[0], sent[1], 4 * len(have), has}, nil
	}
}

// changes returns the message that changes a sorted list to another.
func changes(old, now []uint64) []byte {
	var removed, added []uint64
	for i, v := range old {
		if _, found := slices.BinarySearch(now, v); !found {
			removed = append(removed, uint64(i))
		}
	}
	for _, v := range now {
		if _, found := slices.BinarySearch(old, v); !found {
			added = append(added, v)
		}
	}
	sum := checksum(now)
	return append(appendRice(appendRice(nil, removed), added), sum[:]...)
}

// applyChanges returns the list after a message.
func applyChanges(old []uint64, message []byte) ([]uint64, error) {
	removed, rest, err := readRice(message)
	if err != nil {
		return nil, err
	}
	added, sum, err := readRice(rest)
	if err != nil {
		return nil, err
	}
	var now []uint64
	for i, v := range old {
		if len(removed) > 0 && removed[0] == uint64(i) {
			removed = removed[1:]
			continue
		}
		now = append(now, v)
	}
	now = append(now, added...)
	slices.Sort(now)
	if want := checksum(now); !bytes.Equal(sum, want[:]) {
		return nil, errors.New("the receiver has other hashes")
	}
	return now, nil
}

func checksum(hashes []uint64) [sha256.Size]byte {
	var b []byte
	for _, h := range hashes {
		b = binary.BigEndian.AppendUint32(b, uint32(h))
	}
	return sha256.Sum256(b)
}

// names sends the keys, one per line and sorted, and then the removed and the new ones, with gzip. The
// memory is that of the keys, with a byte between two.
func names(old, now *set) (receipt, error) {
	have := make(map[string]bool)
	var sent [2]int
	for i, s := range []*set{old, now} {
		message, err := compressed(lines(have, s))
		if err != nil {
			return receipt{}, err
		}
		sent[i] = len(message)
		if err := applyLines(have, message); err != nil {
			return receipt{}, err
		}
	}
	if len(have) != len(now.keys) {
		return receipt{}, errors.New("the receiver has other keys")
	}
	memory := 0
	for key := range have {
		memory += len(key) + 1
	}
	return receipt{sent[0], sent[1], memory, func(key string) bool { return have[key] }}, nil
}

// lines returns the removed keys after a minus sign and the new ones after a plus sign.
func lines(have map[string]bool, s *set) string {
	removed := maps.Clone(have)
	var added []string
	for _, key := range s.keys {
		if delete(removed, key); !have[key] {
			added = append(added, key)
		}
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(removed)) {
		b.WriteString("-" + key + "\n")
	}
	slices.Sort(added)
	for _, key := range added {
		b.WriteString("+" + key + "\n")
	}
	return b.String()
}

func applyLines(have map[string]bool, message []byte) error {
	r, err := gzip.NewReader(bytes.NewReader(message))
	if err != nil {
		return err
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		key := strings.TrimSuffix(line[1:], "\n")
		if line[0] == '-' {
			delete(have, key)
		} else {
			have[key] = true
		}
	}
	return nil
}

func compressed(text string) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.DefaultCompression)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(w, text)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err
}
