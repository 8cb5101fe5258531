// Command umbel-bento is a Bento with the components of package bento: umbel-bento run config.yaml.
package main

import (
	"context"

	_ "github.com/warpstreamlabs/bento/public/components/io"
	_ "github.com/warpstreamlabs/bento/public/components/pure"
	"github.com/warpstreamlabs/bento/public/service"

	_ "github.com/umbel-filters/umbel/connect/bento"
)

func main() { service.RunCLI(context.Background()) }
