// Package publications has the verbs for publications: keygen.go, publish.go, subscribe.go (answer queries from
// published filters), subscribecopy.go (copy one to a file) and peers.go (what a replica follows).
package publications
