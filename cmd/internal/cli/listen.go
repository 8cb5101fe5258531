package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/service"
)

// CheckListen returns an error if the value of a flag, an address to listen at, is neither empty nor HOST:PORT.
func CheckListen(flag, value string) error {
	if value == "" {
		return nil
	}
	if err := service.CheckAddress(value); err != nil {
		return UsageError(fmt.Errorf("--%s %w", flag, err))
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
func AddLogFormatFlag(cmd *cobra.Command, format *string) {
	*format = "auto"
	cmd.Flags().Var((*logFormat)(format), "log-format", "log format; auto = text on a terminal, otherwise JSON")
}

// AddFollowLogFlag adds --log-format to a verb that prints sentences without it: see [Streams.Follow].
func AddFollowLogFlag(cmd *cobra.Command, format *string) {
	cmd.Flags().Var((*logFormat)(format), "log-format", "log format, for a log instead of sentences; auto = text on a terminal, otherwise JSON")
}
