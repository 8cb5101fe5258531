package um

import (
	"errors"
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/engine/operation"
	"github.com/umbel-filters/umbel/cmd/internal/files/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/files/spec"
	"github.com/umbel-filters/umbel/cmd/internal/node/access"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/fold"
)

// shapes are the commands of the table of operations.
func (u *um) shapes() []command.Row {
	var rows []command.Row
	for _, op := range operation.All {
		r := command.Row{Name: "um." + op.Name, Syntax: "key", Arity: 2, Keys: command.OneKey, Right: access.Add, Flags: "write",
			Categories: "slow umbel write", Summary: op.Summary, Long: long}
		if op.Removes {
			r.Right = access.Remove
		}
		switch n := op.Number; {
		case op == operation.Fold:
			r.Syntax, r.Arity, r.Run = r.Syntax+" "+foldSyntax, -3, u.fold
		case n.Rate:
			r.Syntax, r.Arity = r.Syntax+" ["+n.Word+" p]", -2
		case n.Name != "":
			r.Syntax, r.Arity = r.Syntax+" "+n.Word, 3
		}
		if op.Enlarges {
			r.Flags, r.Long = "write denyoom", longUnfold
		}
		if r.Run == nil {
			r.Run = func(c *resp.Conn, args [][]byte) { u.change(c, op, args) }
		}
		rows = append(rows, r)
	}
	return rows
}

// longUnfold is long with the bytes of the larger filter.
func longUnfold(named uint64, args [][]byte) uint64 {
	if by, err := quantity.ParseCount(string(args[2])); err == nil {
		named *= min(uint64(by), 1<<20)
	}
	return long(named, args)
}

// change performs an operation.
func (u *um) change(c *resp.Conn, op *operation.Operation, args [][]byte) {
	n, err := numberOf(op, args[2:])
	if err != nil {
		command.Fail(c, err)
		return
	}
	f := u.find(c, args[1])
	if f == nil {
		return
	}
	pos, err := f.Do(op, n)
	command.OK(c, pos, hintKinds(err))
}

// numberOf returns the number of an operation in the words after the name of a filter.
func numberOf(op *operation.Operation, words [][]byte) (umbel.Number, error) {
	switch {
	case op.Number.Name == "":
		return umbel.Number{}, nil
	case !op.Number.Rate:
		n, err := quantity.ParseCount(string(words[0]))
		return umbel.Uint(uint64(n)), err
	case len(words) == 0:
		return umbel.Float(spec.DefaultRate), nil
	case len(words) == 2 && command.Is(words[0], op.Number.Word):
		p, err := quantity.ParseRate(string(words[1]))
		return umbel.Float(float64(p)), err
	}
	return umbel.Number{}, fmt.Errorf("usage: UM.%s key [%s p]", strings.ToUpper(op.Name), op.Number.Word)
}

const foldSyntax = "factor | RATE p | BYTES n"

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
		pos, err = f.Do(operation.Fold, umbel.Uint(by))
	}
	c.Commit(uint64(pos))
	if err != nil {
		command.Fail(c, hintKinds(err))
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
	var goal umbel.Goal
	switch {
	case len(words) == 2 && command.Is(words[0], "RATE"):
		p, err := quantity.ParseRate(string(words[1]))
		if err != nil {
			return 0, err
		}
		goal.FPRate = float64(p)
	case len(words) == 2 && command.Is(words[0], "BYTES"):
		n, err := quantity.ParseSize(string(words[1]))
		if err != nil {
			return 0, err
		}
		goal.Bytes = uint64(n)
	default:
		return 0, errors.New("usage: UM.FOLD key " + foldSyntax)
	}
	hold := u.engine.NewReservation()
	defer hold.Release()
	if err := hold.Take(f.Bytes()); err != nil { // for trial folds
		return 0, err
	}
	gone := f.Inspect(func(g umbel.Filter) { _, by, err = fold.To(u.engine.Kinds(), g, goal) })
	return by, errors.Join(gone, err)
}
