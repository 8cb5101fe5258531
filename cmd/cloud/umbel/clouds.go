//go:build !noclouds

package main

// The libraries of these clouds take minutes to compile. Tests that need none of them leave them out.
import (
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
)
