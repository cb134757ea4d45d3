package repository

import "strings"

// unfinished ends the names of files that a change writes before any is renamed.
const unfinished = ".unfinished"

// finishedName is what such a file would have become.
func finishedName(path string) string {
	path = strings.TrimSuffix(path, unfinished)
	at := strings.LastIndexByte(path, '/') + 1
	return path[:at] + strings.TrimPrefix(path[at:], ".")
}
