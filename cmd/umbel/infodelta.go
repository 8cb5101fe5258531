package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/umbel-filters/umbel/cmd/internal/container"
	"github.com/umbel-filters/umbel/cmd/internal/quantity"
	"github.com/umbel-filters/umbel/cmd/internal/table"
)

// deltaInfo is what umbel info says of a delta.
type deltaInfo struct {
	File      string `json:"file"`
	Base      string `json:"base"`
	Result    string `json:"result"`
	Kind      string `json:"kind"`
	Bytes     uint64 `json:"bytes"` // of the result, in memory
	FileBytes uint64 `json:"fileBytes"`
}

// inspectDelta says what the head of a delta tells.
func inspectDelta(cmd *cobra.Command, name string) error {
	b, d, err := container.ReadDelta(name)
	if err != nil {
		return err
	}
	in := deltaInfo{name, d.Base.String(), d.Result.String(), d.Kind, d.Bytes, uint64(len(b))}
	return answer(cmd, in, func(w io.Writer) error {
		t := table.New("", "")
		t.Row("file", in.File)
		t.Row("kind", "delta of a filter of kind "+in.Kind)
		t.Row("from id", in.Base)
		t.Row("to id", in.Result)
		t.Row("memory", fmt.Sprintf("%v, %v bytes, of the result", quantity.Size(in.Bytes), quantity.Count(in.Bytes)))
		t.Row("file size", quantity.Count(in.FileBytes).String()+" bytes")
		_, err := t.WriteTo(w)
		return err
	})
}
