// Package hoptest tests the law of proxies: what passes through one passes unchanged. Run exchanges random messages, of which some are malformed,
// with an origin behind a proxy. The messages are read by a parser of its own that accepts nothing malformed. The exceptions are in Exceptions
// and, for all proxies, in this list:
//
//   - fields of one connection are not compared, and those that Connection lists do not arrive (RFC 9110, section 7.6.1); the transport
//     of net/http hides a list that contains close, so that fields listed with it may arrive
//   - a chunk with a space before the extension is refused, since net/http does
//   - spaces around a value and the case of a name have no meaning; a fold is a space (RFC 9112, section 5.2)
//   - the framing of a body may change, so that Content-Length is compared of an answer without a body only
//   - a trailer section lacks what it must not have (RFC 9110, section 6.5.1)
//   - Date is added to an answer without it (RFC 9110, section 6.6.1)
//   - the text after a status may change (RFC 9112, section 4)
//   - a malformed request gets 400 or the end of its connection, and never arrives as a whole
//   - a malformed answer becomes 502 or, after its head, one that is not whole; spaces before a colon are mended
//     (RFC 9112, section 5.1), with the field after the others of its name
package hoptest
