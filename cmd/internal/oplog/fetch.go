package oplog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

const (
	// fetchBytes and fetchMessages are what is asked for at a time: much to amortize a
	// request, little enough to be kept twice, once read and once under way.
	fetchBytes    = 2 << 20
	fetchMessages = 4096
)

func (j *jetStream) Get(ctx context.Context, r Row, number uint64) ([]byte, error) {
	for {
		run, err := j.current()
		if err != nil {
			return nil, err
		}
		data, err := j.get(ctx, run, r, number)
		if now, e := j.current(); err == nil || errors.Is(err, ErrNotFound) || e != nil || now == run {
			return data, err
		}
		// The server began again meanwhile.
	}
}

func (j *jetStream) get(ctx context.Context, run *run, r Row, number uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	request, err := json.Marshal(server.JSApiMsgGetRequest{Seq: number, NoHeaders: true})
	if err != nil {
		return nil, err
	}
	m, err := run.client.RequestWithContext(ctx, fmt.Sprintf(server.JSDirectMsgGetT, r.stream()), request)
	if err != nil {
		return nil, j.asked(err)
	}
	switch status := m.Header.Get("Status"); status {
	case "":
		return m.Data, nil
	case "404":
		return nil, ErrNotFound
	default:
		return nil, fmt.Errorf("JetStream: message %d of %s: %s %s", number, r.stream(), status, m.Header.Get("Description"))
	}
}

func (j *jetStream) Scan(ctx context.Context, r Row, from, to uint64, each func(uint64, []byte) error) error {
	s := scan{row: r, next: from, to: to, each: each}
	for {
		run, err := j.current()
		if err != nil {
			return err
		}
		if err = s.over(ctx, run); err == nil || s.refused {
			return err
		}
		if now, e := j.current(); e != nil || now == run {
			return j.asked(err)
		}
		// The server began again meanwhile.
	}
}

// scan reads the messages of a row in groups, one while the one before is looked at.
type scan struct {
	row     Row
	next    uint64 // the first message that isn't looked at yet
	to      uint64
	each    func(uint64, []byte) error
	refused bool // each returned an error
}

// over goes on with a scan on a run of the server.
func (s *scan) over(ctx context.Context, run *run) error {
	inbox := run.client.NewInbox()
	answers, err := run.subscribe(inbox)
	if err != nil {
		return err
	}
	defer answers.Unsubscribe()
	ask := func(from uint64) error {
		request, err := json.Marshal(server.JSApiMsgGetRequest{Seq: from, Batch: fetchMessages, MaxBytes: fetchBytes})
		if err != nil {
			return err
		}
		return run.client.PublishRequest(fmt.Sprintf(server.JSDirectMsgGetT, s.row.stream()), inbox, request)
	}
	if s.next > s.to {
		return nil
	}
	if err := ask(s.next); err != nil {
		return err
	}
	var group []numbered
	for {
		var more bool
		if group, more, err = receive(ctx, answers, group[:0]); err != nil {
			return err
		}
		from := s.next + 1 // the one asked for can't be read
		if len(group) > 0 {
			from = group[len(group)-1].number + 1
		}
		more = more && from <= s.to
		if more {
			if err := ask(from); err != nil {
				return err
			}
		}
		for _, m := range group {
			if m.number > s.to {
				break
			}
			s.next = m.number + 1
			if err := s.each(m.number, m.data); err != nil {
				s.refused = true
				return err
			}
		}
		s.next = from
		if !more {
			return nil
		}
	}
}

type numbered struct {
	number uint64
	data   []byte
}

// receive reads a group of messages up to the word that ends it, and reports whether there
// may be more after it. An empty group with more after it is what comes of a message that
// can't be read.
func receive(ctx context.Context, answers *nats.Subscription, group []numbered) (_ []numbered, more bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		m, err := answers.NextMsgWithContext(ctx)
		if err != nil {
			return nil, false, err
		}
		switch status := m.Header.Get("Status"); {
		case status == "204" && len(m.Data) == 0:
			return group, m.Header.Get(server.JSNumPending) != "0", nil
		case status == "404" && len(m.Data) == 0:
			return group, true, nil
		case status == "408" || status == "412":
			return nil, false, fmt.Errorf("JetStream: %s %s", status, m.Header.Get("Description"))
		}
		// The message's own header stands before the number: where that is damaged there is no
		// number, and no such message.
		if number, err := strconv.ParseUint(m.Header.Get(server.JSSequence), 10, 64); err == nil {
			group = append(group, numbered{number, m.Data})
		}
	}
}

func (j *jetStream) Numbers(ctx context.Context, r Row, each func(uint64) error) error {
	info, err := j.info(ctx, r, true)
	if err != nil || info.State.Msgs == 0 {
		return err
	}
	deleted := info.State.Deleted // in order
	for n := max(info.State.FirstSeq, 1); n <= info.State.LastSeq; n++ {
		if len(deleted) > 0 && deleted[0] == n {
			deleted = deleted[1:]
			continue
		}
		if err := each(n); err != nil {
			return err
		}
	}
	return nil
}
