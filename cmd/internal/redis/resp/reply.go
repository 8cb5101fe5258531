package resp

import (
	"math"
	"strconv"
	"strings"
)

// Simple replies +s; s must not contain line ends.
func (c *Conn) Simple(s string) {
	c.out = append(c.out, '+')
	c.out = append(c.out, s...)
	c.end()
}

// Error replies -s; s begins with a prefix such as ERR.
func (c *Conn) Error(s string) {
	if strings.ContainsAny(s, "\r\n") {
		s = strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
	}
	c.s.traffic[c.lane].errors.Add(1)
	c.s.errors.add(s)
	c.out = append(c.out, '-')
	c.out = append(c.out, s...)
	c.end()
}

// Int replies :n.
func (c *Conn) Int(n int64) { c.number(':', n) }

// Bool replies #t or #f, in RESP2 :1 or :0.
func (c *Conn) Bool(b bool) {
	switch {
	case c.version >= 3 && b:
		c.out = append(c.out, "#t\r\n"...)
	case c.version >= 3:
		c.out = append(c.out, "#f\r\n"...)
	case b:
		c.out = append(c.out, ":1\r\n"...)
	default:
		c.out = append(c.out, ":0\r\n"...)
	}
}

// Bulk replies a string of any bytes.
func (c *Conn) Bulk(b []byte) {
	c.number('$', int64(len(b)))
	c.out = append(c.out, b...)
	c.end()
}

// BulkString replies a string of any bytes.
func (c *Conn) BulkString(s string) {
	c.number('$', int64(len(s)))
	c.out = append(c.out, s...)
	c.end()
}

// Verbatim replies a text, in RESP2 a string.
func (c *Conn) Verbatim(s string) {
	if c.version < 3 {
		c.BulkString(s)
		return
	}
	c.number('=', int64(len(s)+4))
	c.out = append(c.out, "txt:"...)
	c.out = append(c.out, s...)
	c.end()
}

// Double replies a number, in RESP2 a string of its digits.
func (c *Conn) Double(f float64) {
	var digits [32]byte
	var text []byte
	switch {
	case math.IsInf(f, 1):
		text = append(digits[:0], "inf"...)
	case math.IsInf(f, -1):
		text = append(digits[:0], "-inf"...)
	case math.IsNaN(f):
		text = append(digits[:0], "nan"...)
	default:
		text = strconv.AppendFloat(digits[:0], f, 'g', -1, 64)
	}
	if c.version < 3 {
		c.Bulk(text)
		return
	}
	c.out = append(c.out, ',')
	c.out = append(c.out, text...)
	c.end()
}

// Null replies _, in RESP2 $-1.
func (c *Conn) Null() { c.null("$-1\r\n") }

// nullArray replies _, in RESP2 *-1.
func (c *Conn) nullArray() { c.null("*-1\r\n") }

func (c *Conn) null(before3 string) {
	if c.version >= 3 {
		before3 = "_\r\n"
	}
	c.out = append(c.out, before3...)
}

// Array begins an array; its n elements follow.
func (c *Conn) Array(n int) { c.number('*', int64(n)) }

// Map begins a map; its n keys, each followed by its value, follow. In RESP2 it is an array.
func (c *Conn) Map(n int) {
	if c.version < 3 {
		c.Array(2 * n)
		return
	}
	c.number('%', int64(n))
}

// Set begins a set; its n elements follow. In RESP2 it is an array.
func (c *Conn) Set(n int) {
	if c.version < 3 {
		c.Array(n)
		return
	}
	c.number('~', int64(n))
}

func (c *Conn) number(mark byte, n int64) {
	if 0 <= n && n <= 9 {
		c.out = append(c.out, mark, byte('0'+n), '\r', '\n')
		return
	}
	c.out = append(c.out, mark)
	c.out = strconv.AppendInt(c.out, n, 10)
	c.end()
}

func (c *Conn) end() { c.out = append(c.out, '\r', '\n') }
