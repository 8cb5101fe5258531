package cli

import (
	"log"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/report/eventlog"
	"github.com/umbel-filters/umbel/cmd/internal/report/loglimit"
)

// logHTTPFaults makes what package net/http reports about connections a warning of the command, with --json an object. A verb with a log
// has it there (eventlog.New).
func logHTTPFaults(root *cobra.Command) {
	root.LocalFlags() // adds --json to root.Flags
	log.SetFlags(0)
	log.SetOutput(httpFaults{root, loglimit.Clients()})
}

type httpFaults struct {
	cmd   *cobra.Command
	limit *loglimit.Limit
}

// Write prints one line.
func (f httpFaults) Write(line []byte) (int, error) {
	if omitted, ok := f.limit.Allow(0); ok {
		Warn(f.cmd, "fault of an HTTP connection: %s%s", eventlog.FaultText(line), omittedNote(omitted))
	}
	return len(line), nil
}
