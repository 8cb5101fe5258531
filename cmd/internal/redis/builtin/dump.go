package builtin

import (
	"errors"
	"math"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/outgoing"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/wire"
)

func (k *builtin) dumps() []command.Row {
	return []command.Row{
		{Name: "dump", Arity: 2, Keys: command.OneKey, Right: access.Read, Flags: "readonly", Categories: "keyspace read slow",
			Summary: "Returns a filter as a payload for RESTORE.", Long: command.Named, Run: k.dump},
		{Name: "restore", Arity: -4, Keys: command.OneKey, Makes: 1, Right: access.Add,
			Flags: "write denyoom", Categories: "keyspace write slow dangerous",
			Summary: "Makes a filter from a payload of DUMP.", Long: command.Bounded, Run: k.restore},
	}
}

func (k *builtin) dump(c *resp.Conn, args [][]byte) {
	f := k.engine.Get(args[1])
	if f == nil {
		c.Null()
		return
	}
	hold := k.engine.NewReservation()
	defer hold.Release()
	if err := hold.Take(f.Bytes()); err != nil {
		command.Fail(c, err)
		return
	}
	payload, err := k.dumper.Dump(f)
	if errors.Is(err, errors.ErrUnsupported) {
		if !command.MayCopy(c, f) {
			return
		}
		command.Export(c, k.engine, f, outgoing.Canonical)
		return
	}
	if err == nil {
		err = command.Fits(c, uint64(len(payload)))
	}
	if err != nil {
		command.Fail(c, err)
		return
	}
	c.Bulk(payload)
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
		case command.Is(words[i], "replace"):
			o.replace = true
		case command.Is(words[i], "absttl"):
			o.absolute = true
		case command.Is(words[i], "idletime") && more && !often:
			i++
			idle = true
			if n, ok := command.ParseInt(words[i]); !ok {
				return o, notWhole
			} else if n < 0 {
				return o, "ERR Invalid IDLETIME value, must be >= 0"
			}
		case command.Is(words[i], "freq") && more && !idle:
			i++
			often = true
			if n, ok := command.ParseInt(words[i]); !ok {
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

func (k *builtin) restore(c *resp.Conn, args [][]byte) {
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
	if o.replace && !command.Require(c, name, access.Remove) {
		return
	}
	at, ok := command.ParseInt(args[2])
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
	f, pos, err := k.put(string(name), payload, c.MostBytes(math.MaxUint64), o.replace, at)
	if err == nil {
		c.SpendBytes(f.Bytes())
	}
	c.Commit(uint64(pos))
	if errors.Is(err, engine.ErrExists) {
		c.Error(busyKey)
		return
	}
	command.OK(c, pos, err)
}

// put makes a filter of at most most bytes from a payload.
func (k *builtin) put(name string, payload []byte, most uint64, replace bool, expires int64) (*engine.Filter, engine.Position, error) {
	if !wire.Is(payload) { // containers have their own checksum
		return k.dumper.Restore(name, payload, most, replace, expires)
	}
	hold := k.engine.NewReservation()
	defer hold.Release()
	l := hold.Limits()
	l.Bytes = min(l.Bytes, most)
	s, err := wire.Parse(payload, l)
	if errors.Is(err, umbel.ErrCorrupt) {
		return nil, 0, errBadFormat
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := k.engine.Kinds().Open(s)
	if err != nil {
		return nil, 0, err
	}
	return k.engine.Put(name, f, engine.PutOptions{Replace: replace, Expires: expires, Hold: hold})
}

// redisError is an error with Redis' text.
type redisError string

func (e redisError) Error() string { return string(e) }

const errBadFormat redisError = "Bad data format"
