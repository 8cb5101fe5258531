//go:build !linux

package oplog_test

import "testing"

func smallDisk(t *testing.T, _ int) string { t.Skip("no small disk to fill"); return "" }

func protect(t *testing.T, _ string) { t.Skip("no directory to protect") }
