#!/bin/sh
# Scores a file in a pipe: Parquet is read, an Arrow IPC stream goes from command to command, Parquet is written. Any program that
# reads and writes Arrow streams can stand between them. Run it from the repository's root:
#
#     sh examples/pipe/pipe.sh
#
# It writes at-risk.parquet to the current folder. A command that fails leaves its stream without an end marker, and the next one
# then fails too: nothing is written from half a stream.
set -eu
microrisk=${MICRORISK:-"go run ."}
$microrisk --quiet run examples/pipe/read.yaml |
	$microrisk --quiet run examples/pipe/score.yaml |
	$microrisk run examples/pipe/write.yaml
