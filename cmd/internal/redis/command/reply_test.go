package command

import (
	"errors"
	"fmt"
	"testing"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("%w: disk full", engine.ErrReadOnly), "MISCONF read only: disk full"},
		{fmt.Errorf("%w: %w", engine.ErrReadOnly, engine.ErrReplica), ReadOnly},
		{fmt.Errorf("no version: %w", share.ErrStale), "STALE no version: stale"},
		{fmt.Errorf("9 of 8 bytes: %w", engine.ErrMemory), "OOM 9 of 8 bytes: memory limit reached"},
		{sentinel.Errorf(umbel.ErrGoal, "rate 2"), "ERR rate 2"},
		{errors.New("one\r\ntwo"), "ERR one  two"},
	} {
		if got := Text(c.err); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestUnkept(t *testing.T) {
	if got, want := Unkept(errors.New("store: disk\nfull")), "UNKEPT the change was made but may not be durable: store: disk full"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
