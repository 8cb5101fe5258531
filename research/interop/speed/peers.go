//go:build !noclients

package main

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"

	"github.com/panjf2000/gnet/v2"
	"github.com/tidwall/redcon"
	"github.com/umbel-filters/umbel/filter/foreign/redisbloom"
)

// servePeer runs a server that implements PING and BF.* with the filter of a node and with
// another server library.
func servePeer(library, addr string) error {
	p := &peer{filters: map[string]*redisbloom.Filter{}}
	switch library {
	case "redcon":
		return redcon.ListenAndServe(addr, func(conn redcon.Conn, cmd redcon.Command) {
			conn.WriteRaw(p.do(nil, cmd.Args))
		}, func(redcon.Conn) bool { return true }, nil)
	case "gnet":
		return gnet.Run(&events{peer: p}, "tcp://"+addr, gnet.WithMulticore(true))
	}
	return fmt.Errorf("unknown library %q, want redcon or gnet", library)
}

// peer contains filters behind one lock.
type peer struct {
	mu      sync.Mutex
	filters map[string]*redisbloom.Filter
}

// do appends the reply to a command to dst.
func (p *peer) do(dst []byte, args [][]byte) []byte {
	switch string(bytes.ToUpper(args[0])) {
	case "PING":
		return append(dst, "+PONG\r\n"...)
	case "CONFIG":
		return append(dst, "*0\r\n"...)
	case "BF.RESERVE":
		return p.reserve(dst, args)
	case "BF.ADD", "BF.EXISTS", "BF.MADD":
		return p.items(dst, args)
	}
	return append(dst, "-ERR unknown command\r\n"...)
}

func (p *peer) reserve(dst []byte, args [][]byte) []byte {
	if len(args) != 4 {
		return append(dst, "-ERR arguments\r\n"...)
	}
	rate, err1 := strconv.ParseFloat(string(args[2]), 64)
	capacity, err2 := strconv.ParseUint(string(args[3]), 10, 64)
	f, err := redisbloom.Reserve(redisbloom.Options{ErrorRate: rate, Capacity: capacity})
	if err1 != nil || err2 != nil || err != nil {
		return append(dst, "-ERR arguments\r\n"...)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.filters[string(args[1])] = f
	return append(dst, "+OK\r\n"...)
}

func (p *peer) items(dst []byte, args [][]byte) []byte {
	if len(args) < 3 {
		return append(dst, "-ERR arguments\r\n"...)
	}
	multiple, query := len(args[0]) == len("BF.MADD"), len(args[0]) == len("BF.EXISTS")
	if multiple {
		dst = fmt.Appendf(dst, "*%d\r\n", len(args)-2)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.filters[string(args[1])]
	for _, key := range args[2:] {
		var result bool
		if query {
			result = f != nil && f.HasBytes(key)
		} else {
			result = f != nil && f.AddBytes(key)
		}
		if result {
			dst = append(dst, ":1\r\n"...)
		} else {
			dst = append(dst, ":0\r\n"...)
		}
	}
	return dst
}

// events serves the peer with gnet, which has no protocol, and with the parser of redcon.
type events struct {
	gnet.BuiltinEventEngine
	peer *peer
}

func (e *events) OnTraffic(c gnet.Conn) gnet.Action {
	in, err := c.Peek(-1)
	if err != nil {
		return gnet.Close
	}
	var out []byte
	var args [][]byte
	rest := in
	for {
		complete, words, _, left, err := redcon.ReadNextCommand(rest, args[:0])
		if err != nil {
			return gnet.Close
		}
		if !complete {
			break
		}
		if len(words) > 0 {
			out = e.peer.do(out, words)
		}
		args, rest = words, left
	}
	// The rest is an incomplete command. It is parsed again when more bytes have arrived.
	c.Discard(len(in) - len(rest))
	c.Write(out)
	return gnet.None
}
