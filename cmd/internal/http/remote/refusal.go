package remote

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/umbel-filters/umbel/cmd/internal/http/api"
	"github.com/umbel-filters/umbel/internal/pause"
)

const (
	// refusedFor is the time for which a change is sent again while a node refuses changes. A node whose disk is
	// full usually has room again after one snapshot.
	refusedFor = 30 * time.Second
	// firstRetry is the time before the first repetition, and lastRetry the longest one.
	firstRetry, lastRetry = 100 * time.Millisecond, 2 * time.Second
)

// patience decides how long a change that a node refuses is sent again. A refusal (api.WordReadOnly) means that
// nothing was done, except for the Done of its error. After the problem not-kept, and after errors of a connection, the
// change may have been made: it is not sent again, because kinds that count would make it twice. The header
// preferKept makes the node wait instead.
type patience struct {
	refused func(error) // may be nil
	begin   time.Time
	retry   pause.Doubling
}

func (c *Client) newPatience() patience {
	return patience{c.Refused, time.Now(), pause.Doubling{First: firstRetry, Most: lastRetry}}
}

// again waits, and returns nil, if the change whose error is err shall be sent again. Otherwise it returns the error
// of the change.
func (p *patience) again(ctx context.Context, err error) error {
	wait := p.retry.Next()
	if word(err) != api.WordReadOnly || time.Since(p.begin)+wait > refusedFor {
		return err
	}
	if p.refused != nil {
		p.refused(err)
	}
	pause.For(ctx, wait)
	return ctx.Err()
}

// untilAccepted calls send, which requests a change that a node makes as a whole or refuses as a whole, until the
// node accepts it or patience ends.
func (c *Client) untilAccepted(ctx context.Context, send func() error) error {
	for p := c.newPatience(); ; {
		err := send()
		if err == nil {
			return nil
		}
		if err = p.again(ctx, err); err != nil {
			return err
		}
	}
}

// change is Keys for Add and Remove. It sends the rest of the keys again if the node refused it.
func (f *Filter) change(ctx context.Context, v Verb, keys [][]byte) ([]uint64, error) {
	answers := make([]uint64, 0, len(keys))
	for p := f.c.newPatience(); ; {
		got, err := f.once(ctx, v, keys[len(answers):])
		if err == nil {
			return append(answers, got...), nil
		}
		e, ok := errors.AsType[*Error](err)
		if !ok || e.Done > uint64(len(keys)-len(answers)) { // the latter is not an answer to this request
			return nil, err
		}
		if e.Done > 0 {
			p = f.c.newPatience() // the node accepts changes again
		}
		known := uint64(len(got)) == e.Done
		if !known { // the node has answered with a problem only
			got = slices.Repeat([]uint64{1}, int(e.Done))
		}
		answers = append(answers, got...)
		e.Done = uint64(len(answers))
		if v == Remove && !known { // whether these keys were absent cannot be found out any more
			return nil, err
		}
		if err := p.again(ctx, err); err != nil {
			return nil, err
		}
	}
}
