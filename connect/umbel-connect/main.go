// Command umbel-connect is a Benthos with the components of package benthos: umbel-connect run config.yaml.
package main

import (
	"context"

	_ "github.com/redpanda-data/benthos/v4/public/components/io"
	_ "github.com/redpanda-data/benthos/v4/public/components/pure"
	"github.com/redpanda-data/benthos/v4/public/service"

	_ "github.com/umbel-filters/umbel/connect/benthos"
)

func main() { service.RunCLI(context.Background()) }
