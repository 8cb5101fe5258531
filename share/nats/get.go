package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/umbel-filters/umbel/internal/pause"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/share"
)

// requestTimes are how long the attempts of a request wait for the reply. A replica that stops
// never replies; over a slow connection a part takes long.
var requestTimes = []time.Duration{time.Second, 3 * time.Second, 15 * time.Second}

// noResponders is the time between attempts if nobody is there to reply, as during an election.
const noResponders = 200 * time.Millisecond

// message is a message of the stream.
type message struct {
	sequence uint64
	header   nats.Header
	data     []byte
}

// request sends a request to the API until there is a reply.
func (s *Source) request(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	var err error
	for _, limit := range requestTimes {
		if err != nil && errors.Is(err, nats.ErrNoResponders) {
			pause.For(ctx, noResponders)
		}
		attempt, cancel := context.WithTimeout(ctx, limit)
		var m *nats.Msg
		m, err = s.nc.RequestWithContext(attempt, s.api+subject, data)
		cancel()
		if err == nil {
			return m, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return nil, fmt.Errorf("%s: %w", subject, err)
}

// get returns the last message of a subject. A replica may lag, so the leader is queried if there is
// none, or if its number is below known.
func (s *Source) get(ctx context.Context, subject string, known uint64) (*message, error) {
	m, err := s.direct(ctx, subject)
	if errors.Is(err, share.ErrNotFound) || err == nil && m.sequence < known {
		return s.fromLeader(ctx, subject)
	}
	return m, err
}

// direct returns the last message of a subject from any replica.
func (s *Source) direct(ctx context.Context, subject string) (*message, error) {
	r, err := s.request(ctx, "DIRECT.GET."+s.o.Stream+"."+subject, nil)
	if err != nil {
		return nil, err
	}
	if status := r.Header.Get("Status"); status != "" && len(r.Data) == 0 {
		if status == "404" {
			return nil, absent(subject)
		}
		return nil, fmt.Errorf("%s: status %s %s", subject, status, r.Header.Get("Description"))
	}
	sequence, err := strconv.ParseUint(r.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return nil, sentinel.Errorf(share.ErrCorrupt, "%s: a reply without a sequence", subject)
	}
	return &message{sequence, r.Header, r.Data}, nil
}

// fromLeader returns the last message of a subject from the leader of the stream.
func (s *Source) fromLeader(ctx context.Context, subject string) (*message, error) {
	q, err := json.Marshal(map[string]string{"last_by_subj": subject})
	if err != nil {
		return nil, err
	}
	r, err := s.request(ctx, "STREAM.MSG.GET."+s.o.Stream, q)
	if err != nil {
		return nil, err
	}
	var reply struct {
		Error *struct {
			Code        int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
		Message struct {
			Sequence uint64 `json:"seq"`
			Header   []byte `json:"hdrs"`
			Data     []byte `json:"data"`
		} `json:"message"`
	}
	if err := json.Unmarshal(r.Data, &reply); err != nil {
		return nil, sentinel.Errorf(share.ErrCorrupt, "%s: %w", subject, err)
	}
	switch e := reply.Error; {
	case e != nil && e.Code == noMessage:
		return nil, absent(subject)
	case e != nil:
		return nil, fmt.Errorf("%s: %s (%d)", subject, e.Description, e.Code)
	}
	m := &message{sequence: reply.Message.Sequence, data: reply.Message.Data}
	if len(reply.Message.Header) > 0 {
		if m.header, err = nats.DecodeHeadersMsg(reply.Message.Header); err != nil {
			return nil, sentinel.Errorf(share.ErrCorrupt, "%s: %w", subject, err)
		}
	}
	return m, nil
}

// noMessage is the server's code for a subject without a message.
const noMessage = 10037

func absent(subject string) error {
	return fmt.Errorf("%s: %w", subject, share.ErrNotFound)
}
