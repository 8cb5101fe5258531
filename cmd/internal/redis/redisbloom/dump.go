package redisbloom

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/cuckoo"
	"github.com/umbel-filters/umbel/cmd/internal/redis/rdb"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
	"github.com/umbel-filters/umbel/internal/sentinel"
	"github.com/umbel-filters/umbel/wire"
)

// Type returns the reply of TYPE: RedisBloom's type, or the name of the kind.
func (m *Module) Type(f *engine.Filter) string {
	switch kind := f.Kind(); kind {
	case redisbloom.Name:
		return rdb.ModuleName
	case cuckoo.Name:
		return "MBbloomCF"
	default:
		return kind
	}
}

// Dump returns a payload that RedisBloom's RESTORE accepts. It returns an error wrapping
// errors.ErrUnsupported for other kinds, engine.ErrNotFound for a deleted filter, or an error for
// a filter with another hasher or an incomplete one.
func (m *Module) Dump(f *engine.Filter) ([]byte, error) {
	if err := checkComplete(f); err != nil {
		return nil, err
	}
	var payload []byte
	var err error
	gone := f.Inspect(func(f umbel.Filter) {
		own, ok := f.(*redisbloom.Filter)
		if !ok {
			err = sentinel.Errorf(errors.ErrUnsupported, "it isn't a filter of RedisBloom's")
		} else if err = notPortable(own.Hasher()); err == nil {
			payload = rdb.Append(nil, own.State())
		}
	})
	return payload, errors.Join(gone, err)
}

// Restore makes a filter from a payload: see builtin.Dumper. It returns an error wrapping
// engine.ErrExists, or one whose text is the reply.
func (m *Module) Restore(name string, payload []byte, most uint64, replace bool, expires int64) (*engine.Filter, engine.Position, error) {
	if !replace && m.engine.Get([]byte(name)) != nil {
		return nil, 0, fmt.Errorf("%q: %w", name, engine.ErrExists)
	}
	hold := m.engine.NewReservation()
	defer hold.Release()
	own, err := m.parse(payload, most, hold)
	if err != nil {
		return nil, 0, badPayload(err)
	}
	return m.engine.Put(name, own, engine.PutOptions{Replace: replace, Expires: expires, Hold: hold})
}

// parse returns the filter in a payload of at most most bytes, and reserves memory for it.
func (m *Module) parse(payload []byte, most uint64, hold *engine.Reservation) (f *redisbloom.Filter, err error) {
	defer m.engine.CatchFault(redisbloom.Name, &err)
	return rdb.Parse(payload, min(m.engine.FreeMemory(wire.DefaultBytes), most), hold.Take)
}

const (
	scanNotNumeric = "Second argument must be numeric"
	loadNotNumeric = "ERR " + scanNotNumeric
)

// scanDump implements BF.SCANDUMP.
func (m *Module) scanDump(c *resp.Conn, args [][]byte) {
	iter, ok := command.ParseInt(args[2])
	var next int64
	var data []byte
	var err error
	f := m.engine.Get(args[1])
	problem := look(f, notFound, func(f *redisbloom.Filter) {
		if err = notPortable(f.Hasher()); err == nil && ok {
			next, data, err = f.ScanDump(iter)
		}
	})
	if problem == "" && !ok {
		problem, err = scanNotNumeric, nil
	}
	if replyNext(c, f, next, problem, err) {
		c.Bulk(data)
	}
}

// replyNext begins the reply of SCANDUMP, which the data ends, or replies an error and returns false.
func replyNext(c *resp.Conn, f *engine.Filter, next int64, problem string, err error) bool {
	if problem == "" && err == nil {
		err = checkComplete(f)
	}
	if err != nil {
		problem = command.Text(err)
	}
	if problem != "" {
		c.Error(problem)
		return false
	}
	c.Array(2)
	c.Int(next)
	return true
}

// badPayload returns the error text of RESTORE, which follows ERR.
func badPayload(err error) error {
	switch {
	case errors.Is(err, rdb.ErrEnvelope):
		return rdb.ErrEnvelope
	case errors.Is(err, rdb.ErrFormat):
		return textError("Bad data format")
	}
	return err
}
