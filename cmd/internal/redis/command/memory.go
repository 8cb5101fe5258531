package command

import (
	"github.com/umbel-filters/umbel"
	"github.com/umbel-filters/umbel/cmd/internal/engine"
	"github.com/umbel-filters/umbel/cmd/internal/http/outgoing"
	"github.com/umbel-filters/umbel/cmd/internal/redis/resp"
	"github.com/umbel-filters/umbel/internal/sentinel"
)

// Fits returns an error wrapping umbel.ErrLimit unless n bytes can be replied to the client.
func Fits(c *resp.Conn, n uint64) error {
	if most := c.MaxReply(); n > uint64(most) {
		return sentinel.Errorf(umbel.ErrLimit, "the container has %d bytes and a reply at most %d; get it over HTTP", n, most)
	}
	return nil
}

// Export replies a container of a filter.
func Export(c *resp.Conn, e *engine.Engine, f *engine.Filter, form outgoing.Form) {
	b, err := outgoing.Bytes(e, f, form, func(n uint64) error { return Fits(c, n) })
	if err != nil {
		Fail(c, err)
		return
	}
	c.Bulk(b)
}
