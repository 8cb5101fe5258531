package keyspace

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/access"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/permit"
	"github.com/umbel-filters/umbel/cmd/internal/refusal"
	"github.com/umbel-filters/umbel/cmd/internal/resp"
	"github.com/umbel-filters/umbel/wire"
)

// containerHead begins payloads that are containers, which have their own checksum.
var containerHead = []byte("\x89umbel\n")

func (k *keyspace) dumps() []row {
	return []row{
		{"dump", 2, oneKey, "read", "readonly", "keyspace read slow", "Returns a filter as a payload for RESTORE.", k.dump},
		{"restore", -4, oneKey, "add", "write denyoom", "keyspace write slow dangerous", "Makes a filter from a payload of DUMP.", k.restore},
	}
}

func (k *keyspace) dump(c *resp.Conn, args [][]byte) {
	f := k.engine.Get(args[1])
	if f == nil {
		c.Null()
		return
	}
	hold := k.engine.NewReservation()
	defer hold.Release()
	if err := hold.Take(f.Bytes()); err != nil {
		c.Error(refusal.Text(err))
		return
	}
	payload, err := k.dumper.Dump(f)
	if errors.Is(err, errors.ErrUnsupported) {
		if !permit.All(c, f) {
			return
		}
		payload, err = container(c, f)
	}
	if err == nil {
		err = fits(c, uint64(len(payload)))
	}
	if err != nil {
		c.Error(refusal.Text(err))
		return
	}
	c.Bulk(payload)
}

// container returns a filter of any kind as a payload.
func container(c *resp.Conn, f *engine.Filter) (b []byte, err error) {
	gone := f.View(func(f umbel.Filter) { err = fits(c, wire.Size(f.State())) }) // before a copy is made
	if err := errors.Join(gone, err); err != nil {
		return nil, err
	}
	gone = f.Inspect(func(f umbel.Filter) { b, err = wire.Append(nil, f.State()) })
	return b, errors.Join(gone, err)
}

// fits returns an error unless a payload of n bytes can be replied to the client.
func fits(c *resp.Conn, n uint64) error {
	if most := c.MaxReply(); n > uint64(most) {
		return fmt.Errorf("the payload has %d bytes and a reply at most %d; use UM.EXPORT or BF.SCANDUMP: %w", n, most, umbel.ErrLimit)
	}
	return nil
}

// restoring contains the options of RESTORE.
type restoring struct {
	replace, absolute bool
}

// restoreOptions parses [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ frequency], or returns an
// error reply. The last two are for caches with eviction and are only checked.
func restoreOptions(words [][]byte) (o restoring, refused string) {
	idle, often := false, false
	for i := 0; i < len(words); i++ {
		more := i+1 < len(words)
		switch {
		case isOption(words[i], "replace"):
			o.replace = true
		case isOption(words[i], "absttl"):
			o.absolute = true
		case isOption(words[i], "idletime") && more && !often:
			i++
			idle = true
			if n, ok := parseInt(words[i]); !ok {
				return o, notWhole
			} else if n < 0 {
				return o, "ERR Invalid IDLETIME value, must be >= 0"
			}
		case isOption(words[i], "freq") && more && !idle:
			i++
			often = true
			if n, ok := parseInt(words[i]); !ok {
				return o, notWhole
			} else if n < 0 || n > 255 {
				return o, "ERR Invalid FREQ value, must be >= 0 and <= 255"
			}
		default:
			return o, syntaxError
		}
	}
	return o, ""
}

func (k *keyspace) restore(c *resp.Conn, args [][]byte) {
	name, payload := args[1], args[3]
	o, refused := restoreOptions(args[4:])
	if refused != "" {
		c.Error(refused)
		return
	}
	if !o.replace && k.engine.Get(name) != nil {
		c.Error(busyKey)
		return
	}
	if o.replace && !permit.May(c, access.Remove, name) {
		c.Error(permit.NoKey)
		return
	}
	at, ok := parseInt(args[2])
	if !ok {
		c.Error(notWhole)
		return
	}
	if at < 0 {
		c.Error("ERR Invalid TTL value, must be >= 0")
		return
	}
	if at != 0 && !o.absolute {
		at = k.engine.Now() + min(at, 1<<62) // the year 146 million
	}
	pos, err := k.put(string(name), payload, o.replace, at)
	c.Commit(uint64(pos))
	if errors.Is(err, engine.ErrExists) {
		c.Error(busyKey)
		return
	}
	replyAfter(c, pos, err)
}

// put makes a filter from a payload.
func (k *keyspace) put(name string, payload []byte, replace bool, expires int64) (engine.Position, error) {
	if !bytes.HasPrefix(payload, containerHead) {
		return k.dumper.Restore(name, payload, replace, expires)
	}
	hold := k.engine.NewReservation()
	defer hold.Release()
	s, err := wire.Parse(payload, wire.Limits{Bytes: k.memoryLeft(), Reserve: hold.Take})
	if errors.Is(err, umbel.ErrCorrupt) {
		return 0, errBadFormat
	}
	if err != nil {
		return 0, err
	}
	f, err := k.engine.Kinds().Open(s)
	if err != nil {
		return 0, err
	}
	hold.Release() // from here on the engine accounts for it
	_, pos, err := k.engine.Put(name, f, engine.PutOptions{Replace: replace, Expires: expires})
	return pos, err
}

// memoryLeft returns the bytes that are free for cells, at least 1.
func (k *keyspace) memoryLeft() uint64 {
	used, limit := k.engine.Memory()
	if limit == 0 {
		return wire.DefaultBytes
	}
	return max(limit-min(used, limit), 1)
}

// redisError is an error with Redis' text.
type redisError string

func (e redisError) Error() string { return string(e) }

const errBadFormat redisError = "Bad data format"
