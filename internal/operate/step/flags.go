// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
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

// quoted returns arguments for a shell.
func quoted(args []string) string {
	out := make([]string, len(args))
	for i, arg := range args {
		out[i] = format.Quote(arg)
	}
	return strings.Join(out, " ")
}
