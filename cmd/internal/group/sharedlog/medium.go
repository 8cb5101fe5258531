package sharedlog

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Medium keeps the entries of a log, and the snapshots of its group, in an engine that the operator runs: a bucket, a
// stream, a directory. It belongs to one group. Everything that a Medium keeps is written once: it never changes a
// value. Methods are safe for concurrent use and return when ctx is done.
//
// Keys consist of lower-case letters, digits, hyphens and slashes. Values have at most MaxValue bytes.
type Medium interface {
	// Put keeps a value durably if the key has none. The error wraps ErrExists if it has one. After any other error it
	// is unknown whether the value is kept, or will be: the medium may still receive it. data does not change, even after
	// Put has returned.
	Put(ctx context.Context, key string, data []byte) error
	// Get returns the value of a key, which the caller owns. The error wraps ErrNone if there is none. It returns every
	// value whose Put had returned before Get was called.
	Get(ctx context.Context, key string) ([]byte, error)
	// List returns all keys that begin with a prefix, in ascending order. Like Get, it misses none whose Put had returned.
	List(ctx context.Context, prefix string) ([]string, error)
	// Delete removes a value. It is no error if there is none.
	Delete(ctx context.Context, key string) error
}

// MaxValue is the maximum number of bytes of a value: with its headers it fits into a message of NATS, which has at
// most 1 MiB by default.
const MaxValue = 1<<20 - 8<<10

var (
	// ErrExists is wrapped by the error of Put if the key has a value.
	ErrExists = errors.New("it exists")
	// ErrNone is wrapped by the error of Get if the key has no value.
	ErrNone = errors.New("it does not exist")
)

// Opener opens the medium that a URL names.
type Opener func(ctx context.Context, u *url.URL) (Medium, error)

// Openers has an Opener for each scheme of URLs.
type Openers map[string]Opener

// Open opens the medium that a URL names.
func (o Openers) Open(ctx context.Context, rawURL string) (Medium, error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	open := o[u.Scheme]
	if open == nil {
		return nil, fmt.Errorf("this program keeps no log at %q, but at URLs that begin with %s; buckets and NATS need the program of package "+
			"github.com/umbel-filters/umbel/cmd/cloud/umbel", u.Redacted(), strings.Join(o.schemes(), ", "))
	}
	return open(ctx, u)
}

func (o Openers) schemes() (all []string) {
	for s := range o {
		all = append(all, s+"://")
	}
	slices.Sort(all)
	return all
}

// logPrefix is the prefix of the keys of entries.
const logPrefix = "log/"

// Open proves what the medium does with entries whose numbers are at least probes. Others are below 1<<60, so that
// their keys begin with numbersPrefix.
const (
	probes        = 1 << 63
	numbersPrefix = logPrefix + "0"
)

// entryKey returns the key of the entry of a number.
func entryKey(number uint64) string { return fmt.Sprintf("%s%016x", logPrefix, number) }
