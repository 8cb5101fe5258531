package hoptest

// fault makes a message malformed. The framing of the message is that of the fault.
type fault struct {
	name    string
	target  string // of requests: target and version of the first line, N for the number; of answers: the first line
	fields  string // lines at the end of the head
	body    string // instead of the body
	framing framing
	mended  []field // what arrives instead of the fields, nil if the message must be refused
	ends    bool    // the connection ends after the message, which states it: otherwise the next request could meet its rest
}

// requestFaults are requests that a proxy must refuse, or mend (RFC 9112, sections 2.2 to 7).
var requestFaults = []fault{
	{name: "space before the colon", fields: "X-Bad : 1\r\n"},
	{name: "no colon", fields: "nonsense\r\n"},
	{name: "no name", fields: ": x\r\n"},
	{name: "NUL", fields: "X-Bad: a\x00b\r\n"},
	{name: "bare CR", fields: "X-Bad: a\rb\r\n"},
	{name: "obs-text in a name", fields: "X-B\xe4d: a\r\n"},
	{name: "two hosts", fields: "Host: other.example\r\n"},
	{name: "two lengths", fields: "Content-Length: 1\r\nContent-Length: 2\r\n", body: "ab"},
	{name: "negative length", fields: "Content-Length: -1\r\n"},
	{name: "signed length", fields: "Content-Length: +1\r\n", body: "a"},
	{name: "unknown coding", fields: "Transfer-Encoding: gzip\r\n", body: "a"},
	{name: "bad escape", target: "/N/%zz HTTP/1.1"},
	{name: "control character in the target", target: "/N/a\x01b HTTP/1.1"},
	{name: "space in the target", target: "/N/a b HTTP/1.1"},
	{name: "star with another method", target: "* HTTP/1.1"},
	{name: "version", target: "/N/ HTTP/1.x"},
	{name: "chunk size", fields: "Transfer-Encoding: chunked\r\n", body: "zz\r\n\r\n"},
	{name: "negative chunk size", fields: "Transfer-Encoding: chunked\r\n", body: "-1\r\n\r\n"},
	{name: "long chunk", fields: "Transfer-Encoding: chunked\r\n", body: "2\r\nabcd\r\n0\r\n\r\n"},
	{name: "trailer", fields: "Transfer-Encoding: chunked\r\n", body: "2\r\nab\r\n0\r\nnonsense\r\n\r\n"},
	{name: "name of a trailer", fields: "Transfer-Encoding: chunked\r\n", body: "2\r\nab\r\n0\r\nX Y: z\r\n\r\n"},
	{name: "half a chunk", fields: "Transfer-Encoding: chunked\r\n", body: "20\r\nab"},
	{name: "half a body", fields: "Content-Length: 100\r\n", body: "ab"},
	{name: "HTTP/1.0 with chunks", target: "/N/ HTTP/1.0", fields: "Connection: keep-alive\r\nTransfer-Encoding: chunked\r\n", body: "2\r\nab\r\n0\r\n\r\n"},
	{name: "fold", fields: "X-Fold: a\r\n \t b\r\n", mended: []field{{"X-Fold", "a b"}}},
}

// answerFaults are answers that a proxy must refuse, or mend.
var answerFaults = []fault{
	{name: "space before the colon", fields: "Cache-Control : private\r\nX-Bad  : 1\r\n", framing: length,
		mended: []field{{"Cache-Control", "private"}, {"X-Bad", "1"}}},
	{name: "fold", fields: "X-Fold: a\r\n \t b\r\n", framing: length, mended: []field{{"X-Fold", "a b"}}},
	{name: "equal lengths", fields: "Content-Length: 2\r\nContent-Length: 2\r\n", body: "ab", mended: []field{}},
	{name: "length and chunks", fields: "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", body: "2\r\nab\r\n0\r\n\r\n", mended: []field{}},
	{name: "bytes after the answer", fields: "Content-Length: 2\r\n", body: "abEXTRA\r\n", mended: []field{}, ends: true},
	{name: "space in a name", fields: "Cache Control: private\r\n", framing: length, ends: true},
	{name: "tab before the colon", fields: "Vary\t: *\r\n", framing: length, ends: true},
	{name: "no name", fields: ": private\r\n", framing: length, ends: true},
	{name: "no colon", fields: "private\r\n", framing: length, ends: true},
	{name: "NUL", fields: "X-Bad: a\x00\r\n", framing: length, ends: true},
	{name: "bare CR", fields: "X-Bad: a\rSet-Cookie: b\r\n", framing: length, ends: true},
	{name: "obs-text in a name", fields: "X-B\xe4d: a\r\n", framing: length, ends: true},
	{name: "two lengths", fields: "Content-Length: 1\r\nContent-Length: 2\r\n", body: "ab", ends: true},
	{name: "signed length", fields: "Content-Length: +2\r\n", body: "ab", ends: true},
	{name: "space after the length", fields: "Content-Length : 2\r\n", body: "ab", ends: true},
	{name: "space after framing", fields: "Transfer-Encoding : chunked\r\n", body: "2\r\nab\r\n0\r\n\r\n", ends: true},
	{name: "unknown coding", fields: "Transfer-Encoding: x\r\n", body: "ab", ends: true},
	{name: "HTTP/1.0 with chunks", target: "HTTP/1.0 200 OK", fields: "Transfer-Encoding: chunked\r\n", body: "2\r\nab\r\n0\r\n\r\n", ends: true},
	{name: "low status", target: "HTTP/1.1 099 X", framing: length, ends: true},
	{name: "short status", target: "HTTP/1.1 20 X", framing: length, ends: true},
	{name: "status is no number", target: "HTTP/1.1 2x0 X", framing: length, ends: true},
	{name: "protocol that nobody requested", target: "HTTP/1.1 101 S", fields: "Connection: upgrade\r\nUpgrade: x\r\n", ends: true},
	{name: "no HTTP", target: "SSH-2.0-x", ends: true},
	{name: "chunk size", fields: "Transfer-Encoding: chunked\r\n", body: "zz\r\n\r\n", ends: true},
	{name: "half a chunk", fields: "Transfer-Encoding: chunked\r\n", body: "20\r\nab", ends: true},
	{name: "half a body", fields: "Content-Length: 100\r\n", body: "ab", ends: true},
	{name: "trailer", fields: "Transfer-Encoding: chunked\r\n", body: "2\r\nab\r\n0\r\nnonsense\r\n\r\n", ends: true},
	{name: "name of a trailer", fields: "Transfer-Encoding: chunked\r\n", body: "2\r\nab\r\n0\r\nX Y: z\r\n\r\n", ends: true},
}
