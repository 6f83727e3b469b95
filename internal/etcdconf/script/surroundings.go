// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"fmt"
	"path"
	"strings"
)

// Bounds of the scripts that a container mounts.
const (
	// MaxBytes is how long all scripts of a command together may be.
	MaxBytes        = 128 << 10
	maxFileBrackets = 4000
	maxSpliced      = 8
)

// Surroundings are what a script can use of its container. The zero value has nothing.
type Surroundings struct {
	// File returns a file that is mounted from a ConfigMap, false for any other and for one that can't
	// be read. sourced is true for a file that a script reads into itself, such as settings. It is nil
	// where no files are read.
	File func(path string, sourced bool) (text string, ok bool)
	// Variable returns a variable with a value that the pod or a ConfigMap shows. It may be nil.
	Variable func(name string) (value string, ok bool)
	// Dir is the folder that relative paths are in, empty where only the image has it.
	Dir string
	// Names is true where a variable may have the name of etcd's program.
	Names bool
	// Unread collects why scripts of ConfigMaps and Secrets could not be read. It is nil where no
	// files are read.
	Unread *[]string
}

// Read returns a file that is mounted from a ConfigMap, by its path. A name without a folder is none: PATH decides about it. See
// File.
func (s Surroundings) Read(at string, sourced bool) (string, bool) {
	at = s.path(at)
	if s.File == nil || !path.IsAbs(at) {
		return "", false
	}
	return s.File(at, sourced)
}

// path returns a path of which the folder is known, or the same one.
func (s Surroundings) path(at string) string {
	if s.Dir == "" || path.IsAbs(at) || !strings.Contains(at, "/") {
		return at
	}
	return path.Join(s.Dir, at)
}

// OperandOfShell returns the path of the script that a shell gets. One without a folder is in the folder that the shell is in.
func OperandOfShell(operand string) string {
	if strings.Contains(operand, "/") {
		return operand
	}
	return "./" + operand
}

// Miss records that a script could not be read.
func (s Surroundings) Miss(at string, err error) {
	if s.Unread != nil {
		*s.Unread = append(*s.Unread, fmt.Sprintf("%s: %v", at, err))
	}
}

// RunsInShell reports whether the kernel starts a shell for a file: by its first line.
func RunsInShell(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	first, is := strings.CutPrefix(first, "#!")
	if !is {
		return false
	}
	args := strings.Fields(first)
	if len(args) > 0 && path.Base(args[0]) == "env" {
		args = args[1:]
	}
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		args = args[1:]
	}
	return len(args) > 0 && IsShell(args[0])
}
