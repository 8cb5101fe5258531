package main

import (
	"fmt"
	"strings"

	"github.com/umbel-filters/umbel/share"
)

// arrival is what decides about a head in order.txt.
type arrival struct {
	stream  share.Stream
	version uint64
	time    int64 // milliseconds after began
	valid   int64 // seconds
	state   string
}

func (a *arrival) String() string {
	if a == nil {
		return "- - - - -"
	}
	return fmt.Sprintf("%s %d %d %d %s", a.stream, a.version, began.UnixMilli()+a.time, a.valid, a.state)
}

// order returns the vector with heads that follow others.
func order() file {
	f := file{Path: "order.txt", Header: []field{
		{"comment", "the last head that was accepted or dashes, another head, the subscriber's clock, and whether it accepts " +
			"the head; a clock may be a minute behind"},
		{"row", "stream version time valid state stream version time valid state now outcome"},
	}}
	const minute = 60_000
	later, nonce, earlier := stream, stream, stream
	later.Began++
	nonce.Nonce++
	earlier.Began--
	last := &arrival{stream, 5, 10 * minute, 300, "a"}
	var b strings.Builder
	row := func(last, head *arrival, now int64, outcome string) {
		fmt.Fprintln(&b, last, head, began.UnixMilli()+now, outcome)
	}
	// The first head.
	row(nil, last, 10*minute, "exact")
	row(nil, last, 9*minute, "exact")
	row(nil, last, 9*minute-1, "future")
	row(nil, last, 14*minute, "exact")
	row(nil, last, 15*minute, "stale")
	row(nil, last, 1000*minute, "stale")
	row(nil, &arrival{stream, 5, 10 * minute, 0, "a"}, 10*minute, "stale")
	// Heads of the same stream.
	now := int64(11 * minute)
	row(last, last, now, "exact")
	row(last, last, 15*minute, "stale")
	row(last, &arrival{stream, 6, 10*minute + 1, 300, "b"}, now, "exact")
	row(last, &arrival{stream, 99, 11 * minute, 300, "a"}, now, "exact")
	row(last, &arrival{stream, 5, 11 * minute, 300, "a"}, now, "exact")
	row(last, &arrival{stream, 5, 11 * minute, 300, "b"}, now, "exact")
	row(last, &arrival{stream, 4, 11 * minute, 300, "b"}, now, "exact")
	row(last, &arrival{stream, 6, 12*minute + 1, 300, "b"}, now, "future")
	row(last, &arrival{stream, 6, 10*minute - 1, 300, "b"}, now, "replayed")
	row(last, &arrival{stream, 4, 9 * minute, 300, "b"}, now, "replayed")
	row(last, &arrival{stream, 5, 10*minute - 1, 300, "a"}, now, "replayed")
	row(last, &arrival{stream, 6, 10 * minute, 300, "a"}, now, "fork")
	row(last, &arrival{stream, 5, 10 * minute, 300, "b"}, now, "fork")
	// Heads of other streams.
	row(last, &arrival{later, 1, 11 * minute, 300, "b"}, now, "exact")
	row(last, &arrival{later, 5, 10*minute + 1, 300, "b"}, now, "exact")
	row(last, &arrival{nonce, 1, 11 * minute, 300, "b"}, now, "exact")
	row(last, &arrival{later, 1, 10*minute - 1, 300, "b"}, now, "replayed")
	row(last, &arrival{later, 1, 10 * minute, 300, "b"}, now, "fork")
	row(last, &arrival{earlier, 6, 10*minute - 1, 300, "b"}, now, "replayed")
	row(&arrival{nonce, 5, 10 * minute, 300, "a"}, &arrival{stream, 6, 10 * minute, 300, "b"}, now, "fork")
	row(last, &arrival{earlier, 6, 10*minute + 1, 300, "b"}, now, "fork")
	row(last, &arrival{earlier, 6, 14 * minute, 300, "b"}, 15*minute-1, "fork")
	row(last, &arrival{earlier, 6, 14 * minute, 300, "b"}, 15*minute, "exact")
	row(last, &arrival{earlier, 6, 10*minute - 1, 900, "b"}, 15*minute, "replayed")
	row(&arrival{nonce, 5, 10 * minute, 300, "a"}, &arrival{stream, 6, 11 * minute, 300, "b"}, now, "fork")
	f.Body = b.String()
	return f
}
