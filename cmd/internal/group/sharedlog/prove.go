package sharedlog

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/umbel-filters/umbel/internal/sentinel"
)

// racers is the number of values that prove puts at the same time.
const racers = 4

// prove returns an error that wraps ErrUnfit unless the medium takes one value for a key, also of several that are put
// at the same time, and then returns and lists it: stores exist that ignore conditions. Another error is one of the
// medium.
func prove(ctx context.Context, m Medium) error {
	var random [8]byte
	rand.Read(random[:])
	key := entryKey(probes | binary.LittleEndian.Uint64(random[:]))
	values, errs := make([][]byte, racers), make([]error, racers)
	var puts sync.WaitGroup
	for i := range values {
		values[i] = bytes.Repeat([]byte{byte(i)}, 1000+i)
		puts.Go(func() { errs[i] = m.Put(ctx, key, values[i]) })
	}
	puts.Wait()
	var taken []byte // nil: it is not known which
	var failure error
	for i, err := range errs {
		switch {
		case err == nil && taken != nil:
			return sentinel.Errorf(ErrUnfit, "the medium took two of %d values that were put for one key at the same time: "+
				"it ignores conditions or does not check them atomically, and would lose data", racers)
		case err == nil:
			taken = values[i]
		case !errors.Is(err, ErrExists):
			failure = err
		}
	}
	got, err := m.Get(ctx, key)
	switch {
	case errors.Is(err, ErrNone) && taken == nil && failure != nil:
		return failure
	case err != nil && !errors.Is(err, ErrNone):
		return err
	}
	if taken == nil {
		taken = values[min(max(len(got)-1000, 0), racers-1)]
	}
	for range 2 { // the second time after an attempt to put another value
		if !bytes.Equal(got, taken) {
			return sentinel.Errorf(ErrUnfit, "the medium returned other bytes than those that it took")
		}
		switch err := m.Put(ctx, key, []byte("again")); {
		case err == nil:
			return sentinel.Errorf(ErrUnfit, "the medium took a second value for a key: it ignores conditions, and would lose data")
		case !errors.Is(err, ErrExists):
			return err
		}
		if got, err = m.Get(ctx, key); err != nil && !errors.Is(err, ErrNone) {
			return err
		}
	}
	keys, err := m.List(ctx, key[:len(logPrefix)+2])
	switch {
	case err != nil:
		return err
	case !slices.Contains(keys, key) || !slices.IsSorted(keys):
		return sentinel.Errorf(ErrUnfit, "the medium does not list a key that it has just taken, or not in order")
	}
	return m.Delete(ctx, key)
}
