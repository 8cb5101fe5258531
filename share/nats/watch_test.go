package nats

import (
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/umbel-filters/umbel/share"
)

// A message with a lower number than one that was seen, as those of a stream that replaced another one, makes
// WatchRecord request the record; so does a request that failed.
func TestContradiction(t *testing.T) {
	s := &Source{watch: newWatch()}
	s.o.Subject = "words"
	receive := func(sequence uint64) {
		m := nats.NewMsg(s.o.live(share.HeadName))
		m.Header.Set(sequenceHeader, fmt.Sprint(sequence))
		m.Data = fmt.Append(nil, "head ", sequence)
		s.receive(m)
	}
	isCurrent := func() bool { return s.see(share.HeadName).epoch == s.epoch }
	s.see(share.HeadName).epoch = s.epoch // as after a request
	for _, sequence := range []uint64{5, 9, 9} {
		if receive(sequence); !isCurrent() || s.see(share.HeadName).sequence != sequence {
			t.Errorf("after message %d: %+v, epoch %d", sequence, s.see(share.HeadName), s.epoch)
		}
	}
	changed := s.changed
	receive(3)
	select {
	case <-changed:
	default:
		t.Error("a message of another stream wakes nobody")
	}
	if r := s.see(share.HeadName); isCurrent() || string(r.data) != "head 9" {
		t.Errorf("after message 3: %+v, epoch %d", r, s.epoch)
	}
}
