package hoptest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// fault is what is wrong with a message.
type fault uint8

const (
	none    fault = iota
	inHead        // the head is malformed
	inBody        // the body is
	cutBody       // the body ends early
)

// sent is a message as it is sent, and what has to arrive.
type sent struct {
	raw    string
	want   Message
	method string
	fault  fault
	early  bool // the origin answers before it has read the body
	closes bool // the sender closes its side after it
}

// generator makes random messages.
type generator struct{ *rand.Rand }

func (g generator) one(n int) bool           { return g.IntN(n) == 0 }
func (g generator) of(list ...string) string { return list[g.IntN(len(list))] }
func (g generator) text(set string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = set[g.IntN(len(set))]
	}
	return string(b)
}

// values are the bytes inside of a value.
const values = " \t!\"#$%&'()*+,-./0123456789:;<=>?@ABCXYZ[\\]^_`abcxyz{|}~\x80\xa0\xff\xc3\xa4"

// value returns a random value of a field.
func (g generator) value() string { return strings.Trim(g.text(values, g.IntN(20)), " \t") }

// lines are fields as they are sent, and as they arrive.
type lines struct {
	raw    strings.Builder
	want   []Field
	mended []Field // with spaces before the colon; they arrive after the others of their name
}

// add adds a field with spaces around its value, in a random case.
func (l *lines) add(g generator, name, value string) {
	l.want = append(l.want, Field{name, value})
	if g.one(3) {
		name = strings.ToLower(name)
	}
	fmt.Fprintf(&l.raw, "%s:%s%s%s\r\n", name, g.of("", " ", " ", " \t"), value, g.of("", "", " ", "\t "))
}

// fold adds a field in two lines.
func (l *lines) fold(g generator, name string) {
	a, b := "a"+strings.Trim(g.value()+"a", " \t"), strings.Trim("b"+g.value(), " \t")
	l.want = append(l.want, Field{name, a + " " + b})
	fmt.Fprintf(&l.raw, "%s: %s\r\n%s%s\r\n", name, a, g.of(" ", "\t", "   "), b)
}

var requestNames = []string{
	"Accept", "Accept-Language", "Accept-Encoding", "Cookie", "Cookie", "Authorization", "Range", "If-Range", "If-None-Match", "If-Modified-Since", "If-Match", "Referer",
	"User-Agent", "User-Agent", "Origin", "Cache-Control", "Pragma", "Via", "Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Real-Ip", "Content-Type", "Content-Encoding",
	"X-A", "X-A", "X-B", "!#$%&'*+-.^_`|~", "0", "Priority", "Dnt", "X-Hop", "Keep-Alive", "Proxy-Connection", "Te", "Warning", "Date", "From", "Max-Forwards",
}

var answerNames = []string{
	"Cache-Control", "Vary", "Set-Cookie", "Set-Cookie", "Etag", "Last-Modified", "Expires", "Content-Type", "Content-Encoding", "Content-Language", "Location", "Server",
	"X-A", "X-A", "X-B", "!#$%&'*+-.^_`|~", "0", "Link", "Strict-Transport-Security", "Warning", "Date", "X-Hop", "Keep-Alive", "Via", "Accept-Ranges", "Content-Range", "Www-Authenticate",
	"Allow", "Retry-After", "Alt-Svc", "Content-Security-Policy",
}

// fields adds random fields with these names.
func (g generator) fields(l *lines, names []string) {
	for range g.IntN(9) {
		name := g.of(names...)
		switch {
		case name == "Max-Forwards":
			l.add(g, name, fmt.Sprint("x", g.IntN(10))) // no number, which stays
		case g.one(20):
			l.fold(g, name)
		default:
			l.add(g, name, g.value())
		}
	}
	if g.one(6) {
		l.add(g, "Connection", g.of("keep-alive", "X-Hop", "x-hop, keep-alive", "keep-alive,, X-Hop"))
	}
}

// body is a random body.
func (g generator) body() string {
	n := g.IntN(40)
	if g.one(12) {
		n = g.IntN(100_000)
	}
	return g.text("abc\r\n\x00\xff<>", n)
}

// chunks returns a body in chunks with trailers, and adds them to m. If it is faulty, it does not end.
func (g generator) chunks(m *Message, how fault) string {
	var b strings.Builder
	rest := m.Body
	for rest != "" {
		n := min(1+g.IntN(len(rest)), len(rest))
		fmt.Fprintf(&b, g.of("%x%s\r\n%s\r\n", "%X%s\r\n%s\r\n", "0%x%s\r\n%s\r\n"), n, g.of("", "", "", ";a", ";a=b", ";a=\"b\""), rest[:n])
		rest = rest[n:]
	}
	switch how {
	case inBody:
		return b.String() + g.of("zz\r\n", "-1\r\n", "\r\n", "1\r\nabc\r\n", "g;a\r\n", "ffffffffffffffffff\r\n")
	case cutBody:
		return b.String() + g.of("", "10\r\nabc", "0\r\n", "5\r\nhello")
	}
	var l lines
	for range g.IntN(4) * g.IntN(2) {
		l.add(g, g.of("X-T", "X-T", "X-U", "Etag", "Content-Md5"), g.value())
	}
	m.Trailers = l.want
	return b.String() + "0\r\n" + l.raw.String() + "\r\n"
}

var targets = []string{
	"/", "/", "a", "b", ".", "..", "%2F", "%2f", "%41", "%7e", "%00", "%C3%A4", "\xc3\xa4", "\xff", "\"", "<", ">", "\\", "^", "`", "{", "|", "}", "[", "]", "#", "*", "!", "'", ";", ":", "@",
	"&", "=", "+", "$", ",", "~", "?", "??", "a=b;c=d", "?%zz", "?%",
}

// target returns a random target that every proxy can send, and what arrives.
func (g generator) target(method string) (raw, want string) {
	want = "/" + g.of("a", "b", "c")
	for range g.IntN(6) {
		want += g.of(targets...)
	}
	path, _, _ := strings.Cut(want, "?")
	for i := strings.Index(path, "%"); i >= 0 && i < len(path); i++ {
		if path[i] == '%' && (i+2 >= len(path) || strings.Trim(path[i+1:i+3], "0123456789abcdefABCDEF") != "") {
			return g.target(method) // servers refuse it
		}
	}
	switch {
	case method == "OPTIONS" && g.one(4):
		return g.of("*", "http://www.example.org"), "*"
	case g.one(10):
		return "http://www.example.org" + want, want
	}
	return want, want
}

// request returns a random request. id is the value of the field by which the origin finds its answer.
func (g generator) request(id string) sent {
	s := sent{method: g.of("GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "M-SEARCH", "get")}
	target, arrives := g.target(s.method)
	var l lines
	if s.fault = none; g.one(12) {
		s.fault = fault(1 + g.IntN(3))
	}
	l.add(g, "Host", "www.example.org")
	l.add(g, idName, id)
	g.fields(&l, requestNames)
	s.want.Body, s.want.Whole = g.body(), true
	line, end := s.method+" "+target+" HTTP/1.1", ""
	framing := g.IntN(3)
	if (s.method == "GET" || s.method == "HEAD" || s.method == "OPTIONS" || s.method == "get") && !g.one(10) {
		framing = 0
	}
	if s.fault > inHead {
		framing = 1 + g.IntN(2)
	}
	if s.fault == inBody {
		framing = 2
	}
	switch framing {
	case 0:
		s.want.Body = ""
		if g.one(10) {
			l.raw.WriteString("Content-Length: 0\r\n")
		}
	case 1:
		if s.fault == cutBody {
			s.want.Body += "cut"
		}
		fmt.Fprintf(&l.raw, "Content-Length: %d\r\n", len(s.want.Body))
		end = s.want.Body
		if s.fault == cutBody {
			end = end[:g.IntN(len(end))]
		}
	case 2:
		l.raw.WriteString("Transfer-Encoding: chunked\r\n")
		end = g.chunks(&s.want, s.fault)
		if len(s.want.Trailers) > 0 && g.one(2) {
			l.raw.WriteString("Trailer: X-T, X-U\r\n")
		}
	}
	if s.fault == inHead {
		line = g.malformedHead(line, target, &l)
		end = ""
	}
	s.closes = s.fault != none
	s.want.Line, s.want.Fields = s.method+" "+arrives, l.want
	s.raw = line + "\r\n" + l.raw.String() + "\r\n" + end
	s.early = framing > 0 && s.fault == none && g.one(20)
	return s
}

// malformedHead makes a head one that a server must refuse, and returns its line.
func (g generator) malformedHead(line, target string, l *lines) string {
	switch g.IntN(9) {
	case 0:
		return strings.Replace(line, target, "/a b", 1)
	case 1:
		return strings.Replace(line, target, "/%zz", 1)
	case 2:
		return strings.Replace(line, target, "/a\x01", 1)
	case 3:
		return strings.Replace(line, "HTTP/1.1", g.of("HTTP/1.x", "HTTQ/1.1", "HTTP/11"), 1)
	case 4:
		l.raw.WriteString("Host: b\r\n")
	case 5:
		l.raw.WriteString("Content-Length: 1\r\nContent-Length: 2\r\n")
	case 6:
		l.raw.WriteString("Transfer-Encoding: " + g.of("gzip, chunked", "xchunked", "chunked, identity") + "\r\n")
	default:
		l.raw.WriteString(g.of("X-Y : a\r\n", "X Y: a\r\n", "nonsense\r\n", ": a\r\n", "X-Y: a\x00b\r\n", "X-Y: a\rb\r\n", "X\x7f: a\r\n", "X-Y: a\x01\r\n"))
	}
	return line
}

// answer returns a random answer to a request.
func (g generator) answer(method string) sent {
	s := sent{method: method}
	status := 200
	if g.one(2) {
		status = []int{201, 202, 203, 204, 206, 226, 299, 300, 301, 303, 304, 307, 400, 401, 403, 404, 405, 410, 412, 416, 418, 421, 429, 451, 500, 502, 503, 504, 599, 600, 999}[g.IntN(31)]
	}
	if g.one(12) {
		s.fault = fault(1 + g.IntN(3))
	}
	var early strings.Builder
	for range g.IntN(3) * g.IntN(2) {
		var l lines
		g.fields(&l, []string{"Link", "X-A", "Priority"})
		interim := []int{102, 103, 110, 199}[g.IntN(4)]
		fmt.Fprintf(&early, "HTTP/1.1 %d X\r\n%s\r\n", interim, l.raw.String())
		s.want.Interim = append(s.want.Interim, Message{Line: fmt.Sprintf("HTTP/1.1 %d X", interim), Fields: l.want})
	}
	var l lines
	g.fields(&l, answerNames)
	spaces := g.of(" ", "  ")
	for range g.IntN(3) * g.IntN(2) {
		name, value := g.of("Cache-Control", "Vary", "Set-Cookie", "X-S"), g.value()
		fmt.Fprintf(&l.raw, "%s%s: %s\r\n", name, spaces, value)
		l.mended = append(l.mended, Field{name, value})
	}
	s.want.Body = g.body()
	empty := method == "HEAD" || status == 204 || status == 304
	if empty && s.fault != inHead {
		s.fault = none
	}
	end := ""
	framing := g.IntN(5)
	if s.fault == inBody || s.fault == cutBody && framing > 1 {
		framing = 2
	}
	switch {
	case empty:
		s.want.Body = ""
		if status != 204 && g.one(2) {
			l.add(g, "Content-Length", fmt.Sprint(g.IntN(1000)))
		}
	case framing == 0 && s.fault != cutBody:
		l.add(g, "Connection", "close")
		end, s.closes = s.want.Body, true
	case framing == 2:
		l.raw.WriteString("Transfer-Encoding: chunked\r\n")
		end = g.chunks(&s.want, s.fault)
		if len(s.want.Trailers) > 0 && g.one(2) {
			l.raw.WriteString("Trailer: X-T, X-U\r\n")
		}
	default:
		if s.fault == cutBody {
			s.want.Body += "cut"
		}
		fmt.Fprintf(&l.raw, "Content-Length: %d\r\n", len(s.want.Body))
		end = s.want.Body
		if s.fault == cutBody {
			end = end[:g.IntN(len(end))]
		}
	}
	line := fmt.Sprintf("HTTP/1.1 %d %s", status, g.of("OK", "", "Any \xfc text"))
	if s.fault == inHead {
		switch g.IntN(3) {
		case 0:
			line = g.of("HTTP/1.1 42 X", "HTTP/1.1 042 X", "HTTP/1.1 abc", "nonsense", "HTTP/1.1 1000 X")
		default:
			l.raw.WriteString(g.of(
				"X Y: a\r\n", "nonsense\r\n", ": a\r\n", "X-Y: a\x00b\r\n", "X-Y: a\rb\r\n", "X\x7f: a\r\n", "Set-Cookie\t: a\r\n", "Content-Length: -1\r\n", "Content-Length : 3\r\n",
				"Transfer-Encoding: gzip\r\n", "Transfer-Encoding : chunked\r\n", "Content-Length: 100000\r\nContent-Length: 1\r\n"))
		}
	}
	s.want.Line, s.want.Fields, s.want.Whole = line, append(l.want, l.mended...), true
	s.closes = s.closes || s.fault > inHead // otherwise the proxy might use a connection that closes at the same time
	s.raw = early.String() + line + "\r\n" + l.raw.String() + "\r\n" + end
	return s
}
