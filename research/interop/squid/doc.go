// Package squid tests cache digests with unmodified Squids: one that publishes its digest, others that read it, and
// umbel between them. It contains only tests. A test is skipped if squid is not on PATH.
package squid
