package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/service"
)

// CheckListen returns an error if the flag of an address to listen at is neither empty nor HOST:PORT.
func CheckListen(cmd *cobra.Command, flag string) error {
	value := cmd.Flag(flag).Value.String()
	if value == "" {
		return nil
	}
	if err := service.CheckAddress(value); err != nil {
		return UsageError(cmd, fmt.Errorf("--%s %w", flag, err))
	}
	return nil
}

// logFormat is the format of a log.
type logFormat string

// Set accepts text, json and auto.
func (f *logFormat) Set(s string) error {
	switch s {
	case "auto", "text", "json":
		*f = logFormat(s)
		return nil
	}
	return errors.New("want text, json or auto")
}

func (f *logFormat) String() string { return string(*f) }

// Type names the formats for completion.
func (f *logFormat) Type() string { return "auto|text|json" }

// AddLogFormatFlag adds --log-format to a verb that has a log.
func AddLogFormatFlag(cmd *cobra.Command) *string {
	format := logFormat("auto")
	cmd.Flags().Var(&format, "log-format", "log format; auto = text on a terminal, otherwise JSON")
	return (*string)(&format)
}

// AddFollowLogFlag adds --log-format to a verb that prints sentences without it: see [Follow].
func AddFollowLogFlag(cmd *cobra.Command) {
	AddLogFormatFlag(cmd)
	f := cmd.Flags().Lookup("log-format")
	f.DefValue, f.Usage = "", "log format, for a log instead of sentences; auto = text on a terminal, otherwise JSON"
}
