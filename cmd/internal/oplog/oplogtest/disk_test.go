package oplogtest_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/umbel-filters/umbel/cmd/internal/oplog/oplogtest"
)

func TestFailedAppendsAreFoundAgain(t *testing.T) {
	for _, kept := range []bool{false, true} {
		d := oplogtest.NewDisk()
		l, err := d.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		why := errors.New("no")
		for i := range 10 {
			batch := []byte{byte(i)}
			d.FailAppends(1, kept, why)
			if _, err := l.Append(t.Context(), batch); !errors.Is(err, why) {
				t.Fatalf("error %v, want %v", err, why)
			}
			if n, err := l.Append(t.Context(), batch); n != uint64(i+1) || err != nil {
				t.Fatalf("batch %d got number %d, %v", i+1, n, err)
			}
		}
		next := byte(0)
		if err := l.Read(t.Context(), 1, func(number uint64, batch []byte) error {
			if !bytes.Equal(batch, []byte{next}) {
				t.Errorf("batch %d holds %d, want %d", number, batch, next)
			}
			next++
			return nil
		}); err != nil || next != 10 {
			t.Errorf("%d batches, %v", next, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
