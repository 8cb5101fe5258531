package um

import (
	"errors"
	"math/bits"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/files/ability"
	"github.com/umbel-filters/umbel/cmd/internal/files/folding"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// shapes are the commands that change a whole filter.
func (u *um) shapes() []command.Row {
	return []command.Row{
		{Name: "um.fold", Syntax: "key factor | RATE p | BYTES n", Arity: -3, Keys: command.OneKey, Right: access.Remove, Flags: "write", Categories: "slow umbel write", Summary: "Shrinks a filter by a factor, as far as its rate stays at most p, or to at most n bytes. Keeps all keys. Returns the factor.", Run: u.fold},
		{Name: "um.unfold", Syntax: "key factor", Arity: 3, Keys: command.OneKey, Right: access.Remove, Flags: "write denyoom", Categories: "slow umbel write", Summary: "Enlarges a filter by a factor, for more keys.", Run: u.unfold},
		{Name: "um.compact", Syntax: "key [RATE p]", Arity: -2, Keys: command.OneKey, Right: access.Remove, Flags: "write", Categories: "slow umbel write", Summary: "Joins the layers of a filter as far as its rate stays at most p (default 1%).", Run: u.compact},
		{Name: "um.clear", Syntax: "key", Arity: 2, Keys: command.OneKey, Right: access.Remove, Flags: "write", Categories: "slow umbel write", Summary: "Removes all keys; kind, hash and size stay.", Run: u.clear},
		{Name: "um.advance", Syntax: "key time", Arity: 3, Keys: command.OneKey, Right: access.Remove, Flags: "write", Categories: "slow umbel write", Summary: "Advances the clock of a window, which drops expired keys.", Run: u.advance},
		{Name: "um.seal", Syntax: "key", Arity: 2, Keys: command.OneKey, Right: access.Add, Flags: "write", Categories: "slow umbel write", Summary: "Builds the final form of a ribbon filter, which needs less memory.", Run: u.seal},
	}
}

// change replies the result of a method of a filter.
func (u *um) change(c *resp.Conn, name []byte, change func(*engine.Filter) (engine.Position, error)) {
	f := u.find(c, name)
	if f == nil {
		return
	}
	pos, err := change(f)
	command.OK(c, pos, err)
}

func (u *um) clear(c *resp.Conn, args [][]byte) {
	u.change(c, args[1], (*engine.Filter).Clear)
}

func (u *um) seal(c *resp.Conn, args [][]byte) {
	u.change(c, args[1], (*engine.Filter).Seal)
}

func (u *um) advance(c *resp.Conn, args [][]byte) {
	to, err := quantity.ParseCount(string(args[2]))
	if err != nil {
		command.Fail(c, err)
		return
	}
	u.change(c, args[1], func(f *engine.Filter) (engine.Position, error) { return f.Advance(uint64(to)) })
}

func (u *um) unfold(c *resp.Conn, args [][]byte) {
	by, err := quantity.ParseCount(string(args[2]))
	if err != nil {
		command.Fail(c, err)
		return
	}
	u.change(c, args[1], func(f *engine.Filter) (engine.Position, error) {
		hi, bytes := bits.Mul64(f.Bytes(), uint64(by))
		if hi != 0 {
			return 0, sentinel.Errorf(umbel.ErrLimit, "unfolding by %d exceeds 2^64 bytes", uint64(by))
		}
		if err := u.engine.CheckMemory(bytes); err != nil { // in addition to the old cells
			return 0, err
		}
		return f.Unfold(uint64(by))
	})
}

func (u *um) fold(c *resp.Conn, args [][]byte) {
	f, err := u.completeFilter(args[1])
	if err != nil {
		command.Fail(c, err)
		return
	}
	by, err := u.factor(f, args[2:])
	if err != nil {
		command.Fail(c, err)
		return
	}
	var pos engine.Position
	if by != 1 {
		pos, err = f.Fold(by)
	}
	c.Commit(uint64(pos))
	if err != nil {
		command.Fail(c, err)
		return
	}
	number(c, umbel.Uint(by))
}

// factor returns the factor of a fold. Rates and sizes are checked for the current state; later
// additions are not considered.
func (u *um) factor(f *engine.Filter, words [][]byte) (by uint64, err error) {
	if len(words) == 1 {
		n, err := quantity.ParseCount(string(words[0]))
		return uint64(n), err
	}
	var meet func(*folding.Ladder) (umbel.Filter, uint64, error)
	switch {
	case len(words) == 2 && command.Is(words[0], "RATE"):
		p, err := quantity.ParseRate(string(words[1]))
		if err != nil {
			return 0, err
		}
		meet = func(l *folding.Ladder) (umbel.Filter, uint64, error) { return l.ToRate(float64(p)) }
	case len(words) == 2 && command.Is(words[0], "BYTES"):
		n, err := quantity.ParseSize(string(words[1]))
		if err != nil {
			return 0, err
		}
		meet = func(l *folding.Ladder) (umbel.Filter, uint64, error) { return l.ToBytes(uint64(n)) }
	default:
		return 0, errors.New("usage: UM.FOLD key factor | RATE p | BYTES n")
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	if err := hold.Take(f.Bytes()); err != nil { // for trial folds
		return 0, err
	}
	gone := f.Inspect(func(g umbel.Filter) {
		var l *folding.Ladder
		if l, err = folding.NewLadder(u.engine.Kinds(), g); err == nil {
			_, by, err = meet(l)
		}
	})
	return by, errors.Join(gone, err)
}

func (u *um) compact(c *resp.Conn, args [][]byte) {
	rate := quantity.Rate(spec.DefaultRate)
	switch {
	case len(args) == 4 && command.Is(args[2], "RATE"):
		if err := rate.Set(string(args[3])); err != nil {
			command.Fail(c, err)
			return
		}
	case len(args) != 2:
		c.Error("ERR usage: UM.COMPACT key [RATE p]")
		return
	}
	u.change(c, args[1], func(f *engine.Filter) (engine.Position, error) {
		return f.Update(func(f umbel.Filter) (umbel.Filter, error) {
			g, ok := f.(ability.Compacter)
			if !ok {
				return nil, unsupported(f.State().Kind, "has no layers to join")
			}
			return f, g.Compact(float64(rate))
		})
	})
}
