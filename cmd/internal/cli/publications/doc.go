// Package publications contains the verbs for publications: keygen, publish, replica, fetch, unite and peers. Begin with publish.go and
// fetch.go; replica.go serves queries.
package publications
