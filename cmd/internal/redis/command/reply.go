package command

import (
	"errors"
	"strings"

	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/share"
)

// OK replies OK after a change, or its error.
func OK(c *resp.Conn, pos engine.Position, err error) {
	c.Commit(uint64(pos))
	if err != nil {
		Fail(c, err)
		return
	}
	c.Simple("OK")
}

// Fail replies an error.
func Fail(c *resp.Conn, err error) { c.Error(Text(err)) }

// ReadOnly is the reply of a replica to a command that changes something. It begins as that of Redis.
const ReadOnly = "READONLY You can't write against a read only replica; change the filter where it is published"

// Text returns the reply for an error: MISCONF if no changes are accepted, READONLY by a replica or a follower, STALE if
// its version is out of date, OOM if the memory limit is reached, otherwise ERR, followed by the text of
// the error on one line.
func Text(err error) string {
	switch {
	case errors.Is(err, engine.ErrReplica):
		return ReadOnly
	case errors.Is(err, engine.ErrFollower):
		return followerReply(err)
	case errors.Is(err, share.ErrStale):
		return "STALE " + line(err)
	case errors.Is(err, engine.ErrReadOnly):
		return "MISCONF " + line(err)
	case errors.Is(err, engine.ErrMemory):
		return "OOM " + line(err)
	}
	return "ERR " + line(err)
}

// followerReply is the reply of a follower to a command that changes something.
func followerReply(err error) string {
	f, _ := errors.AsType[*engine.FollowerError](err)
	return "READONLY You can't write against a read only replica; " + line(f)
}

// Unkept returns the reply for a change that was made but may not be durable. MISCONF means that
// nothing was changed.
func Unkept(err error) string {
	return "UNKEPT the change was made but may not be durable: " + line(err)
}

// line returns the text of an error on one line.
func line(err error) string { return oneLine.Replace(err.Error()) }

var oneLine = strings.NewReplacer("\r", " ", "\n", " ")
