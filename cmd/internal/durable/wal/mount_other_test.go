//go:build !linux

package wal_test

import "testing"

func smallDisk(t *testing.T, _ int) string { t.Skip("no small disk"); return "" }

func protect(t *testing.T, _ string) { t.Skip("no read-only directory") }
