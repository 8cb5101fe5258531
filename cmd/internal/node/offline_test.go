package node

import (
	"bytes"
	"log/slog"
	"testing"
)

// A backup of a data directory that no node uses changes nothing in it, and logs no warning because of
// that.
func TestBackupOfADirectory(t *testing.T) {
	c := testConfig(t)
	n := started(t, c)
	client := dial(t, n, nil)
	client.Want("BF.ADD k a", ":1")
	for _, item := range []string{"b", "c", "d"} { // the directory contains two snapshots and a log
		if err := n.store.Snapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		client.Want("BF.ADD k "+item, ":1")
	}
	stopped(t, n)
	var backup, log bytes.Buffer
	if err := Backup(t.Context(), c, slog.New(slog.NewTextHandler(&log, nil)), &backup); err != nil {
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log.String())
	}
	if found, err := VerifyFile(t.Context(), &backup); err != nil || found.Filters != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}
