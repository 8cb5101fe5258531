module github.com/umbel-filters/umbel/papers

go 1.26.0

