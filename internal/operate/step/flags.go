// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"fmt"
	"strings"
)

// Flags are the flags that every printed command has.
type Flags struct {
	// Kubectl is for each kubectl command in the namespace: "--context desk -n team".
	Kubectl string
	// Context is the part of it for objects without a namespace: " --context desk", or empty.
	Context string
	// Login is for each kubectl etcd command: " --cert a.crt --key a.key", or empty.
	Login string
}

func (f Flags) kubectl(format string, args ...any) string {
	return "kubectl " + f.Kubectl + " " + fmt.Sprintf(format, args...)
}

// Plugin returns a command of kubectl etcd.
func (f Flags) Plugin(format string, args ...any) string {
	return "kubectl etcd " + f.Kubectl + f.Login + " " + fmt.Sprintf(format, args...)
}

// Quote returns a text as one argument for a shell.
func Quote(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+", c)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoted returns arguments for a shell.
func quoted(args []string) string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = Quote(arg)
	}
	return strings.Join(out, " ")
}
