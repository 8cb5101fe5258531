#!/bin/sh
# Makes the keys, the token and 100 files for compose.yaml.
set -eu
cd "$(dirname "$0")"
mkdir -p secret files
for name in north south east; do
	umbel keygen "example.org/$name" -o "secret/$name.key"
done
head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >secret/token
for i in $(seq 100); do echo "file $i" >"files/$i"; done
