package redisbloom

import (
	"errors"
	"fmt"

	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/command"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// Errors with the texts of RedisBloom or Redis.
const (
	wrongType          = "WRONGTYPE Operation against a key holding the wrong kind of value"
	notFound           = "ERR not found"
	itemExists         = "ERR item exists"
	filterFull         = "ERR non scaling filter is full"
	insertProblem      = "ERR problem inserting into filter"
	insufficientMemory = "ERR Insufficient memory to create filter"
	notCreated         = "ERR could not create filter"
	outOfMemory        = "OOM command not allowed when used memory > 'maxmemory'."
	loading            = "ERR " + loadingText
	digestsOnly        = "ERR the filter has hash caller and takes digests, not keys: use UM.ADDRAW and UM.HASRAW"
	loadingText        = "bloom filter load in progress: send the chunks that are missing, or delete it"
)

var (
	errLoading     error = textError(loadingText)
	errScaleMemory error = textError("provided VALIDATESCALETO causes bloom object to exceed memory limit")
)

// textError is an error whose text clients depend on.
type textError string

func (w textError) Error() string { return string(w) }

// createProblem returns the reply if a filter cannot be made.
func createProblem(err error) string {
	switch {
	case errors.Is(err, engine.ErrMemory):
		return insufficientMemory
	case errors.Is(err, umbel.ErrGoal):
		return notCreated
	case errors.Is(err, engine.ErrExists):
		return itemExists
	}
	return command.Text(err)
}

// addProblem returns the reply for an item that f refuses. full means that it is an element of
// the reply to several items, after those that were added.
func addProblem(f *engine.Filter, err error) (text string, full bool) {
	switch {
	case errors.Is(err, engine.ErrReadOnly):
		return command.Text(err), false
	case errors.Is(err, engine.ErrMemory):
		return outOfMemory, false
	case !errors.Is(err, umbel.ErrLimit):
		return command.Text(err), false
	}
	text = insertProblem
	if _, fixed := room(f); fixed {
		text = filterFull
	}
	return text, true
}

// checkComplete returns an error if the filter is incomplete: a dump of it would lack keys.
func checkComplete(f *engine.Filter) error {
	err := f.CheckComplete()
	if errors.Is(err, engine.ErrIncomplete) && !errors.Is(err, engine.ErrLost) {
		return errLoading
	}
	return err
}

// notPortable returns an error if RedisBloom could not use the filter's bytes.
func notPortable(h umbel.Hasher) error {
	if h == redisbloom.RedisHasher {
		return nil
	}
	return fmt.Errorf("the filter hashes with %v and RedisBloom with %v: make filters with the setting default-hash "+
		"redisbloom, or move this one with UM.EXPORT", h.Alg, redisbloom.RedisHasher.Alg)
}

// look calls what with the filter, of the kind with type T, while no change runs. It returns an error
// reply otherwise: missing if f is nil, WRONGTYPE for another kind.
func look[T umbel.Filter](f *engine.Filter, missing string, what func(T)) (problem string) {
	if f == nil {
		return missing
	}
	problem = wrongType
	err := f.View(func(f umbel.Filter) {
		if own, ok := f.(T); ok {
			problem = ""
			what(own)
		}
	})
	switch {
	case errors.Is(err, engine.ErrNotFound):
		return missing
	case err != nil:
		return command.Text(err)
	}
	return problem
}

// replyOK replies OK after a change, or its error.
func replyOK(c *resp.Conn, pos engine.Position, problem string) {
	c.Commit(uint64(pos))
	if problem != "" {
		c.Error(problem)
		return
	}
	c.Simple("OK")
}
