package httpcache

import (
	"io"
	"net/http"
)

// body is the complete body of a stored response. It is safe for concurrent use.
type body interface {
	size() int64
	// open returns the contents for one answer. The error is errGone if the body has been removed, and
	// wraps errDamaged, once, if it is damaged; open then removes it.
	open() (content, error)
	// remove frees the memory or the disk. Contents that are open stay readable.
	remove()
}

// content is a body that is being sent to one client.
type content interface {
	// send writes a part of the body.
	send(w http.ResponseWriter, s span) error
	close()
}

// keeper receives the body of a response that may be stored. One goroutine writes it, others read at the same time.
type keeper interface {
	io.Writer
	io.ReaderAt // of bytes that have been written
	// commit returns the body, which is stored from now on.
	commit(s *stored) (body, error)
	// discard gives the body up. What has been written stays readable until close.
	discard()
	// close ends reading.
	close()
}

// bodies makes keepers.
type bodies interface {
	// keep returns a keeper for a body of n bytes, or of an unknown size if n is negative.
	keep(n int64) (keeper, error)
	// limit is the size of the largest body that is stored.
	limit() int64
	// unit is a number of bytes: a stored body occupies a multiple of it.
	unit() int64
	// update stores the fields of a response that was validated. The body is the one of the response before.
	update(s *stored) error
}
